// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/base/large_pages.hpp>

#include <sys/mman.h>

#include <cstdint>

namespace krysol {

void use_large_pages(void* begin, std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t large = std::uintptr_t{2} << 20;
  const std::uintptr_t before = (large - reinterpret_cast<std::uintptr_t>(begin) % large) % large;
  if (bytes < before + large) return;
  // Advice only: where it is refused, small pages do.
  madvise(static_cast<char*>(begin) + before, (bytes - before) / large * large, MADV_HUGEPAGE);
#else
  (void)begin;
  (void)bytes;
#endif
}

}  // namespace krysol
