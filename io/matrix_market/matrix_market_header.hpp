// The first lines of a Matrix Market file: banner, comments and sizes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <krysol/io/bytes/stream.hpp>
#include <krysol/io/matrix_market/plain_entries.hpp>
#include <krysol/io/model/matrix_file.hpp>
#include <krysol/io/model/repairs.hpp>
#include <krysol/io/text/scanner.hpp>

namespace krysol {

/// What banner, comments and sizes say, and where the data begin.
struct MatrixMarketHeader {
  FileInfo info;  // field, symmetry, array, stored_entries, bytes and text_bytes
  Index rows = 0;
  Index cols = 0;
  const char* data_start = nullptr;  // the line after the line of sizes
  std::int64_t data_line = 0;        // its number, from 1

  EntryRules rules() const;

  /// The fewest bytes of a line with an entry: "1 1\n", with a value "1 1 1\n" or "1 1 1 1\n"; in
  /// arrays "1\n" or "1 1\n".
  std::int64_t shortest_line() const;
};

/// What the scanner holds: a whole text, or its first lines up to the sizes. The number of entries
/// can be compared with the length of the text only where that is there.
enum class HeaderOf { whole_text, first_lines };

/// Reads the header, from the start of the text, and leaves the scanner at the first line of the
/// data. Notes what was repaired. Throws ParseError; FileError where the text is of another format.
MatrixMarketHeader read_matrix_market_header(Scanner& in, const ReadOptions& options,
                                             Repairs& repairs, HeaderOf extent);

/// Throws ParseError: the file ends after that many of the entries that it declares.
[[noreturn]] void fail_at_end(const Scanner& in, const FileInfo& info, std::int64_t entries_found);

/// The header of a list of entries that may be read line by line while the text arrives.
struct PlainHeader {
  FileInfo info;
  EntryRules rules;
  std::size_t bytes = 0;  // of the text; the first entry is after them
};

/// None where what follows is no list of entries that count from 1, or cannot be as many as the
/// sizes say. Throws ParseError as `read_matrix_market`.
std::optional<PlainHeader> plain_header(Stream& stream, const ReadOptions& options);

/// Throws FileError where the text goes on for 16 MiB without a line that may be that of the sizes:
/// of such a file no more is read.
void check_header_ends(Stream& stream);

/// Threads for so many bytes of a file: one is worth its start for a mebibyte.
int threads_for(std::int64_t bytes, const ReadOptions& options);

}  // namespace krysol
