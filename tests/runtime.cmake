# Ranks as threads; worlds shared by the runtime's tests.
add_library(strata_test_world STATIC support/world.cpp support/values.cpp)
target_link_libraries(strata_test_world PUBLIC strata_core)

strata_test(collectives_test SOURCES runtime/collectives_test.cpp LIBRARIES strata_test_world TIMEOUT 600)
strata_test(works_test SOURCES runtime/works_test.cpp LIBRARIES strata_test_world)
strata_test(messages_test SOURCES runtime/messages_test.cpp LIBRARIES strata_test_world)
strata_test(failure_test SOURCES runtime/failure_test.cpp LIBRARIES strata_test_world)
strata_test(any_order_test SOURCES runtime/any_order_test.cpp LIBRARIES strata_test_world)
strata_test(cancel_test SOURCES runtime/cancel_test.cpp LIBRARIES strata_test_world)
strata_test(death_test SOURCES runtime/death_test.cpp LIBRARIES strata_test_world)
strata_test(faults_test SOURCES runtime/faults_test.cpp LIBRARIES strata_test_world)
strata_test(misuse_test SOURCES runtime/misuse_test.cpp LIBRARIES strata_test_world)
strata_test(calibrate_test SOURCES runtime/calibrate_test.cpp topology/examples.cpp LIBRARIES strata_test_world)
strata_test(whereabouts_test SOURCES runtime/whereabouts_test.cpp runtime/locate_test.cpp topology/examples.cpp
            LIBRARIES strata_test_world)
strata_test(parts_test SOURCES runtime/parts_test.cpp)
if(TARGET parts_test)
  add_dependencies(parts_test strata-run strata-perf)  # for the next one
endif()
add_test(NAME metrics_test
  COMMAND /usr/bin/python3 ${PROJECT_SOURCE_DIR}/tests/runtime/metrics_test.py  # Debian's, which sees its packages
          $<TARGET_FILE:strata-run> $<TARGET_FILE:strata-perf>)
set_tests_properties(metrics_test PROPERTIES TIMEOUT 300 PROCESSORS 2)
