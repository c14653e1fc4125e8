// Products of sparse matrices and their transposes, in the memory of a device.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <stdexcept>
#include <vector>

#include <fmt/core.h>
#include <krysol/solver/device_coarsening/rows.hpp>

namespace krysol::device_coarsening {

/// The places of hash tables that are in memory at a time; 4 bytes each.
inline constexpr Offset most_places = Offset{1} << 26;

/// The full blocks of two matrices that are multiplied: A's have `rows` x `inner` entries, B's
/// `inner` x `cols`.
struct ProductBlocks {
  Index rows = 1;
  Index inner = 1;
  Index cols = 1;
};

/// The pattern of A B by nodes: block row n of A are its rows from n blocks.rows on, of which the
/// first stands for all.
struct BlockPattern {
  const Offset* a_ptr;
  const Index* a_col;
  const Offset* b_ptr;
  const Index* b_col;
  ProductBlocks blocks;

  /// visit(n) for each block column of the product's block row `node`, as often as it is met.
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void visit(std::int64_t node, const Visit& visit) const {
    const std::int64_t i = node * blocks.rows;
    for (Offset k = a_ptr[i]; k < a_ptr[i + 1]; k += blocks.inner) {
      const Index j = a_col[k];
      for (Offset q = b_ptr[j]; q < b_ptr[j + 1]; q += blocks.cols) visit(b_col[q] / blocks.cols);
    }
  }
};

/// Places of a hash table for so many things: a power of two, half as many again at least.
KOKKOS_INLINE_FUNCTION Offset places_for(Offset most) {
  Offset places = most > 0 ? 1 : 0;
  while (2 * places < 3 * most) places *= 2;
  return places;
}

/// Where to look for i first. Fibonacci hashing: the first bits of i times 2^32 over the golden
/// ratio.
KOKKOS_INLINE_FUNCTION Offset hashed(Index i, Offset places) {
  const std::uint32_t hash = static_cast<std::uint32_t>(i) * 2654435769U;
  return static_cast<Offset>(std::uint64_t{hash} * static_cast<std::uint64_t>(places) >> 32U);
}

/// size[n + 1] := places of the hash table of block row n, for the block columns that it has at
/// most. Bytes: 4 an entry of A, 16 a row of B that it leads to.
struct SizeTables {
  BlockPattern pattern;
  Index block_cols;
  Offset* size;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t node) const {
    const std::int64_t i = node * pattern.blocks.rows;
    Offset most = 0;
    for (Offset k = pattern.a_ptr[i]; k < pattern.a_ptr[i + 1]; k += pattern.blocks.inner) {
      const Index j = pattern.a_col[k];
      most += (pattern.b_ptr[j + 1] - pattern.b_ptr[j]) / pattern.blocks.cols;
    }
    if (most > block_cols) most = block_cols;
    size[node + 1] = places_for(most);
  }
};

/// Collects the block columns of a block row in its table, and sets the lengths of its rows. Bytes:
/// 4 a place, and 4 a product of two blocks to read and to look up.
struct CollectColumns {
  BlockPattern pattern;
  const Offset* first_place;  // [block rows + 1]
  Index first_node;
  Index* table;    // of the block rows from first_node on; -1: free
  Offset* length;  // [rows + 1] length[i + 1] of row i
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t n) const {
    const std::int64_t node = first_node + n;
    Index* const mine = table + (first_place[node] - first_place[first_node]);
    const Offset places = first_place[node + 1] - first_place[node];
    for (Offset s = 0; s < places; ++s) mine[s] = -1;
    Offset count = 0;
    pattern.visit(node, [&](Index c) {
      Offset at = hashed(c, places);
      while (mine[at] >= 0 && mine[at] != c) at = (at + 1) & (places - 1);
      if (mine[at] < 0) {
        mine[at] = c;
        ++count;
      }
    });
    const ProductBlocks& blocks = pattern.blocks;
    for (Index r = 0; r < blocks.rows; ++r) {
      length[node * blocks.rows + r + 1] = count * blocks.cols;
    }
  }
};

