// Sliced ELL: slices of C rows, each padded to its own longest, rows sorted by length in windows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/kernels/padding.hpp>
#include <krysol/spmv/kernels/slices.hpp>
#include <krysol/spmv/kernels/slots.hpp>

namespace krysol {

/// Slice s holds the C rows order(s C), order(s C + 1), ... as Slices says:
/// A(order(s C + l), col_idx[k]) = values[k] where col_idx[k] >= 0. A slot that only pads has
/// column -1 and is never multiplied. Bytes a multiplication (double): 12 a slot, 13 a slice, 8 a
/// column of x, 16 a row of y, and 4 a row where sorted. Kreutzer, Hager, Wellein, Fehske & Bishop,
/// SISC 36(5), 2014, DOI 10.1137/130930352.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
struct SellCSigma : Slices<Exec> {
  static constexpr std::string_view name = "sell_c_sigma";
  static constexpr std::string_view good_for =
      "most matrices; sell_c_sigma:N sorts N rows at a time by length";
  static constexpr std::string_view variants = "N";
  using value_type = S;
  using execution_space = Exec;

  Kokkos::View<Index*, Exec> col_idx;  // [slots] -1 where padded
  Kokkos::View<S*, Exec> values;       // [slots] 0 where padded
  // [slices] 1 where the rows of most slots name columns side by side: then each is looked at
  Kokkos::View<std::uint8_t*, Exec> neighbours;

  static FormatEstimate estimate(const MatrixProfile& matrix) {
    const std::int64_t bytes = sell_bytes(matrix);
    return {.bytes = bytes,
            .refusal = refuse_more_than(bytes, 1.5, matrix.csr_bytes(), "csr"),
            .variant = std::to_string(choose_window(matrix).sigma),
            .cached = cached_slices(matrix, bytes)};
  }
};

template <class S, class Exec>
std::int64_t bytes(const SellCSigma<S, Exec>& a) {
  return static_cast<std::int64_t>(a.values.extent(0) * (sizeof(S) + sizeof(Index)) +
                                   a.neighbours.extent(0)) +
         bytes_of_slices(a);
}

/// Bytes a slot: 12, and its entry of x.
template <class S, class T, class Exec>
struct SellProduct {
  static constexpr Index C = Slices<Exec>::slice_rows;
  const Offset* slice_ptr;
  const Index* full;
  const std::uint8_t* neighbours;
  const Index* col_idx;
  const S* values;
  const T* x;
  Offset last;  // where the last slot of C rows begins
  bool beyond_cache;
  bool gathers;  // see gathers_pay

  /// Slots [k, end) of a slice, which all its rows fill.
  template <bool fetch, bool side_by_side>
  KOKKOS_INLINE_FUNCTION void add_full(Offset k, Offset end, EightSums<T>& sum) const {
    constexpr Offset ahead = 512;  // 4 KiB of values: beyond their page
    for (; k < end; k += C) {
      if constexpr (fetch) {
        prefetch(values + k + ahead);
        prefetch(col_idx + k + ahead);
        if constexpr (is_pack<T>) {
          const Index* named = col_idx + (k + packs_ahead < last ? k + packs_ahead : last);
          for (Index l = 0; l < C; ++l) prefetch(x + named[l]);  // before x, where it only pads
        }
      }
      if (side_by_side && are_neighbours(col_idx + k)) {
        add_eight_neighbours(col_idx[k], values + k, x, sum);
      } else {
        add_eight_entries(col_idx + k, values + k, x, gathers, sum);
      }
    }
  }

