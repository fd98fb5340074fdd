# Runs nvcc and keeps what its assembler says of registers, for the test hopper_code: cmake -DNVCC= -DARGUMENTS= -DLOG= -P
separate_arguments(ARGUMENTS)
execute_process(COMMAND ${NVCC} ${ARGUMENTS} OUTPUT_FILE ${LOG} ERROR_FILE ${LOG} RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  file(READ ${LOG} said)
  message(FATAL_ERROR "${said}")
endif()
