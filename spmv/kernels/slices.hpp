// Slices of rows, each padded to its own longest: where they begin, and which rows they hold.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include <krysol/spmv/kernels/matrix_profile.hpp>
#include <krysol/spmv/kernels/row_blocks.hpp>
#include <krysol/spmv/kernels/row_loop.hpp>
#include <krysol/spmv/kernels/variant.hpp>
#include <krysol/spmv/matrix/host_csr.hpp>

namespace krysol {

/// Rows of a slice: those that a vector register of a host or a warp works on.
constexpr Index slice_rows_of(bool host) { return host ? 8 : 32; }

/// Slices of C rows, each padded to its own longest: slot j of lane l of slice s is at
/// k = slice_ptr[s] + j C + l, and its row is order(s C + l). Rows are sorted by length, longest
/// first, within windows of sigma rows; sigma = 1 leaves them in their order. Bytes a
/// multiplication: 12 a slice, and 4 a row where sorted.
template <class Exec>
struct Slices {
  static constexpr Index slice_rows = slice_rows_of(Tiles<Exec>::tiled);  // C

  Index rows = 0;
  Index cols = 0;
  Index sigma = 0;                        // rows a window; 0 asks from_csr to choose
  Offset entries = 0;                     // slots that hold an entry
  Kokkos::View<Offset*, Exec> slice_ptr;  // [slices + 1] where each slice begins
  Kokkos::View<Index*, Exec> full;        // [slices] slots a row that every row of a slice fills
  Kokkos::View<Index*, Exec> row;         // [rows] row of each lane; empty where sigma = 1
  Kokkos::View<Index*, Exec> block_row;   // [blocks + 1] first row of blocks of similar work

  Offset nnz() const { return entries; }
};

template <class Exec>
std::int64_t bytes_of_slices(const Slices<Exec>& a) {
  return static_cast<std::int64_t>(a.slice_ptr.extent(0) * sizeof(Offset) +
                                   (a.full.extent(0) + a.row.extent(0) + a.block_row.extent(0)) *
                                       sizeof(Index));
}

template <class Exec>
ListedBlocks row_blocks(const Slices<Exec>& a) {
  return listed_blocks(a.rows, a.block_row);
}

template <class Exec>
RowOrder row_order(const Slices<Exec>& a) {
  return {a.row.extent(0) == 0 ? nullptr : a.row.data()};
}

/// Chooses the window by the format's variant, as in `sell_c_sigma:512`.
template <class Exec>
bool set_variant(Slices<Exec>& a, std::string_view variant) {
  return read_count(variant, a.sigma);
}

/// The rows in windows of `window`, in each by descending length, equal ones in their order:
/// [rows].
std::vector<Index> rows_by_length(const Offset* row_ptr, Index rows, Index window);

/// Slices of `slice` rows: where they begin, and which rows they hold.
struct SlicePlan {
  Index sigma = 1;
  std::vector<Index> row;         // [rows]; empty where sigma = 1
  std::vector<Offset> slice_ptr;  // [slices + 1]
  std::vector<Index> full;        // [slices]
  std::vector<Index> block_row;   // [blocks + 1]
};

/// A window, and the slots that slices then take.
struct SliceSize {
  Index sigma = 1;
  Offset slots = 0;
};

/// The smallest window of 1, 512 and 16384 rows that pads less than 5 %; a larger one that saves no
/// 5 % is not taken.
SliceSize choose_window(const Offset* row_ptr, Index rows, Index slice);

/// The same for a matrix that several formats ask for it, found once.
const SliceSize& choose_window(const MatrixProfile& matrix);

/// Bytes of such slices with their values and columns of 32 bits: those of sell_c_sigma.
std::int64_t sell_bytes(const MatrixProfile& matrix);

/// FormatEstimate::cached of such slices and of so many bytes, where entries of x are gathered.
double cached_slices(const MatrixProfile& matrix, std::int64_t bytes);

/// sigma = 0 chooses. row_ptr: [rows + 1].
SlicePlan plan_slices(const Offset* row_ptr, Index rows, Index slice, Index sigma,
                      std::int64_t rows_per_block);

template <class S, class Exec>
void set_slices(const HostCsr<S>& host, const SlicePlan& plan, Slices<Exec>& a) {
  a.rows = host.rows;
  a.cols = host.cols;
  a.sigma = plan.sigma;
  a.entries = host.nnz();
  a.slice_ptr = to_device<Exec>("slices.slice_ptr", plan.slice_ptr);
  a.full = to_device<Exec>("slices.full", plan.full);
  a.row = to_device<Exec>("slices.row", plan.row);
  a.block_row = to_device<Exec>("slices.block_row", plan.block_row);
}

}  // namespace krysol
