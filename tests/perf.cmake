# strata-perf: what it measures with, apart from the measuring.
strata_test(perf_test LIBRARIES strata_perf_parts SOURCES
  perf/pattern_test.cpp perf/test_case_test.cpp perf/command_line_test.cpp perf/explain_test.cpp perf/report_test.cpp
  perf/sampling_test.cpp)
target_include_directories(perf_test SYSTEM PRIVATE ${NLOHMANN_JSON_INCLUDE_DIR})
add_test(NAME perf_ranks_test
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/perf/ranks_test.py $<TARGET_FILE:strata-perf>)
set_tests_properties(perf_ranks_test PROPERTIES TIMEOUT 600 PROCESSORS 2)
