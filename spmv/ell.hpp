// ELLPACK-ITPACK: every row padded to the width of the longest.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/csr.hpp>

namespace krysol {

/// A(i, col_idx(i, j)) = values(i, j) for 0 <= j < width where col_idx(i, j) >= 0; a place that
/// only pads has column -1 and is never multiplied, so that an Inf elsewhere in x stays elsewhere.
/// Stored column by column: neighbouring rows are adjacent, which vector lanes and GPU threads
/// like. Bytes a multiplication (double): 12 a place, 8 a column of x, 16 a row of y. Grimes,
/// Kincaid & Young, ITPACK 2.0 User's Guide, CNA-150, 1979.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
struct Ell {
  static constexpr std::string_view name = "ell";
  static constexpr std::string_view good_for = "rows of (nearly) equal length: grids, stencils";
  using value_type = S;
  using execution_space = Exec;

  Index rows = 0;
  Index cols = 0;
  Index width = 0;                                          // places a row
  Offset entries = 0;                                       // places that hold an entry
  Kokkos::View<Index**, Kokkos::LayoutLeft, Exec> col_idx;  // [rows, width]; -1 where padded
  Kokkos::View<S**, Kokkos::LayoutLeft, Exec> values;       // [rows, width]; 0 where padded

  Offset nnz() const { return entries; }
};

template <class S, class Exec>
std::int64_t bytes(const Ell<S, Exec>& a) {
  return static_cast<std::int64_t>(a.values.extent(0) * a.values.extent(1)) *
         static_cast<std::int64_t>(sizeof(S) + sizeof(Index));
}

template <class S, class Exec>
EqualBlocks row_blocks(const Ell<S, Exec>& a) {
  return {a.rows, Tiles<Exec>::block};
}

template <class S, class Exec>
int row_lanes(const Ell<S, Exec>&) {
  return 1;
}

/// Bytes a place: 12, and its entry of x.
template <class S, class T, class Exec>
struct EllProduct {
  const Index* col_idx;
  const S* values;
  Offset stride;  // from one place of a row to its next
  Index width;
  const T* x;

  /// sum[w] += the places of column j. Where eight rows name eight neighbouring columns, as on
  /// grids, x is read as it lies; a gather costs several times as much.
  KOKKOS_INLINE_FUNCTION void add_column(std::int64_t first, Index j, int count, T* sum) const {
    constexpr int lanes = 8;
    const Index* col = col_idx + static_cast<Offset>(j) * stride + first;
    const S* value = values + static_cast<Offset>(j) * stride + first;
    int w = 0;
    for (; w + lanes <= count; w += lanes) {
      prefetch(value + w + Tiles<Exec>::rows);
      prefetch(col + w + Tiles<Exec>::rows);
      const Index begin = col[w];
      std::uint32_t off = 0;  // any bit that differs from begin, begin + 1, ...
#pragma omp simd reduction(| : off)
      for (int l = 0; l < lanes; ++l) {
        off |= static_cast<std::uint32_t>(col[w + l]) ^
               (static_cast<std::uint32_t>(begin) + static_cast<std::uint32_t>(l));
      }
      if (off == 0 && begin >= 0) {
        const T* run = x + begin;
#pragma omp simd
        for (int l = 0; l < lanes; ++l) sum[w + l] += static_cast<T>(value[w + l]) * run[l];
      } else {
        add_each(col + w, value + w, lanes, sum + w);
      }
    }
    add_each(col + w, value + w, count - w, sum + w);
  }

  KOKKOS_INLINE_FUNCTION void add_each(const Index* col, const S* value, int count, T* sum) const {
    for (int l = 0; l < count; ++l) {
      if (col[l] >= 0) sum[l] += static_cast<T>(value[l]) * x[col[l]];
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member<Exec>&, std::int64_t first, int count,
                                         T* sum) const {
    if constexpr (Tiles<Exec>::tiled) {
      for (int w = 0; w < count; ++w) sum[w] = T(0);
      for (Index j = 0; j < width; ++j) add_column(first, j, count, sum);
    } else {
      T total = T(0);
      for (Index j = 0; j < width; ++j) {
        const Offset place = static_cast<Offset>(j) * stride + first;
        const Index col = col_idx[place];
        if (col >= 0) total += static_cast<T>(values[place]) * x[col];
      }
      sum[0] = total;
    }
  }
};

template <class S, class T, class Exec>
EllProduct<S, T, Exec> row_product(const Ell<S, Exec>& a, const Kokkos::View<const T*, Exec>& x) {
  return {a.col_idx.data(), a.values.data(), static_cast<Offset>(a.rows), a.width, x.data()};
}

/// Padding that multiplies the memory of Csr by more than this is refused, unless all is small.
inline constexpr double max_padding_factor = 3.0;
inline constexpr std::int64_t always_allowed_bytes = std::int64_t{1} << 20;

/// A format that cannot reasonably hold a matrix. The message holds the numbers that rule it out.
class FormatRefusal : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// Throws FormatRefusal where `padded` bytes are more than max_padding_factor times `csr`.
void refuse_padding(std::string_view format, Index rows, Index width, Offset nnz,
                    std::int64_t padded, std::int64_t csr);

/// The first `width` entries of each row, padded; the rest of a row is left out.
template <class S, class Exec>
void fill_ell(const HostCsr<S>& host, Index width, Ell<S, Exec>& a) {
  const auto rows = static_cast<std::size_t>(host.rows);
  a.rows = host.rows;
  a.cols = host.cols;
  a.width = width;
  a.entries = 0;
  a.col_idx = decltype(a.col_idx)(Kokkos::view_alloc(Kokkos::WithoutInitializing, "ell.col_idx"),
                                  rows, static_cast<std::size_t>(width));
  a.values = decltype(a.values)(Kokkos::view_alloc(Kokkos::WithoutInitializing, "ell.values"), rows,
                                static_cast<std::size_t>(width));
  const auto col_idx = Kokkos::create_mirror_view(Kokkos::HostSpace{}, a.col_idx);
  const auto values = Kokkos::create_mirror_view(Kokkos::HostSpace{}, a.values);
  for (std::size_t i = 0; i < rows; ++i) {
    const Offset begin = host.row_ptr(i);
    const Offset length = host.row_ptr(i + 1) - begin;
    a.entries += length < width ? length : width;
    for (Index j = 0; j < width; ++j) {
      const bool there = j < length;
      const auto k = static_cast<std::size_t>(begin + j);
      col_idx(i, static_cast<std::size_t>(j)) = there ? host.col_idx(k) : -1;
      values(i, static_cast<std::size_t>(j)) = there ? host.values(k) : S(0);
    }
  }
  Kokkos::deep_copy(a.col_idx, col_idx);
  Kokkos::deep_copy(a.values, values);
}

template <class S>
Index longest_row(const HostCsr<S>& host) {
  Offset longest = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(host.rows); ++i) {
    longest = std::max(longest, host.row_ptr(i + 1) - host.row_ptr(i));
  }
  return static_cast<Index>(longest);  // at most cols entries where columns differ
}

/// Throws FormatRefusal where one long row would make all others long.
template <class S, class Exec>
void from_csr(const HostCsr<S>& host, Ell<S, Exec>& a) {
  const Index width = longest_row(host);
  refuse_padding(a.name, host.rows, width, host.nnz(),
                 static_cast<std::int64_t>(host.rows) * width *
                     static_cast<std::int64_t>(sizeof(S) + sizeof(Index)),
                 bytes(host));
  fill_ell(host, width, a);
}

}  // namespace krysol
