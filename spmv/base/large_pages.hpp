// Large pages for long arrays of the host.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

namespace krysol {

/// Asks the operating system to back an array that was not touched yet by large pages, where it has
/// them to give (Linux: transparent huge pages by madvise). Matrix arrays are read from end to end,
/// and with small pages each 4 KiB begin with a search in the page tables.
void use_large_pages(void* begin, std::size_t bytes);

/// Writes a byte to each large page of such an array, in a loop of the host's cores: not from a
/// loop. Where two cores touch a page first, at the same time, the operating system clears two and
/// throws one away, which a loop that hands out short pieces of an array makes it do for each page.
void touch_large_pages(void* begin, std::size_t bytes);

}  // namespace krysol
