// The execution spaces that this Kokkos was built with, for explicit instantiation.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

// KRYSOL_FOR_EACH_SPACE(F) is F(Kokkos::Serial) F(Kokkos::OpenMP) ..., for those that are enabled.
// The preprocessor decides, because a space that is not enabled has no name.
#ifdef KOKKOS_ENABLE_SERIAL
#define KRYSOL_ON_SERIAL(F) F(Kokkos::Serial)
#else
#define KRYSOL_ON_SERIAL(F)
#endif
#ifdef KOKKOS_ENABLE_OPENMP
#define KRYSOL_ON_OPENMP(F) F(Kokkos::OpenMP)
#else
#define KRYSOL_ON_OPENMP(F)
#endif
#ifdef KOKKOS_ENABLE_CUDA
#define KRYSOL_ON_CUDA(F) F(Kokkos::Cuda)
#else
#define KRYSOL_ON_CUDA(F)
#endif
#ifdef KOKKOS_ENABLE_HIP
#define KRYSOL_ON_HIP(F) F(Kokkos::HIP)
#else
#define KRYSOL_ON_HIP(F)
#endif
#define KRYSOL_FOR_EACH_SPACE(F) \
  KRYSOL_ON_SERIAL(F) KRYSOL_ON_OPENMP(F) KRYSOL_ON_CUDA(F) KRYSOL_ON_HIP(F)
