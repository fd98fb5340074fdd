# flashpad_host_only(<file>...)
#
# Files with no device code and no Kokkos: nvcc_wrapper hands them to the host's compiler, which knows what nvcc's
# front end does not (vector extensions, processor flags, fmt 9) and is faster.
function(flashpad_host_only)
  if(CMAKE_CXX_COMPILER MATCHES "nvcc_wrapper")
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS --host-only)
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
