# The topology: levels of ranks, and where it is known from.
strata_test(topology_test SOURCES topology/examples.cpp topology/by_hand_test.cpp topology/hierarchy_test.cpp
  topology/position_test.cpp)
strata_test(discover_test SOURCES topology/examples.cpp topology/discover_test.cpp)
add_library(fake_nvml MODULE EXCLUDE_FROM_ALL topology/fake_nvml.cpp)
add_dependencies(discover_test fake_nvml)
strata_test(topology_files_test SOURCES topology/examples.cpp topology/import_test.cpp topology/nccl_xml_test.cpp
  topology/quantity_test.cpp topology/topology_file_test.cpp)
strata_fuzzer(fuzz_nccl_xml SOURCES topology/fuzz_nccl_xml.cpp)
strata_fuzzer(fuzz_topology_file SOURCES topology/fuzz_topology_file.cpp)
foreach(test discover_test topology_files_test)
  target_compile_definitions(${test} PRIVATE
    "STRATA_TOPOLOGY_DATA=\"${CMAKE_CURRENT_SOURCE_DIR}/topology/data\"" "STRATA_FAKE_NVML=\"$<TARGET_FILE:fake_nvml>\"")
endforeach()
