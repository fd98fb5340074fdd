# Compiles mma_probe.cu for one architecture and looks at what came out.
#   cmake -DNVCC= -DARCH= -DSOURCE_DIR= -DWORK_DIR= [-DCUOBJDUMP=] -P check_probe.cmake
set(object ${WORK_DIR}/mma_probe_${ARCH}.cubin)
execute_process(
  COMMAND ${NVCC} -std=c++20 -O3 -arch=sm_${ARCH} --expt-relaxed-constexpr -I${SOURCE_DIR} -I${SOURCE_DIR}/src
          -Xptxas -v -cubin ${SOURCE_DIR}/tests/mma/mma_probe.cu -o ${object}
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
string(APPEND output "${errors}")
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${output}")
endif()

string(REGEX MATCHALL "Compiling entry function" kernels "${output}")
list(LENGTH kernels count)
if(count LESS 14)
  message(FATAL_ERROR "${count} kernels where 14 were expected\n${output}")
endif()
string(REGEX MATCHALL "[0-9]+ bytes stack frame, [0-9]+ bytes spill stores, [0-9]+ bytes spill loads" spills
             "${output}")
list(LENGTH spills reports)
if(NOT reports EQUAL count)
  message(FATAL_ERROR "${reports} reports of spills for ${count} kernels\n${output}")
endif()
foreach(spill IN LISTS spills)
  if(NOT spill MATCHES "^0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads$")
    message(FATAL_ERROR "a kernel uses local memory: ${spill}\n${output}")
  endif()
endforeach()

if(CUOBJDUMP)
  execute_process(COMMAND ${CUOBJDUMP} -sass ${object} OUTPUT_VARIABLE sass RESULT_VARIABLE result)
  string(REGEX MATCHALL "HMMA\\.16816\\.F32|HMMA\\.1688\\.F32\\.TF32" products "${sass}")
  list(LENGTH products products)
  string(REGEX MATCH "[ \t](LDL|STL)[. ]" local "${sass}")
  if(NOT result EQUAL 0 OR products LESS 1000 OR local)
    message(FATAL_ERROR "SASS: ${products} HMMA, local memory: '${local}'")
  endif()
  message("sm_${ARCH}: ${count} kernels, no spills, ${products} HMMA")
else()
  message("sm_${ARCH}: ${count} kernels, no spills; no cuobjdump here to look at their instructions")
endif()
