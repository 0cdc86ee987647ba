# Everything Strata takes from elsewhere, all of it Debian packages. What is missing is named all at once, with the
# line that installs it; tools/lib/packages.txt says what each is for.
set(STRATA_MISSING_PACKAGES "")

# strata_need(<package> <found>...): without every <found>, <package> must be installed.
function(strata_need package)
  foreach(found IN LISTS ARGN)
    if(NOT ${found})
      set(STRATA_MISSING_PACKAGES ${STRATA_MISSING_PACKAGES} ${package} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# Ends the configuration if a package that was asked for is missing.
function(strata_report_missing_packages)
  list(REMOVE_DUPLICATES STRATA_MISSING_PACKAGES)
  if(STRATA_MISSING_PACKAGES)
    list(JOIN STRATA_MISSING_PACKAGES " " packages)
    message(FATAL_ERROR "Strata needs packages that are not installed. On Debian 12:\n"
      "    apt-get install ${packages}\n"
      "./tools/quickstart and ./tools/test install what they need themselves.")
  endif()
endfunction()

find_package(Threads REQUIRED)
find_package(PkgConfig QUIET)
strata_need(pkg-config PKG_CONFIG_FOUND)
find_package(spdlog QUIET)
strata_need(libspdlog-dev spdlog_FOUND)
find_package(fmt QUIET)
strata_need(libfmt-dev fmt_FOUND)
find_package(tomlplusplus QUIET)
strata_need(libtomlplusplus-dev tomlplusplus_FOUND)
find_package(pugixml QUIET)
strata_need(libpugixml-dev pugixml_FOUND)
find_package(OpenSSL QUIET COMPONENTS Crypto)
strata_need(libssl-dev OPENSSL_FOUND)
find_path(ASIO_INCLUDE_DIR asio.hpp)
strata_need(libasio-dev ASIO_INCLUDE_DIR)
find_path(NLOHMANN_JSON_INCLUDE_DIR nlohmann/json.hpp)
strata_need(nlohmann-json3-dev NLOHMANN_JSON_INCLUDE_DIR)
find_path(CLI11_INCLUDE_DIR CLI/CLI.hpp)
strata_need(libcli11-dev CLI11_INCLUDE_DIR)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(HWY QUIET IMPORTED_TARGET libhwy)
  strata_need(libhwy-dev HWY_FOUND)
  pkg_check_modules(HTTPLIB QUIET IMPORTED_TARGET cpp-httplib)
  strata_need(libcpp-httplib-dev HTTPLIB_FOUND)
  pkg_check_modules(HWLOC QUIET IMPORTED_TARGET hwloc)
  strata_need(libhwloc-dev HWLOC_FOUND)
else()
  strata_need(libhwy-dev OFF)
  strata_need(libhwloc-dev OFF)
  strata_need(libcpp-httplib-dev OFF)
endif()

if(STRATA_TRAINER)
  # Not by dnnl's own package file: Debian's wants OpenCL's headers, which nothing here needs.
  find_path(DNNL_INCLUDE_DIR dnnl.hpp)
  find_library(DNNL_LIBRARY dnnl)
  find_library(BLAS_LIBRARY NAMES openblas blas)
  if(NOT DNNL_LIBRARY OR NOT DNNL_INCLUDE_DIR)
    strata_need(libdnnl-dev BLAS_LIBRARY)  # either will do; see trainer/CMakeLists.txt
  endif()
  find_package(OpenMP QUIET COMPONENTS CXX)
  strata_need(g++ OpenMP_CXX_FOUND)
endif()
if(STRATA_TESTS)
  find_path(CATCH2_INCLUDE_DIR catch2/catch.hpp)
  strata_need(catch2 CATCH2_INCLUDE_DIR)
  find_package(Python3 QUIET COMPONENTS Interpreter)
  strata_need(python3 Python3_FOUND)
endif()
strata_report_missing_packages()

add_library(strata_asio INTERFACE)
target_include_directories(strata_asio SYSTEM INTERFACE ${ASIO_INCLUDE_DIR})
# Asio 1.22 takes aligned_alloc or operator new by which standard headers came before it, so that two files could
# allocate and free by different ones.
target_compile_definitions(strata_asio INTERFACE ASIO_STANDALONE ASIO_NO_DEPRECATED
  ASIO_DISABLE_STD_ALIGNED_ALLOC)
if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  # Asio 1.22 looks for the experimental coroutines of older clangs and misses the standard's.
  target_compile_definitions(strata_asio INTERFACE ASIO_HAS_CO_AWAIT=1 ASIO_HAS_STD_COROUTINE=1)
endif()
