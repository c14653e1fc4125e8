// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/base/large_pages.hpp>

#include <sys/mman.h>

#include <cstdint>

#include <krysol/spmv/base/vector.hpp>

namespace krysol {

namespace {

constexpr std::uintptr_t large = std::uintptr_t{2} << 20;

/// The large pages that lie in an array as a whole.
struct WholePages {
  char* first = nullptr;
  std::int64_t count = 0;
};

WholePages whole_pages(void* begin, std::size_t bytes) {
  const std::uintptr_t before = (large - reinterpret_cast<std::uintptr_t>(begin) % large) % large;
  if (bytes < before + large) return {};
  return {static_cast<char*>(begin) + before, static_cast<std::int64_t>((bytes - before) / large)};
}

}  // namespace

void use_large_pages(void* begin, std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  const WholePages pages = whole_pages(begin, bytes);
  // Advice only: where it is refused, small pages do.
  if (pages.count > 0) {
    madvise(pages.first, static_cast<std::size_t>(pages.count) * large, MADV_HUGEPAGE);
  }
#else
  (void)begin;
  (void)bytes;
#endif
}

void touch_large_pages(void* begin, std::size_t bytes) {
  const WholePages pages = whole_pages(begin, bytes);
  const auto touch = [&](std::int64_t p) {
    *static_cast<volatile char*>(pages.first + static_cast<std::uintptr_t>(p) * large) = 0;
  };
  if (pages.count == 1) {
    touch(0);
  } else if (pages.count > 1) {
    host_for("krysol::touch_large_pages", pages.count, touch);
  }
}

}  // namespace krysol
