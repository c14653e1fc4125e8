// Jagged diagonals: rows sorted by length, stored column by column without any padding.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/kernels/padding.hpp>
#include <krysol/spmv/kernels/slices.hpp>
#include <krysol/spmv/kernels/slots.hpp>

namespace krysol {

/// Diagonal j holds the (j + 1)th entry of each row that has one; rows come longest first, so these
/// are the first ones: A(row[i], col_idx[k]) = values[k] for k = diag_ptr[j] + i < diag_ptr[j + 1].
/// Bytes a multiplication (double): 12 a nonzero, 8 a diagonal, 4 a row, 8 a column of x, 16 a row
/// of y, which is written out of order.
/// Saad, SIAM J. Sci. Stat. Comput. 10(6), 1989, DOI 10.1137/0910073.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
struct Jds {
  static constexpr std::string_view name = "jds";
  static constexpr std::string_view good_for = "long rows of many different lengths; no padding";
  using value_type = S;
  using execution_space = Exec;

  Index rows = 0;
  Index cols = 0;
  Kokkos::View<Index*, Exec> row;        // [rows] the permutation: row of each slot
  Kokkos::View<Offset*, Exec> diag_ptr;  // [longest row + 1] where each diagonal begins
  Kokkos::View<Index*, Exec> col_idx;    // [nnz]
  Kokkos::View<S*, Exec> values;         // [nnz]
  Kokkos::View<Index*, Exec> block_row;  // [blocks + 1] first slot of blocks of similar work

  Offset nnz() const { return static_cast<Offset>(values.extent(0)); }
  static FormatEstimate estimate(const MatrixProfile& matrix) {
    return {matrix.nnz() * matrix.slot_bytes() +
            std::int64_t{matrix.rows()} * std::int64_t{sizeof(Index)}};
  }
};

template <class S, class Exec>
std::int64_t bytes(const Jds<S, Exec>& a) {
  return a.nnz() * static_cast<std::int64_t>(sizeof(S) + sizeof(Index)) +
         static_cast<std::int64_t>(a.diag_ptr.extent(0) * sizeof(Offset) +
                                   (a.row.extent(0) + a.block_row.extent(0)) * sizeof(Index));
}

template <class S, class Exec>
ListedBlocks row_blocks(const Jds<S, Exec>& a) {
  return listed_blocks(a.rows, a.block_row);
}

template <class S, class Exec>
RowOrder row_order(const Jds<S, Exec>& a) {
  return {a.row.data()};
}

/// Bytes a nonzero: 12, and its entry of x.
template <class S, class T, class Exec>
struct JdsProduct {
  const Offset* diag_ptr;
  Index diagonals;
  const Index* col_idx;
  const S* values;
  const T* x;
  bool far;      // the arrays do not stay in the second level of the caches
  bool gathers;  // see gathers_pay