/// Writes the columns of a block row's rows from its table, ascending. Bytes: 4 a place and an
/// entry.
struct WriteColumns {
  ProductBlocks blocks;
  const Offset* first_place;
  Index first_node;
  const Index* table;
  const Offset* row_ptr;
  Index* col_idx;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t n) const {
    const std::int64_t node = first_node + n;
    const Index* const mine = table + (first_place[node] - first_place[first_node]);
    const Offset places = first_place[node + 1] - first_place[node];
    Index* const to = col_idx + row_ptr[node * blocks.rows];
    Offset count = 0;
    for (Offset s = 0; s < places; ++s) {
      if (mine[s] >= 0) to[count++] = mine[s];
    }
    sort_ascending(to, count);
    for (Offset s = count; s-- > 0;) {  // each becomes blocks.cols columns, the last ones first
      const Index first = to[s] * blocks.cols;
      for (Index c = 0; c < blocks.cols; ++c) to[s * blocks.cols + c] = first + c;
    }
    for (Offset e = count * blocks.cols; e < count * blocks.cols * blocks.rows; ++e) {
      to[e] = to[e - count * blocks.cols];
    }
  }
};

/// The values of a row of C = A B, whose columns ascend. Bytes: 12 an entry of C, and 12 a product
/// of two entries beside the search.
template <class S>
struct MultiplyRows {
  BlockPattern pattern;
  const S* a;
  const S* b;
  const Offset* c_ptr;
  const Index* c_col;
  S* c;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const Offset begin = c_ptr[i];
    const Offset end = c_ptr[i + 1];
    const Index cols = pattern.blocks.cols;
    for (Offset k = begin; k < end; ++k) c[k] = S(0);
    for (Offset k = pattern.a_ptr[i]; k < pattern.a_ptr[i + 1]; ++k) {
      const S factor = a[k];
      const Index j = pattern.a_col[k];
      for (Offset q = pattern.b_ptr[j]; q < pattern.b_ptr[j + 1]; q += cols) {
        S* const to = c + find_column(c_col, begin, end, pattern.b_col[q]);
        for (Index l = 0; l < cols; ++l) to[l] += factor * b[q + l];
      }
    }
  }
};

/// Rows in groups whose places in memory are at most `most` together, or of one row.
/// first_place [rows + 1]: places of the rows before each; all: of all rows.
struct RowGroups {
  std::vector<Index> first;  // [groups + 1]
  Offset largest;            // places of a group

  template <class Exec>
  RowGroups(const Kokkos::View<Offset*, Exec>& first_place, Offset all, Offset most)
      : largest(all) {
    const auto rows = static_cast<Index>(first_place.extent(0)) - 1;
    first = {0, rows};
    if (all <= most) return;
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, first_place);
    const Offset* const begin = host.data();
    first = {0};
    largest = 0;
    while (first.back() < rows) {
      const Index from = first.back();
      const Offset* const next =
          std::upper_bound(begin + from + 1, begin + rows + 1, begin[from] + most);
      first.push_back(std::max(from + 1, static_cast<Index>(next - begin) - 1));
      largest = std::max(largest, begin[first.back()] - begin[from]);
    }
  }
};

/// The values of C = A B, whose pattern `product` made, in place. blocks: see there.
template <class S, class Exec>
void set_product_values(const Exec& exec, const Csr<S, Exec>& a, const Csr<S, Exec>& b,
                        const Csr<S, Exec>& c, const ProductBlocks& blocks = {}) {
  const BlockPattern pattern{a.row_ptr.data(), a.col_idx.data(), b.row_ptr.data(), b.col_idx.data(),
                             blocks};
  for_rows("krysol::product(values)", exec, a.rows,
           MultiplyRows<S>{pattern, a.values.data(), b.values.data(), c.row_ptr.data(),
                           c.col_idx.data(), c.values.data()});
}

