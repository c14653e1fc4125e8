# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# cmake -D FOLDER=BUILD -P tidy_joined.cmake: in the files that CMAKE_UNITY_BUILD wrote, the text of each .cpp instead of its
# #include. CMake writes them anew whenever it configures.
cmake_policy(SET CMP0009 NEW)  # not through links
file(GLOB_RECURSE units ${FOLDER}/unity_*_cxx.cxx)
foreach(unit IN LISTS units)
  file(READ ${unit} text)
  string(REGEX MATCHALL "#include \"[^\"]+[.]cpp\"" includes "${text}")
  foreach(include IN LISTS includes)
    string(REGEX REPLACE "#include \"(.+)\"" "\\1" source "${include}")
    file(READ ${source} code)
    string(REPLACE "${include}" "#line 1 \"${source}\"\n${code}" text "${text}")
  endforeach()
  file(WRITE ${unit} "${text}")
endforeach()
