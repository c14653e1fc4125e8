# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What krysol::krysol and krysol::float are, apart from their names: the function is called once more for each level of
# x86-64 that a package holds beside the portable library.

# Eigen takes compilers five seconds to read, and files share most of what they instantiate of it: those of a library are
# compiled as one.
set(eigen_sources solver/cholesky/factors.cpp solver/multigrid/coarsest.cpp solver/precond/block_jacobi.cpp
  solver/precond/fsai.cpp)
krysol_vectorizes_eigen(${eigen_sources})
function(krysol_join_eigen target sources_variable)
  if(KRYSOL_JOINED_FOR_DEVICE)
    return()
  endif()
  set(sources ${${sources_variable}})
  set(text "")
  foreach(source IN LISTS eigen_sources)
    if(source IN_LIST sources)
      list(REMOVE_ITEM sources ${source})
      string(APPEND text "#include \"${PROJECT_SOURCE_DIR}/${source}\"\n")
    endif()
  endforeach()
  set(unit ${PROJECT_BINARY_DIR}/joined/${target}_eigen.cpp)
  file(CONFIGURE OUTPUT ${unit} CONTENT "${text}" @ONLY)
  krysol_vectorizes_eigen(${unit})
  krysol_compiled_alone(${unit})
  list(PREPEND sources ${unit})  # it takes longest but for the formats
  set(${sources_variable} ${sources} PARENT_SCOPE)
endfunction()
# XXH3 likewise, and its functions that must be inlined cannot be with -Og.
krysol_file_options(io/bytes/hash.cpp
  "$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-uninitialized;$<$<CONFIG:Debug>:-O1>>")
# The tests of dense products are most of what sanitizers run.
krysol_file_options("spmv/dense/dense.cpp;spmv/dense/dense_panels.cpp"
  "$<$<AND:$<CXX_COMPILER_ID:GNU,Clang>,$<CONFIG:Debug>>:-O1>")
if(KRYSOL_KOKKOS_KERNELS AND TARGET Kokkos::kokkoskernels)
  set(KRYSOL_HAVE_KOKKOS_KERNELS ON)
  list(APPEND KRYSOL_SOURCES spmv/formats/kokkos_kernels.cpp)
  list(APPEND KRYSOL_FLOAT_SOURCES spmv/formats/kokkos_kernels.cpp)
else()
  set(KRYSOL_HAVE_KOKKOS_KERNELS OFF)
endif()
if(KRYSOL_METIS AND METIS_INCLUDE_DIR AND METIS_LIBRARY)
  set(KRYSOL_HAVE_METIS ON)
  set_property(SOURCE spmv/order/partition.cpp APPEND PROPERTY COMPILE_DEFINITIONS KRYSOL_HAVE_METIS)
else()
  set(KRYSOL_HAVE_METIS OFF)
endif()