/// C = A B, its columns ascending in each row; products are added in the order of A's row, so that
/// the bits are the same in each run. The block columns of a block row are collected by a thread in
/// a hash table, then sorted; values are added by a thread a row where a search finds their column.
/// blocks: where both have full blocks, whose entries are next to each other in each row; of single
/// entries rows may have them in any order. places: of hash tables in memory at a time. Throws
/// std::invalid_argument where the shapes do not fit, OutOfMemory.
template <class S, class Exec>
Csr<S, Exec> product(const Exec& exec, const Csr<S, Exec>& a, const Csr<S, Exec>& b,
                     const ProductBlocks& blocks = {}, Offset places = most_places) {
  if (a.cols != b.rows || a.rows % blocks.rows != 0 || a.cols % blocks.inner != 0 ||
      b.cols % blocks.cols != 0) {
    throw std::invalid_argument(fmt::format(
        "krysol: the product of matrices of {} x {} and {} x {} in blocks of {} x {} "
        "and {} x {}",
        a.rows, a.cols, b.rows, b.cols, blocks.rows, blocks.inner, blocks.inner, blocks.cols));
  }
  const BlockPattern pattern{a.row_ptr.data(), a.col_idx.data(), b.row_ptr.data(), b.col_idx.data(),
                             blocks};
  const Index nodes = a.rows / blocks.rows;
  const auto first_place = zeros<Offset>(exec, "product.first_place", std::int64_t{nodes} + 1);
  for_rows("krysol::product(tables)", exec, nodes,
           SizeTables{pattern, b.cols / blocks.cols, first_place.data()});
  const Offset all = sum_lengths(exec, first_place);
  const RowGroups groups(first_place, all, places);
  const auto table = uninitialized<Index>(exec, "product.tables", groups.largest);
  const auto row_ptr = zeros<Offset>(exec, "product.row_ptr", std::int64_t{a.rows} + 1);
  const auto collect = [&](std::size_t g, const Vector<Offset, Exec>& length) {
    for_rows(
        "krysol::product(columns)", exec, groups.first[g + 1] - groups.first[g],
        CollectColumns{pattern, first_place.data(), groups.first[g], table.data(), length.data()});
  };
  const std::size_t count = groups.first.size() - 1;
  for (std::size_t g = 0; g < count; ++g) collect(g, row_ptr);
  Csr<S, Exec> c = csr_of<S>(a.rows, b.cols, row_ptr, sum_lengths(exec, row_ptr));
  // Of several groups the tables of the last alone are still there, and lengths are sums by now.
  const auto lengths =
      count > 1 ? uninitialized<Offset>(exec, "product.lengths", std::int64_t{a.rows} + 1)
                : row_ptr;
  for (std::size_t g = 0; g < count; ++g) {
    if (count > 1) collect(g, lengths);
    for_rows("krysol::product(sort)", exec, groups.first[g + 1] - groups.first[g],
             WriteColumns{blocks, first_place.data(), groups.first[g], table.data(), row_ptr.data(),
                          c.col_idx.data()});
  }
  set_product_values(exec, a, b, c, blocks);
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

/// The rows that have an entry in each column, ascending: A' without values.
template <class S, class Exec>
Csr<S, Exec> transposed_pattern(const Exec& exec, const Csr<S, Exec>& a) {
  const auto row_ptr = zeros<Offset>(exec, "transpose.row_ptr", std::int64_t{a.cols} + 1);
  for_rows("krysol::transpose(count)", exec, static_cast<std::int64_t>(a.col_idx.extent(0)),
           CountColumns{a.col_idx.data(), row_ptr.data()});
  Csr<S, Exec> t = pattern_of<S>(a.cols, a.rows, row_ptr, sum_lengths(exec, row_ptr));
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
  t.values = uninitialized<S>(exec, "coarsening.values", a.nnz());
  for_rows("krysol::transpose(values)", exec, t.rows,
           TakeConjugates<S>{a.row_ptr.data(), a.col_idx.data(), a.values.data(), t.row_ptr.data(),
                             t.col_idx.data(), t.values.data()});
  return t;
}

}  // namespace krysol::device_coarsening
