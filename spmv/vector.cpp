// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/vector.hpp>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace krysol {

void use_large_pages(void* begin, std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t large = std::uintptr_t{2} << 20;
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t from = (first + large - 1) / large * large;
  const std::uintptr_t to = (first + bytes) / large * large;
  // Advice only: where it is refused, small pages do.
  if (to > from) madvise(reinterpret_cast<void*>(from), to - from, MADV_HUGEPAGE);
#else
  (void)begin;
  (void)bytes;
#endif
}

}  // namespace krysol
