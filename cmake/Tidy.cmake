# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# krysol_tidy: clang-tidy over our own files. Its own target, so that an ordinary build never waits for it. The version is
# fixed: another one knows other checks. Its checks walk through the headers too, 10 s for each file that includes Kokkos,
# so it is given the files of a room as one, whatever libraries they belong to; a program's own file stays by itself.
find_program(KRYSOL_CLANG_TIDY clang-tidy-14)
if(NOT KRYSOL_CLANG_TIDY)
  message(FATAL_ERROR "KRYSOL_TIDY needs clang-tidy 14, and its omp.h: apt install clang-tidy-14 libomp-14-dev")
endif()
set(joined_dir ${PROJECT_BINARY_DIR}/tidy)
set(units)
set(written)
# What takes longest comes first, so that no core waits for it in the end.
function(krysol_tidy_unit name)  # PATTERNS-OF-FILES...
  set(unit ${joined_dir}/${name}.cpp)
  string(REPLACE ";" "," patterns "${ARGN}")
  # The files are read again in each run, this only makes one for CMake to see.
  set(join ${CMAKE_COMMAND} -D "UNIT=${unit}" -D "ROOT=${PROJECT_SOURCE_DIR}" -D "PATTERNS=${patterns}"
    -P ${PROJECT_SOURCE_DIR}/cmake/tidy_joined.cmake)
  execute_process(COMMAND ${join} COMMAND_ERROR_IS_FATAL ANY)
  add_custom_target(krysol_tidy_${name} COMMAND ${join}
    COMMAND ${KRYSOL_CLANG_TIDY} --quiet -p ${PROJECT_BINARY_DIR} ${unit}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
  set(units ${units} krysol_tidy_${name} PARENT_SCOPE)
  set(written ${written} ${unit} PARENT_SCOPE)
endfunction()
krysol_tidy_unit(spmv "spmv/*.cpp")
krysol_tidy_unit(solver "solver/*.cpp")
krysol_tidy_unit(programs "apps/common/*.cpp" "apps/bench/*.cpp" "apps/regress/*.cpp")
krysol_tidy_unit(rooms "gallery/*.cpp" "analysis/*.cpp" "report/s*.cpp")
krysol_tidy_unit(report "report/*.cpp")
krysol_tidy_unit(io_files "io/bytes/*.cpp" "io/cache/*.cpp" "io/model/*.cpp")
krysol_tidy_unit(io_matrix_market "io/matrix_market/*.cpp" "io/read*.cpp")
krysol_tidy_unit(io_harwell_boeing "io/harwell_boeing/*.cpp")
krysol_tidy_unit(io_text "io/text/*.cpp")
foreach(program cg_solve matrix_convert matrix_info spmv_bench gemm_bench regress)
  krysol_tidy_unit(${program} "apps/${program}.cpp")
endforeach()
# How they are compiled, for compile_commands.json alone: with all that one of them may use.
add_library(krysol_tidy_units OBJECT EXCLUDE_FROM_ALL ${written})
krysol_own_target(krysol_tidy_units)
if(KRYSOL_METIS AND METIS_INCLUDE_DIR)
  target_compile_definitions(krysol_tidy_units PRIVATE KRYSOL_HAVE_METIS)
  target_include_directories(krysol_tidy_units SYSTEM PRIVATE ${METIS_INCLUDE_DIR})
endif()
target_link_libraries(krysol_tidy_units PRIVATE krysol_apps krysol_matrix_report krysol_run_report krysol_eigen krysol_xxhash LibArchive::LibArchive)
if(PNG_FOUND)
  target_compile_definitions(krysol_tidy_units PRIVATE KRYSOL_HAVE_PNG)
  target_link_libraries(krysol_tidy_units PRIVATE PNG::PNG)
endif()
target_include_directories(krysol_tidy_units PRIVATE ${PROJECT_BINARY_DIR}/report/generated)  # the texts of pages
krysol_link_peers(krysol_tidy_units)
add_custom_target(krysol_tidy DEPENDS ${units})
