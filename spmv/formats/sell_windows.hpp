// Sliced ELL whose slots are what their columns allow: a piece of a diagonal, of all rows or some,
// a window of neighbouring columns, or any columns.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/kernels/padding.hpp>
#include <krysol/spmv/kernels/row_blocks.hpp>
#include <krysol/spmv/kernels/slots.hpp>
#include <krysol/spmv/kernels/variant.hpp>
#include <krysol/spmv/kernels/window_slots.hpp>

namespace krysol {

/// Most matrices have entries of neighbouring rows in neighbouring columns, and a register of them
/// is loaded and its entries put in order in less time than they are gathered one by one. Slice s
/// holds the rows order(8 s), ..., order(8 s + 7); they are sorted by length, sigma rows at a time,
/// where that costs less. Bytes a multiplication (double): 68 for eight entries on a diagonal, 72
/// where some rows have none there, 76 for those of a window, 96 elsewhere; 32 a slice, 8 a column
/// of x, 16 a row of y, and 4 a row where sorted. Pieces of diagonals: Sun, Zhang, Wang, Long,
/// Zhang & Li, ICPP 2011, DOI 10.1109/ICPP.2011.53.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
struct SellWindows {
  static constexpr std::string_view name = "sell_windows";
  static constexpr std::string_view good_for =
      "most matrices within the caches: eight rows read neighbouring entries of x, in any order";
  static constexpr std::string_view variants = "N";
  using value_type = S;
  using execution_space = Exec;
  static constexpr Index slice_rows = pack_width;

  Index rows = 0;
  Index cols = 0;
  Index sigma = 0;  // rows sorted together; 0 asks from_csr to choose
  Offset entries = 0;
  Kokkos::View<SlotsOfSlice*, Exec> slice;  // [slices]
  Kokkos::View<Index*, Exec> words;         // of columns, as SlotsOfSlice says
  Kokkos::View<S*, Exec> values;            // [8 slots] 0 where a lane has none
  Kokkos::View<Index*, Exec> row;           // [rows] row of each lane; empty where sigma = 1
  Kokkos::View<Index*, Exec> block_row;     // [blocks + 1] first row of blocks of similar work

  Offset nnz() const { return entries; }
  static FormatEstimate estimate(const MatrixProfile& matrix) { return estimate_windows(matrix); }
};

template <class S, class Exec>
std::int64_t bytes(const SellWindows<S, Exec>& a) {
  return static_cast<std::int64_t>(
      a.values.extent(0) * sizeof(S) + a.slice.extent(0) * sizeof(SlotsOfSlice) +
      (a.words.extent(0) + a.row.extent(0) + a.block_row.extent(0)) * sizeof(Index));
}

template <class S, class Exec>
ListedBlocks row_blocks(const SellWindows<S, Exec>& a) {
  return listed_blocks(a.rows, a.block_row);
}

template <class S, class Exec>
RowOrder row_order(const SellWindows<S, Exec>& a) {
  return {a.row.extent(0) == 0 ? nullptr : a.row.data()};
}

/// Rows sorted together, as in `sell_windows:512`.
template <class S, class Exec>
bool set_variant(SellWindows<S, Exec>& a, std::string_view variant) {
  return read_count(variant, a.sigma);
}

/// Bytes a slot: 8 a lane, its columns, and their entries of x.
template <class S, class T, class Exec>
struct SellWindowsProduct {
  static constexpr bool writes_in_order = true;
  static constexpr Index C = pack_width;
  const SlotsOfSlice* slice;
  const Index* words;
  const S* values;
  const T* x;
  bool beyond_cache;
  bool gathers;  // see gathers_pay

  /// Asks for the values of a slot further on: 4 KiB of doubles, beyond their page; half of that
  /// within the caches.
  template <bool fetch>
  KOKKOS_FORCEINLINE_FUNCTION static void ask(const S* v) {
    if constexpr (fetch) {
      prefetch(v + 512);
    } else if constexpr (asks_within_caches<T>) {
      prefetch(v + 256);
    }
  }

  /// instruction: see gathers_pay. Known to the compiler, because loops with both ways have too few
  /// registers.
  template <bool fetch, bool instruction>
  KOKKOS_FORCEINLINE_FUNCTION void add_slice(const SlotsOfSlice& s, int count, const S*& v,
                                             const Index*& word, T* sum) const {
    EightSums<T> even = {};  // additions wait four cycles for the one before
    EightSums<T> odd = {};
    if constexpr (fetch) {
      constexpr Offset line = 64 / sizeof(Index);
      for (Offset k = 0; k < s.words(); k += line) prefetch(word + 16 * line + k);
    }
    Index k = 0;
    for (; k + 2 <= s.diagonals; k += 2, v += 2 * C) {
      ask<fetch>(v);
      ask<fetch>(v + C);
      add_eight_neighbours(word[k], v, x, even);
      add_eight_neighbours(word[k + 1], v + C, x, odd);
    }
    if (k < s.diagonals) {
      ask<fetch>(v);
      add_eight_neighbours(word[k], v, x, even);
      v += C;
    }
    word += s.diagonals;
    constexpr Offset two = SlotsOfSlice::words_of_partial;
    for (k = 0; k + 2 <= s.partial; k += 2, v += 2 * C, word += 2 * two) {
      ask<fetch>(v);
      ask<fetch>(v + C);
      add_some_neighbours(word[0], static_cast<unsigned>(word[1]), v, x, odd);
      add_some_neighbours(word[two], static_cast<unsigned>(word[two + 1]), v + C, x, even);
    }
    if (k < s.partial) {
      ask<fetch>(v);
      add_some_neighbours(word[0], static_cast<unsigned>(word[1]), v, x, odd);
      v += C;
      word += two;
    }
    for (k = 0; k < s.windows; ++k, v += C, word += SlotsOfSlice::words_of_window) {
      ask<fetch>(v);
      add_from_window(reinterpret_cast<const std::uint8_t*>(word + 1), v, x + word[0], instruction,
                      even);
    }
    for (k = 0; k < s.scattered; ++k, v += C, word += C) {
      ask<fetch>(v);
      add_eight_or_padding(word, v, x, instruction, odd);
    }
    if constexpr (detail::has_vector_type<T>) {
      even += odd;
    } else {
      for (int l = 0; l < C; ++l) even[l] += odd[l];
    }
    store_eight(even, count, sum);
  }