# Functions of which a process has one instance, whoever holds it: those that a static Kokkos brings along, for they keep state.
# Kokkos' templates are not among them: they are our kernels.
function(krysol_write_shared_functions file)
  set(names "")
  foreach(library IN ITEMS kokkoscore kokkoscontainers)
    if(NOT TARGET Kokkos::${library})
      continue()
    endif()
    get_target_property(imported Kokkos::${library} IMPORTED)
    if(NOT imported)  # built later than this runs
      set(names " _ZN6Kokkos*; _ZNK6Kokkos*;")
      break()
    endif()
    get_target_property(type Kokkos::${library} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      get_target_property(location Kokkos::${library} LOCATION)
      execute_process(COMMAND ${CMAKE_NM} -g --defined-only ${location} OUTPUT_VARIABLE symbols ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
      string(REGEX MATCHALL " T [A-Za-z0-9_]+" found "${symbols}")
      list(TRANSFORM found REPLACE "^ T (.*)$" " \\1")
      foreach(name IN LISTS found)
        string(APPEND names "${name};")
      endforeach()
    endif()
  endforeach()
  if(names)
    file(CONFIGURE OUTPUT ${file} CONTENT "{${names} };\n")
  else()
    file(REMOVE ${file})
  endif()
endfunction()

# A shared library calls its own instances of templates, not those that a program or another library has by the same
# names, compiled for other processors.
function(krysol_bind_own_functions target)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "SHARED_LIBRARY" AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang" AND NOT APPLE)
    set(shared ${PROJECT_BINARY_DIR}/shared_functions.list)
    get_property(written GLOBAL PROPERTY krysol_shared_functions_written)
    if(NOT written)
      krysol_write_shared_functions(${shared})
      set_property(GLOBAL PROPERTY krysol_shared_functions_written ON)
    endif()
    target_link_options(${target} PRIVATE "LINKER:-Bsymbolic-functions")
    if(EXISTS ${shared})
      target_link_options(${target} PRIVATE "LINKER:--dynamic-list=${shared}")
      set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${shared})
    endif()
  endif()
endfunction()

function(krysol_library target)
  set(sources ${KRYSOL_SOURCES})
  krysol_join_eigen(${target} sources)
  add_library(${target} ${sources})
  krysol_own_target(${target})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME krysol LINKER_LANGUAGE CXX POSITION_INDEPENDENT_CODE ON
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include> $<INSTALL_INTERFACE:include>)
  target_link_libraries(${target}
    PUBLIC Kokkos::kokkos
    # Header-only, and seen by our .cpp files alone: whoever uses an installed krysol needs none of them.
    PRIVATE $<BUILD_INTERFACE:krysol_fmt> $<BUILD_INTERFACE:krysol_fast_float> $<BUILD_INTERFACE:krysol_eigen>
            $<BUILD_INTERFACE:krysol_xxhash>
            LibArchive::LibArchive Threads::Threads)
  if(KRYSOL_HAVE_KOKKOS_KERNELS)
    target_compile_definitions(${target} PUBLIC KRYSOL_HAVE_KOKKOS_KERNELS)  # the list of formats is in a header
    target_link_libraries(${target} PRIVATE Kokkos::kokkoskernels)
  endif()
  if(KRYSOL_HAVE_METIS)
    target_include_directories(${target} SYSTEM PRIVATE ${METIS_INCLUDE_DIR})
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${METIS_LIBRARY}> $<INSTALL_INTERFACE:metis>)
  endif()
  if(NOT KRYSOL_SERIAL AND ("OPENMP" IN_LIST Kokkos_DEVICES OR Kokkos_ENABLE_OPENMP))
    target_compile_definitions(${target} PUBLIC KRYSOL_WITHOUT_SERIAL)
  endif()
  krysol_compiler_repairs(${target})
  krysol_bind_own_functions(${target})
  krysol_compiled_by_folder(${target} ${sources})
  krysol_join_host_only(${target})
  krysol_precompile(${target} <Kokkos_Core.hpp> <complex> <functional> <memory> <string> <vector>)
endfunction()

# Of the library `krysol_target`, its headers' settings and its precompiled headers.
function(krysol_float_library target krysol_target)
  set(sources ${KRYSOL_FLOAT_SOURCES})
  krysol_join_eigen(${target} sources)
  add_library(${target} ${sources})
  krysol_own_target(${target})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME krysol_float LINKER_LANGUAGE CXX POSITION_INDEPENDENT_CODE ON
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_compile_definitions(${target} PRIVATE KRYSOL_FOR_FLOAT INTERFACE KRYSOL_HAVE_FLOAT)
  target_link_libraries(${target} PUBLIC ${krysol_target}
    PRIVATE $<BUILD_INTERFACE:krysol_fmt> $<BUILD_INTERFACE:krysol_fast_float> $<BUILD_INTERFACE:krysol_eigen>)
  if(KRYSOL_HAVE_KOKKOS_KERNELS)
    target_link_libraries(${target} PRIVATE Kokkos::kokkoskernels)
  endif()
  krysol_bind_own_functions(${target})
  krysol_compiled_by_folder(${target} ${sources})
  krysol_precompile(${target} REUSE_FROM ${krysol_target})
endfunction()

# The same libraries for a level of x86-64, where glibc's loader (2.33 and later) looks first when the processor has that
# level: under the same names, in glibc-hwcaps beside the portable ones.
function(krysol_level level)
  set(folder glibc-hwcaps/x86-64-${level})
  set(libraries krysol_${level})
  krysol_library(krysol_${level})
  if(KRYSOL_FLOAT)
    krysol_float_library(krysol_float_${level} krysol_${level})
    list(APPEND libraries krysol_float_${level})
  endif()
  foreach(target IN LISTS libraries)
    target_compile_options(${target} PRIVATE -march=x86-64-${level})
    # Tuned for the first processors that had it, as -march=native is for the one at hand: what g++ does for any processor
    # takes 1.2 to 1.5 times as long on stencils (registers of 64 bytes that cross the lines of the caches, no gathers).
    target_compile_options(${target} PRIVATE -mtune=$<IF:$<STREQUAL:${level},v4>,skylake-avx512,haswell>)
    set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${folder})
  endforeach()
  if(KRYSOL_INSTALL)
    include(GNUInstallDirs)
    install(TARGETS ${libraries} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/${folder} NAMELINK_SKIP)
  endif()
endfunction()
