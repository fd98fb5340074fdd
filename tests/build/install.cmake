# Installs the build into a folder of its own, and forgets what earlier runs configured against it.
file(REMOVE_RECURSE ${PREFIX} ${STALE})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX} COMMAND_ERROR_IS_FATAL ANY)
