# Collectives within a host: their moves on symbols, and the group with real data, its members in any order.
strata_test(local_test SOURCES
  local/moves_test.cpp local/straight_test.cpp local/group_test.cpp local/group_failure_test.cpp
  local/process_memory_test.cpp)
