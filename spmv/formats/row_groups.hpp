// Groups of neighbouring rows that name (nearly) the same columns: one list of columns for all rows
// of a group.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>

#include <krysol/spmv/kernels/matrix_profile.hpp>
#include <krysol/spmv/kernels/row_blocks.hpp>
#include <krysol/spmv/kernels/slots.hpp>

namespace krysol {

/// Rows [row, row of the next group), and their list of columns, from `columns` to that of the next
/// group.
///
/// full < 0: rows with the same columns, one to three on a host, with their values row after row as
/// in csr. Such are all groups in the memory of a GPU.
///
/// Else two to eight rows, of which the first `full` columns have an entry in each, and the others
/// in those rows whose bits are set in a mask each, from `masks` on. Values lie column after
/// column, each with those of its rows: nothing is padded, so that no zero meets an infinity.
struct RowGroup {
  Index row = 0;
  Index full = 0;
  Offset columns = 0;
  Offset masks = 0;
  Offset values = 0;  // where they begin
};

inline constexpr Index largest_group = 8;

/// Refuses few columns in common.
FormatEstimate estimate_row_groups(const MatrixProfile& matrix);

/// Rows of several unknowns of a node, wherever they begin and where boundary conditions took some
/// out. A host core multiplies the rows of a group as the lanes of a register, column by column,
/// with one entry of x for all: no gather, no sum over lanes, an index for up to eight values.
/// Groups of rows are the "inodes" of PETSc; masks of rows are those of bitmasked register blocks
/// (Buluc, Williams, Oliker & Demmel 2011, DOI 10.1109/IPDPS.2011.73).
/// Bytes a multiplication (double): 8 a nonzero, 4 a column of a group, 1 a column that not all of
/// its rows have, 32 a group, 8 a column of x, 16 a row of y.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
struct RowGroups {
  static constexpr std::string_view name = "row_groups";
  static constexpr std::string_view good_for =
      "neighbouring rows with (nearly) the same columns: several unknowns a node";
  using value_type = S;
  using execution_space = Exec;

  Index rows = 0;
  Index cols = 0;
  Offset entries = 0;
  int lanes = 1;                           // of a team, on a row
  Kokkos::View<RowGroup*, Exec> group;     // [groups + 1] the last begins after all rows
  Kokkos::View<Index*, Exec> group_of;     // [rows] group of each row
  Kokkos::View<Index*, Exec> col_idx;      // [columns + 8] and columns 0 that no group has
  Kokkos::View<std::uint8_t*, Exec> mask;  // [masks] bit r: row r of the group has the column
  Kokkos::View<S*, Exec> values;           // [nnz + 8] and zeros, which are loaded and not used
  Kokkos::View<Index*, Exec> block_row;    // [blocks + 1] first row of each block of similar work

  Offset nnz() const { return entries; }
  static FormatEstimate estimate(const MatrixProfile& matrix) {
    return estimate_row_groups(matrix);
  }
};

template <class S, class Exec>
std::int64_t bytes(const RowGroups<S, Exec>& a) {
  return static_cast<std::int64_t>(
      a.values.extent(0) * sizeof(S) + a.group.extent(0) * sizeof(RowGroup) + a.mask.extent(0) +
      (a.group_of.extent(0) + a.col_idx.extent(0) + a.block_row.extent(0)) * sizeof(Index));
}

template <class S, class Exec>
ListedBlocks row_blocks(const RowGroups<S, Exec>& a) {
  return listed_blocks(a.rows, a.block_row);
}

template <class S, class Exec>
int row_lanes(const RowGroups<S, Exec>& a) {
  return Tiles<Exec>::tiled ? 1 : a.lanes;
}

/// Bytes a nonzero: 8, and the index and the entry of x of its column, which all rows share.
template <class S, class T, class Exec>
struct RowGroupProduct {
  static constexpr bool writes_in_order = true;
  const RowGroup* group;
  const Index* group_of;
  const Index* col_idx;
  const std::uint8_t* mask;
  const S* values;
  const T* x;
  bool gathers;  // see gathers_pay

  /// Numbers of T that a register of this processor holds, eight at the most.
  static constexpr int part =
      std::clamp(register_bytes / static_cast<int>(sizeof(T)), 1, pack_width);

  /// How far ahead to ask for values, in entries: 4 KiB of doubles.
  static constexpr Offset ahead = 512;

  /// Asks for `count` of them.
  KOKKOS_FORCEINLINE_FUNCTION static void fetch(const S* v, Index count) {
    constexpr Index line = sizeof(S) < 64 ? 64 / sizeof(S) : 1;
    for (Index l = 0; l < count; l += line) prefetch(v + ahead + l);
  }

