# strata::ccl, the library as others link it: every object of strata_core, exporting only the public interface.
add_library(strata_ccl SHARED $<TARGET_OBJECTS:strata_core>)
add_library(strata::ccl ALIAS strata_ccl)
target_link_libraries(strata_ccl PRIVATE $<TARGET_PROPERTY:strata_core,LINK_LIBRARIES>)
target_include_directories(strata_ccl INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(strata_ccl INTERFACE cxx_std_20)
target_link_options(strata_ccl PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map)
if(NOT STRATA_SANITIZE)  # a sanitizer's runtime comes with the program
  target_link_options(strata_ccl PRIVATE -Wl,--no-undefined)
endif()
set_target_properties(strata_ccl PROPERTIES
  LINKER_LANGUAGE CXX
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.map
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}
  EXPORT_NAME ccl)
