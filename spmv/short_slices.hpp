// Slices of rows whose columns take 16 bits: what the formats of fewer bytes have in common.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstring>

#include <krysol/spmv/sell_c_sigma.hpp>

namespace krysol {

/// Where the columns of a slice are counted from.
/// pages = 1: a near slice, column = at + low. Its columns span at most 65535.
/// pages in 2 .. 15: column = page[at + (low >> 12)] + low, in pages of 4096 columns; page holds
/// the first column of each less that of its codes, so that none need be cut.
/// pages = 0: a far slice, column = low | high << 16, with high at place `at` of all that have one.
struct ShortSlice {
  Index at = 0;
  std::int16_t pages = 1;
  std::int16_t runs = 0;  // 1: most places name eight neighbours, as on grids
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

/// Rows in slices as in SellCSigma, with columns of 16 bits. Bytes a multiplication: 2 a place (4
/// in far slices), 20 a slice, 4 a page of a slice, and 4 a row where sorted.
template <class Exec>
struct ShortSlices {
  static constexpr Index slice_rows = Tiles<Exec>::tiled ? 8 : 32;  // C

  Index rows = 0;
  Index cols = 0;
  Index sigma = 0;                          // rows a window; 0 asks from_csr to choose
  Offset entries = 0;                       // places that hold an entry
  Kokkos::View<Offset*, Exec> slice_ptr;    // [slices + 1] where each slice begins
  Kokkos::View<Index*, Exec> full;          // [slices] places a row that every row of a slice fills
  Kokkos::View<ShortSlice*, Exec> slice;    // [slices]
  Kokkos::View<Index*, Exec> page;          // first columns of pages, those of a slice together
  Kokkos::View<std::uint16_t*, Exec> low;   // [places]
  Kokkos::View<std::uint16_t*, Exec> high;  // [places of far slices]
  Kokkos::View<Index*, Exec> row;           // [rows] row of each lane; empty where sigma = 1
  Kokkos::View<Index*, Exec> block_row;     // [blocks + 1] first row of blocks of similar work

  Offset nnz() const { return entries; }
};

template <class Exec>
std::int64_t slice_bytes(const ShortSlices<Exec>& a) {
  return static_cast<std::int64_t>(
      (a.low.extent(0) + a.high.extent(0)) * sizeof(std::uint16_t) +
      a.slice_ptr.extent(0) * sizeof(Offset) + a.slice.extent(0) * sizeof(ShortSlice) +
      (a.full.extent(0) + a.page.extent(0) + a.row.extent(0) + a.block_row.extent(0)) *
          sizeof(Index));
}

template <class Exec>
ListedBlocks row_blocks(const ShortSlices<Exec>& a) {
  return listed_blocks(a.rows, a.block_row);
}

template <class Exec>
RowOrder row_order(const ShortSlices<Exec>& a) {
  return {a.row.extent(0) == 0 ? nullptr : a.row.data()};
}

/// Chooses the window by the format's variant, as in `short_columns:512`.
template <class Exec>
bool set_variant(ShortSlices<Exec>& a, std::string_view variant) {
  return read_count(variant, a.sigma);
}

// ---- a slice's entries of x, at place k of the slice

template <class T>
struct NearSlice {
  const std::uint16_t* low;
  const T* x;  // at the slice's first column

  KOKKOS_INLINE_FUNCTION bool there(Offset k) const { return low[k] != no_column; }
  KOKKOS_INLINE_FUNCTION const T& of_code(unsigned code) const { return x[code]; }
  KOKKOS_INLINE_FUNCTION const T& entry(Offset k) const { return of_code(low[k]); }
  KOKKOS_INLINE_FUNCTION bool one_piece(Offset) const { return true; }
};

template <class T>
struct PagedSlice {
  const std::uint16_t* low;
  const Index* page;
  const T* x;

  KOKKOS_INLINE_FUNCTION bool there(Offset k) const { return low[k] != no_column; }
  KOKKOS_INLINE_FUNCTION const T& of_code(unsigned code) const {
    return x[page[code >> page_bits] + static_cast<Index>(code)];
  }
  KOKKOS_INLINE_FUNCTION const T& entry(Offset k) const { return of_code(low[k]); }
  KOKKOS_INLINE_FUNCTION bool one_piece(Offset k) const {
    return low[k] >> page_bits == low[k + 7] >> page_bits;
  }
};

template <class T>
struct FarSlice {
  const std::uint16_t* low;
  const std::uint16_t* high;
  const T* x;