  /// g rows with the same n columns, their values row after row: one gather for all of them.
  template <int g>
  KOKKOS_INLINE_FUNCTION void same_columns(const Index* col, Offset n, const S* v, T* sum) const {
    if constexpr (detail::in_vectors<S, T>) {
      using Part = Registers<T, part>;
      Part total[g] = {};
      Part in;
      Part value;
      Offset k = 0;
      for (; k + part <= n; k += part) {
        in.gather(x, col + k, gathers);
        for (int r = 0; r < g; ++r) {
          fetch(v + r * n + k, part);
          value.load(v + r * n + k);
          total[r].add_product(value, in);
        }
      }
      if (k < n) {
        const unsigned rest = (1U << static_cast<unsigned>(n - k)) - 1U;
        in.gather(x, col + k, gathers);
        for (int r = 0; r < g; ++r) {
          value.load(v + r * n + k);
          total[r].add_product_where(rest, value, in);
        }
      }
      for (int r = 0; r < g; ++r) sum[r] = total[r].sum();
    } else {
      T total[g] = {};
      for (Offset k = 0; k < n; ++k) {
        const T& in = x[col[k]];
        if constexpr (is_pack<T>) {
          prefetch(&in + pack_rows_ahead);
          if (k % pack_width == 0) {
            for (int r = 0; r < g; ++r) fetch(v + r * n + k, pack_width);
          }
        }
        for (int r = 0; r < g; ++r) total[r] += static_cast<T>(v[r * n + k]) * in;
      }
      for (int r = 0; r < g; ++r) sum[r] = total[r];
    }
  }

  /// g <= most rows as lanes: `full` columns with a value of each, then some that not all have.
  /// room: of `sum`, of which more than g may be written.
  template <int most>
  KOKKOS_INLINE_FUNCTION void by_columns(const Index* col, Index full, const std::uint8_t* bits,
                                         Index partial, Index g, const S* v, int room,
                                         T* sum) const {
    if constexpr (detail::in_vectors<S, T>) {
      using Lanes = Registers<T, most>;
      constexpr int chains = 4;  // additions wait four cycles for the one before
      Lanes total[chains] = {};
      Lanes in;
      Lanes value;
      Index k = 0;
      for (; k + chains <= full; k += chains, v += chains * g) {
        fetch(v, chains * g);
        for (int c = 0; c < chains; ++c) {
          in.fill(x[col[k + c]]);
          value.load(v + c * g);
          total[c].add_product(value, in);
        }
      }
      for (; k < full; ++k, v += g) {
        in.fill(x[col[k]]);
        value.load(v);
        total[0].add_product(value, in);
      }
      col += full;
      for (Index j = 0; j < partial; ++j) {
        const unsigned has = bits[j];
        in.fill(x[col[j]]);
        value.expand(v, has);
        total[1].add_product_where(has, value, in);
        v += __builtin_popcount(has);
      }
      total[0] += total[2];
      total[1] += total[3];
      total[0] += total[1];
      if (room >= most) {
        total[0].store(sum);
      } else {
        T each[most];
        total[0].store(each);
        for (Index r = 0; r < g; ++r) sum[r] = each[r];
      }
    } else {
      T total[most] = {};
      for (Index k = 0; k < full; ++k, v += g) {
        const T& in = x[col[k]];
        if constexpr (is_pack<T>) {
          prefetch(&in + pack_rows_ahead);
          fetch(v, g);
        }
        for (Index r = 0; r < g; ++r) total[r] += static_cast<T>(v[r]) * in;
      }
      for (Index j = 0; j < partial; ++j) {
        const T& in = x[col[full + j]];
        for (Index r = 0; r < g; ++r) {
          if ((bits[j] >> r & 1) != 0) total[r] += static_cast<T>(*v++) * in;
        }
      }
      for (Index r = 0; r < g; ++r) sum[r] = total[r];
    }
  }

