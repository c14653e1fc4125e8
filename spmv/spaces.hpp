// The entry types that the library holds, and the execution spaces that this Kokkos was built with,
// for explicit instantiation.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

// KRYSOL_FOR_EACH_ENTRY(F) is F(float) F(double) ...
#define KRYSOL_FOR_EACH_ENTRY(F) \
  F(float) F(double) F(Kokkos::complex<float>) F(Kokkos::complex<double>)

// KRYSOL_FOR_EACH_ENTRY_AND_SPACE(F) is F(float, Kokkos::Serial) F(double, Kokkos::Serial) ..., for
// the spaces that are enabled. The preprocessor decides, because one that is not has no name.
#define KRYSOL_EACH_ENTRY_ON(F, Exec) \
  F(float, Exec) F(double, Exec) F(Kokkos::complex<float>, Exec) F(Kokkos::complex<double>, Exec)
#ifdef KOKKOS_ENABLE_SERIAL
#define KRYSOL_ON_SERIAL(F) KRYSOL_EACH_ENTRY_ON(F, Kokkos::Serial)
#else
#define KRYSOL_ON_SERIAL(F)
#endif
#ifdef KOKKOS_ENABLE_OPENMP
#define KRYSOL_ON_OPENMP(F) KRYSOL_EACH_ENTRY_ON(F, Kokkos::OpenMP)
#else
#define KRYSOL_ON_OPENMP(F)
#endif
#ifdef KOKKOS_ENABLE_CUDA
#define KRYSOL_ON_CUDA(F) KRYSOL_EACH_ENTRY_ON(F, Kokkos::Cuda)
#else
#define KRYSOL_ON_CUDA(F)
#endif
#ifdef KOKKOS_ENABLE_HIP
#define KRYSOL_ON_HIP(F) KRYSOL_EACH_ENTRY_ON(F, Kokkos::HIP)
#else
#define KRYSOL_ON_HIP(F)
#endif
#define KRYSOL_FOR_EACH_ENTRY_AND_SPACE(F) \
  KRYSOL_ON_SERIAL(F) KRYSOL_ON_OPENMP(F) KRYSOL_ON_CUDA(F) KRYSOL_ON_HIP(F)
