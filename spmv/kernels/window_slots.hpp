// The slots of slices of eight rows: pieces of diagonals, windows of neighbouring columns, others.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <vector>

#include <krysol/spmv/base/array.hpp>
#include <krysol/spmv/base/registers.hpp>
#include <krysol/spmv/base/vector.hpp>
#include <krysol/spmv/kernels/matrix_profile.hpp>

namespace krysol {

/// Where the slots of a slice begin, and how many are of which kind; they follow each other in this
/// order. A slot holds one entry of each of eight rows, its lanes, or none of some.
///
/// Its columns are words of a list, from `word` on: for each slot on a diagonal the column of lane
/// 0; for each on a diagonal that some lanes have the same, though lane 0 may have none there, and
/// a word with a bit for each lane that has; for each window three words, its first column and a
/// byte for each lane, how far from there its column is, or no_entry; for each slot of any columns
/// eight words, -1 where a lane has none.
struct SlotsOfSlice {
  Offset slot = 0;  // its values begin at 8 slot
  Offset word = 0;
  Index diagonals = 0;  // slots whose lane l has the column of lane 0, and l more
  Index partial = 0;    // the same, of some lanes
  Index windows = 0;    // slots whose columns are within window_entries neighbours
  Index scattered = 0;

  static constexpr Offset words_of_partial = 2;
  static constexpr Offset words_of_window = 3;

  KOKKOS_INLINE_FUNCTION Offset slots() const {
    return Offset{diagonals} + partial + windows + scattered;
  }
  KOKKOS_INLINE_FUNCTION Offset words() const {
    return diagonals + words_of_partial * partial + words_of_window * windows +
           Offset{pack_width} * scattered;
  }
};

/// Which rows each slice holds, and which entry goes where.
struct WindowsPlan {
  Index sigma = 1;
  std::vector<Index> row;           // [rows] of each lane; empty where sigma = 1
  std::vector<SlotsOfSlice> slice;  // [slices]
  Array<Index> slot;                // [nnz] of each entry, counted within its slice
  Vector<Index, Host> words;        // of columns, as SlotsOfSlice says
  Offset slots = 0;
  std::vector<Index> block_row;  // [blocks + 1]

  /// Row of lane l of slice s; -1 where there is none.
  std::int64_t row_of(std::int64_t s, int l, Index rows) const {
    const std::int64_t lane = s * pack_width + l;
    if (lane >= rows) return -1;
    return row.empty() ? lane : row[static_cast<std::size_t>(lane)];
  }
};

/// A slice has slots on the diagonals that all its rows have an entry on, where those follow each
/// other, and in builds without AVX-512 on those that at least half have. Of the other entries, by
/// column, the first and those within window_entries columns of it are in the slot of a window
/// where enough lanes have one, else the first is in one of any columns. What is best for a sample
/// of the slices, by what registers of this build take for a slot, is done in all. Rows are sorted
/// by length, sigma at a time; 0 chooses between 1 and 512 on the sample. row_ptr: [rows + 1],
/// col_idx: [nnz], in rows whose columns do not ascend all slots are of any columns. On the host's
/// cores; the same for any number of them.
WindowsPlan plan_windows(const Offset* row_ptr, const Index* col_idx, Index rows, Index cols,
                         Index sigma, std::int64_t rows_per_block);

/// FormatEstimate of SellWindows, from a sample of the rows.
FormatEstimate estimate_windows(const MatrixProfile& matrix);

}  // namespace krysol
