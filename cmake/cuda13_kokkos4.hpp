// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pre-13 signatures of three CUDA functions, for Kokkos 4.5.1 to 4.7.01 under CUDA 13.
//
// CUDA 13 dropped the old parameter lists, and those Kokkos releases still call them from headers.
// Kokkos 4.7.02 and newer do not need this file; it is force-included (-include) only where it is
// needed, both while Kokkos itself is built and by everything that links krysol::krysol. Overloads,
// not macros: a caller of the new signatures is not disturbed.
#pragma once

#if defined(__CUDACC__)
#include <cuda_runtime_api.h>

#if CUDART_VERSION >= 13000
// The old interface named a device by its number, and the host by cudaCpuDeviceId (-1).
inline cudaMemLocation krysol_cuda13_location(int device) {
  cudaMemLocation where{};
  where.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  where.id = device == cudaCpuDeviceId ? 0 : device;
  return where;
}

inline cudaError_t cudaMemPrefetchAsync(const void* ptr, std::size_t count, int device,
                                        cudaStream_t stream = nullptr) {
  return cudaMemPrefetchAsync(ptr, count, krysol_cuda13_location(device), 0u, stream);
}

inline cudaError_t cudaMemAdvise(const void* ptr, std::size_t count, cudaMemoryAdvise advice,
                                 int device) {
  return cudaMemAdvise(ptr, count, advice, krysol_cuda13_location(device));
}

inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                            const cudaGraphNode_t* to, std::size_t count) {
  return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}
#endif
#endif
