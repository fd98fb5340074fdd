# Fails where an engine's object file, compiled for one processor level, defines a function that the linker could
# take for every processor (weak: an inline function or a template), or anything but its table of micro-kernels.
foreach(object IN LISTS OBJECTS)
  execute_process(COMMAND ${NM} -C --defined-only ${object} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  if(NOT output MATCHES " T flashpad::engines::[a-z0-9_]*tables[a-z0-9_]*\\(\\)")
    message(SEND_ERROR "${object} defines no table")
  endif()
  string(REGEX MATCHALL "[^\n]+" lines "${output}")
  foreach(line IN LISTS lines)
    if(line MATCHES "^[0-9a-f]+ [A-Zu] " AND NOT line MATCHES " T flashpad::engines::[a-z0-9_]*tables[a-z0-9_]*\\(\\)$")
      message(SEND_ERROR "${object} defines: ${line}")
    endif()
  endforeach()
endforeach()
