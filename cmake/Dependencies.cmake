# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Finds what Krysol stands on. What is missing is collected first and reported once, with the names to install.
set(KRYSOL_MISSING "")
set(KRYSOL_THIRD_PARTY ${PROJECT_SOURCE_DIR}/third_party)  # exists in an offline bundle only
set(KRYSOL_HEADER_HINTS)
foreach(name eigen cli11 fast_float json fmt xxhash)
  list(APPEND KRYSOL_HEADER_HINTS ${KRYSOL_THIRD_PARTY}/${name}/include)
endforeach()

# tools/run deps leaves a link. What is compiled here names the folder behind it, so that it is compiled anew where the link
# leads to another Kokkos, and two builds of one tree give a compiler (or its cache) the same command.
set(real_prefixes "")
foreach(prefix IN LISTS CMAKE_PREFIX_PATH)
  file(REAL_PATH "${prefix}" real)
  list(APPEND real_prefixes "${real}")
endforeach()
set(CMAKE_PREFIX_PATH "${real_prefixes}")

# ---- Kokkos: a target of the surrounding project, an installed one, the official release
set(KRYSOL_KOKKOS_VERSION 4.5.01)
if(NOT TARGET Kokkos::kokkos)
  find_package(Kokkos CONFIG QUIET)  # no version here: 4.x and 5.x both do, and the config file would refuse one of them
  if(Kokkos_FOUND AND Kokkos_VERSION VERSION_LESS 4.5.1)
    message(FATAL_ERROR "Kokkos ${Kokkos_VERSION} in ${Kokkos_DIR} is too old: Krysol needs 4.5.1 or newer. "
      "Give another one by -DKokkos_ROOT=PREFIX, or let tools/run build one.")
  endif()
endif()
if(NOT TARGET Kokkos::kokkos)
  include(FetchContent)
  # The choices below are made only where the user made none.
  if(NOT Kokkos_ENABLE_CUDA AND NOT Kokkos_ENABLE_HIP AND NOT Kokkos_ENABLE_SYCL AND NOT DEFINED Kokkos_ENABLE_OPENMP)
    set(Kokkos_ENABLE_OPENMP ON CACHE BOOL "")
  endif()
  if(NOT DEFINED Kokkos_ENABLE_SERIAL)
    set(Kokkos_ENABLE_SERIAL ON CACHE BOOL "")
  endif()
  if(NOT DEFINED Kokkos_ENABLE_IMPL_MDSPAN)
    set(Kokkos_ENABLE_IMPL_MDSPAN OFF CACHE BOOL "")  # nvcc 13 with g++ 12 cannot parse it in C++20
  endif()
  FetchContent_Declare(kokkos
    URL https://github.com/kokkos/kokkos/releases/download/${KRYSOL_KOKKOS_VERSION}/kokkos-${KRYSOL_KOKKOS_VERSION}.tar.gz
    URL_HASH SHA256=52d003ffbbe05f30c89966e4009c017efb1662b02b2b73190670d3418719564c
    DOWNLOAD_EXTRACT_TIMESTAMP ON)
  message(STATUS "No installed Kokkos found (looked in Kokkos_ROOT and CMAKE_PREFIX_PATH): fetching the official "
    "release ${KRYSOL_KOKKOS_VERSION}. Without network: tools/run deps builds one, which the presets then find.")
  FetchContent_MakeAvailable(kokkos)
  if(NOT Kokkos_VERSION)
    set(Kokkos_VERSION ${KRYSOL_KOKKOS_VERSION})
  endif()
  set(KRYSOL_FETCHED_KOKKOS ON)
endif()
# The format kokkos_kernels, and a peer of the benchmarks. Only those that stand beside this very Kokkos will do.
option(KRYSOL_KOKKOS_KERNELS "Use Kokkos Kernels where they are found" ON)
if(KRYSOL_KOKKOS_KERNELS AND Kokkos_DIR)
  find_package(KokkosKernels CONFIG QUIET PATHS ${Kokkos_DIR}/.. NO_DEFAULT_PATH)
endif()

# ---- Header-only libraries. The packages' own config files are passed over: Debian's want the compiled fmt, its
# Eigen lies where no default path leads, and all that is needed is a folder.
function(krysol_header_only target header)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "DEFINITION;SUFFIXES")
  string(TOUPPER ${target}_INCLUDE_DIR dir)
  find_path(${dir} ${header} HINTS ${KRYSOL_HEADER_HINTS} ${Eigen3_ROOT} $ENV{EIGEN3_ROOT}
    PATH_SUFFIXES ${arg_SUFFIXES} include)
  mark_as_advanced(${dir})
  if(NOT ${dir})
    list(APPEND KRYSOL_MISSING "<${header}>")
    set(KRYSOL_MISSING ${KRYSOL_MISSING} PARENT_SCOPE)
    return()
  endif()
  if(NOT TARGET ${target})
    add_library(${target} INTERFACE IMPORTED)
    target_include_directories(${target} SYSTEM INTERFACE ${${dir}})
    target_compile_definitions(${target} INTERFACE ${arg_DEFINITION})
  endif()
