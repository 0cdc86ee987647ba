# strata-perf: what it measures with, apart from the measuring.
strata_test(perf_test LIBRARIES strata_perf_parts SOURCES
  perf/pattern_test.cpp perf/test_case_test.cpp perf/command_line_test.cpp perf/report_test.cpp)
target_include_directories(perf_test SYSTEM PRIVATE ${NLOHMANN_JSON_INCLUDE_DIR})
