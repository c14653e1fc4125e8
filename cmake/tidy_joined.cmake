# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# cmake -D UNIT=FILE -D ROOT=TREE -D PATTERNS=A,B -P tidy_joined.cmake: the text of all files of the tree that a pattern
# names, as one. The text, because clang's analyzer looks only at what stands in the file that it is given, not at what
# that includes; its messages name the files that it came from.
string(REPLACE "," ";" PATTERNS "${PATTERNS}")
list(TRANSFORM PATTERNS PREPEND ${ROOT}/)
file(GLOB_RECURSE sources ${PATTERNS})
# Files that make the same templates for other numbers show nothing new.
list(FILTER sources EXCLUDE REGEX "select/formats_(float|complex_float|complex_double|reduced_double|reduced_complex_double)[.]")
if(NOT sources)
  message(FATAL_ERROR "no file in ${ROOT} is named by ${PATTERNS}")
endif()
set(text "")
foreach(source IN LISTS sources)
  file(READ ${source} code)
  string(APPEND text "#line 1 \"${source}\"\n${code}")
endforeach()
file(WRITE ${UNIT} "${text}")
