// ELLPACK-ITPACK: every row padded to the width of the longest.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/kernels/matrix_profile.hpp>
#include <krysol/spmv/kernels/padding.hpp>
#include <krysol/spmv/kernels/slots.hpp>

namespace krysol {

/// Bytes of all slots, padding included; refuses where they exceed 1.3 times the bytes of csr.
inline FormatEstimate estimate_ell(const MatrixProfile& matrix) {
  const std::int64_t bytes =
      std::int64_t{matrix.longest_row()} * matrix.rows() * matrix.slot_bytes();
  return {bytes, refuse_more_than(bytes, 1.3, matrix.csr_bytes(), "csr")};
}

/// A(i, col_idx(i, j)) = values(i, j) for 0 <= j < width where col_idx(i, j) >= 0; a slot that
/// only pads has column -1 and is never multiplied, so that an Inf elsewhere in x stays elsewhere.
/// Stored column by column: neighbouring rows are adjacent, which vector lanes and GPU threads
/// like. Bytes a multiplication (double): 12 a slot, 8 a column of x, 16 a row of y. Grimes,
/// Kincaid & Young, ITPACK 2.0 User's Guide, CNA-150, 1979.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
struct Ell {
  static constexpr std::string_view name = "ell";
  static constexpr std::string_view good_for = "rows of (nearly) equal length: grids, stencils";
  using value_type = S;
  using execution_space = Exec;

  Index rows = 0;
  Index cols = 0;
  Index width = 0;          // slots a row
  Offset entries = 0;       // slots that hold an entry
  std::int64_t beside = 0;  // bytes that are read between two multiplications with it, as by Hyb
  Kokkos::View<Index**, Kokkos::LayoutLeft, Exec> col_idx;  // [rows, width]; -1 where padded
  Kokkos::View<S**, Kokkos::LayoutLeft, Exec> values;       // [rows, width]; 0 where padded

  Offset nnz() const { return entries; }
  static FormatEstimate estimate(const MatrixProfile& matrix) { return estimate_ell(matrix); }
};

template <class S, class Exec>
std::int64_t bytes(const Ell<S, Exec>& a) {
  return static_cast<std::int64_t>(a.values.extent(0) * a.values.extent(1)) *
         static_cast<std::int64_t>(sizeof(S) + sizeof(Index));
}

template <class S, class Exec>
EqualBlocks row_blocks(const Ell<S, Exec>& a) {
  return {a.rows, rows_of_block<Exec>(a.rows)};
}

/// Bytes a slot: 12, and its entry of x.
template <class S, class T, class Exec>
struct EllProduct {
  const Index* col_idx;
  const S* values;
  Offset stride;  // from one slot of a row to its next
  Index width;
  const T* x;
  bool beyond_cache;
  bool gathers;  // see gathers_pay

  /// Rows [first, first + count) on a host.
  template <int fetch>
  KRYSOL_KEEP_APART void add_rows(std::int64_t first, int count, T* sum) const {
    const EllProduct a = *this;  // in registers, see RowLoop
    for (int w = 0; w < count; ++w) sum[w] = T(0);
    for (Index j = 0; j < a.width; ++j) {
      const Offset slot = static_cast<Offset>(j) * a.stride + first;
      gather_slots<fetch>(a.col_idx + slot, a.values + slot, count, a.x, a.gathers, sum);
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member<Exec>&, std::int64_t first, int count,
                                         T* sum) const {
    if constexpr (Tiles<Exec>::tiled) {
      if (beyond_cache) {
        add_rows<Tiles<Exec>::rows>(first, count, sum);
      } else {
        add_rows<0>(first, count, sum);
      }
    } else {
      T total = T(0);
      for (Index j = 0; j < width; ++j) {
        const Offset slot = static_cast<Offset>(j) * stride + first;
        const Index col = col_idx[slot];
        if (col >= 0) total += static_cast<T>(values[slot]) * x[col];
      }
      sum[0] = total;
    }
  }
};

template <class S, class T, class Exec>
EllProduct<S, T, Exec> row_product(const Ell<S, Exec>& a, const Kokkos::View<const T*, Exec>& x) {
  return {a.col_idx.data(), a.values.data(), static_cast<Offset>(a.rows),
          a.width,          x.data(),        reads_beyond_cache(bytes(a) + a.beside, x),
          gathers_pay<T>()};
}

/// One tile of rows, column by column.
template <class S>
struct FillEll {
  static constexpr std::int64_t tile = 64;
  const Offset* row_ptr;
  const Index* from_col;
  const S* from_value;
  Index rows;
  Index width;
  Index* col_idx;
  S* values;

  void operator()(std::int64_t t) const {
    const std::int64_t last = std::min<std::int64_t>(rows, (t + 1) * tile);
    for (Index j = 0; j < width; ++j) {
      const Offset to = static_cast<Offset>(j) * rows;
      for (std::int64_t i = t * tile; i < last; ++i) {
        const Offset k = row_ptr[i] + j;
        const bool there = k < row_ptr[i + 1];
        col_idx[to + i] = there ? from_col[k] : -1;
        values[to + i] = there ? from_value[k] : S(0);
      }
    }
  }
};

/// The first `width` entries of each row, padded; the rest of a row is left out.
template <class S, class Exec>
void fill_ell(const HostCsr<S>& host, Index width, Ell<S, Exec>& a) {
  a.rows = host.rows;
  a.cols = host.cols;
  a.width = width;
  a.entries = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(host.rows); ++i) {
    a.entries += std::min<Offset>(width, host.row_ptr(i + 1) - host.row_ptr(i));
  }
  a.col_idx = allocate<decltype(a.col_idx)>("ell.col_idx", host.rows, width);
  a.values = allocate<decltype(a.values)>("ell.values", host.rows, width);
  const auto col_idx = Kokkos::create_mirror_view(Kokkos::HostSpace{}, a.col_idx);
  const auto values = Kokkos::create_mirror_view(Kokkos::HostSpace{}, a.values);
  const FillEll<S> fill{
      host.row_ptr.data(), host.col_idx.data(), host.values.data(), host.rows, width,
      col_idx.data(),      values.data()};
  host_for("krysol::from_csr(ell)", (host.rows + FillEll<S>::tile - 1) / FillEll<S>::tile, fill);
  Kokkos::deep_copy(a.col_idx, col_idx);
  Kokkos::deep_copy(a.values, values);
}

/// Throws FormatRefusal where one long row would make all others long.
template <class S, class Exec>
void from_csr(const HostCsr<S>& host, Ell<S, Exec>& a) {
  const Index width = longest_row(host);
  refuse_padding(a.name, host, width, static_cast<Offset>(host.rows) * width);
  fill_ell(host, width, a);
}

}  // namespace krysol
