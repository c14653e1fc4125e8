// The entry types that the library holds, and the execution spaces that this Kokkos was built with,
// for explicit instantiation.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

// KRYSOL_FOR_EACH_ENTRY(F) is F(float) F(double) ...: what works on a matrix of the host, for every
// type that a file may hold.
#define KRYSOL_FOR_EACH_ENTRY(F) \
  F(float) F(double) F(Kokkos::complex<float>) F(Kokkos::complex<double>)

// KRYSOL_FOR_EACH_SOLVED_ENTRY(F) is F(double) F(Kokkos::complex<double>): what programs solve
// with. The same files are compiled once more for krysol::float, which is a library of its own,
// because kernels take compilers long: there it is F(float) F(Kokkos::complex<float>), and what is
// not a template is left out (#ifndef KRYSOL_FOR_FLOAT).
#ifdef KRYSOL_FOR_FLOAT
#define KRYSOL_FOR_EACH_SOLVED_ENTRY(F) F(float) F(Kokkos::complex<float>)
#else
#define KRYSOL_FOR_EACH_SOLVED_ENTRY(F) F(double) F(Kokkos::complex<double>)
#endif

// KRYSOL_ON_EACH_SPACE(F, T) is F(T, Kokkos::Serial) F(T, Kokkos::OpenMP) ..., for the spaces that
// are enabled. The preprocessor decides, because one that is not has no name.
#if defined(KOKKOS_ENABLE_SERIAL) && !defined(KRYSOL_WITHOUT_SERIAL)
#define KRYSOL_ON_SERIAL(F, T) F(T, Kokkos::Serial)
#else
#define KRYSOL_ON_SERIAL(F, T)
#endif
#ifdef KOKKOS_ENABLE_OPENMP
#define KRYSOL_ON_OPENMP(F, T) F(T, Kokkos::OpenMP)
#else
#define KRYSOL_ON_OPENMP(F, T)
#endif
#ifdef KOKKOS_ENABLE_CUDA
#define KRYSOL_ON_CUDA(F, T) F(T, Kokkos::Cuda)
#else
#define KRYSOL_ON_CUDA(F, T)
#endif
#ifdef KOKKOS_ENABLE_HIP
#define KRYSOL_ON_HIP(F, T) F(T, Kokkos::HIP)
#else
#define KRYSOL_ON_HIP(F, T)
#endif
#ifdef KOKKOS_ENABLE_OPENMPTARGET
#define KRYSOL_ON_OPENMPTARGET(F, T) F(T, Kokkos::Experimental::OpenMPTarget)
#else
#define KRYSOL_ON_OPENMPTARGET(F, T)
#endif
#define KRYSOL_ON_EACH_SPACE(F, T) \
  KRYSOL_ON_SERIAL(F, T)           \
  KRYSOL_ON_OPENMP(F, T) KRYSOL_ON_CUDA(F, T) KRYSOL_ON_HIP(F, T) KRYSOL_ON_OPENMPTARGET(F, T)

// KRYSOL_FOR_EACH_SOLVED_ENTRY_AND_SPACE(F) is F(double, Kokkos::OpenMP) ...
#ifdef KRYSOL_FOR_FLOAT
#define KRYSOL_FOR_EACH_SOLVED_ENTRY_AND_SPACE(F) \
  KRYSOL_ON_EACH_SPACE(F, float) KRYSOL_ON_EACH_SPACE(F, Kokkos::complex<float>)
#else
#define KRYSOL_FOR_EACH_SOLVED_ENTRY_AND_SPACE(F) \
  KRYSOL_ON_EACH_SPACE(F, double) KRYSOL_ON_EACH_SPACE(F, Kokkos::complex<double>)
#endif
