include(GoogleTest)

# Kokkos advises to bind threads; several tests at once would then share one core.
set(FLASHPAD_TEST_ENVIRONMENT "OMP_PROC_BIND=false")
set(FLASHPAD_TEST_TIMEOUT 300)
if(FLASHPAD_SANITIZE MATCHES "thread")
  set(FLASHPAD_TEST_TIMEOUT 1800)
endif()

# flashpad_test(NAME <name> LABEL unit|numeric|cli|build|gpu SOURCES <file>...
#               [KOKKOS_SOURCES <file>...] [LIBRARIES <target>...])
#
# KOKKOS_SOURCES are those that include Kokkos.
#
# One GoogleTest program; each of its tests becomes a ctest test named <name>.<suite>.<test>, or, of LABEL numeric and
# gpu where the Kokkos found has a GPU's backend, a few of them one named <name>.part<n>. The program
# links GoogleTest's own main unless its sources define one. "test_paths.hpp" defines FLASHPAD_SOURCE_DIR (the
# project) and, with LABEL cli, FLASHPAD_CLI (the driver).
set(flashpad_host_backend openmp)  # the simplest that this Kokkos has: it may lack either
if("serial" IN_LIST flashpad_kokkos_devices)
  set(flashpad_host_backend serial)
elseif("threads" IN_LIST flashpad_kokkos_devices)
  set(flashpad_host_backend threads)
endif()

set(flashpad_has_gpu FALSE)
if("${flashpad_kokkos_devices}" MATCHES "cuda|hip")
  set(flashpad_has_gpu TRUE)
endif()

function(flashpad_test)
  cmake_parse_arguments(PARSE_ARGV 0 test "" "NAME;LABEL" "SOURCES;KOKKOS_SOURCES;LIBRARIES")
  if(NOT test_LABEL MATCHES "^(unit|numeric|cli|build|gpu)$")
    message(FATAL_ERROR "flashpad_test(${test_NAME}): LABEL is `${test_LABEL}`; allowed: unit, numeric, cli, build, gpu")
  endif()

  set(target test_${test_NAME})
  add_executable(${target} ${test_SOURCES} ${test_KOKKOS_SOURCES})
  flashpad_kokkos_sources(${target} ${test_KOKKOS_SOURCES})
  target_link_libraries(
    ${target} PRIVATE ${test_LIBRARIES} GTest::gmock GTest::gtest_main flashpad_warnings)
  # A header and no definitions: nvcc_wrapper loses the quotes of a definition for the host's compiler.
  set(paths "#define FLASHPAD_SOURCE_DIR \"${PROJECT_SOURCE_DIR}\"\n")
  if(test_LABEL STREQUAL "cli")
    string(APPEND paths "#define FLASHPAD_CLI \"$<TARGET_FILE:flashpad_cli>\"\n")
    string(APPEND paths "#define FLASHPAD_HOST_BACKEND \"${flashpad_host_backend}\"\n")
    add_dependencies(${target} flashpad_cli)
  endif()
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${target}_paths/test_paths.hpp CONTENT "${paths}")
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${target}_paths)

  # On a GPU too, where the Kokkos found has one.
  if(flashpad_has_gpu AND test_LABEL MATCHES "^(numeric|gpu)$")
    if(test_LABEL STREQUAL "gpu")
      flashpad_test_parts(${test_NAME} ${target} 1 gpu)
      set_tests_properties(${test_NAME}.part1 PROPERTIES RUN_SERIAL TRUE)  # it takes all memory that there is
    else()
      flashpad_test_parts(${test_NAME} ${target} 4 "numeric;gpu")
    endif()
    return()
  endif()

  gtest_discover_tests(
    ${target}
    TEST_PREFIX ${test_NAME}.
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS "${test_LABEL}" TIMEOUT ${FLASHPAD_TEST_TIMEOUT} SKIP_RETURN_CODE 77
               ENVIRONMENT "${FLASHPAD_TEST_ENVIRONMENT}"
               # What the user has tuned is not to be seen. Of its own, as discovery takes a list apart.
               ENVIRONMENT_MODIFICATION "FLASHPAD_TUNING_CACHE=set:off")
endfunction()

# flashpad_test_parts(<name> <target> <parts> <labels> [<argument>...]): a GoogleTest program in so many ctest tests,
# <name>.part<n>, of a share of its tests each. For a GPU, whose driver takes a process a quarter of a second to start,
# longer than most tests: one by one the numeric suite was 20 minutes there. What a test says of a failure, or of why it
# was skipped, is all that is printed; exit code 77 skips the whole part.
function(flashpad_test_parts name target parts labels)
  foreach(part RANGE 1 ${parts})
    math(EXPR index "${part} - 1")
    add_test(NAME ${name}.part${part} COMMAND ${target} ${ARGN})
    set_tests_properties(
      ${name}.part${part}
      PROPERTIES LABELS "${labels}" TIMEOUT 1200 SKIP_RETURN_CODE 77
                 ENVIRONMENT "${FLASHPAD_TEST_ENVIRONMENT};OMP_WAIT_POLICY=passive;FLASHPAD_TUNING_CACHE=off;GTEST_BRIEF=1;\
GTEST_TOTAL_SHARDS=${parts};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()

# flashpad_skipped_test(<name> <label> <reason>): a test that is not there, with the reason. It runs nothing, so that
# the word that skips it can hide no failure.
function(flashpad_skipped_test name label reason)
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: ${reason}")
  set_tests_properties(${name} PROPERTIES LABELS ${label} SKIP_REGULAR_EXPRESSION "^SKIPPED: ")
endfunction()

# For the tests that read the instructions of CUDA kernels.
find_program(FLASHPAD_CUOBJDUMP cuobjdump HINTS ${CUDAToolkit_BIN_DIR})
mark_as_advanced(FLASHPAD_CUOBJDUMP)
