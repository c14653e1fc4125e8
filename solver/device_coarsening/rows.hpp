// Loops over rows and sums of lengths, in the memory of a device.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <utility>

#include <krysol/solver/krylov/blas1.hpp>
#include <krysol/spmv/formats/csr.hpp>

namespace krysol::device_coarsening {

/// Runs body(i) for 0 <= i < n, a thread each. Unlike for_each, bodies may have loops of any length
/// and atomic updates. An array may end before kernels that use it have: Kokkos waits for them when
/// it frees memory.
template <class Exec, class Body>
void for_rows(const char* label, const Exec& exec, std::int64_t n, const Body& body) {
  if (n == 0) return;
  Kokkos::parallel_for(
      label, Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, n), body);
}

/// length[i + 1] := length[1] + ... + length[i + 1].
struct SumLengths {
  Offset* length;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, Offset& sum, bool last) const {
    sum += length[i + 1];
    if (last) length[i + 1] = sum;
  }
};

/// Turns lengths into where rows begin: row_ptr [n + 1] holds 0 and the lengths of n rows. Returns
/// their sum.
template <class Exec>
Offset sum_lengths(const Exec& exec, const Kokkos::View<Offset*, Exec>& row_ptr) {
  const auto n = static_cast<std::int64_t>(row_ptr.extent(0)) - 1;
  Offset sum = 0;
  if (n <= 0) return sum;
  Kokkos::parallel_scan("krysol::sum_lengths",
                        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, n),
                        SumLengths{row_ptr.data()}, sum);
  return sum;
}

/// Of things some of which were counted: number[i] := those before i, where i is one; else -1.
struct NumberCounted {
  const Offset* before;  // [n + 1]
  Index* number;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    number[i] = before[i + 1] > before[i] ? static_cast<Index>(before[i]) : -1;
  }
};

struct LongestRow {
  const Offset* row_ptr;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, Offset& longest) const {
    const Offset length = row_ptr[i + 1] - row_ptr[i];
    if (length > longest) longest = length;
  }
};

/// Entries of the longest row. Bytes: 8 a row.
template <class S, class Exec>
Offset longest_row(const Exec& exec, const Csr<S, Exec>& a) {
  Offset longest = 0;
  if (a.rows == 0) return longest;
  Kokkos::parallel_reduce(
      "krysol::longest_row",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, a.rows),
      LongestRow{a.row_ptr.data()}, Kokkos::Max<Offset>(longest));
  return longest;
}

/// Moves the largest of n values up where the one at `root` is smaller: a step of heapsort.
KOKKOS_INLINE_FUNCTION void sift_down(Index* v, Offset root, Offset n) {
  for (Offset child = 2 * root + 1; child < n; child = 2 * root + 1) {
    if (child + 1 < n && v[child] < v[child + 1]) ++child;
    if (v[root] >= v[child]) return;
    const Index moved = v[root];
    v[root] = v[child];
    v[child] = moved;
    root = child;
  }
}

/// Sorts v[0..n) ascending, by one thread and without other memory: by insertion where n is small,
/// else heapsort.
KOKKOS_INLINE_FUNCTION void sort_ascending(Index* v, Offset n) {
  constexpr Offset small = 24;
  if (n > small) {
    for (Offset root = n / 2; root-- > 0;) sift_down(v, root, n);
    for (Offset end = n - 1; end > 0; --end) {
      const Index moved = v[0];
      v[0] = v[end];
      v[end] = moved;
      sift_down(v, 0, end);
    }
    return;
  }
  for (Offset i = 1; i < n; ++i) {
    const Index moved = v[i];
    Offset j = i;
    for (; j > 0 && v[j - 1] > moved; --j) v[j] = v[j - 1];
    v[j] = moved;
  }
}

/// Where `wanted` is in v[begin..end), which ascends and has it.
KOKKOS_INLINE_FUNCTION Offset find_column(const Index* v, Offset begin, Offset end, Index wanted) {
  while (end - begin > 1) {
    const Offset middle = begin + (end - begin) / 2;
    if (v[middle] <= wanted) {
      begin = middle;
    } else {
      end = middle;
    }
  }
  return begin;
}

/// A matrix with room for the columns of `nnz` entries, for `row_ptr` as it is; without values and
/// a schedule (set_schedule).
template <class S, class Exec>
Csr<S, Exec> pattern_of(Index rows, Index cols, Kokkos::View<Offset*, Exec> row_ptr, Offset nnz) {
  Csr<S, Exec> a;
  a.rows = rows;
  a.cols = cols;
  a.row_ptr = std::move(row_ptr);
  a.col_idx = uninitialized<Index>(Exec{}, "coarsening.col_idx", nnz);
  return a;
}

/// The same with room for values.
template <class S, class Exec>
Csr<S, Exec> csr_of(Index rows, Index cols, Kokkos::View<Offset*, Exec> row_ptr, Offset nnz) {
  Csr<S, Exec> a = pattern_of<S>(rows, cols, std::move(row_ptr), nnz);
  a.values = uninitialized<S>(Exec{}, "coarsening.values", nnz);
  return a;
}

}  // namespace krysol::device_coarsening
