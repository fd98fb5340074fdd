# The installed package: headers, library, and what find_package(Flashpad) reads.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Flashpad)

install(TARGETS flashpad EXPORT FlashpadTargets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/flashpad ${PROJECT_BINARY_DIR}/generated/flashpad
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(EXPORT FlashpadTargets NAMESPACE Flashpad:: DESTINATION ${package_dir})

get_target_property(library_type flashpad TYPE)
if(library_type STREQUAL "STATIC_LIBRARY")
  set(FLASHPAD_IS_STATIC ON)
else()
  set(FLASHPAD_IS_STATIC OFF)
endif()
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/FlashpadConfig.cmake.in ${PROJECT_BINARY_DIR}/package/FlashpadConfig.cmake
  INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/package/FlashpadConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/FlashpadConfig.cmake
              ${PROJECT_BINARY_DIR}/package/FlashpadConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/Kokkos.cmake
        DESTINATION ${package_dir})