  /// Slots [first, first + count): those that have an entry in diagonal j are the first of them.
  /// Each diagonal's share is a run of some KiB, and the next one's lies far from it: a core's own
  /// prefetching begins anew with each. fetch: asks for the slots so many rows on, whose turn is
  /// after all diagonals of these; 0, only for where the next run begins. By itself: RowLoop keeps
  /// the registers that this loop needs.
  template <int fetch>
  KRYSOL_KEEP_APART KOKKOS_INLINE_FUNCTION void add_rows(std::int64_t first, int count,
                                                         T* sum) const {
    const JdsProduct a = *this;  // in registers, see RowLoop
    for (int w = 0; w < count; ++w) sum[w] = T(0);
    for (Index j = 0; j < a.diagonals; ++j) {
      const Offset reached = a.diag_ptr[j + 1] - a.diag_ptr[j] - first;
      if (reached <= 0) return;
      const Offset k = a.diag_ptr[j] + first;
      if constexpr (Tiles<Exec>::tiled) {
        if constexpr (fetch == 0) {
          const bool more = j + 1 < a.diagonals && a.diag_ptr[j + 2] - a.diag_ptr[j + 1] > first;
          const Offset next = more ? a.diag_ptr[j + 1] + first : first + count;
          for (int l = 0; l < 32; l += 8) prefetch(a.values + next + l);
          for (int l = 0; l < 32; l += 16) prefetch(a.col_idx + next + l);
        }
        gather_slots<fetch>(a.col_idx + k, a.values + k,
                            reached < count ? static_cast<int>(reached) : count, a.x, a.gathers,
                            sum);
      } else {
        sum[0] += static_cast<T>(a.values[k]) * a.x[a.col_idx[k]];
      }
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member<Exec>&, std::int64_t first, int count,
                                         T* sum) const {
    if constexpr (Tiles<Exec>::tiled) {
      if (far) {
        add_rows<Tiles<Exec>::rows>(first, count, sum);
        return;
      }
    }
    add_rows<0>(first, count, sum);
  }
};

template <class S, class T, class Exec>
JdsProduct<S, T, Exec> row_product(const Jds<S, Exec>& a, const Kokkos::View<const T*, Exec>& x) {
  // Half, because x and y go through the same caches.
  const bool far =
      bytes(a) + static_cast<std::int64_t>(x.extent(0) * sizeof(T)) > cache_sizes().second / 2;
  return {a.diag_ptr.data(), static_cast<Index>(a.diag_ptr.extent(0)) - 1,
          a.col_idx.data(),  a.values.data(),
          x.data(),          far,
          gathers_pay<T>()};
}

/// Moves the row at slot i to its diagonals.
template <class S>
struct FillJds {
  const Offset* row_ptr;
  const Index* from_col;
  const S* from_value;
  const Index* row;
  const Offset* diag_ptr;
  Index* col_idx;
  S* values;

  void operator()(std::int64_t i) const {
    const Offset begin = row_ptr[row[i]];
    const Offset length = row_ptr[row[i] + 1] - begin;
    for (Offset j = 0; j < length; ++j) {
      col_idx[diag_ptr[j] + i] = from_col[begin + j];
      values[diag_ptr[j] + i] = from_value[begin + j];
    }
  }
};

template <class S, class Exec>
void from_csr(const HostCsr<S>& host, Jds<S, Exec>& a) {
  a.rows = host.rows;
  a.cols = host.cols;
  const Offset* row_ptr = host.row_ptr.data();
  const std::vector<Index> row = rows_by_length(row_ptr, host.rows, std::max<Index>(1, host.rows));
  std::vector<Offset> sorted_ptr = {0};  // as if the sorted rows were a csr matrix
  std::vector<Offset> diag_ptr(static_cast<std::size_t>(longest_row(host)) + 1, 0);
  for (const Index i : row) {
    const Offset length = row_ptr[i + 1] - row_ptr[i];
    sorted_ptr.push_back(sorted_ptr.back() + length);
    if (length > 0) ++diag_ptr[static_cast<std::size_t>(length)];
  }
  // So far: rows of each length. Diagonal j reaches all rows longer than j.
  for (std::size_t j = diag_ptr.size() - 1; j > 1; --j) diag_ptr[j - 1] += diag_ptr[j];
  for (std::size_t j = 1; j < diag_ptr.size(); ++j) diag_ptr[j] += diag_ptr[j - 1];

  a.row = to_device<Exec>("jds.row", row);
  a.diag_ptr = to_device<Exec>("jds.diag_ptr", diag_ptr);
  a.block_row = to_device<Exec>(
      "jds.block_row",
      plan_row_blocks(sorted_ptr.data(), host.rows, RowSchedule::balanced, true, Tiles<Exec>::block)
          .block_row);
  a.col_idx = allocate<decltype(a.col_idx)>("jds.col_idx", host.nnz());
  a.values = allocate<decltype(a.values)>("jds.values", host.nnz());
  const auto col_idx = Kokkos::create_mirror_view(Kokkos::HostSpace{}, a.col_idx);
  const auto values = Kokkos::create_mirror_view(Kokkos::HostSpace{}, a.values);
  host_for("krysol::from_csr(jds)", host.rows,
           FillJds<S>{row_ptr, host.col_idx.data(), host.values.data(), row.data(), diag_ptr.data(),
                      col_idx.data(), values.data()});
  Kokkos::deep_copy(a.col_idx, col_idx);
  Kokkos::deep_copy(a.values, values);
}

}  // namespace krysol
