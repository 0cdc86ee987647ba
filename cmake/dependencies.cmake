# Everything Strata takes from elsewhere, all of it Debian packages. Names in brackets are the packages.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(spdlog REQUIRED)                        # [libspdlog-dev]
find_package(fmt REQUIRED)                           # [libfmt-dev]
find_package(OpenSSL REQUIRED COMPONENTS Crypto)     # [libssl-dev]
find_path(ASIO_INCLUDE_DIR asio.hpp REQUIRED)        # [libasio-dev]
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy)      # [libhwy-dev]
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)     # [libhwloc-dev]
find_path(NLOHMANN_JSON_INCLUDE_DIR nlohmann/json.hpp REQUIRED)  # [nlohmann-json3-dev]
find_path(CLI11_INCLUDE_DIR CLI/CLI.hpp REQUIRED)    # [libcli11-dev]

add_library(strata_asio INTERFACE)
target_include_directories(strata_asio SYSTEM INTERFACE ${ASIO_INCLUDE_DIR})
target_compile_definitions(strata_asio INTERFACE ASIO_STANDALONE ASIO_NO_DEPRECATED)
