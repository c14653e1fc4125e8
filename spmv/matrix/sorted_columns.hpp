// Triplets column by column, the rows of each ascending: what files of compressed columns hold, and
// what two triangles are compared by.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/matrix/triplets.hpp>

namespace krysol {

/// The stored entries of a matrix; T as of Triplets.
template <class T>
struct SortedColumns {
  Index rows = 0;
  Index cols = 0;
  Array<Offset> begin;    // [cols + 1] column j is begin[j] <= k < begin[j + 1]
  Array<Index> row_idx;   // [stored entries] 0-based row, ascending in a column
  Array<T> values;        // [stored entries]
  Offset duplicates = 0;  // entries that were added to others
};

enum class SamePlace { kept, summed };

/// Entries of one place stand in the order of the list, or are summed in it. Indices must be inside
/// the matrix. Bytes moved: some 4 times those of the entries; entries that come by columns already
/// are not sorted. T is double or std::complex<double>.
template <class T>
SortedColumns<T> sorted_columns(const Triplets<T>& a, SamePlace same_place = SamePlace::summed);

}  // namespace krysol
