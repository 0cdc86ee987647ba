# Environment, options, rendezvous and strata-run.
strata_test(environment_test SOURCES bootstrap/environment_test.cpp bootstrap/options_test.cpp
            bootstrap/network_interface_test.cpp)
strata_test(rendezvous_test SOURCES bootstrap/join_test.cpp bootstrap/join_failure_test.cpp
            bootstrap/messages_test.cpp bootstrap/strangers_test.cpp)
strata_fuzzer(fuzz_rendezvous SOURCES bootstrap/fuzz_rendezvous.cpp)
strata_test(strata_run_test SOURCES bootstrap/strata_run_test.cpp bootstrap/lab_shape_test.cpp
            bootstrap/line_cutter_test.cpp bootstrap/launch.cpp
            LIBRARIES strata_run_parts)
if(TARGET strata_run_test)
  add_dependencies(strata_run_test strata-run)
  target_compile_definitions(strata_run_test PRIVATE "STRATA_RUN_PATH=\"$<TARGET_FILE:strata-run>\"")
endif()
