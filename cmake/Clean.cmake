# make clean: removes what was built and keeps build/deps, which takes a download to make again.
file(GLOB entries LIST_DIRECTORIES true ${CMAKE_CURRENT_LIST_DIR}/../build/*)
list(FILTER entries EXCLUDE REGEX "/deps[^/]*$")
if(entries)
  file(REMOVE_RECURSE ${entries})
endif()
if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/../build/deps)
  message("build/ is empty but for build/deps (Kokkos); `make distclean` removes that too")
endif()
