# Compiles mma_probe.cu for one architecture and reads what the assembler says of spills.
#   cmake -DNVCC= -DARCH= -DSOURCE_DIR= -DOBJECT= -P check_probe.cmake
#
# No more than these bytes of the kernel that spills most (stores, loads) and no more kernels that spill: what nvcc 13.0
# makes of them (docs/mma.md). On sm_90 the two 16-bit ones of d = 64 spill one register, which under Kokkos they do not.
set(most_80 0 0 0)
set(most_90 4 4 2)

execute_process(
  COMMAND ${NVCC} -std=c++20 -O3 -arch=sm_${ARCH} --expt-relaxed-constexpr -I${SOURCE_DIR} -I${SOURCE_DIR}/src
          -Xptxas -v -cubin ${SOURCE_DIR}/tests/mma/mma_probe.cu -o ${OBJECT}
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
list(GET most_${ARCH} 0 most_stores)
list(GET most_${ARCH} 1 most_loads)
list(GET most_${ARCH} 2 most_kernels)
set(spilling 0)
foreach(spill IN LISTS spills)
  string(REGEX MATCHALL "[0-9]+" numbers "${spill}")
  list(GET numbers 1 stores)
  list(GET numbers 2 loads)
  if(stores GREATER most_stores OR loads GREATER most_loads)
    message(FATAL_ERROR "sm_${ARCH}: ${spill}; allowed: ${most_stores} bytes of stores, ${most_loads} of loads\n${output}")
  endif()
  if(stores GREATER 0 OR loads GREATER 0)
    math(EXPR spilling "${spilling} + 1")
  endif()
endforeach()
if(spilling GREATER most_kernels)
  message(FATAL_ERROR "sm_${ARCH}: ${spilling} kernels spill; allowed: ${most_kernels}\n${output}")
endif()
message("sm_${ARCH}: ${count} kernels, ${spilling} of which spill, within ${most_stores} bytes of stores and ${most_loads} of loads")
