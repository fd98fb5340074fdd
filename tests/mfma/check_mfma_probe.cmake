# Compiles mfma_probe.hip.cpp to assembly for one architecture and checks what that says of each kernel.
#   cmake -DHIPCC= -DARCH= -DSOURCE_DIR= -DASSEMBLY= [-DFLAGS=] -P check_mfma_probe.cmake
# With FLAGS, which make another tile, no more than that it neither spills nor uses scratch.
#   cmake -DREAD_ONLY=ON -DARCH= -DASSEMBLY= -P check_mfma_probe.cmake
# checks an assembly that is there (doctored_assembly.cmake).
if(NOT READ_ONLY)
  execute_process(
    COMMAND ${HIPCC} --offload-arch=${ARCH} -std=c++17 -O3 -I${SOURCE_DIR} -I${SOURCE_DIR}/src ${FLAGS} -S
            --cuda-device-only ${SOURCE_DIR}/tests/mfma/mfma_probe.hip.cpp -o ${ASSEMBLY}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${output}")
  endif()
endif()

# What docs/mfma.md states: type, head dimension, key tile, wavefronts a SIMD on gfx90a and gfx942, on gfx908.
set(stated
    "half 32 64 4 2" "half 64 64 3 1" "half 96 32 2 1" "half 128 32 2 1" "half 192 32 1 1" "half 256 32 1 1"
    "bfloat16 32 64 4 2" "bfloat16 64 64 2 1" "bfloat16 96 32 2 1" "bfloat16 128 32 2 1" "bfloat16 192 32 1 1"
    "bfloat16 256 32 1 1")

# The instruction of each type.
set(half_product "v_mfma_f32_32x32x8f16")
set(bfloat16_product "v_mfma_f32_32x32x8bf16_1k")
if(ARCH STREQUAL "gfx908")
  set(bfloat16_product "v_mfma_f32_32x32x4bf16")
elseif(ARCH MATCHES "^gfx94")
  set(half_product "v_mfma_f32_32x32x8_f16")
  set(bfloat16_product "v_mfma_f32_32x32x8_bf16")
endif()

file(STRINGS ${ASSEMBLY} target REGEX "amdgcn_target.*--${ARCH}[\":]")
if(target STREQUAL "")
  message(FATAL_ERROR "${ASSEMBLY} is not for ${ARCH}")
endif()

# A kernel's code stands under its label, what it takes in the metadata at the end: the same kernels in the same order.
file(STRINGS ${ASSEMBLY} labels REGEX "^_Z[^ ]*probe[^ ]*:")
file(STRINGS ${ASSEMBLY} names REGEX "^ +\\.name: +_Z.*probe")
list(TRANSFORM labels REPLACE ":.*" "")
list(TRANSFORM names REPLACE "^ +\\.name: +" "")
list(LENGTH names kernels)
if(kernels EQUAL 0 OR NOT labels STREQUAL names)
  message(FATAL_ERROR "${ASSEMBLY}: kernels `${labels}` have metadata of `${names}`")
endif()
list(LENGTH stated expected)
if("${FLAGS}" STREQUAL "" AND NOT kernels EQUAL expected)
  message(FATAL_ERROR "${ASSEMBLY}: ${kernels} kernels where ${expected} were expected")
endif()
file(STRINGS ${ASSEMBLY} registers REGEX "^ +\\.vgpr_count:")
file(STRINGS ${ASSEMBLY} vector_spills REGEX "^ +\\.vgpr_spill_count:")
file(STRINGS ${ASSEMBLY} scalar_spills REGEX "^ +\\.sgpr_spill_count:")
file(STRINGS ${ASSEMBLY} scratch REGEX "^ +\\.private_segment_fixed_size:")
file(STRINGS ${ASSEMBLY} occupancy REGEX "^; Occupancy:")
set(facts registers vector_spills scalar_spills scratch occupancy)
foreach(list IN LISTS facts)
  list(LENGTH ${list} length)
  if(NOT length EQUAL kernels)
    message(FATAL_ERROR "${ASSEMBLY}: ${length} lines of ${list} for ${kernels} kernels")
  endif()
endforeach()

# Matrix instructions by kernel: products_0, products_1, ...
file(STRINGS ${ASSEMBLY} code REGEX "^_Z[^ ]*probe[^ ]*:|v_mfma_")
set(kernel -1)
foreach(line IN LISTS code)
  if(line MATCHES "(v_mfma_[a-z0-9_]+)")
    list(APPEND products_${kernel} ${CMAKE_MATCH_1})
  else()
    math(EXPR kernel "${kernel} + 1")
  endif()
endforeach()

math(EXPR last "${kernels} - 1")
foreach(i RANGE ${last})
  list(GET names ${i} name)
  if(NOT name MATCHES "(half|bfloat16).*Tilings?ILi([0-9]+)E")
    message(FATAL_ERROR "${ASSEMBLY}: kernel ${name} is not known")
  endif()
  set(type ${CMAKE_MATCH_1})
  set(dimension ${CMAKE_MATCH_2})
  set(kernel "${ARCH}, ${type}, head dimension ${dimension}")
  foreach(list IN LISTS facts)
    list(GET ${list} ${i} line)
    if(NOT line MATCHES ": *([0-9]+)$")
      message(FATAL_ERROR "${kernel}: `${line}` gives no number of ${list}")
    endif()
    set(${list}_here ${CMAKE_MATCH_1})
  endforeach()
  if(vector_spills_here GREATER 0 OR scratch_here GREATER 0)
    message(FATAL_ERROR "${kernel}: ${vector_spills_here} vector registers are spilt, ${scratch_here} bytes of "
                        "scratch; allowed: none")
  endif()
  message("${kernel}: ${registers_here} vector registers, ${scalar_spills_here} scalar ones in their lanes, "
          "occupancy ${occupancy_here} wavefronts a SIMD")
  if(NOT "${FLAGS}" STREQUAL "")
    continue()
  endif()

  list(GET stated ${i} line)
  string(REPLACE " " ";" line "${line}")
  list(GET line 0 stated_type)
  list(GET line 1 stated_dimension)
  list(GET line 2 keys)
  list(GET line 3 wavefronts)
  if(ARCH STREQUAL "gfx908")
    list(GET line 4 wavefronts)
  endif()
  if(NOT "${type} ${dimension}" STREQUAL "${stated_type} ${stated_dimension}")
    message(FATAL_ERROR "${kernel}: ${stated_type}, head dimension ${stated_dimension} was expected in its place")
  endif()
  if(occupancy_here LESS wavefronts)
    message(FATAL_ERROR "${kernel}: occupancy ${occupancy_here}; docs/mfma.md states ${wavefronts}")
  endif()

  # 32 queries by all keys of a tile by the head dimension, twice (K Q^T and V^T P^T), 32 x 32 x 8 at a time; the loops
  # over them are unrolled.
  math(EXPR needed "2 * ${keys} * ${dimension} / (32 * 8)")
  if("${${type}_product}" MATCHES "x4bf16$")
    math(EXPR needed "2 * ${needed}")
  endif()
  list(LENGTH products_${i} all)
  list(FILTER products_${i} INCLUDE REGEX "^${${type}_product}$")
  list(LENGTH products_${i} own)
  if(own LESS needed OR own LESS all)
    message(FATAL_ERROR "${kernel}: ${own} of its ${all} matrix instructions are ${${type}_product}; expected: all of "
                        "them, and ${needed} or more")
  endif()
  message("  ${own} ${${type}_product}")
endforeach()