  KOKKOS_INLINE_FUNCTION bool there(Offset k) const { return high[k] != no_column; }
  KOKKOS_INLINE_FUNCTION const T& entry(Offset k) const {
    return x[low[k] | static_cast<std::uint32_t>(high[k]) << 16U];
  }
};

/// The values of a slice, one a place.
template <class S>
struct PlainValues {
  static constexpr Offset ahead = 768;  // places: 6 KiB of doubles, beyond the next page
  const S* values;

  KOKKOS_INLINE_FUNCTION PlainValues from(Offset k) const { return {values + k}; }
  KOKKOS_INLINE_FUNCTION const S& operator()(Offset k) const { return values[k]; }
  KOKKOS_INLINE_FUNCTION void fetch(Offset k) const { prefetch(values + k + ahead); }
};

// ---- eight rows in a vector register, on a host

/// Numbers of the eight rows of a slice.
template <class T>
using Eight = typename detail::PackLanes<T, detail::has_vector_type<T>>::type;

#if defined(__GNUC__) && !defined(__CUDACC__) && !defined(__HIPCC__)
namespace detail {
/// {item(0), ..., item(7)}
template <class T, class Item>
KOKKOS_FORCEINLINE_FUNCTION Eight<T> eight(const Item& item) {
  const Eight<T> items = {item(0), item(1), item(2), item(3), item(4), item(5), item(6), item(7)};
  return items;
}

using EightCodes = std::uint16_t __attribute__((vector_size(16)));

KOKKOS_FORCEINLINE_FUNCTION EightCodes load_codes(const std::uint16_t* low) {
  EightCodes codes;
  std::memcpy(&codes, low, sizeof codes);
  return codes;
}

/// The eight codes follow each other.
KOKKOS_FORCEINLINE_FUNCTION bool in_a_row(const std::uint16_t* low) {
  const EightCodes codes = load_codes(low);
  const EightCodes off = codes - EightCodes{0, 1, 2, 3, 4, 5, 6, 7} - codes[0];
  std::uint64_t halves[2];
  std::memcpy(halves, &off, sizeof off);
  return (halves[0] | halves[1]) == 0;
}

template <class T, class Values>
KOKKOS_FORCEINLINE_FUNCTION Eight<T> eight_values(const Values& value, Offset k) {
  if constexpr (requires { value.template eight<T>(k); }) {
    return value.template eight<T>(k);
  } else {
    return eight<T>([&](int l) { return static_cast<T>(value(k + l)); });
  }
}

template <class T, template <class> class Columns>
KOKKOS_FORCEINLINE_FUNCTION Eight<T> x_of_eight(const Columns<T>& x, Offset k) {
  return eight<T>([&](int l) { return x.entry(k + l); });
}
using EightColumns = Index __attribute__((vector_size(32)));
template <class T>
KOKKOS_FORCEINLINE_FUNCTION Eight<T> x_of_eight(const FarSlice<T>& x, Offset k) {
  const auto low = __builtin_convertvector(load_codes(x.low + k), EightColumns);
  const auto high = __builtin_convertvector(load_codes(x.high + k), EightColumns);
  const EightColumns column = low | high << 16;
  return eight<T>([&](int l) { return x.x[column[l]]; });
}
#if !defined(__clang__)
/// Pages are looked up in a register: two instructions instead of four for each of the eight.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION Eight<T> x_of_eight(const PagedSlice<T>& x, Offset k) {
  static_assert(page_table == 16);
  EightColumns first;
  EightColumns last;
  std::memcpy(&first, x.page, sizeof first);
  std::memcpy(&last, x.page + 8, sizeof last);
  const auto codes = __builtin_convertvector(load_codes(x.low + k), EightColumns);
  const EightColumns column = __builtin_shuffle(first, last, codes >> page_bits) + codes;
  return eight<T>([&](int l) { return x.x[column[l]]; });
}
#endif

/// sum[l] += value(k + l) x(k + l) for the eight rows of a slice, where all have such a place. x as
/// it lies where eight neighbours are named, eight loads where not: gathers take up to twice as
/// long.
template <class T, class Columns, class Values>
KOKKOS_FORCEINLINE_FUNCTION void add_full_place(const Columns& x, bool runs, const Values& value,
                                                Offset k, Eight<T>& sum) {
  const Eight<T> v = eight_values<T>(value, k);
  if constexpr (requires { x.one_piece(k); }) {
    if (runs && in_a_row(x.low + k) && x.one_piece(k)) {
      const T* run = &x.entry(k);
      sum += v * eight<T>([&](int l) { return run[l]; });
      return;
    }
  }
  sum += v * x_of_eight(x, k);
}

/// The same where some of the eight only pad. These read the slice's first code, and add nothing.
template <class T, class Columns, class Values>
KOKKOS_FORCEINLINE_FUNCTION void add_partial_place(const Columns& x, const Values& value, Offset k,
                                                   Eight<T>& sum) {
  if constexpr (requires { x.of_code(0U); }) {
    using Mask = decltype(sum == sum);
    EightCodes codes = load_codes(x.low + k);
    const auto there = codes != no_column;
    codes &= reinterpret_cast<EightCodes>(there);
    const Eight<T> v = eight_values<T>(value, k);
    const auto in = eight<T>([&](int l) { return x.of_code(codes[l]); });
    sum += __builtin_convertvector(there, Mask) ? v * in : Eight<T>{};
  } else {
    for (int l = 0; l < pack_width; ++l) {
      if (x.there(k + l)) sum[l] += static_cast<T>(value(k + l)) * x.entry(k + l);
    }
  }
}
}  // namespace detail
#endif

/// The rows of a slice whose first `full_end` places none of them lacks. Places that only pad are
/// never multiplied into a sum, so that an Inf elsewhere in x stays elsewhere.
template <class T, class Columns, class Values>
KOKKOS_INLINE_FUNCTION void add_eight_rows(const Columns& x, bool runs, const Values& value,
                                           Offset full_end, Offset end, T* sum) {
  constexpr int lanes = pack_width;
  if constexpr (detail::has_vector_type<T>) {
#if defined(__GNUC__) && !defined(__CUDACC__) && !defined(__HIPCC__)
    constexpr Offset ahead = 2048;  // 4 KiB
    Eight<T> total = {};
    Offset k = 0;
    for (; k < full_end; k += lanes) {
      value.fetch(k);
      prefetch(x.low + k + ahead);
      detail::add_full_place<T>(x, runs, value, k, total);
    }
    for (; k < end; k += lanes) detail::add_partial_place<T>(x, value, k, total);
    for (int l = 0; l < lanes; ++l) sum[l] = total[l];
#endif
  } else {
    for (int l = 0; l < lanes; ++l) sum[l] = T(0);
    for (Offset k = 0; k < end; k += lanes) {
      for (int l = 0; l < lanes; ++l) {
        if (k < full_end || x.there(k + l)) sum[l] += static_cast<T>(value(k + l)) * x.entry(k + l);
      }
    }
  }
}

/// Bytes a place: its column and its value, and its entry of x.
template <class T, class Exec>
struct ShortProduct {
  static constexpr Index C = ShortSlices<Exec>::slice_rows;
  const Offset* slice_ptr;
  const Index* full;
  const ShortSlice* slice;
  const Index* page;
  const std::uint16_t* low;
  const std::uint16_t* high;
  const T* x;

