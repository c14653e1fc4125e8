// Large pages for long arrays of the host.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

namespace krysol {

constexpr std::size_t large_page = std::size_t{2} << 20;  // bytes

/// The large pages that lie in an array as a whole.
struct LargePages {
  char* first = nullptr;
  std::int64_t count = 0;
};
LargePages large_pages_in(void* begin, std::size_t bytes);

/// Asks the operating system to back an array that was not touched yet by large pages, where it has
/// them to give (Linux: transparent huge pages by madvise). Matrix arrays are read from end to end,
/// and with small pages each 4 KiB begin with a search in the page tables.
void use_large_pages(void* begin, std::size_t bytes);

}  // namespace krysol
