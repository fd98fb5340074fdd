# Compiles kernels/hopper, which is device code without Kokkos, wherever there is an nvcc 12 or newer: as part of the
# library where the Kokkos found has CUDA, for its own test elsewhere. By hand, because its instructions need the
# architecture sm_90a, which Kokkos does not compile for, and because CMake 3.25 does not know that nvcc 13 has C++20.
#
# FLASHPAD_HOPPER_OBJECTS: the object files; empty where they cannot be made, and FLASHPAD_HOPPER_MISSING says why.

set(FLASHPAD_HOPPER_FILES ${PROJECT_SOURCE_DIR}/kernels/hopper/hopper.cu)

set(FLASHPAD_HOPPER_OBJECTS "")
set(FLASHPAD_HOPPER_MISSING "needs nvcc 12 or newer and its static runtime for this processor, and no sanitizer")
find_package(CUDAToolkit QUIET)
# When cross-compiling, nvcc found is the machine's own, which compiles its host code for that.
if(CUDAToolkit_NVCC_EXECUTABLE AND CUDAToolkit_VERSION VERSION_GREATER_EQUAL 12 AND TARGET CUDA::cudart_static
   AND NOT CMAKE_CROSSCOMPILING AND NOT FLASHPAD_SANITIZE)
  set(FLASHPAD_HOPPER_MISSING "")
  foreach(file IN LISTS FLASHPAD_HOPPER_FILES)
    cmake_path(GET file STEM name)
    set(object ${PROJECT_BINARY_DIR}/hopper/${name}.o)
    set(arguments
        -std=c++20 -O3 -gencode=arch=compute_90a,code=sm_90a --expt-relaxed-constexpr -Xptxas -v
        -I${PROJECT_SOURCE_DIR} -I${PROJECT_SOURCE_DIR}/src -Xcompiler -fPIC,-fvisibility=hidden
        -MD -MF ${object}.d -c ${file} -o ${object})
    list(JOIN arguments " " arguments)
    add_custom_command(
      OUTPUT ${object}
      COMMAND
        ${CMAKE_COMMAND} -DNVCC=${CUDAToolkit_NVCC_EXECUTABLE} "-DARGUMENTS=${arguments}" -DLOG=${object}.log -P
        ${PROJECT_SOURCE_DIR}/cmake/CompileHopper.cmake
      DEPFILE ${object}.d
      DEPENDS ${file}
      VERBATIM)
    list(APPEND FLASHPAD_HOPPER_OBJECTS ${object})
  endforeach()
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/hopper)
  add_custom_target(flashpad_hopper DEPENDS ${FLASHPAD_HOPPER_OBJECTS})
endif()

# flashpad_link_hopper(<target>): makes the objects part of the target.
function(flashpad_link_hopper target)
  add_dependencies(${target} flashpad_hopper)
  target_sources(${target} PRIVATE ${FLASHPAD_HOPPER_OBJECTS})
endfunction()
