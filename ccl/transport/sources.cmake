# Memory and its faults, for tests.
target_sources(strata_core PRIVATE
  transport/memory_hub.cpp transport/memory_transport.cpp transport/faulty_transport.cpp)

# The protocol over byte pipes.
target_sources(strata_core PRIVATE
  transport/stream/batch.cpp transport/stream/frame.cpp transport/stream/ledger.cpp transport/stream/matcher.cpp
  transport/stream/message.cpp transport/stream/receiver.cpp transport/stream/sender.cpp transport/stream/stash.cpp
  transport/stream/stream_transport.cpp transport/stream/tag_table.cpp)