  /// Rows [first, first + count); blocks begin with a slice.
  template <bool fetch, bool instruction>
  KRYSOL_KEEP_APART void add_slices(std::int64_t first, int count, T* sum) const {
    const SellWindowsProduct a = *this;  // in registers, see RowLoop
    const SlotsOfSlice* s = a.slice + first / C;
    const S* v = a.values + s->slot * C;
    const Index* word = a.words + s->word;
    for (int w = 0; w < count; w += C, ++s) {
      a.template add_slice<fetch, instruction>(*s, count - w < C ? count - w : C, v, word, sum + w);
    }
  }

  /// One lane of a slice.
  KOKKOS_INLINE_FUNCTION T lane_of_slice(const SlotsOfSlice& s, int l) const {
    const S* v = values + s.slot * C + l;
    const Index* word = words + s.word;
    T total = T(0);
    for (Index k = 0; k < s.diagonals; ++k, v += C) total += static_cast<T>(*v) * x[word[k] + l];
    word += s.diagonals;
    for (Index k = 0; k < s.partial; ++k, v += C, word += SlotsOfSlice::words_of_partial) {
      const auto lanes = static_cast<unsigned>(word[1]);
      if ((lanes >> l & 1U) != 0) total += static_cast<T>(*v) * x[word[0] + l];
    }
    for (Index k = 0; k < s.windows; ++k, v += C, word += SlotsOfSlice::words_of_window) {
      const std::uint8_t at = reinterpret_cast<const std::uint8_t*>(word + 1)[l];
      if (at != no_entry) total += static_cast<T>(*v) * x[word[0] + at];
    }
    for (Index k = 0; k < s.scattered; ++k, v += C, word += C) {
      if (word[l] >= 0) total += static_cast<T>(*v) * x[word[l]];
    }
    return total;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member<Exec>&, std::int64_t first, int count,
                                         T* sum) const {
    if constexpr (Tiles<Exec>::tiled) {
      if (detail::in_vectors<S, T> && gathers) {
        beyond_cache ? add_slices<true, true>(first, count, sum)
                     : add_slices<false, true>(first, count, sum);
      } else {
        beyond_cache ? add_slices<true, false>(first, count, sum)
                     : add_slices<false, false>(first, count, sum);
      }
    } else {
      sum[0] = lane_of_slice(slice[first / C], static_cast<int>(first % C));
    }
  }
};

template <class S, class T, class Exec>
SellWindowsProduct<S, T, Exec> row_product(const SellWindows<S, Exec>& a,
                                           const Kokkos::View<const T*, Exec>& x) {
  return {
      a.slice.data(),  a.words.data(), a.values.data(), x.data(), reads_beyond_cache(bytes(a), x),
      gathers_pay<T>()};
}

/// Moves the entries of slice s to their places.
template <class S>
struct FillWindows {
  const Offset* row_ptr;
  const S* from;
  const WindowsPlan& plan;
  Index rows;
  S* values;

  void operator()(std::int64_t s) const {
    const SlotsOfSlice& mine = plan.slice[static_cast<std::size_t>(s)];
    S* const to = values + mine.slot * pack_width;
    std::fill(to, to + mine.slots() * pack_width, S(0));
    for (int l = 0; l < pack_width; ++l) {
      const std::int64_t i = plan.row_of(s, l, rows);
      if (i < 0) continue;
      for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
        to[Offset{pack_width} * plan.slot[static_cast<std::size_t>(k)] + l] = from[k];
      }
    }
  }
};

/// Throws FormatRefusal where even sorted rows would be mostly padding.
template <class S, class Exec>
void from_csr(const HostCsr<S>& host, SellWindows<S, Exec>& a) {
  const WindowsPlan plan = plan_windows(host.row_ptr.data(), host.col_idx.data(), host.rows,
                                        host.cols, a.sigma, Tiles<Exec>::block);
  refuse_padding(a.name, host, longest_row(host), plan.slots * pack_width);
  a.rows = host.rows;
  a.cols = host.cols;
  a.sigma = plan.sigma;
  a.entries = host.nnz();
  a.slice = to_device<Exec>("sell_windows.slice", plan.slice);
  a.row = to_device<Exec>("sell_windows.row", plan.row);
  a.block_row = to_device<Exec>("sell_windows.block_row", plan.block_row);
  a.words = in_memory_of<Exec>(plan.words);
  a.values = allocate<decltype(a.values)>("sell_windows.values", plan.slots * pack_width);
  const auto values = Kokkos::create_mirror_view(Kokkos::HostSpace{}, a.values);
  host_for("krysol::from_csr(sell_windows)", static_cast<std::int64_t>(plan.slice.size()),
           FillWindows<S>{host.row_ptr.data(), host.values.data(), plan, host.rows, values.data()});
  Kokkos::deep_copy(a.values, values);
}

}  // namespace krysol
