# The timeline: records, what they become, and the file.
strata_test(trace_test SOURCES trace/recorder_test.cpp trace/timeline_test.cpp trace/usage_test.cpp)
if(TARGET trace_test)
  add_dependencies(trace_test strata-run strata-perf)
endif()
add_test(NAME timeline_job_test
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/trace/timeline_job_test.py
          $<TARGET_FILE:strata-run> $<TARGET_FILE:strata-perf>)
set_tests_properties(timeline_job_test PROPERTIES TIMEOUT 300 PROCESSORS 2)
if(NOT STRATA_SANITIZE)
  add_test(NAME timeline_lab_test
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/trace/timeline_lab_test.py
            $<TARGET_FILE:strata-run> $<TARGET_FILE:strata-perf>)
  set_tests_properties(timeline_lab_test PROPERTIES TIMEOUT 300 PROCESSORS 2 RESOURCE_LOCK labs)
endif()
