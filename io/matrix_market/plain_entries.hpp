// The fast path of reading coordinate entries: lines without anything unusual, on all cores.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include <krysol/io/bytes/text_blocks.hpp>
#include <krysol/io/model/matrix_file.hpp>

namespace krysol {

/// What the lines are read against.
struct EntryRules {
  Index rows = 0;
  Index cols = 0;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  std::int64_t entries = 0;  // declared
};

/// Entries in the order of their lines, 0-based.
template <class T>
struct PlainEntries {
  Array<Index> row_idx;
  Array<Index> col_idx;
  Array<T> values;
  std::int64_t rounded_integers = 0;
};

/// Reads the lines after the sizes. Nothing is returned where any line departs from the
/// format or needs a closer look: the lines must then be read one by one, which finds the message
/// or the repair. That is the case where indices are outside the matrix, numbers are no numbers or
/// not finite, lines hold more or less than an entry, entries are more or fewer than declared, and
/// where a file with a symmetry has entries above its diagonal, or on it what may not be there.
/// Comment and blank lines are passed over, as everywhere. T is double or std::complex<double>.
/// There is room for `at_first` entries from the start, for more when they come. Bytes an entry: 16
/// (24 where complex), and a block of text with its entries a thread. Throws std::bad_alloc and
/// what blocks throw.
template <class T>
std::optional<PlainEntries<T>> read_plain_entries(TextBlocks& blocks, const EntryRules& rules,
                                                  std::int64_t at_first, int threads);

/// Entries of one block of text, 0-based, in the order of their lines.
template <class T>
struct PlainBlock {
  const Index* row_idx;
  const Index* col_idx;
  const T* values;
  std::int64_t entries;
};

/// The same without keeping any: `visit(block)` is called for the blocks in the order of the text,
/// by one thread at a time. False where `read_plain_entries` returns none, after some were visited.
template <class T>
bool visit_plain_entries(TextBlocks& blocks, const EntryRules& rules, int threads,
                         const std::function<void(const PlainBlock<T>&)>& visit,
                         std::int64_t& rounded_integers);

}  // namespace krysol
