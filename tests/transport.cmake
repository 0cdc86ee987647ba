# The contract of transports on every one of them, and the parts of the stream protocol by themselves.
set(STRATA_TRANSPORT_WORLD transport/world.cpp transport/instances.cpp transport/ring_pipes.cpp
  transport/shm_tcp_instances.cpp)
strata_test(transport_conformance SOURCES ${STRATA_TRANSPORT_WORLD}
  transport/conformance_matching.cpp transport/conformance_at_once.cpp transport/conformance_flow.cpp transport/conformance_failure.cpp
  transport/conformance_random.cpp transport/decorators_test.cpp)
strata_test(transport_threads PROCESSORS 2 SOURCES ${STRATA_TRANSPORT_WORLD} transport/conformance_threads.cpp)
strata_test(stream_test SOURCES
  transport/frame_test.cpp transport/sender_test.cpp transport/stream_parts_test.cpp transport/stream_transport_test.cpp
  transport/several_streams_test.cpp)
strata_fuzzer(fuzz_frames SOURCES transport/fuzz_frames.cpp)

# The pipes beneath the stream protocol.
strata_test(pipes_test PROCESSORS 2 SOURCES transport/shm_tcp_laws.cpp
  transport/shm_pipes.cpp transport/shm_ring.cpp
  transport/tcp_credit.cpp transport/tcp_pipes.cpp transport/tcp_descriptor.cpp transport/tcp_handshake.cpp)
