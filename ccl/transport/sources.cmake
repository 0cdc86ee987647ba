# Memory and its faults, for tests.
target_sources(strata_core PRIVATE
  transport/memory_hub.cpp transport/memory_transport.cpp transport/faulty_transport.cpp)
