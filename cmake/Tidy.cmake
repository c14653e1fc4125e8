# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# clang-tidy over our own files. Its own target, so that an ordinary build never waits for it. The version is fixed:
# another one knows other checks. Most of its time goes into the headers, so that it is given several files as one
# (CMAKE_UNITY_BUILD), which reads them once. clang's analyzer looks only at what stands in the file that it is given,
# not at what that includes; tidy_joined.cmake therefore puts the text of the files where their #include was.
find_program(KRYSOL_RUN_CLANG_TIDY run-clang-tidy-14)
find_program(KRYSOL_CLANG_TIDY clang-tidy-14)
if(NOT KRYSOL_RUN_CLANG_TIDY OR NOT KRYSOL_CLANG_TIDY)
  message(FATAL_ERROR "KRYSOL_TIDY needs clang-tidy 14, and its omp.h: apt install clang-tidy-14 libomp-14-dev")
endif()
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
# Files that make the same templates for other numbers show nothing new, and take a minute each.
set(same_again "select/formats_(float|complex_float|complex_double|reduced_double|reduced_complex_double)[.]")
set(ours "${PROJECT_SOURCE_DIR}/(?!(.*/)?${same_again})(io|spmv|solver|gallery|analysis|report|apps)/.*[.]cpp$")
add_custom_target(krysol_tidy
  COMMAND ${CMAKE_COMMAND} -D "FOLDER=${PROJECT_BINARY_DIR}" -P ${PROJECT_SOURCE_DIR}/cmake/tidy_joined.cmake
  COMMAND ${KRYSOL_RUN_CLANG_TIDY} -clang-tidy-binary ${KRYSOL_CLANG_TIDY} -quiet -j ${cores} -p ${PROJECT_BINARY_DIR}
    "^(${ours}|${PROJECT_BINARY_DIR}/(?!examples/).*Unity/unity_[a-z0-9_]+_cxx[.]cxx$)"
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} USES_TERMINAL VERBATIM)
