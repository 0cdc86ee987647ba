# Checks of the repository itself, of the scripts, and of the installed package. They need no sanitizer.
if(STRATA_SANITIZE)
  return()
endif()

function(strata_check name)
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300)
endfunction()

strata_check(check_layers ${Python3_EXECUTABLE} tools/check_layers)
strata_check(check_style ${Python3_EXECUTABLE} tools/check_style)
strata_check(checks_test ${Python3_EXECUTABLE} tests/tools/checks_test.py)
strata_check(exports_test ${Python3_EXECUTABLE} tests/tools/exports_test.py)
strata_check(compare_test ${Python3_EXECUTABLE} tests/tools/compare_test.py)
strata_check(hierarchy_test ${Python3_EXECUTABLE} tests/tools/hierarchy_test.py $<TARGET_FILE_DIR:strata-run>)
strata_check(schedule_test ${Python3_EXECUTABLE} tests/tools/schedule_test.py)
strata_check(documents_test ${Python3_EXECUTABLE} tests/tools/documents_test.py)
strata_check(model_test ${Python3_EXECUTABLE} tests/model/check)
set_tests_properties(model_test PROPERTIES SKIP_RETURN_CODE 77)
strata_check(lab_plan_test ${Python3_EXECUTABLE} tests/tools/lab_plan_test.py)
strata_check(lab_test ${Python3_EXECUTABLE} tests/tools/lab_test.py)
strata_check(lab_run_test ${Python3_EXECUTABLE} tests/tools/lab_run_test.py
             $<TARGET_FILE:strata-run> $<TARGET_FILE:strata-perf> $<TARGET_FILE:strata-topo>)
set_tests_properties(lab_run_test hierarchy_test PROPERTIES PROCESSORS 2)
set_tests_properties(lab_test lab_run_test hierarchy_test PROPERTIES RESOURCE_LOCK labs)  # one ends all labs
strata_check(exports ${Python3_EXECUTABLE} tests/install/check_exports.py $<TARGET_FILE:strata_ccl> include)
strata_check(install_consumers tests/install/run.sh ${PROJECT_BINARY_DIR})
set_tests_properties(install_consumers PROPERTIES PROCESSORS 2)
