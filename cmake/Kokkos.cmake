# Finds Kokkos and Kokkos Kernels and wraps them as Flashpad::kokkos and Flashpad::kokkoskernels. The build
# includes this file, and so does the installed package, so that both see them in the same way.
#
# FLASHPAD_KOKKOS_HINTS: prefixes to search after the user's own (Kokkos_ROOT, CMAKE_PREFIX_PATH, in CMake
# or the environment) and before the system's. FLASHPAD_FIND_KOKKOS_KERNELS: look for Kokkos Kernels as well.

set(FLASHPAD_KOKKOS_OLDEST 3.4.01)
set(FLASHPAD_KOKKOS_TOO_NEW 6)

# 3.4.01 -> 30401, as KOKKOS_VERSION counts.
function(flashpad_version_number result version)
  string(REGEX MATCH "^0*([0-9]+)\\.0*([0-9]+)\\.?0*([0-9]*)" matched "${version}")
  math(EXPR number "${CMAKE_MATCH_1} * 10000 + ${CMAKE_MATCH_2} * 100 + 0${CMAKE_MATCH_3}")
  set(${result} ${number} PARENT_SCOPE)
endfunction()

# Sets `result` to a sentence on what is wrong with the Kokkos that was found; empty where nothing is.
# Kokkos' own version file takes one major version only, so the range is checked here.
function(flashpad_kokkos_problem result)
  set(problem "")
  foreach(package Kokkos KokkosKernels)
    set(roots ${${package}_ROOT} $ENV{${package}_ROOT})
    if(roots AND ${package}_FOUND)
      set(inside FALSE)
      file(REAL_PATH "${${package}_DIR}" dir)
      foreach(root IN LISTS roots)
        file(REAL_PATH "${root}" root)
        cmake_path(IS_PREFIX root "${dir}" is_prefix)
        if(is_prefix)
          set(inside TRUE)
        endif()
      endforeach()
      if(NOT inside)
        set(problem "${package} in ${${package}_DIR}: ${package}_ROOT names ${roots}, where there is none")
      endif()
    endif()
  endforeach()
  if(problem)
    # An explicit choice that cannot be honoured; what else was found does not matter.
  elseif(Kokkos_VERSION VERSION_LESS FLASHPAD_KOKKOS_OLDEST
     OR Kokkos_VERSION VERSION_GREATER_EQUAL FLASHPAD_KOKKOS_TOO_NEW)
    set(problem "Kokkos ${Kokkos_VERSION} in ${Kokkos_DIR}: needs ${FLASHPAD_KOKKOS_OLDEST} or newer, below \
${FLASHPAD_KOKKOS_TOO_NEW}")
  elseif(KokkosKernels_FOUND)
    string(REGEX MATCH "^[0-9]+\\.[0-9]+" kokkos_release "${Kokkos_VERSION}")
    string(REGEX MATCH "^[0-9]+\\.[0-9]+" kernels_release "${KokkosKernels_VERSION}")
    cmake_path(GET Kokkos_DIR PARENT_PATH kokkos_home)
    cmake_path(GET KokkosKernels_DIR PARENT_PATH kernels_home)
    # A distribution's Kokkos Kernels has no version and no target of that name, and brings its own Kokkos.
    if((kernels_release AND NOT kernels_release STREQUAL kokkos_release)
       OR (NOT TARGET Kokkos::kokkoskernels AND NOT kernels_home STREQUAL kokkos_home))
      set(problem "Kokkos Kernels ${KokkosKernels_VERSION} in ${KokkosKernels_DIR} was built with another \
Kokkos than ${Kokkos_VERSION} in ${Kokkos_DIR}: name one that fits with KokkosKernels_ROOT")
    endif()
  endif()
  set(${result} "${problem}" PARENT_SCOPE)
endfunction()

# Drops include folders that do not exist: the distribution's package names one, and CMake refuses to use it.
function(flashpad_drop_missing_include_dirs target)
  get_target_property(dirs ${target} INTERFACE_INCLUDE_DIRECTORIES)
  set(kept "")
  foreach(dir IN LISTS dirs)
    if(dir MATCHES "\\$<" OR IS_DIRECTORY "${dir}")
      list(APPEND kept "${dir}")
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${kept}")
endfunction()

# Whether `target`, or a library behind it, is a static library.
function(flashpad_is_static result target)
  set(static FALSE)
  get_target_property(type ${target} TYPE)
  get_target_property(dependencies ${target} INTERFACE_LINK_LIBRARIES)
  if(type STREQUAL "STATIC_LIBRARY")
    set(static TRUE)
  elseif(type STREQUAL "INTERFACE_LIBRARY" AND dependencies)
    foreach(dependency IN LISTS dependencies)
      if(TARGET "${dependency}" AND NOT static)
        flashpad_is_static(static ${dependency})
      endif()
    endforeach()
  endif()
  set(${result} ${static} PARENT_SCOPE)
endfunction()

# A project that adds Flashpad as a subfolder sees the targets too.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
find_package(Kokkos CONFIG QUIET HINTS ${FLASHPAD_KOKKOS_HINTS})
if(Kokkos_FOUND AND FLASHPAD_FIND_KOKKOS_KERNELS)
  find_package(KokkosKernels CONFIG QUIET HINTS ${FLASHPAD_KOKKOS_HINTS})
endif()

if(Kokkos_FOUND AND NOT TARGET Flashpad::kokkos)
  flashpad_drop_missing_include_dirs(Kokkos::kokkos)
  add_library(Flashpad::kokkos INTERFACE IMPORTED GLOBAL)
  target_link_libraries(Flashpad::kokkos INTERFACE Kokkos::kokkos)
  # The distribution's package gives its real include folder in this variable alone.
  target_include_directories(Flashpad::kokkos SYSTEM INTERFACE ${Kokkos_INCLUDE_DIRS})
endif()

if(KokkosKernels_FOUND AND NOT TARGET Flashpad::kokkoskernels)
  add_library(Flashpad::kokkoskernels INTERFACE IMPORTED GLOBAL)
  if(TARGET Kokkos::kokkoskernels)
    target_link_libraries(Flashpad::kokkoskernels INTERFACE Kokkos::kokkoskernels Flashpad::kokkos)
  else()
    target_link_libraries(Flashpad::kokkoskernels INTERFACE ${KokkosKernels_LIBRARIES} Flashpad::kokkos)
    target_include_directories(Flashpad::kokkoskernels SYSTEM INTERFACE ${KokkosKernels_INCLUDE_DIRS})
  endif()
endif()
