# What `cmake --install` puts where, and how others find it: find_package(strata) and pkg-config.
include(CMakePackageConfigHelpers)

set(STRATA_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/strata)
install(TARGETS strata_ccl EXPORT strata_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/strata DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
foreach(command strata-run strata-perf strata-topo strata-gpt)
  if(TARGET ${command})
    set_target_properties(${command} PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
    install(TARGETS ${command} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()

install(EXPORT strata_targets NAMESPACE strata:: DESTINATION ${STRATA_CMAKE_DIR})
configure_package_config_file(cmake/strata-config.cmake.in strata-config.cmake INSTALL_DESTINATION ${STRATA_CMAKE_DIR})
write_basic_package_version_file(strata-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/strata-config.cmake ${PROJECT_BINARY_DIR}/strata-config-version.cmake
  DESTINATION ${STRATA_CMAKE_DIR})

# The .pc file finds its prefix from its own place, so that an installed tree can be moved.
file(RELATIVE_PATH STRATA_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" STRATA_PC_TO_PREFIX ${STRATA_PC_TO_PREFIX})
configure_file(cmake/strata.pc.in strata.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/strata.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
