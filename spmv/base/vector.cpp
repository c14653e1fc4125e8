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

void touch_large_pages(void* begin, std::size_t bytes) {
  const LargePages pages = large_pages_in(begin, bytes);
  const auto touch = [&](std::int64_t p) {
    *static_cast<volatile char*>(pages.first + static_cast<std::size_t>(p) * large_page) = 0;
  };
  if (pages.count == 1) {
    touch(0);
  } else if (pages.count > 1) {
    host_for("krysol::touch_large_pages", pages.count, touch);
  }
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
