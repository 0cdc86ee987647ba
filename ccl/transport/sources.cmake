# Memory and its faults, for tests.
target_sources(strata_core PRIVATE
  transport/memory_hub.cpp transport/memory_transport.cpp transport/faulty_transport.cpp)

# The protocol over byte pipes.
target_sources(strata_core PRIVATE
  transport/stream/batch.cpp transport/stream/frame.cpp transport/stream/ledger.cpp transport/stream/matcher.cpp
  transport/stream/message.cpp transport/stream/receiver.cpp transport/stream/sender.cpp transport/stream/stash.cpp
  transport/stream/stream_transport.cpp transport/stream/tag_table.cpp)

# Pipes: what they share, rings in shared memory, TCP connections.
target_sources(strata_core PRIVATE
  transport/descriptor_fields.cpp transport/fd_limit.cpp transport/handshake.cpp
  transport/shm/meeting.cpp transport/shm/ring.cpp
  transport/shm/segment.cpp transport/shm/shm_descriptor.cpp transport/shm/shm_pipe.cpp
  transport/shm/shm_pipe_set.cpp transport/shm/shm_pipes.cpp transport/shm/shm_transport.cpp
  transport/tcp/credit.cpp transport/tcp/in_flight.cpp transport/tcp/listening.cpp transport/tcp/meeting.cpp transport/tcp/socket_options.cpp
  transport/tcp/tcp_descriptor.cpp transport/tcp/tcp_pipe.cpp transport/tcp/tcp_pipe_set.cpp
  transport/tcp/tcp_pipes.cpp transport/tcp/tcp_transport.cpp)
