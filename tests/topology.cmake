# The topology: levels of ranks, and where it is known from.
strata_test(topology_test SOURCES topology/examples.cpp topology/by_hand_test.cpp topology/hierarchy_test.cpp
  topology/position_test.cpp topology/rates_test.cpp)
strata_test(discover_test SOURCES topology/examples.cpp topology/discover_test.cpp)
add_library(fake_nvml MODULE EXCLUDE_FROM_ALL topology/fake_nvml.cpp)
add_dependencies(discover_test fake_nvml)
strata_test(topology_files_test SOURCES topology/examples.cpp topology/import_test.cpp topology/nccl_xml_test.cpp
  topology/quantity_test.cpp topology/topology_file_test.cpp)
strata_fuzzer(fuzz_nccl_xml SOURCES topology/fuzz_nccl_xml.cpp)
strata_fuzzer(fuzz_topology_file SOURCES topology/fuzz_topology_file.cpp)
strata_test(topo_test LIBRARIES strata_topo_parts pugixml::pugixml SOURCES topology/examples.cpp
  topology/command_line_test.cpp topology/drawing_test.cpp)
add_dependencies(topo_test strata-topo)
foreach(test discover_test topology_files_test topo_test)
  target_compile_definitions(${test} PRIVATE
    "STRATA_TOPOLOGY_DATA=\"${CMAKE_CURRENT_SOURCE_DIR}/topology/data\"" "STRATA_FAKE_NVML=\"$<TARGET_FILE:fake_nvml>\"")
endforeach()
add_test(NAME topo_command_test COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/topology/command_test.py
  $<TARGET_FILE:strata-topo> ${CMAKE_CURRENT_SOURCE_DIR}/topology/data)
set_tests_properties(topo_command_test PROPERTIES TIMEOUT 300)
