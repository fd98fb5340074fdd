# Makes <flashpad_build_info.hpp> for the driver: what a report says about the program that wrote it. The git
# revision is looked up at each build and the header rewritten only when it changed; include it in one
# source file.

set(build_info_dir ${PROJECT_BINARY_DIR}/generated-driver)
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
string(STRIP "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}" build_flags)
find_package(Git QUIET)
add_custom_target(
  flashpad_build_info
  COMMAND
    ${CMAKE_COMMAND} "-DGIT=${GIT_EXECUTABLE}" "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}"
    "-DTEMPLATE=${CMAKE_CURRENT_LIST_DIR}/build_info.hpp.in"
    "-DOUTPUT=${build_info_dir}/flashpad_build_info.hpp"
    "-DCOMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" "-DBUILD_TYPE=${CMAKE_BUILD_TYPE}"
    "-DBUILD_FLAGS=${build_flags}" "-DVERSION=${PROJECT_VERSION}" "-DKOKKOS_VERSION=${Kokkos_VERSION}" -P ${CMAKE_CURRENT_LIST_DIR}/WriteBuildInfo.cmake
  BYPRODUCTS ${build_info_dir}/flashpad_build_info.hpp
  VERBATIM)
add_dependencies(flashpad_driver flashpad_build_info)
target_include_directories(flashpad_driver PRIVATE ${build_info_dir})
