// Slices of rows whose columns take 16 bits: what the formats of fewer bytes have in common.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/kernels/padding.hpp>
#include <krysol/spmv/kernels/slices.hpp>
#include <krysol/spmv/kernels/slots.hpp>

namespace krysol {

/// Where the columns of a slice are counted from.
/// pages = 1: a near slice, column = at + low. Its columns span at most 65535.
/// pages in 2 .. 15: column = page[at + (low >> 12)] + low, in pages of 4096 columns; page holds
/// the first column of each less that of its codes, so that none need be cut.
/// pages = 0: a far slice, column = low | high << 16, with high at slot `at` of all that have one.
struct ShortSlice {
  Index at = 0;
  std::int16_t pages = 1;
  std::int16_t runs = 0;  // 1: most slots name eight neighbours, as on grids
};

inline constexpr std::uint16_t no_column = 0xFFFF;  // low, and in far slices high: only pads
inline constexpr Index near_columns = 65535;        // 0 .. 65534
inline constexpr int page_bits = 12;
inline constexpr Index page_columns = Index{1} << page_bits;
inline constexpr Index most_pages = 15;  // the last sixteenth of the codes would hold no_column
inline constexpr std::size_t page_table =
    16;  // what a kernel may read from a slice's first page on
/// The least share of the nonzeros in slices that are not far.
inline constexpr double least_short_share = 0.75;

/// Rows in slices as in SellCSigma, with columns of 16 bits. Bytes a multiplication: 2 a slot (4
/// in far slices), 20 a slice, 4 a page of a slice, and 4 a row where sorted.
template <class Exec>
struct ShortSlices : Slices<Exec> {
  Kokkos::View<ShortSlice*, Exec> slice;    // [slices]
  Kokkos::View<Index*, Exec> page;          // first columns of pages, those of a slice together
  Kokkos::View<std::uint16_t*, Exec> low;   // [slots]
  Kokkos::View<std::uint16_t*, Exec> high;  // [slots of far slices]
};

template <class Exec>
std::int64_t slice_bytes(const ShortSlices<Exec>& a) {
  return static_cast<std::int64_t>((a.low.extent(0) + a.high.extent(0)) * sizeof(std::uint16_t) +
                                   a.slice.extent(0) * sizeof(ShortSlice) +
                                   a.page.extent(0) * sizeof(Index)) +
         bytes_of_slices(a);
}

/// How the columns of each slice are counted.
struct ShortPlan {
  std::vector<ShortSlice> slice;  // [slices]
  std::vector<Index> page;        // and page_table more that no entry uses
  Offset far_slots = 0;           // slots, a multiple of the slice's rows
  Offset far_entries = 0;         // nonzeros in far slices
};

/// Near where it can be, else in pages, else far. row_ptr: [rows + 1]. One pass over the columns,
/// two over those of slices in pages. The plan does not depend on the number of threads.
ShortPlan plan_short_slices(const SlicePlan& slices, const Offset* row_ptr, const Index* col_idx,
                            Index rows, Index slice_rows);

/// low: [slots], high: [plan.far_slots].
void fill_short_slices(const ShortPlan& plan, const SlicePlan& slices, const Offset* row_ptr,
                       const Index* col_idx, Index rows, Index slice_rows, std::uint16_t* low,
                       std::uint16_t* high);

/// Shares of the nonzeros in near slices, and in those that are near or in pages.
struct ShortShare {
  double near = 1;
  double near_or_pages = 1;
};

/// What plan_short_slices would find, estimated from an eighth of the slices, 64 at the least and
/// some 512 at the most, taken from all over the matrix.
ShortShare short_share(const Offset* row_ptr, const Index* col_idx, Index rows, Index slice_rows,
                       Index sigma);

/// The same for a matrix that several formats ask for it, found once.
const ShortShare& short_share(const MatrixProfile& matrix);

/// Bytes of slices with low columns, but without values and high columns.
std::int64_t short_slice_bytes(const MatrixProfile& matrix);

/// A sentence where the sample shows that columns of 16 bits reach too few of the nonzeros; on a
/// host those of near slices alone are of use, because looking up pages costs more than the bytes
/// that it saves.
std::string refuse_far_sample(const MatrixProfile& matrix);

/// Throws FormatRefusal where fewer than least_short_share of the nonzeros are in slices that are
/// not far.
void refuse_far_slices(std::string_view format, const ShortPlan& plan, Index slice_rows,
                       Offset nnz);

/// All of `a` but values.
template <class S, class Exec>
void set_short_slices(const HostCsr<S>& host, const SlicePlan& slices, const ShortPlan& plan,
                      ShortSlices<Exec>& a) {
  set_slices(host, slices, a);
  a.slice = to_device<Exec>("short.slice", plan.slice);
  a.page = to_device<Exec>("short.page", plan.page);
  a.low = allocate<decltype(a.low)>("short.low", slices.slice_ptr.back());
  a.high = allocate<decltype(a.high)>("short.high", plan.far_slots);
  const auto low = Kokkos::create_mirror_view(Kokkos::HostSpace{}, a.low);
  const auto high = Kokkos::create_mirror_view(Kokkos::HostSpace{}, a.high);
  fill_short_slices(plan, slices, host.row_ptr.data(), host.col_idx.data(), host.rows,
                    ShortSlices<Exec>::slice_rows, low.data(), high.data());
  Kokkos::deep_copy(a.low, low);
  Kokkos::deep_copy(a.high, high);
}

/// to[slot] := what(k) for each entry k, and `nothing` where a slot only pads.
template <Index C, class To, class What>
struct FillPlaces {
  const Offset* row_ptr;
  const Index* row;  // null: in order
  const Offset* slice_ptr;
  Index rows;
  To* to;
  To nothing;
  What what;

  void operator()(std::int64_t s) const {
    const Offset slots = (slice_ptr[s + 1] - slice_ptr[s]) / C;
    for (Index l = 0; l < C; ++l) {
      const std::int64_t lane = s * C + l;
      Offset j = 0;
      To* mine = to + slice_ptr[s] + l;
      if (lane < rows) {
        const std::int64_t i = row == nullptr ? lane : row[lane];
        const Offset begin = row_ptr[i];
        const Offset length = row_ptr[i + 1] - begin;
        for (; j < length; ++j) mine[j * C] = what(begin + j);
      }
      for (; j < slots; ++j) mine[j * C] = nothing;
    }
  }
};

}  // namespace krysol
