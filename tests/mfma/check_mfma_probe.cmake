# Compiles mfma_probe.hip.cpp to assembly for one architecture and reads what its metadata says of each kernel.
#   cmake -DHIPCC= -DARCH= -DSOURCE_DIR= -DASSEMBLY= [-DFLAGS=] -P check_probe.cmake
execute_process(
  COMMAND ${HIPCC} --offload-arch=${ARCH} -std=c++17 -O3 -I${SOURCE_DIR} -I${SOURCE_DIR}/src ${FLAGS} -S
          --cuda-device-only ${SOURCE_DIR}/tests/mfma/mfma_probe.hip.cpp -o ${ASSEMBLY}
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${output}")
endif()

# One line of each kind for each kernel, in the order of the kernels.
file(STRINGS ${ASSEMBLY} names REGEX "^ +\\.name: +_Z.*probe")
file(STRINGS ${ASSEMBLY} registers REGEX "^ +\\.vgpr_count:")
file(STRINGS ${ASSEMBLY} vector_spills REGEX "^ +\\.vgpr_spill_count:")
file(STRINGS ${ASSEMBLY} scalar_spills REGEX "^ +\\.sgpr_spill_count:")
file(STRINGS ${ASSEMBLY} scratch REGEX "^ +\\.private_segment_fixed_size:")
file(STRINGS ${ASSEMBLY} occupancy REGEX "^; Occupancy:")
list(LENGTH names kernels)
foreach(list IN ITEMS registers vector_spills scalar_spills scratch occupancy)
  list(LENGTH ${list} length)
  if(NOT length EQUAL kernels OR kernels EQUAL 0)
    message(FATAL_ERROR "${ASSEMBLY}: ${length} lines of ${list} for ${kernels} kernels")
  endif()
endforeach()
if("${FLAGS}" STREQUAL "" AND NOT kernels EQUAL 12)
  message(FATAL_ERROR "${ASSEMBLY}: ${kernels} kernels where 12 were expected")
endif()

math(EXPR last "${kernels} - 1")
foreach(i RANGE ${last})
  list(GET names ${i} name)
  string(REGEX REPLACE ".*(half|bfloat16).*Tilings?ILi([0-9]+)E.*" "\\1, head dimension \\2" name "${name}")
  foreach(list IN ITEMS registers vector_spills scalar_spills scratch occupancy)
    list(GET ${list} ${i} line)
    string(REGEX REPLACE ".*: *([0-9]+).*" "\\1" ${list}_here "${line}")
  endforeach()
  if(vector_spills_here GREATER 0 OR scratch_here GREATER 0)
    message(FATAL_ERROR "${ARCH}, ${name}: ${vector_spills_here} vector registers are spilt, ${scratch_here} bytes of "
                        "scratch; allowed: none")
  endif()
  message("${ARCH}, ${name}: ${registers_here} vector registers, ${scalar_spills_here} scalar ones in their lanes, "
          "occupancy ${occupancy_here} wavefronts a SIMD")
endforeach()

set(bf16 "v_mfma_f32_32x32x8bf16_1k")
if(ARCH STREQUAL "gfx908")
  set(bf16 "v_mfma_f32_32x32x4bf16")
elseif(ARCH MATCHES "^gfx94")
  set(bf16 "v_mfma_f32_32x32x8_bf16")
endif()
file(STRINGS ${ASSEMBLY} fp16_products REGEX "v_mfma_f32_32x32x8_?f16 ")
file(STRINGS ${ASSEMBLY} bf16_products REGEX "${bf16} ")
list(LENGTH fp16_products fp16_count)
list(LENGTH bf16_products bf16_count)
if("${FLAGS}" STREQUAL "" AND (fp16_count LESS 300 OR bf16_count LESS 300))
  message(FATAL_ERROR "${ARCH}: ${fp16_count} products of fp16 and ${bf16_count} of bf16; expected: more than 300 each")
endif()
message("${ARCH}: ${kernels} kernels without a spill; ${fp16_count} products of fp16, ${bf16_count} of bf16 (${bf16})")
