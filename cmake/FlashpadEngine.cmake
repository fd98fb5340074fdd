# flashpad_engine(<file> LEVELS <level>...)
#
# Compiles an engine's source file once for each processor level (baseline, v3, v4: the x86-64 levels; avx512_bf16:
# v4 with that extension; amx_bf16: that and AMX), with
# FLASHPAD_LEVEL defined as the level's name; levels of another processor than the target's are left out.
# FLASHPAD_HAS_LEVEL_<level> is defined for the rest of the library, which picks one at run time.
#
# An engine sees neither Kokkos nor the library's settings: code compiled for a newer processor must not
# define an inline function that the linker could keep for every processor.

set(FLASHPAD_LEVELS baseline)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  list(APPEND FLASHPAD_LEVELS v3 v4)
  # Clang 16 optimises vdpbf16ps without end, until its stack is full (19 does not; hipcc is a Clang too): bf16 is
  # then multiplied by portable-v4.
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang" OR CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 19)
    list(APPEND FLASHPAD_LEVELS avx512_bf16)
  endif()
endif()
set(FLASHPAD_LEVEL_FLAGS_baseline "")
set(FLASHPAD_LEVEL_FLAGS_v3 -march=x86-64-v3)
set(FLASHPAD_LEVEL_FLAGS_v4 -march=x86-64-v4)
set(FLASHPAD_LEVEL_FLAGS_avx512_bf16 -march=x86-64-v4 -mavx512bf16)
set(FLASHPAD_LEVEL_FLAGS_amx_bf16 -march=x86-64-v4 -mavx512bf16 -mamx-tile -mamx-bf16)

foreach(level IN LISTS FLASHPAD_LEVELS)
  target_compile_definitions(flashpad_objects PUBLIC FLASHPAD_HAS_LEVEL_${level})
endforeach()
if(avx512_bf16 IN_LIST FLASHPAD_LEVELS)
  list(APPEND FLASHPAD_LEVELS amx_bf16)  # compiled wherever that is, under its name
endif()

function(flashpad_engine file)
  cmake_parse_arguments(PARSE_ARGV 1 engine "" "" "LEVELS")
  cmake_path(GET file STEM name)
  foreach(level IN LISTS engine_LEVELS)
    if(NOT level IN_LIST FLASHPAD_LEVELS)
      continue()
    endif()
    set(target flashpad_engine_${name}_${level})
    add_library(${target} OBJECT ${file})
    set_property(GLOBAL APPEND PROPERTY FLASHPAD_ENGINE_TARGETS ${target})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
    target_compile_definitions(${target} PRIVATE FLASHPAD_LEVEL=${level})
    # -ffp-contract=fast lets a * b + c be one rounding; it is no fast-math, and NaN and Inf keep their rules.
    target_compile_options(
      ${target} PRIVATE ${FLASHPAD_LEVEL_FLAGS_${level}} $<$<NOT:$<CONFIG:Debug>>:-O3> -ffp-contract=fast)
    target_link_libraries(${target} PRIVATE flashpad_warnings)
    target_sources(flashpad PRIVATE $<TARGET_OBJECTS:${target}>)
    target_sources(flashpad_objects INTERFACE $<TARGET_OBJECTS:${target}>)
  endforeach()
endfunction()
