// The first lines of a Matrix Market file, for those who read the others as they go by.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <krysol/io/bytes/stream.hpp>
#include <krysol/io/matrix_market/plain_entries.hpp>
#include <krysol/io/model/matrix_file.hpp>

namespace krysol {

/// Banner, comments and sizes.
struct PlainHeader {
  FileInfo info;
  EntryRules rules;
  std::size_t bytes = 0;  // of the text; the first entry is after them
};

/// None where what follows is no list of entries that count from 1, or cannot be as many as the
/// sizes say. Throws ParseError as `read_matrix_market`.
std::optional<PlainHeader> plain_header(Stream& stream, const ReadOptions& options);

/// Threads for so many bytes of a file: one is worth its start for a mebibyte.
int threads_for(std::int64_t bytes, const ReadOptions& options);

}  // namespace krysol
