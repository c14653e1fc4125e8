// Slices whose rows are of several patterns, multiplied as one: the ends of a grid's lines.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/kernels/row_patterns.hpp>
#include <krysol/spmv/kernels/slots.hpp>

namespace krysol {

/// What the eight rows of a slice name together. List j holds, for ptr[j] <= k < ptr[j + 1], the
/// offsets column minus row that any of them has, ascending, and in bit l of rows[k] whether row l
/// has it.
struct MaskedLists {
  std::vector<std::uint16_t> pattern;  // [8 lists] of the rows
  std::vector<Index> ptr{0};           // [lists + 1]
  std::vector<Index> offset;           // [ptr[lists]]
  std::vector<std::uint8_t> rows;      // [ptr[lists]]

  Index length(Index list) const {
    return ptr[static_cast<std::size_t>(list) + 1] - ptr[static_cast<std::size_t>(list)];
  }
};

/// Moves the entries of eight rows to the slots of a list of n offsets, which rows has[j] have:
/// to[8 j + l], 0 where row l has none. value(l, k) is that of entry k, of row l; they follow each
/// other from `first` on.
template <class S, class Value>
void fill_masked(const std::uint8_t* has, Index n, const Value& value, Offset first, S* to) {
  Offset k = first;
  for (int l = 0; l < pack_width; ++l) {
    for (Index j = 0; j < n; ++j) {
      to[Offset{j} * pack_width + l] = (has[j] >> l & 1) != 0 ? value(l, k++) : S(0);
    }
  }
}

/// In a list of patterns of slices: one with masked list j; its own inverse.
KOKKOS_INLINE_FUNCTION Index masked(Index j) { return -2 - j; }

/// Slices of `slice` rows: each of one pattern, masked, or mixed.
struct PatternSlices {
  std::vector<Index> pattern;     // [slices] masked(j) for list j; -1 where mixed
  std::vector<Offset> slice_ptr;  // [slices + 1] where values begin
  MaskedLists masked;
  std::int64_t mixed_rows = 0;  // in mixed slices
};

/// On a host, a slice of several patterns is masked: it stores a value for each of its rows and
/// each offset that any of them has. It stays mixed, with its values row after row, where loads of
/// eight neighbours would leave x, where the columns of a row do not ascend, where masking takes
/// more than most_slots values an entry, and where all lists would outgrow a core's second-level
/// cache. On a GPU no slice is masked, and mixed ones are padded. offset: as offsets_of returns it.
PatternSlices plan_pattern_slices(const RowPatterns& patterns, const std::vector<Index>& offset,
                                  const Offset* row_ptr, Index rows, Index cols, Index slice,
                                  bool host, double most_slots);

/// Joined lists in the memory of Exec.
template <class Exec>
struct MaskedSlices {
  Kokkos::View<Index*, Exec> ptr;          // [lists + 1]
  Kokkos::View<Index*, Exec> offset;       // [ptr[lists]]
  Kokkos::View<std::uint8_t*, Exec> rows;  // [ptr[lists]]
};

template <class Exec>
void set_masked(const MaskedLists& lists, MaskedSlices<Exec>& a) {
  a.ptr = to_device<Exec>("masked.ptr", lists.ptr);
  a.offset = to_device<Exec>("masked.offset", lists.offset);
  a.rows = to_device<Exec>("masked.rows", lists.rows);
}

template <class Exec>
std::int64_t bytes_of_masked(const MaskedSlices<Exec>& a) {
  return static_cast<std::int64_t>((a.ptr.extent(0) + a.offset.extent(0)) * sizeof(Index) +
                                   a.rows.extent(0));
}

/// For kernels.
struct MaskedRows {
  const Index* ptr;
  const Index* offset;
  const std::uint8_t* rows;

  /// sum[l] = the sum over list j of v[8 k + l] x_of_row[offset + l], where row l has the offset; k
  /// counts from 0 in each list. What a row does not have is loaded and not used.
  template <class S, class T>
  KOKKOS_FORCEINLINE_FUNCTION void multiply(Index j, const T* x_of_row, const S* v, T* sum) const {
    EightSums<T> mine = {};
    const Index end = ptr[j + 1];
    for (Index k = ptr[j]; k < end; ++k, v += pack_width) {
      const T* from = x_of_row + offset[k];
      if constexpr (detail::in_vectors<S, T>) {
        EightSums<T> in;
        EightSums<T> values;
        in.load(from);
        in.keep_bits(rows[k]);
        values.load(v);
        mine.add_product(values, in);
      } else {
        for (int l = 0; l < pack_width; ++l) {
          if constexpr (is_pack<T>) prefetch(from + l + pack_rows_ahead);
          if ((rows[k] >> l & 1) != 0) mine[l] += static_cast<T>(v[l]) * from[l];
        }
      }
    }
    store_eight(mine, pack_width, sum);
  }
};

template <class Exec>
MaskedRows masked_rows(const MaskedSlices<Exec>& a) {
  return {a.ptr.data(), a.offset.data(), a.rows.data()};
}

}  // namespace krysol
