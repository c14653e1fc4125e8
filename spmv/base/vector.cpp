// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/base/vector.hpp>

namespace krysol {

void ThrownByBodies::keep() noexcept {
  const std::lock_guard lock(mutex_);
  if (!first_) first_ = std::current_exception();
}

void ThrownByBodies::rethrow() const {
  if (first_) std::rethrow_exception(first_);
}

std::optional<std::int64_t> free_device_bytes() {
#if defined(KOKKOS_ENABLE_CUDA)
  std::size_t free = 0;
  std::size_t total = 0;
  if (cudaMemGetInfo(&free, &total) == cudaSuccess) return static_cast<std::int64_t>(free);
  static_cast<void>(cudaGetLastError());  // clears it: the next call that asks would find it
#elif defined(KOKKOS_ENABLE_HIP)
  std::size_t free = 0;
  std::size_t total = 0;
  if (hipMemGetInfo(&free, &total) == hipSuccess) return static_cast<std::int64_t>(free);
  static_cast<void>(hipGetLastError());
#endif
  return std::nullopt;
}

}  // namespace krysol
