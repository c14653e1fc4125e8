# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What holds for our own files only. All of it is PRIVATE: a consumer's flags are the consumer's choice.

# An installed Kokkos knows which compiler it was built for; its own variables say which devices it drives.
set(KRYSOL_BACKEND OpenMP)
if("CUDA" IN_LIST Kokkos_DEVICES OR Kokkos_ENABLE_CUDA)
  set(KRYSOL_BACKEND CUDA)
elseif("HIP" IN_LIST Kokkos_DEVICES OR Kokkos_ENABLE_HIP)
  set(KRYSOL_BACKEND HIP)
elseif("OPENMPTARGET" IN_LIST Kokkos_DEVICES OR Kokkos_ENABLE_OPENMPTARGET)
  set(KRYSOL_BACKEND OpenMPTarget)
elseif(NOT ("OPENMP" IN_LIST Kokkos_DEVICES OR Kokkos_ENABLE_OPENMP))
  set(KRYSOL_BACKEND Serial)
endif()
# Compilers for devices go through a file once for the host and once for the device.
set(KRYSOL_DEVICE_COMPILER OFF)
if(KRYSOL_BACKEND MATCHES "CUDA|HIP|OpenMPTarget")
  set(KRYSOL_DEVICE_COMPILER ON)
endif()

function(krysol_own_target target)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  if(KRYSOL_BACKEND STREQUAL "CUDA")
    # nvcc hands the host compiler rewritten source, in which -Wpedantic, -Wshadow and -Wconversion find
    # only nvcc's own constructs. The same files are held to the full set by every OpenMP build.
    target_compile_options(${target} PRIVATE -Wall -Wextra)
  elseif(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # Functions that return vector registers are always inlined, or take the register by reference (spmv/base/pack.hpp). g++
      # cannot know, and warns wherever it compiles for a processor without such registers.
      target_compile_options(${target} PRIVATE -Wno-psabi)
      # A loop of five instructions that crosses a line of the cache of instructions takes up to 1.4 times as long, and whether
      # it does is otherwise up to the size of all that stands before it.
      target_compile_options(${target} PRIVATE -falign-functions=64 -falign-loops=32)
      # What -O3 inlines of functions of 70 to 200 instructions makes compiling kernels take 1.4 times as long, and none of them
      # faster: what must be inlined says so. (Not as an option of single files: a precompiled header brings its own.)
      target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:--param=max-inline-insns-single=70>)
      if(CMAKE_UNITY_BUILD)
        # g++ takes types without linkage for those of a header where a file is not compiled by itself, and names of a
        # function for copies of those that another file keeps to itself.
        target_compile_options(${target} PRIVATE -Wno-subobject-linkage -Wno-shadow)
      endif()
    endif()
    if(KRYSOL_WERROR)
      target_compile_options(${target} PRIVATE -Werror)
    endif()
  endif()
  if(KRYSOL_BACKEND STREQUAL "Serial" AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    target_compile_options(${target} PRIVATE -fopenmp-simd)  # loops are written for vectors without threads of OpenMP too
  endif()
  if(KRYSOL_NATIVE AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    if(KRYSOL_BACKEND STREQUAL "HIP")
      target_compile_options(${target} PRIVATE "SHELL:-Xarch_host -march=native")
    else()
      target_compile_options(${target} PRIVATE -march=native)
    endif()
  endif()
endfunction()

# CMAKE_UNITY_BUILD gives the compiler several files as one, so that it reads Kokkos once for all of them. Not those that take
# long by their own templates, so that cores share them; device compilers get those too, for which reading Kokkos is a third of
# the time, and nothing is kept of an earlier build.
set(KRYSOL_JOINED_FOR_DEVICE OFF)
if(CMAKE_UNITY_BUILD AND KRYSOL_DEVICE_COMPILER)
  set(KRYSOL_JOINED_FOR_DEVICE ON)
  if(NOT DEFINED CMAKE_UNITY_BUILD_BATCH_SIZE)
    set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)
  endif()
endif()
function(krysol_compiled_alone)
  if(NOT KRYSOL_JOINED_FOR_DEVICE)
    set_property(SOURCE ${ARGN} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# Options of single files; for a device compiler that joins files none, for CMake joins no file that has its own. They
# matter where files are optimised.
function(krysol_file_options files)  # LIST-OF-FILES OPTIONS...
  if(NOT KRYSOL_JOINED_FOR_DEVICE)
    set_property(SOURCE ${files} APPEND PROPERTY COMPILE_OPTIONS "${ARGN}")
  endif()
endfunction()

# g++ 12 sees uninitialized registers inside its own <avx512fintrin.h> where Eigen is vectorized.
function(krysol_vectorizes_eigen)
  krysol_file_options("${ARGN}" "$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-uninitialized>")
endfunction()

# Files that include no Kokkos need none of the device compiler's passes.
function(krysol_host_only)
  set_property(SOURCE ${ARGN} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
  set(options)
  if(KRYSOL_BACKEND STREQUAL "CUDA" AND CMAKE_CXX_COMPILER MATCHES "nvcc_wrapper$")
    set(options --host-only)
  elseif(KRYSOL_BACKEND STREQUAL "HIP")
    set(options -x c++ -Wno-unused-command-line-argument)
  elseif(KRYSOL_BACKEND STREQUAL "OpenMPTarget")
    set(options --offload-host-only)
  endif()
  if(options)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS ${options})
    set_property(SOURCE ${ARGN} PROPERTY KRYSOL_HOST_ONLY ON)
  endif()
endfunction()

# Those of a target, each folder's as one, where files are joined for a device compiler. By a file that is made here, since
# they have an option of their own.
function(krysol_join_host_only target)
  if(NOT KRYSOL_JOINED_FOR_DEVICE)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  set(joined)
  foreach(source IN LISTS sources)
    get_property(host_only SOURCE ${source} PROPERTY KRYSOL_HOST_ONLY)
    if(host_only)
      get_filename_component(path ${source} ABSOLUTE)
      get_filename_component(folder ${path} DIRECTORY)
      string(MAKE_C_IDENTIFIER ${folder} name)
      set(unit ${CMAKE_CURRENT_BINARY_DIR}/joined/${target}${name}.cpp)
      list(APPEND joined ${unit})
      string(APPEND text_${name} "#include \"${path}\"\n")
      file(CONFIGURE OUTPUT ${unit} CONTENT "${text_${name}}" @ONLY)
      set_property(SOURCE ${source} PROPERTY HEADER_FILE_ONLY ON)
    endif()
  endforeach()
  if(joined)
    list(REMOVE_DUPLICATES joined)
    krysol_host_only(${joined})
    target_sources(${target} PRIVATE ${joined})
  endif()
endfunction()

# Files of one folder that are compiled as one, but for those that are compiled alone: they take longer to read their headers
# than to compile. With CMAKE_UNITY_BUILD, which is for builds that are made once, those of a whole room, but for
# io's, which read no Kokkos. CMake joins no file that has options of its own. For device compilers, all of a target.
function(krysol_compiled_by_folder target)
  if(KRYSOL_JOINED_FOR_DEVICE)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # A name that one file keeps to itself is global to those after it.
  target_compile_options(${target} PRIVATE "$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage;-Wno-shadow;-Wshadow=local>")
  foreach(source IN LISTS ARGN)
    get_filename_component(folder ${source} DIRECTORY)
    if(CMAKE_UNITY_BUILD AND NOT folder MATCHES "^io(/|$)")
      string(REGEX REPLACE "/.*" "" folder "${folder}")
    endif()
    string(MAKE_C_IDENTIFIER "${folder}_" group)
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${group})
  endforeach()
endfunction()

# Targets whose code runs once in a program, and not over a matrix: to compile it takes half of the time so, to run it the same.
function(krysol_compiled_quickly target)
  target_compile_options(${target} PRIVATE "$<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU,Clang>>:-O1>")
endfunction()

# Headers that nearly every file of a target reads, compiled once for all of them; or those of another target. Device
# compilers cannot share them, so that their builds see that each file includes what it needs. Files whose options differ
# from their target's, and such that include no Kokkos, go without.
option(KRYSOL_PRECOMPILE_HEADERS "Precompile Kokkos and other large headers" ON)
function(krysol_precompile target)
  if(KRYSOL_PRECOMPILE_HEADERS AND NOT KRYSOL_DEVICE_COMPILER)
    if("${ARGV1}" STREQUAL REUSE_FROM)
      target_precompile_headers(${target} REUSE_FROM ${ARGV2})
    else()
      target_precompile_headers(${target} PRIVATE ${ARGN})
    endif()
  endif()
endfunction()

# What some pairs of compiler and library need in every file that includes Kokkos, so in those of our users too. The
# headers that are named here say why.
function(krysol_compiler_repairs target)
  set(repairs)
  if(KRYSOL_BACKEND STREQUAL "CUDA" AND Kokkos_VERSION VERSION_LESS 4.7.02)
    find_package(CUDAToolkit QUIET)
    if(CUDAToolkit_VERSION VERSION_GREATER_EQUAL 13)
      set(repairs cuda13_kokkos4.hpp)
      target_compile_options(${target} PUBLIC
        "$<BUILD_INTERFACE:SHELL:-include ${PROJECT_SOURCE_DIR}/cmake/cuda13_kokkos4.hpp>"
        "$<INSTALL_INTERFACE:SHELL:-include $<INSTALL_PREFIX>/include/krysol/cmake/cuda13_kokkos4.hpp>")
    endif()
  elseif(KRYSOL_BACKEND STREQUAL "HIP" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 16)
    set(repairs hip)
    target_include_directories(${target} SYSTEM PUBLIC
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/cmake/hip> $<INSTALL_INTERFACE:include/krysol/cmake/hip>)
  endif()
  set_property(GLOBAL PROPERTY KRYSOL_COMPILER_REPAIRS ${repairs})
endfunction()

# A room beside the three of krysol::krysol: a library of its own, installed like them as krysol::NAME.
function(krysol_room name)
  add_library(krysol_${name} ${ARGN})
  add_library(krysol::${name} ALIAS krysol_${name})
  krysol_own_target(krysol_${name})
  set_target_properties(krysol_${name} PROPERTIES
    EXPORT_NAME ${name} LINKER_LANGUAGE CXX POSITION_INDEPENDENT_CODE ON
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_link_libraries(krysol_${name} PUBLIC krysol)
endfunction()
