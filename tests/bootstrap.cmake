# Environment, options, rendezvous and strata-run.
strata_test(environment_test SOURCES bootstrap/environment_test.cpp bootstrap/options_test.cpp
            bootstrap/network_interface_test.cpp)
strata_test(rendezvous_test SOURCES bootstrap/join_test.cpp bootstrap/join_failure_test.cpp
            bootstrap/messages_test.cpp bootstrap/strangers_test.cpp)
strata_fuzzer(fuzz_rendezvous SOURCES bootstrap/fuzz_rendezvous.cpp)
