// Several vectors side by side, kept so that a matrix is read once for all of them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string_view>

#include <krysol/spmv/base/pack.hpp>
#include <krysol/spmv/base/vector.hpp>

namespace krysol {

/// X(i, c), rows x cols. Columns stand in panels of pack_width, in each of them row after row, so
/// that the entries of a row that a nonzero multiplies lie in one cache line:
/// X(i, p pack_width + c) = panels(i, p)[c]. What the last panel has beyond `cols` is padding.
template <class T, class Exec = Kokkos::DefaultExecutionSpace>
struct MultiVector {
  using value_type = T;
  using execution_space = Exec;

  std::int64_t rows = 0;
  int cols = 0;
  Kokkos::View<Pack<T>**, Kokkos::LayoutLeft, Exec> panels;  // [rows, ceil(cols / pack_width)]

  int panel_count() const { return static_cast<int>(panels.extent(1)); }
  /// Panel p as a vector of packs: what formats multiply.
  Vector<Pack<T>, Exec> panel(int p) const {
    return Vector<Pack<T>, Exec>(panels.data() + static_cast<std::size_t>(p) * panels.extent(0),
                                 panels.extent(0));
  }
};

/// Zeros.
template <class T, class Exec>
MultiVector<T, Exec> zero_multivector(const Exec& exec, const char* label, std::int64_t rows,
                                      int cols) {
  MultiVector<T, Exec> x;
  x.rows = rows;
  x.cols = cols;
  x.panels = allocate<decltype(x.panels)>(label, rows, (cols + pack_width - 1) / pack_width);
  Kokkos::deep_copy(exec, x.panels, Pack<T>(T(0)));
  return x;
}

template <class T>
struct ReadColumn {
  const Pack<T>* panel;
  int lane;
  T* v;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { v[i] = panel[i][lane]; }
};
template <class T>
struct FillColumn {
  const T* v;
  int lane;
  Pack<T>* panel;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { panel[i].set(lane, v[i]); }
};

/// Moves row i of all panels.
template <class From, class Panels>
struct FillPanels {
  From from;
  Panels panels;
  int cols;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    for (int c = 0; c < cols; ++c) panels(i, c / pack_width).set(c % pack_width, from(i, c));
  }
};
template <class Panels, class To>
struct ReadPanels {
  Panels panels;
  To to;
  int cols;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    for (int c = 0; c < cols; ++c) to(i, c) = panels(i, c / pack_width)[c % pack_width];
  }
};

/// v := column c of x.
template <class T, class Exec>
void copy_column(const Exec& exec, const MultiVector<T, Exec>& x, int c, const Vector<T, Exec>& v) {
  Kokkos::parallel_for("krysol::copy_column(out)",
                       Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, x.rows),
                       ReadColumn<T>{x.panel(c / pack_width).data(), c % pack_width, v.data()});
}

/// Column c of x := v.
template <class T, class Exec>
void copy_column(const Exec& exec, const Vector<T, Exec>& v, const MultiVector<T, Exec>& x, int c) {
  Kokkos::parallel_for("krysol::copy_column(in)",
                       Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, x.rows),
                       FillColumn<T>{v.data(), c % pack_width, x.panel(c / pack_width).data()});
}

namespace detail {
/// Throws std::invalid_argument, naming the function and the sizes, where they differ.
void check_same_shape(std::string_view function, std::int64_t rows, std::int64_t cols,
                      std::int64_t other_rows, std::int64_t other_cols);
}  // namespace detail

/// x := from, [rows, cols] of any layout, in memory that Exec can read. Bytes a number: 16 (24 with
/// write-allocate).
template <class T, class Exec, class View>
void copy_columns(const Exec& exec, const View& from, const MultiVector<T, Exec>& x) {
  detail::check_same_shape("krysol::copy_columns", static_cast<std::int64_t>(from.extent(0)),
                           static_cast<std::int64_t>(from.extent(1)), x.rows, x.cols);
  Kokkos::parallel_for("krysol::copy_columns(to panels)",
                       Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, x.rows),
                       FillPanels<View, decltype(x.panels)>{from, x.panels, x.cols});
}

/// to := x, likewise.
template <class T, class Exec, class View>
void copy_columns(const Exec& exec, const MultiVector<T, Exec>& x, const View& to) {
  detail::check_same_shape("krysol::copy_columns", x.rows, x.cols,
                           static_cast<std::int64_t>(to.extent(0)),
                           static_cast<std::int64_t>(to.extent(1)));
  Kokkos::parallel_for("krysol::copy_columns(from panels)",
                       Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, x.rows),
                       ReadPanels<decltype(x.panels), View>{x.panels, to, x.cols});
}

}  // namespace krysol
