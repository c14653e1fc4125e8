// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/base/large_pages.hpp>

#include <sys/mman.h>

#include <cstdint>

namespace krysol {

LargePages large_pages_in(void* begin, std::size_t bytes) {
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(begin) % large_page;
  const std::size_t before = (large_page - beyond) % large_page;
  if (bytes < before + large_page) return {};
  return {static_cast<char*>(begin) + before,
          static_cast<std::int64_t>((bytes - before) / large_page)};
}

void use_large_pages(void* begin, std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  const LargePages pages = large_pages_in(begin, bytes);
  if (pages.count == 0) return;
  // Advice only: where it is refused, small pages do.
  madvise(pages.first, static_cast<std::size_t>(pages.count) * large_page, MADV_HUGEPAGE);
#else
  (void)begin;
  (void)bytes;
#endif
}

}  // namespace krysol
