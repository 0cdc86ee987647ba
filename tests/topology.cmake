# The topology: levels of ranks, and where it is known from.
strata_test(topology_test SOURCES topology/examples.cpp topology/by_hand_test.cpp topology/hierarchy_test.cpp
  topology/position_test.cpp)
strata_test(discover_test SOURCES topology/examples.cpp topology/discover_test.cpp)
add_library(fake_nvml MODULE EXCLUDE_FROM_ALL topology/fake_nvml.cpp)
add_dependencies(discover_test fake_nvml)
target_compile_definitions(discover_test PRIVATE
  "STRATA_TOPOLOGY_DATA=\"${CMAKE_CURRENT_SOURCE_DIR}/topology/data\"" "STRATA_FAKE_NVML=\"$<TARGET_FILE:fake_nvml>\"")