  /// Rows [first, first + count); blocks begin with a slice.
  template <bool fetch>
  KRYSOL_KEEP_APART KOKKOS_INLINE_FUNCTION void add_slices(std::int64_t first, int count,
                                                           T* sum) const {
    const SellProduct a = *this;  // in registers, see RowLoop
    std::int64_t s = first / C;
    Offset k = a.slice_ptr[s];
    for (int w = 0; w < count; w += C, ++s) {
      const Offset full_end = k + static_cast<Offset>(a.full[s]) * C;
      const Offset end = a.slice_ptr[s + 1];
      EightSums<T> mine = {};
      if (a.neighbours[s] != 0) {
        a.template add_full<fetch, true>(k, full_end, mine);
      } else {
        a.template add_full<fetch, false>(k, full_end, mine);
      }
      for (k = full_end; k < end; k += C) {
        add_eight_or_padding(a.col_idx + k, a.values + k, a.x, a.gathers, mine);
      }
      store_eight(mine, count - w < C ? count - w : C, sum + w);
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member<Exec>&, std::int64_t first, int count,
                                         T* sum) const {
    if constexpr (Tiles<Exec>::tiled) {
      if (beyond_cache || asks_within_caches<T>) {
        add_slices<true>(first, count, sum);
      } else {
        add_slices<false>(first, count, sum);
      }
    } else {
      const std::int64_t s = first / C;
      const Offset end = slice_ptr[s + 1];
      T total = T(0);
      for (Offset k = slice_ptr[s] + first % C; k < end; k += C) {
        const Index col = col_idx[k];
        if (col >= 0) total += static_cast<T>(values[k]) * x[col];
      }
      sum[0] = total;
    }
  }
};

template <class S, class T, class Exec>
SellProduct<S, T, Exec> row_product(const SellCSigma<S, Exec>& a,
                                    const Kokkos::View<const T*, Exec>& x) {
  return {a.slice_ptr.data(),
          a.full.data(),
          a.neighbours.data(),
          a.col_idx.data(),
          a.values.data(),
          x.data(),
          static_cast<Offset>(a.values.extent(0)) - Slices<Exec>::slice_rows,
          reads_beyond_cache(bytes(a), x),
          gathers_pay<T>()};
}

/// Moves the rows of slice s to their lanes.
template <class S, Index C>
struct FillSlices {
  const Offset* row_ptr;
  const Index* from_col;
  const S* from_value;
  const Index* row;  // null: in order
  const Offset* slice_ptr;
  Index rows;
  Index* col_idx;
  S* values;
  std::uint8_t* neighbours;

  void operator()(std::int64_t s) const {
    Offset begin[C];
    Offset length[C];
    for (Index l = 0; l < C; ++l) {
      const std::int64_t lane = s * C + l;
      const std::int64_t i = lane >= rows ? 0 : row == nullptr ? lane : row[lane];
      begin[l] = lane < rows ? row_ptr[i] : 0;
      length[l] = lane < rows ? row_ptr[i + 1] - begin[l] : 0;
    }
    const Offset slots = (slice_ptr[s + 1] - slice_ptr[s]) / C;
    Offset to = slice_ptr[s];
    Offset side_by_side = 0;
    for (Offset j = 0; j < slots; ++j) {
      const Offset slot = to;
      for (Index l = 0; l < C; ++l, ++to) {
        const bool there = j < length[l];
        col_idx[to] = there ? from_col[begin[l] + j] : -1;
        values[to] = there ? from_value[begin[l] + j] : S(0);
      }
      if (C == pack_width && are_neighbours(col_idx + slot)) ++side_by_side;
    }
    neighbours[s] = 2 * side_by_side > slots ? 1 : 0;
  }
};

/// Throws FormatRefusal where even sorted rows would be mostly padding.
template <class S, class Exec>
void from_csr(const HostCsr<S>& host, SellCSigma<S, Exec>& a) {
  constexpr Index C = Slices<Exec>::slice_rows;
  const SlicePlan plan =
      plan_slices(host.row_ptr.data(), host.rows, C, a.sigma, Tiles<Exec>::block);
  const Offset slots = plan.slice_ptr.back();
  refuse_padding(a.name, host, longest_row(host), slots);
  set_slices(host, plan, a);
  a.col_idx = allocate<decltype(a.col_idx)>("sell.col_idx", slots);
  a.values = allocate<decltype(a.values)>("sell.values", slots);
  a.neighbours = allocate<decltype(a.neighbours)>("sell.neighbours", plan.full.size());
  const auto col_idx = Kokkos::create_mirror_view(Kokkos::HostSpace{}, a.col_idx);
  const auto values = Kokkos::create_mirror_view(Kokkos::HostSpace{}, a.values);
  const auto neighbours = Kokkos::create_mirror_view(Kokkos::HostSpace{}, a.neighbours);
  const FillSlices<S, C> fill{host.row_ptr.data(),   host.col_idx.data(),
                              host.values.data(),    plan.row.empty() ? nullptr : plan.row.data(),
                              plan.slice_ptr.data(), host.rows,
                              col_idx.data(),        values.data(),
                              neighbours.data()};
  host_for("krysol::from_csr(sell_c_sigma)", static_cast<std::int64_t>(plan.full.size()), fill);
  Kokkos::deep_copy(a.col_idx, col_idx);
  Kokkos::deep_copy(a.values, values);
  Kokkos::deep_copy(a.neighbours, neighbours);
}

}  // namespace krysol
