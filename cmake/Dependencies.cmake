# The one place that finds what Flashpad needs. A package of the user's own (Kokkos_ROOT, CMAKE_PREFIX_PATH,
# a Spack environment) wins over what scripts/setup.sh built, and that over the system's.
#
# FLASHPAD_PROBE: report what is found and missing, and go on (scripts/setup.sh asks this way).

set(FLASHPAD_KOKKOS_HINTS ${CMAKE_CURRENT_LIST_DIR}/../build/deps)
set(FLASHPAD_FIND_KOKKOS_KERNELS ON)
include(Kokkos)

# Missing packages are collected, so that one run names them all.
set(flashpad_missing "")
macro(flashpad_find package)
  find_package(${package} CONFIG QUIET)
  if(NOT ${package}_FOUND)
    list(APPEND flashpad_missing ${package})
  endif()
endmacro()

if(NOT Kokkos_FOUND)
  list(APPEND flashpad_missing Kokkos)
endif()
if(NOT KokkosKernels_FOUND)
  list(APPEND flashpad_missing KokkosKernels)
endif()
flashpad_find(fmt)
flashpad_find(nlohmann_json)
if(FLASHPAD_DRIVER)
  flashpad_find(yaml-cpp)
  flashpad_find(CLI11)
  flashpad_find(benchmark)
endif()
if(BUILD_TESTING)
  flashpad_find(GTest)
endif()

set(flashpad_kokkos_devices "")
foreach(device IN LISTS Kokkos_DEVICES)
  string(TOLOWER "${device}" device)
  if(device STREQUAL "pthread")  # its name before Kokkos 3.7
    set(device threads)
  endif()
  list(APPEND flashpad_kokkos_devices ${device})
endforeach()

set(flashpad_problem "")
if(Kokkos_FOUND)
  flashpad_kokkos_problem(flashpad_problem)
endif()

if(FLASHPAD_PROBE)
  return()
endif()

if(flashpad_missing)
  list(JOIN flashpad_missing ", " names)
  set(roots "")
  foreach(package IN LISTS flashpad_missing)
    foreach(root IN ITEMS ${${package}_ROOT} $ENV{${package}_ROOT})
      string(APPEND roots " (${package}_ROOT is ${root})")
    endforeach()
  endforeach()
  message(FATAL_ERROR "Flashpad needs packages that CMake does not find: ${names}${roots}. \
On Debian and Ubuntu `make deps` installs them; elsewhere name their prefixes in CMAKE_PREFIX_PATH or \
<package>_ROOT, or install the environment in spack.yaml.")
endif()
if(flashpad_problem)
  message(FATAL_ERROR "Flashpad cannot use ${flashpad_problem}.")
endif()
foreach(backend IN LISTS FLASHPAD_REQUIRE_BACKEND)
  if(NOT backend IN_LIST flashpad_kokkos_devices)
    list(JOIN flashpad_kokkos_devices ", " devices)
    message(FATAL_ERROR "FLASHPAD_REQUIRE_BACKEND asks for `${backend}`, but Kokkos ${Kokkos_VERSION} in \
${Kokkos_DIR} was built with: ${devices}. Point Kokkos_ROOT at one that has it.")
  endif()
endforeach()
message(STATUS "Kokkos ${Kokkos_VERSION} (${Kokkos_DEVICES}): ${Kokkos_DIR}")
message(STATUS "Kokkos Kernels: ${KokkosKernels_DIR}")

# CMake leaves folders inside the project out of the search path of what it installs: build/deps is one.
foreach(package Kokkos KokkosKernels)
  cmake_path(IS_PREFIX PROJECT_SOURCE_DIR "${${package}_DIR}" was_built_here)
  if(was_built_here)  # <prefix>/lib/cmake/<package>
    cmake_path(GET ${package}_DIR PARENT_PATH packages)
    cmake_path(GET packages PARENT_PATH libraries)
    list(APPEND CMAKE_INSTALL_RPATH ${libraries})
  endif()
endforeach()
list(REMOVE_DUPLICATES CMAKE_INSTALL_RPATH)

# Two copies of Kokkos' globals in one process would each need initialising: a static Kokkos is linked once,
# into the program, so the library is then static too.
flashpad_is_static(flashpad_kokkos_is_static Kokkos::kokkos)
if(flashpad_kokkos_is_static)
  set(shared_by_default OFF)
else()
  set(shared_by_default ON)
endif()
option(BUILD_SHARED_LIBS "Build a shared library" ${shared_by_default})
if(BUILD_SHARED_LIBS AND flashpad_kokkos_is_static)
  message(FATAL_ERROR "BUILD_SHARED_LIBS is ON, but Kokkos in ${Kokkos_DIR} is a static library: its state \
would exist twice, in libflashpad and in the program. Leave BUILD_SHARED_LIBS out or use a shared Kokkos.")
endif()
