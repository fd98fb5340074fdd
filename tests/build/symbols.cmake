# Fails where the shared library exports what is not its interface: the rooms inside it, or a copy of Kokkos'
# or fmt's code that the linker could prefer to the program's own.
execute_process(COMMAND ${NM} -D -C --defined-only ${LIBRARY} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" lines "${output}")
if(NOT output MATCHES "flashpad::Plan<")
  message(FATAL_ERROR "${LIBRARY} does not export flashpad::Plan")
endif()
foreach(line IN LISTS lines)
  # The name without its arguments, which may be of any type.
  string(REGEX REPLACE "[(<].*" "" name "${line}")
  if(name MATCHES "(Kokkos[A-Za-z]*|fmt|nlohmann|flashpad::(tuning|detail|engines|kokkos_ext|naive|fused))::")
    message(SEND_ERROR "exported: ${line}")
  endif()
endforeach()
