// Products of sparse matrices and their transposes, in the memory of a device.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <vector>

#include <krysol/solver/device_coarsening/rows.hpp>

namespace krysol::device_coarsening {

/// The places of hash tables that are in memory at a time; 4 bytes each.
inline constexpr Offset most_places = Offset{1} << 26;

/// size[i + 1] := places of the hash table of row i of A B, a power of two: half as many again as
/// it has columns at most.
struct SizeTables {
  const Offset* a_ptr;
  const Index* a_col;
  const Offset* b_ptr;
  Index cols;
  Offset* size;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    Offset most = 0;
    for (Offset k = a_ptr[i]; k < a_ptr[i + 1]; ++k) {
      most += b_ptr[a_col[k] + 1] - b_ptr[a_col[k]];
    }
    if (most > cols) most = cols;
    Offset places = most > 0 ? 1 : 0;
    while (2 * places < 3 * most) places *= 2;
    size[i + 1] = places;
  }
};

/// Collects the columns of a row of A B in its table, and counts them.
struct CollectColumns {
  const Offset* a_ptr;
  const Index* a_col;
  const Offset* b_ptr;
  const Index* b_col;
  const Offset* first_place;  // [rows + 1]
  Index first_row;
  Index* table;    // of the rows from first_row on; -1: free
  Offset* length;  // [rows + 1] length[i + 1] of row i
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t n) const {
    const std::int64_t i = first_row + n;
    Index* const mine = table + (first_place[i] - first_place[first_row]);
    const Offset places = first_place[i + 1] - first_place[i];
    for (Offset s = 0; s < places; ++s) mine[s] = -1;
    Offset count = 0;
    for (Offset k = a_ptr[i]; k < a_ptr[i + 1]; ++k) {
      for (Offset q = b_ptr[a_col[k]]; q < b_ptr[a_col[k] + 1]; ++q) {
        const Index c = b_col[q];
        // The multiplier of Fibonacci hashing: 2^32 over the golden ratio.
        Offset at = static_cast<Offset>(static_cast<std::uint32_t>(c) * 2654435769U) & (places - 1);
        while (mine[at] >= 0 && mine[at] != c) at = (at + 1) & (places - 1);
        if (mine[at] < 0) {
          mine[at] = c;
          ++count;
        }
      }
    }
    length[i + 1] = count;
  }
};

/// Writes the columns of a row from its table, ascending.
struct WriteColumns {
  const Offset* first_place;
  Index first_row;
  const Index* table;
  const Offset* row_ptr;
  Index* col_idx;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t n) const {
    const std::int64_t i = first_row + n;
    const Index* const mine = table + (first_place[i] - first_place[first_row]);
    const Offset places = first_place[i + 1] - first_place[i];
    Offset to = row_ptr[i];
    for (Offset s = 0; s < places; ++s) {
      if (mine[s] >= 0) col_idx[to++] = mine[s];
    }
    sort_ascending(col_idx + row_ptr[i], to - row_ptr[i]);
  }
};

/// The values of a row of C = A B, whose columns ascend.
template <class S>
struct MultiplyRows {
  const Offset* a_ptr;
  const Index* a_col;
  const S* a;
  const Offset* b_ptr;
  const Index* b_col;
  const S* b;
  const Offset* c_ptr;
  const Index* c_col;
  S* c;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const Offset begin = c_ptr[i];
    const Offset end = c_ptr[i + 1];
    for (Offset k = begin; k < end; ++k) c[k] = S(0);
    for (Offset k = a_ptr[i]; k < a_ptr[i + 1]; ++k) {
      const S factor = a[k];
      for (Offset q = b_ptr[a_col[k]]; q < b_ptr[a_col[k] + 1]; ++q) {
        c[find_column(c_col, begin, end, b_col[q])] += factor * b[q];
      }
    }
  }
};

/// Rows [0, first_place.size() - 1) in groups whose tables have `most` places together, or one row.
inline std::vector<Index> groups_of_rows(const std::vector<Offset>& first_place, Offset most) {
  const auto rows = static_cast<Index>(first_place.size()) - 1;
  std::vector<Index> first = {0};
  while (first.back() < rows) {
    const Index from = first.back();
    const Offset end = first_place[static_cast<std::size_t>(from)] + most;
    const auto next = std::upper_bound(first_place.begin() + from + 1, first_place.end(), end);
    first.push_back(std::max(from + 1, static_cast<Index>(next - first_place.begin()) - 1));
  }
  return first;
}

