# The topology: levels of ranks.
strata_test(topology_test SOURCES topology/examples.cpp topology/by_hand_test.cpp topology/hierarchy_test.cpp
  topology/position_test.cpp)
