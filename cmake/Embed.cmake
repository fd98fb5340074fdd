# cmake -DOUTPUT=FILE.cpp -DHEADER=FILE.hpp -DNAMESPACE=NAME -P Embed.cmake -- FILE...
#
# Writes each FILE as a std::string_view into a source file: page.css becomes page_css.
set(code "#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n")
set(is_file FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(index RANGE ${last})
  set(file "${CMAKE_ARGV${index}}")
  if(is_file)
    file(READ "${file}" text)
    get_filename_component(name "${file}" NAME)
    string(REPLACE "." "_" name "${name}")
    string(APPEND code "std::string_view const ${name} = R\"embedded(${text})embedded\";\n")
  elseif(file STREQUAL "--")
    set(is_file TRUE)
  endif()
endforeach()
file(WRITE "${OUTPUT}" "${code}}  // namespace ${NAMESPACE}\n")
