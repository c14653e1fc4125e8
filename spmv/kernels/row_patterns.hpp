// Rows that are alike but for their slot: what the formats with shared rows are made from.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <krysol/spmv/base/pack.hpp>
#include <krysol/spmv/kernels/matrix_profile.hpp>
#include <krysol/spmv/kernels/padding.hpp>
#include <krysol/spmv/kernels/slots.hpp>

namespace krysol {

/// Two rows are of one pattern where their lists of offsets, column minus row, are equal: interior
/// points of a grid, say. A pattern is known by its first row.
struct RowPatterns {
  std::vector<std::uint16_t> of_row;  // [rows] numbered in the order of their first rows
  std::vector<Index> first_row;       // [patterns]
  std::vector<Index>
      pattern_ptr;  // [patterns + 1] where a pattern's list begins, one after another
};

/// `with_values` tells rows of different values apart, too. Throws FormatRefusal where there are
/// more than 65536 patterns; where their lists take more than always_allowed_bytes, and hold more
/// than an eighth of the nonzeros or belong to more than a quarter of the rows; and where, of more
/// than 16384 rows, most of 4096 taken from all over the matrix differ. What is refused does not
/// depend on the number of threads; the numbers in the message may. On the host's cores; O(nnz)
/// where patterns are few.
template <class S>
RowPatterns find_patterns(std::string_view format, const HostCsr<S>& a, bool with_values);

/// What some rows taken from all over a matrix say of find_patterns.
struct RowSample {
  double differing = 0;   // the share of them that is like none before it
  double single = 0;      // the share that is like no other
  double searched = 0;    // the share that is like none of the last few patterns before it
  double alike = 0;       // the share that is like the row just before it
  std::string refusal{};  // a sentence where it would refuse the matrix; else empty

  /// As FormatEstimate has it. The share of all rows that are like none of the sample is about the
  /// share of the sample that is like no other: Good, Biometrika 40, 1953,
  /// DOI 10.1093/biomet/40.3-4.237.
  double conversion() const;
  /// Seconds of a multiplication over those by csr where all stays in the caches: rows that are
  /// like their neighbours go through vector registers together, others one by one. `own_values`:
  /// rows share their offsets alone. As seen on a Xeon with AVX-512.
  double over_csr(bool own_values, double mean_row) const;
};

/// By some 64 rows, where no two of them are alike, or 256: nearly all of these (15 of 16) must
/// differ for a refusal, or in a matrix of more than 65536 rows half of some 4096. O(1).
RowSample sample_rows(const MatrixProfile& matrix, bool with_values);

/// The lists one after another: offset[pattern_ptr[q] + j] = column minus row of entry j of pattern
/// q.
template <class S>
std::vector<Index> offsets_of(const RowPatterns& patterns, const HostCsr<S>& a);

/// sum[l] = the sum of v x_of_row[list[j] + l] over 0 <= j < n, for eight rows of one pattern and
/// packs of vectors; v is values[8 j + l] where rows have their own values, values[j] where not.
/// Planes of packs leave the second cache between one use and the next, so x is asked for ahead:
/// once for offsets that follow each other. Always inlined: g++ leaves prefetches out of a function
/// that only reads.
template <bool own_values, class S, class T>
KOKKOS_FORCEINLINE_FUNCTION void multiply_pack_rows(const T* x_of_row, const Index* list, Index n,
                                                    const S* values, T* sum) {
  T mine[pack_width] = {};
  for (Index j = 0; j < n; ++j) {
    const T* from = x_of_row + list[j];
    if (j + 1 == n || list[j + 1] - list[j] > pack_rows_ahead) {
      for (int l = 0; l < pack_width; ++l) prefetch(from + l + pack_rows_ahead);
    }
    if constexpr (own_values) {
      const S* v = values + Offset{j} * pack_width;
      prefetch(v + 512);
      for (int l = 0; l < pack_width; ++l) mine[l] += static_cast<T>(v[l]) * from[l];
    } else {
      const T v = static_cast<T>(values[j]);
      for (int l = 0; l < pack_width; ++l) mine[l] += v * from[l];
    }
  }
  for (int l = 0; l < pack_width; ++l) sum[l] = mine[l];
}

/// Rows a block, a multiple of `slice`: few enough that a host core's share stays in its cache.
inline std::int64_t rows_of_block(Index rows, Offset nnz, Index slice, bool host,
                                  std::int64_t most) {
  if (!host || rows == 0) return most;
  constexpr Offset entries = 8192;
  const Offset fit = entries * rows / (nnz + 1) / slice * slice;
  return fit < slice ? slice : fit > most ? most : fit;
}

}  // namespace krysol