  /// Rows [first, first + count) on a host: whole groups.
  KRYSOL_KEEP_APART void add_groups(std::int64_t first, int count, T* sum) const {
    const RowGroupProduct a = *this;  // in registers, see RowLoop
    const RowGroup* q = a.group + a.group_of[first];
    for (int w = 0; w < count; ++q) {
      const RowGroup mine = q[0];
      const RowGroup next = q[1];
      const Index g = next.row - mine.row;
      const Index* col = a.col_idx + mine.columns;
      const auto n = static_cast<Index>(next.columns - mine.columns);
      const S* v = a.values + mine.values;
      if (mine.full < 0) {
        if (g == 1 && (is_pack<T> || n < 2 * part)) {
          sum[w] = chained_row(a.x, col, n, v);
        } else if (g == 1) {
          a.template same_columns<1>(col, n, v, sum + w);
        } else if (g == 2) {
          a.template same_columns<2>(col, n, v, sum + w);
        } else {
          a.template same_columns<3>(col, n, v, sum + w);
        }
      } else {
        const std::uint8_t* bits = a.mask + mine.masks;
        if (g <= 4) {
          a.template by_columns<4>(col, mine.full, bits, n - mine.full, g, v, count - w, sum + w);
        } else {
          a.template by_columns<8>(col, mine.full, bits, n - mine.full, g, v, count - w, sum + w);
        }
      }
      w += g;
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member<Exec>& member, std::int64_t first, int count,
                                         T* sum) const {
    if constexpr (Tiles<Exec>::tiled) {
      add_groups(first, count, sum);
    } else {
      const RowGroup mine = group[group_of[first]];
      const Offset n = group[group_of[first] + 1].columns - mine.columns;
      const Index* col = col_idx + mine.columns;
      const S* v = values + mine.values + (first - mine.row) * n;
      T total = T(0);
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(member, n),
          [&](Offset k, T& sum_of_lane) { sum_of_lane += static_cast<T>(v[k]) * x[col[k]]; },
          total);
      sum[0] = total;
    }
  }
};

template <class S, class T, class Exec>
RowGroupProduct<S, T, Exec> row_product(const RowGroups<S, Exec>& a,
                                        const Kokkos::View<const T*, Exec>& x) {
  return {a.group.data(),  a.group_of.data(), a.col_idx.data(), a.mask.data(),
          a.values.data(), x.data(),          gathers_pay<T>()};
}

/// The groups of a matrix, all but its values.
struct RowGroupPlan {
  std::vector<RowGroup> group;     // [groups + 1]
  std::vector<Index> group_of;     // [rows]
  std::vector<Index> col_idx;      // [columns + 8]
  std::vector<std::uint8_t> mask;  // [masks]
  std::vector<Index> block_row;    // [blocks + 1]
};

/// Takes rows together as long as that saves operations, by what a core needs for a row by itself,
/// for rows with the same columns and for a group; for a GPU (host = false) rows with the same
/// columns only. row_ptr: [rows + 1], col_idx: [nnz]. On the host's cores; the same for any number
/// of them.
RowGroupPlan plan_row_groups(const Offset* row_ptr, const Index* col_idx, Index rows, bool host,
                             std::int64_t rows_per_block);

/// Moves the values of group q to their places.
template <class S>
struct FillRowGroup {
  const Offset* row_ptr;
  const Index* from_col;
  const S* from_value;
  const RowGroup* group;
  const Index* col_idx;
  const std::uint8_t* mask;
  S* values;

  void operator()(std::int64_t q) const {
    const RowGroup& mine = group[q];
    const Index g = group[q + 1].row - mine.row;
    const Offset begin = row_ptr[mine.row];
    if (mine.full < 0) {
      std::copy(from_value + begin, from_value + row_ptr[mine.row + g], values + begin);
      return;
    }
    S* to = values + begin;
    Offset next[largest_group];
    const auto take = [&](Index r, Index col) {
      Offset& k = next[r];
      while (from_col[k] != col) ++k;
      *to++ = from_value[k];
    };
    const Index* col = col_idx + mine.columns;
    for (Index r = 0; r < g; ++r) next[r] = row_ptr[mine.row + r];
    for (Index k = 0; k < mine.full; ++k, ++col) {
      for (Index r = 0; r < g; ++r) take(r, *col);
    }
    for (Index r = 0; r < g; ++r) next[r] = row_ptr[mine.row + r];
    for (Offset j = mine.masks; j < group[q + 1].masks; ++j, ++col) {
      for (Index r = 0; r < g; ++r) {
        if ((mask[j] >> r & 1) != 0) take(r, *col);
      }
    }
  }
};

template <class S, class Exec>
void from_csr(const HostCsr<S>& host, RowGroups<S, Exec>& a) {
  const Offset* row_ptr = host.row_ptr.data();
  constexpr std::int64_t rows_per_block =
      Tiles<Exec>::tiled ? Tiles<Exec>::rows : Tiles<Exec>::block;
  const RowGroupPlan plan =
      plan_row_groups(row_ptr, host.col_idx.data(), host.rows, Tiles<Exec>::tiled, rows_per_block);
  a.rows = host.rows;
  a.cols = host.cols;
  a.entries = host.nnz();
  if (!Tiles<Exec>::tiled) a.lanes = device_lanes(row_ptr, host.rows);
  a.group = to_device<Exec>("row_groups.group", plan.group);
  a.group_of = to_device<Exec>("row_groups.group_of", plan.group_of);
  a.col_idx = to_device<Exec>("row_groups.col_idx", plan.col_idx);
  a.mask = to_device<Exec>("row_groups.mask", plan.mask);
  a.block_row = to_device<Exec>("row_groups.block_row", plan.block_row);
  a.values = allocate<decltype(a.values)>("row_groups.values", host.nnz() + pack_width);
  const auto values = Kokkos::create_mirror_view(Kokkos::HostSpace{}, a.values);
  std::fill(values.data() + host.nnz(), values.data() + values.extent(0), S(0));
  host_for("krysol::from_csr(row_groups)", static_cast<std::int64_t>(plan.group.size()) - 1,
           FillRowGroup<S>{row_ptr, host.col_idx.data(), host.values.data(), plan.group.data(),
                           plan.col_idx.data(), plan.mask.data(), values.data()});
  Kokkos::deep_copy(a.values, values);
}

}  // namespace krysol