/// C = A B, its columns ascending in each row; products are added in the order of A's row, so that
/// the bits are the same in each run. Columns are collected by a thread a row in a hash table, then
/// sorted; values are added where a search finds their column. A and B may have entries of a row in
/// any order. places: of hash tables in memory at a time. Throws OutOfMemory.
template <class S, class Exec>
Csr<S, Exec> product(const Exec& exec, const Csr<S, Exec>& a, const Csr<S, Exec>& b,
                     Offset places = most_places) {
  const Offset* const a_ptr = a.row_ptr.data();
  const Offset* const b_ptr = b.row_ptr.data();
  const auto first_place = zeros<Offset>(exec, "product.first_place", std::int64_t{a.rows} + 1);
  for_rows("krysol::product(tables)", exec, a.rows,
           SizeTables{a_ptr, a.col_idx.data(), b_ptr, b.cols, first_place.data()});
  const Offset all = sum_lengths(exec, first_place);
  std::vector<Index> group = {0, a.rows};
  Offset largest = all;
  if (all > places) {
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, first_place);
    const std::vector<Offset> begin(host.data(), host.data() + host.extent(0));
    group = groups_of_rows(begin, places);
    largest = 0;
    for (std::size_t g = 0; g + 1 < group.size(); ++g) {
      largest = std::max(largest, begin[static_cast<std::size_t>(group[g + 1])] -
                                      begin[static_cast<std::size_t>(group[g])]);
    }
  }
  const auto table = uninitialized<Index>(exec, "product.tables", largest);
  const auto row_ptr = zeros<Offset>(exec, "product.row_ptr", std::int64_t{a.rows} + 1);
  const auto collect = [&](std::size_t g, const Vector<Offset, Exec>& length) {
    for_rows("krysol::product(columns)", exec, group[g + 1] - group[g],
             CollectColumns{a_ptr, a.col_idx.data(), b_ptr, b.col_idx.data(), first_place.data(),
                            group[g], table.data(), length.data()});
  };
  const std::size_t groups = group.size() - 1;
  for (std::size_t g = 0; g < groups; ++g) collect(g, row_ptr);
  Csr<S, Exec> c = csr_of<S>(a.rows, b.cols, row_ptr, sum_lengths(exec, row_ptr));
  // Of several groups the tables of the last alone are still there, and lengths are sums by now.
  const auto lengths =
      groups > 1 ? uninitialized<Offset>(exec, "product.lengths", std::int64_t{a.rows} + 1)
                 : row_ptr;
  for (std::size_t g = 0; g < groups; ++g) {
    if (groups > 1) collect(g, lengths);
    for_rows(
        "krysol::product(sort)", exec, group[g + 1] - group[g],
        WriteColumns{first_place.data(), group[g], table.data(), row_ptr.data(), c.col_idx.data()});
  }
  for_rows("krysol::product(values)", exec, a.rows,
           MultiplyRows<S>{a_ptr, a.col_idx.data(), a.values.data(), b_ptr, b.col_idx.data(),
                           b.values.data(), row_ptr.data(), c.col_idx.data(), c.values.data()});
  return c;
}

struct CountColumns {
  const Index* col_idx;
  Offset* length;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    Kokkos::atomic_inc(length + col_idx[k] + 1);
  }
};

/// Adds row i to the rows of its columns, in any order.
struct ScatterRows {
  const Offset* a_ptr;
  const Index* a_col;
  Offset* next;
  Index* col_idx;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    for (Offset k = a_ptr[i]; k < a_ptr[i + 1]; ++k) {
      col_idx[Kokkos::atomic_fetch_add(next + a_col[k], Offset{1})] = static_cast<Index>(i);
    }
  }
};

struct SortRows {
  const Offset* row_ptr;
  Index* col_idx;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    sort_ascending(col_idx + row_ptr[i], row_ptr[i + 1] - row_ptr[i]);
  }
};

template <class S>
struct TakeConjugates {
  const Offset* a_ptr;
  const Index* a_col;
  const S* a;
  const Offset* row_ptr;
  const Index* col_idx;
  S* values;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t c) const {
    for (Offset k = row_ptr[c]; k < row_ptr[c + 1]; ++k) {
      const Index i = col_idx[k];
      values[k] = conjugate(a[find_column(a_col, a_ptr[i], a_ptr[i + 1], static_cast<Index>(c))]);
    }
  }
};

/// The rows that have an entry in each column, ascending: the pattern of A'; its values are not
/// set.
template <class S, class Exec>
Csr<S, Exec> transposed_pattern(const Exec& exec, const Csr<S, Exec>& a) {
  const auto row_ptr = zeros<Offset>(exec, "transpose.row_ptr", std::int64_t{a.cols} + 1);
  for_rows("krysol::transpose(count)", exec, a.nnz(),
           CountColumns{a.col_idx.data(), row_ptr.data()});
  Csr<S, Exec> t = csr_of<S>(a.cols, a.rows, row_ptr, sum_lengths(exec, row_ptr));
  const auto next = uninitialized<Offset>(exec, "transpose.next", std::int64_t{a.cols} + 1);
  Kokkos::deep_copy(exec, next, row_ptr);
  for_rows("krysol::transpose(scatter)", exec, a.rows,
           ScatterRows{a.row_ptr.data(), a.col_idx.data(), next.data(), t.col_idx.data()});
  for_rows("krysol::transpose(sort)", exec, t.rows, SortRows{row_ptr.data(), t.col_idx.data()});
  return t;
}

/// A', of complex numbers A^H. The columns of each row of A must ascend, as product leaves them;
/// those of the result do.
template <class S, class Exec>
Csr<S, Exec> adjoint(const Exec& exec, const Csr<S, Exec>& a) {
  Csr<S, Exec> t = transposed_pattern(exec, a);
  for_rows("krysol::transpose(values)", exec, t.rows,
           TakeConjugates<S>{a.row_ptr.data(), a.col_idx.data(), a.values.data(), t.row_ptr.data(),
                             t.col_idx.data(), t.values.data()});
  return t;
}

}  // namespace krysol::device_coarsening
