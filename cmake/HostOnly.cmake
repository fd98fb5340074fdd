# flashpad_host_only(<file>...)
#
# Files with no device code and no Kokkos: nvcc_wrapper hands them to the host's compiler, which knows what nvcc's
# front end does not (vector extensions, processor flags, fmt 9) and is faster. hipcc takes them as plain C++: as HIP,
# the Clang 15 of Debian's hipcc crashes in C++20 on a std::map of types that are only half constexpr.
function(flashpad_host_only)
  if(CMAKE_CXX_COMPILER MATCHES "nvcc_wrapper")
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS --host-only)
  elseif(CMAKE_CXX_COMPILER MATCHES "hipcc")
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -x c++ -D__HIP_PLATFORM_AMD__ -D__HIP_PLATFORM_HCC__)
  endif()
endfunction()

# flashpad_kokkos_sources(<target> [<file>...])
#
# Which of the target's files include Kokkos; all others are host only.
function(flashpad_kokkos_sources target)
  get_target_property(files ${target} SOURCES)
  list(FILTER files INCLUDE REGEX "\\.cpp$")
  list(REMOVE_ITEM files ${ARGN})
  if(files)
    flashpad_host_only(${files})
  endif()
endfunction()
