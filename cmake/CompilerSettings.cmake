# How all of Flashpad is compiled. Nothing here reaches a consumer.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
# There are no modules here; newer CMake would run the preprocessor over each file to look for some.
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# An installed library finds its neighbours beside it, and Kokkos where it was linked.
set(CMAKE_INSTALL_RPATH $ORIGIN $ORIGIN/../${CMAKE_INSTALL_LIBDIR})
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(FLASHPAD_CCACHE ccache)
mark_as_advanced(FLASHPAD_CCACHE)
if(FLASHPAD_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${FLASHPAD_CCACHE})
endif()

set(FLASHPAD_SANITIZE "" CACHE STRING "Sanitizers to build with, as in -fsanitize=")
if(FLASHPAD_SANITIZE)
  add_compile_options(-fsanitize=${FLASHPAD_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${FLASHPAD_SANITIZE})
endif()

# Link this PRIVATE for the warnings that all of Flashpad's code is free of.
add_library(flashpad_warnings INTERFACE)
target_compile_options(
  flashpad_warnings
  INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion $<$<BOOL:${FLASHPAD_WERROR}>:-Werror>)
# g++ 12 warns of overlapping copies in std::string's own operator+ (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(flashpad_warnings INTERFACE -Wno-restrict)
endif()
