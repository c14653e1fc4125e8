# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Libraries that ours is measured beside, each where it is found: Kokkos Kernels by Dependencies.cmake, MKL and cuSPARSE here.
#   cmake --preset release -DMKL_ROOT=...
function(krysol_link_peers target)
  target_link_libraries(${target} PRIVATE krysol_eigen)

  if(TARGET Kokkos::kokkoskernels)
    target_link_libraries(${target} PRIVATE Kokkos::kokkoskernels)
    target_compile_definitions(${target} PRIVATE KRYSOL_HAVE_KOKKOS_KERNELS)
  endif()

  set(MKL_ROOT "" CACHE PATH "Where include/mkl.h and lib/libmkl_rt.so.2 are; a Python environment with mkl-devel will do")
  find_path(MKL_INCLUDE_DIR mkl.h HINTS ${MKL_ROOT}/include)
  find_library(MKL_LIBRARY NAMES mkl_rt libmkl_rt.so.3 libmkl_rt.so.2 HINTS ${MKL_ROOT}/lib)
  if(MKL_INCLUDE_DIR AND MKL_LIBRARY)
    target_include_directories(${target} SYSTEM PRIVATE ${MKL_INCLUDE_DIR})
    target_link_libraries(${target} PRIVATE ${MKL_LIBRARY})
    target_compile_definitions(${target} PRIVATE KRYSOL_HAVE_MKL)
  endif()

  if(KRYSOL_BACKEND STREQUAL "CUDA")
    find_package(CUDAToolkit QUIET)
    if(TARGET CUDA::cusparse)
      target_link_libraries(${target} PRIVATE CUDA::cusparse)
      target_compile_definitions(${target} PRIVATE KRYSOL_HAVE_CUSPARSE)
    endif()
  endif()
endfunction()
