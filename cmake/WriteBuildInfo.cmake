# Run by the target flashpad_build_info; see BuildInfo.cmake.

set(GIT_REVISION "unknown")
if(GIT)
  # --always: a revision without tags; --dirty: the tree has changes that no revision names.
  execute_process(
    COMMAND ${GIT} -c safe.directory=* describe --always --dirty --abbrev=12 --match=v*
    WORKING_DIRECTORY ${SOURCE_DIR}
    OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(GIT_REVISION ${revision})
  endif()
endif()
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
