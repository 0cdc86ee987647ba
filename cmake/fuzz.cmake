# strata_fuzzer(name SOURCES ...) makes one libFuzzer program and one ctest entry that runs it a fixed number of times.
# Without STRATA_FUZZ (preset fuzz) it makes nothing.
set(STRATA_FUZZ_RUNS 100000 CACHE STRING "Inputs each fuzzer tries in a test run")

if(STRATA_FUZZ)
  add_custom_target(fuzzers)
  # No fuzzer calls the kernels, and clang takes minutes for each with sanitizers.
  get_target_property(kernels strata_core SOURCES)
  list(FILTER kernels INCLUDE REGEX "^compute/.*kernels")
  list(TRANSFORM kernels PREPEND ${PROJECT_SOURCE_DIR}/ccl/)
  set_source_files_properties(${kernels} DIRECTORY ${PROJECT_SOURCE_DIR}/ccl PROPERTIES
    COMPILE_OPTIONS -fno-sanitize=all)
endif()

function(strata_fuzzer name)
  if(NOT STRATA_FUZZ)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE strata_core ${ARG_LIBRARIES})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzzers ${name})
  add_test(NAME ${name} COMMAND ${name} -runs=${STRATA_FUZZ_RUNS} -seed=1 -max_len=4096 -timeout=10
    -rss_limit_mb=2048 -artifact_prefix=${CMAKE_CURRENT_BINARY_DIR}/${name}- -print_final_stats=1)
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 LABELS fuzz)
endfunction()
