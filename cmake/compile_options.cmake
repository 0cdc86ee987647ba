# What every target is compiled with. Warnings are errors in our own code, not in a user's build of it.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  # Clones in different folders share what is compiled; precompiled headers are cached too.
  set(CMAKE_C_COMPILER_LAUNCHER env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_C_COMPILER_LAUNCHER})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options(-fpch-preprocess)
  endif()
endif()

add_library(strata_compile_options INTERFACE)
target_compile_options(strata_compile_options INTERFACE -Wall -Wextra -Wshadow
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # GCC 12 sees overlapping copies in "literal" + std::string: GCC bug 105651.
  target_compile_options(strata_compile_options INTERFACE -Wno-restrict)
endif()
# Under sanitizers GCC's analysis of values guesses wrong too often for its warnings to be errors.
if(PROJECT_IS_TOP_LEVEL AND NOT STRATA_SANITIZE)
  target_compile_options(strata_compile_options INTERFACE -Werror)
endif()
target_include_directories(strata_compile_options INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)

if(STRATA_FUZZ AND NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
  message(FATAL_ERROR "STRATA_FUZZ needs clang's libFuzzer, but the compiler is ${CMAKE_CXX_COMPILER_ID}.\n"
    "Use the preset: cmake --preset fuzz   (Debian: apt-get install clang-16 libclang-rt-16-dev)")
endif()
if(STRATA_SANITIZE)
  # Every finding ends the program, so that a test cannot pass over it.
  target_compile_options(strata_compile_options INTERFACE -fsanitize=${STRATA_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer -g1 $<$<BOOL:${STRATA_FUZZ}>:-fsanitize=fuzzer-no-link>)
  target_link_options(strata_compile_options INTERFACE -fsanitize=${STRATA_SANITIZE})
  # Vector kernels take long to compile with sanitizers. The address sanitizer sees those that reach furthest beyond a
  # buffer's end, if any does; to the others one instruction set is as good as another.
  if(STRATA_SANITIZE MATCHES address AND NOT STRATA_FUZZ)
    target_compile_definitions(strata_compile_options INTERFACE
      "HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_SSE4|HWY_AVX3_DL)")
  else()
    target_compile_definitions(strata_compile_options INTERFACE HWY_COMPILE_ONLY_STATIC)
  endif()
  if(STRATA_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # Asio's fences are invisible to the thread sanitizer; its io_context has one thread, so nothing hangs on them.
    target_compile_options(strata_compile_options INTERFACE -Wno-tsan)
  endif()
endif()
