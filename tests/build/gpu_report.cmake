# scripts/gpu_report.sh takes one of three words, refuses all else before it writes anything, and explains itself.
#   cmake -DSCRIPT= -DFOLDER= -P gpu_report.cmake
# A copy of the script runs, in a folder with nothing else in it.
file(REMOVE_RECURSE ${FOLDER})
file(COPY ${SCRIPT} DESTINATION ${FOLDER}/scripts)

# expect(CODE TEXT WORD...)
function(expect code text)
  execute_process(COMMAND bash ${FOLDER}/scripts/gpu_report.sh ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  file(GLOB left RELATIVE ${FOLDER} ${FOLDER}/*)
  string(FIND "${output}" "${text}" at)
  if(NOT result EQUAL code OR at EQUAL -1 OR NOT left STREQUAL "scripts" OR output MATCHES "\n.")
    message(FATAL_ERROR "`${ARGN}`: ${result}, `${output}`, and wrote `${left}`; expected ${code} and `${text}`")
  endif()
endfunction()

expect(0 "usage: gpu_report.sh hip|cuda|default" --help)
expect(2 "no preset; usage: ")
expect(2 "preset ../../x; allowed: hip, cuda, default; usage: " ../../x)
expect(2 "preset --verbose; allowed: " --verbose)
expect(2 "$'a\\nb'; allowed: " "a\nb")
expect(2 "preset asan; allowed: " asan)
expect(2 "again is one word too many; usage: " hip again)