endfunction()
# fmt 9 takes nvcc for a compiler without constexpr functions, and then fails in those that it declares for C++20.
# Its functions are compiled once, in spmv/base/compiled_fmt.cpp, and <fmt/core.h> declares them; from version 11 on that
# header defines them all, in each file.
krysol_header_only(krysol_fmt fmt/format.h DEFINITION "$<$<BOOL:${Kokkos_ENABLE_CUDA}>:FMT_USE_CONSTEXPR=1>")
if(TARGET krysol_fmt)
  set(declares_fmt "")
  if(EXISTS ${KRYSOL_FMT_INCLUDE_DIR}/fmt/core.h)
    file(STRINGS ${KRYSOL_FMT_INCLUDE_DIR}/fmt/core.h declares_fmt REGEX "^#define FMT_VERSION")
  endif()
  if(NOT declares_fmt)
    target_compile_definitions(krysol_fmt INTERFACE FMT_HEADER_ONLY=1)
  endif()
endif()
krysol_header_only(krysol_fast_float fast_float/fast_float.h)
krysol_header_only(krysol_xxhash xxhash.h)
# On the host only here; without these Eigen marks its functions for the device, and nvcc warns by the hundred.
krysol_header_only(krysol_eigen Eigen/Core SUFFIXES eigen3 include/eigen3 DEFINITION EIGEN_NO_CUDA EIGEN_NO_HIP)
if(KRYSOL_BUILD_APPS OR KRYSOL_BUILD_BENCHMARKS)
  krysol_header_only(krysol_cli11 CLI/CLI.hpp)
endif()
if(KRYSOL_BUILD_ROOMS OR KRYSOL_BUILD_APPS OR KRYSOL_BUILD_TESTS OR KRYSOL_BUILD_BENCHMARKS)
  krysol_header_only(krysol_json nlohmann/json.hpp)
endif()

# ---- threads that read
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# ---- libarchive: compressed files
find_package(LibArchive QUIET)
if(NOT LibArchive_FOUND)
  list(APPEND KRYSOL_MISSING "libarchive")
elseif(LibArchive_LIBRARY MATCHES "\\.a$")
  # FindLibArchive does not say what a static one needs in turn; ours (from the bundle) needs zlib alone.
  find_package(ZLIB QUIET)
  if(ZLIB_FOUND)
    set_property(TARGET LibArchive::LibArchive APPEND PROPERTY INTERFACE_LINK_LIBRARIES ZLIB::ZLIB)
  endif()
endif()

# ---- METIS: an order by parts, where it is there
option(KRYSOL_METIS "Order rows by METIS too, where it is found" ON)
if(KRYSOL_METIS)
  find_path(METIS_INCLUDE_DIR metis.h)
  find_library(METIS_LIBRARY metis)
  mark_as_advanced(METIS_INCLUDE_DIR METIS_LIBRARY)
endif()

# ---- libpng: the pictures of matrix_info, where it is there
option(KRYSOL_PNG "Draw PNG pictures, where libpng is found" ON)
if(KRYSOL_PNG AND KRYSOL_BUILD_ROOMS)
  find_package(PNG 1.6 QUIET)  # the first with functions that report errors by their result
endif()

# ---- GoogleTest
if(KRYSOL_BUILD_TESTS AND NOT TARGET GTest::gtest)
  find_package(GTest QUIET)
  if(NOT GTest_FOUND AND EXISTS ${KRYSOL_THIRD_PARTY}/googletest/CMakeLists.txt)
    set(INSTALL_GTEST OFF CACHE BOOL "" FORCE)
    add_subdirectory(${KRYSOL_THIRD_PARTY}/googletest ${PROJECT_BINARY_DIR}/googletest EXCLUDE_FROM_ALL)
  endif()
  if(NOT TARGET GTest::gtest)
    list(APPEND KRYSOL_MISSING "GoogleTest")
  endif()
endif()

if(KRYSOL_MISSING)
  list(JOIN KRYSOL_MISSING ", " what)
  message(FATAL_ERROR "Krysol needs, and did not find: ${what}\n"
    "  Debian, Ubuntu:  apt install libeigen3-dev libfmt-dev libfast-float-dev libarchive-dev libcli11-dev nlohmann-json3-dev libgtest-dev libxxhash-dev\n"
    "  Fedora:          dnf install eigen3-devel fmt-devel fast_float-devel libarchive-devel cli11-devel json-devel gtest-devel xxhash-devel\n"
    "  Arch:            pacman -S eigen fmt fast_float libarchive cli11 nlohmann-json gtest xxhash\n"
    "  Homebrew:        brew install eigen fmt fast_float libarchive cli11 nlohmann-json googletest xxhash\n"
    "  Spack:           spack install eigen fmt fast-float libarchive cli11 nlohmann-json googletest xxhash\n"
    "Things installed elsewhere are found through -DCMAKE_PREFIX_PATH=PREFIX[;PREFIX...]. "
    "Tests and programs are left out by -DKRYSOL_BUILD_TESTS=OFF -DKRYSOL_BUILD_APPS=OFF.\n")
endif()
