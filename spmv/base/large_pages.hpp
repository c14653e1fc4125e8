// Large pages for long arrays of the host.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

namespace krysol {

/// Asks the operating system to back an array that was not touched yet by large pages, where it has
/// them to give (Linux: transparent huge pages by madvise). Matrix arrays are read from end to end,
/// and with small pages each 4 KiB begin with a search in the page tables.
void use_large_pages(void* begin, std::size_t bytes);

}  // namespace krysol