  template <class Columns, class Values>
  KOKKOS_INLINE_FUNCTION void add_row(const Columns& columns, const Values& values, Offset k,
                                      Offset end, T* sum) const {
    T total = T(0);
    for (; k < end; k += C) {
      if (columns.there(k)) total += static_cast<T>(values(k)) * columns.entry(k);
    }
    sum[0] = total;
  }

  /// Slice s: on a host all its rows, on a GPU that of lane `lane`.
  template <class Values>
  KOKKOS_INLINE_FUNCTION void multiply(std::int64_t s, Index lane, const Values& all,
                                       T* sum) const {
    const Offset begin = slice_ptr[s];
    const Offset end = slice_ptr[s + 1] - begin;
    const ShortSlice columns = slice[s];
    if (columns.pages == 1) {
      add(NearSlice<T>{low + begin, x + columns.at}, all.from(begin), s, lane, end, sum);
    } else if (columns.pages > 1) {
      add(PagedSlice<T>{low + begin, page + columns.at, x}, all.from(begin), s, lane, end, sum);
    } else {
      add(FarSlice<T>{low + begin, high + static_cast<Offset>(columns.at) * C, x}, all.from(begin),
          s, lane, end, sum);
    }
  }

  template <class Columns, class Values>
  KOKKOS_INLINE_FUNCTION void add(const Columns& columns, const Values& values, std::int64_t s,
                                  Index lane, Offset end, T* sum) const {
    if constexpr (Tiles<Exec>::tiled) {
      static_assert(C == pack_width);
      add_eight_rows<T>(columns, slice[s].runs != 0, values, static_cast<Offset>(full[s]) * C, end,
                        sum);
    } else {
      add_row(columns, values, lane, end, sum);
    }
  }

