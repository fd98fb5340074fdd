# flashpad_instantiate(<name> [HOST_ONLY | CUDA_ONLY | HIP_ONLY] HEADER <header> CODE <declarations>)
#
# Adds a source file to flashpad_objects that includes HEADER and holds the explicit instantiations CODE, for
# each execution space of the Kokkos found (of the host, with HOST_ONLY; CUDA's, with CUDA_ONLY; HIP's, with HIP_ONLY); EXEC in CODE stands for its type.

set(FLASHPAD_EXEC_serial Kokkos::Serial)
set(FLASHPAD_EXEC_openmp Kokkos::OpenMP)
set(FLASHPAD_EXEC_threads Kokkos::Threads)
set(FLASHPAD_EXEC_cuda Kokkos::Cuda)
set(FLASHPAD_EXEC_hip kokkos_ext::HIP)

function(flashpad_instantiate name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "HOST_ONLY;CUDA_ONLY;HIP_ONLY" "HEADER;CODE" "")
  set(INSTANTIATE_HEADER ${arg_HEADER})
  foreach(device IN LISTS flashpad_kokkos_devices)
    if(NOT DEFINED FLASHPAD_EXEC_${device}
       OR (arg_HOST_ONLY AND device MATCHES "^(cuda|hip)$")
       OR (arg_CUDA_ONLY AND NOT device STREQUAL "cuda")
       OR (arg_HIP_ONLY AND NOT device STREQUAL "hip"))
      continue()
    endif()
    string(REPLACE "EXEC" "${FLASHPAD_EXEC_${device}}" INSTANTIATE_CODE "${arg_CODE}")
    set(file ${PROJECT_BINARY_DIR}/generated-sources/${name}_${device}.cpp)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/instantiate.cpp.in ${file} @ONLY)
    target_sources(flashpad_objects PRIVATE ${file})
  endforeach()
endfunction()