  /// What the loop over rows asks of a product.
  template <class Values>
  KOKKOS_INLINE_FUNCTION void rows(std::int64_t first, int count, const Values& values,
                                   T* sum) const {
    if constexpr (Tiles<Exec>::tiled) {
      int w = 0;
      for (; w + C <= count; w += C) {  // blocks begin with a slice
        multiply((first + w) / C, 0, values, sum + w);
      }
      if (w < count) {
        T last[C];
        multiply((first + w) / C, 0, values, last);
        for (int l = 0; w + l < count; ++l) sum[w + l] = last[l];
      }
    } else {
      multiply(first / C, static_cast<Index>(first % C), values, sum);
    }
  }
};

template <class T, class Exec>
ShortProduct<T, Exec> short_product(const ShortSlices<Exec>& a,
                                    const Kokkos::View<const T*, Exec>& x) {
  return {a.slice_ptr.data(), a.full.data(), a.slice.data(), a.page.data(),
          a.low.data(),       a.high.data(), x.data()};
}

// ---- conversion

/// How the columns of each slice are counted.
struct ShortPlan {
  std::vector<ShortSlice> slice;  // [slices]
  std::vector<Index> page;        // and page_table more that no one names
  Offset far_places = 0;          // places, a multiple of the slice's rows
  Offset far_entries = 0;         // nonzeros in far slices
};

/// Near where it can be, else in pages, else far. row_ptr: [rows + 1]. One pass over the columns,
/// two over those of slices in pages. The plan does not depend on the number of threads.
ShortPlan plan_short_slices(const SlicePlan& slices, const Offset* row_ptr, const Index* col_idx,
                            Index rows, Index slice_rows);

/// low: [places], high: [plan.far_places].
void fill_short_slices(const ShortPlan& plan, const SlicePlan& slices, const Offset* row_ptr,
                       const Index* col_idx, Index rows, Index slice_rows, std::uint16_t* low,
                       std::uint16_t* high);

/// The share of nonzeros that plan_short_slices would find in slices that are not far, estimated
/// from at most 512 slices taken from all over the matrix.
double short_share(const Offset* row_ptr, const Index* col_idx, Index rows, Index slice_rows,
                   Index sigma);

/// Throws FormatRefusal where fewer than least_short_share of the nonzeros are in slices that are
/// not far.
void refuse_far_slices(std::string_view format, const ShortPlan& plan, Index slice_rows,
                       Offset nnz);

/// All of `a` but values.
template <class S, class Exec>
void set_slices(const HostCsr<S>& host, const SlicePlan& slices, const ShortPlan& plan,
                ShortSlices<Exec>& a) {
  a.rows = host.rows;
  a.cols = host.cols;
  a.sigma = slices.sigma;
  a.entries = host.nnz();
  a.slice_ptr = copy_of<Exec>("short.slice_ptr", slices.slice_ptr);
  a.full = copy_of<Exec>("short.full", slices.full);
  a.row = copy_of<Exec>("short.row", slices.row);
  a.block_row = copy_of<Exec>("short.block_row", slices.block_row);
  a.slice = copy_of<Exec>("short.slice", plan.slice);
  a.page = copy_of<Exec>("short.page", plan.page);
  a.low = fresh<decltype(a.low)>("short.low", slices.slice_ptr.back());
  a.high = fresh<decltype(a.high)>("short.high", plan.far_places);
  const auto low = Kokkos::create_mirror_view(Kokkos::HostSpace{}, a.low);
  const auto high = Kokkos::create_mirror_view(Kokkos::HostSpace{}, a.high);
  fill_short_slices(plan, slices, host.row_ptr.data(), host.col_idx.data(), host.rows,
                    ShortSlices<Exec>::slice_rows, low.data(), high.data());
  Kokkos::deep_copy(a.low, low);
  Kokkos::deep_copy(a.high, high);
}

/// to[place] := what(k) for each entry k, and `nothing` where a place only pads.
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
    const Offset places = (slice_ptr[s + 1] - slice_ptr[s]) / C;
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
      for (; j < places; ++j) mine[j * C] = nothing;
    }
  }
};

}  // namespace krysol
