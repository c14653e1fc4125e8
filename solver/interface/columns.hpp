// Vectors as other codes keep them: right-hand sides and solutions of any type and place.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <span>
#include <vector>

#include <krysol/solver/interface/csr_view.hpp>
#include <krysol/spmv/base/multivector.hpp>
#include <krysol/spmv/order/order_choice.hpp>

namespace krysol {

/// Columns of numbers, not owned: entry (i, c) is data[i row_stride + offset(c)].
struct ColumnsRef {
  void* data = nullptr;  // const is cast away where they are only read
  ScalarKind kind = ScalarKind::float64;
  std::int64_t rows = 0;
  std::int64_t cols = 1;
  std::int64_t row_stride = 1;
  std::int64_t col_stride = 0;
  bool on_device = false;  // in memory that the host cannot read
  std::int64_t group = 0;  // columns that stand together, group_stride from the next; 0: all
  std::int64_t group_stride = 0;

  std::int64_t offset(std::int64_t c) const {
    if (group == 0) return c * col_stride;
    return c / group * group_stride + c % group * col_stride;
  }
};

template <class P>
ColumnsRef columns_ref(P* data, std::int64_t rows, std::int64_t cols = 1,
                       std::int64_t row_stride = 1, std::int64_t col_stride = 0,
                       bool on_device = false) {
  ColumnsRef to;
  to.data = const_cast<std::remove_const_t<P>*>(data);
  to.kind = scalar_kind<std::remove_const_t<P>>();
  to.rows = rows;
  to.cols = cols;
  to.row_stride = row_stride;
  to.col_stride = col_stride;
  to.on_device = on_device;
  return to;
}

/// How a type is read as a vector or as several: a specialisation has `scalar`, the type of its
/// numbers; `several`, true for matrices of right-hand sides; `writable<V>`, false for what is
/// const; and `ColumnsRef columns(const V&)`.
template <class V>
struct VectorAdapter;

template <class S, class Allocator>
struct VectorAdapter<std::vector<S, Allocator>> {
  using scalar = S;
  static constexpr bool several = false;
  template <class V>
  static constexpr bool writable = !std::is_const_v<std::remove_reference_t<V>>;
  static ColumnsRef columns(const std::vector<S, Allocator>& v) {
    return columns_ref(v.data(), static_cast<std::int64_t>(v.size()));
  }
};

template <class S, std::size_t n>
struct VectorAdapter<std::span<S, n>> {
  using scalar = std::remove_const_t<S>;
  static constexpr bool several = false;
  template <class V>
  static constexpr bool writable = !std::is_const_v<S>;
  static ColumnsRef columns(const std::span<S, n>& v) {
    return columns_ref(v.data(), static_cast<std::int64_t>(v.size()));
  }
};

/// Views of one or two dimensions, of any layout and memory space that the default space can use.
template <class S, class... Properties>
struct VectorAdapter<Kokkos::View<S, Properties...>> {
  using View = Kokkos::View<S, Properties...>;
  using scalar = typename View::non_const_value_type;
  static_assert(View::rank == 1 || View::rank == 2, "a vector is a View of one or two dimensions");
  static constexpr bool several = View::rank == 2;
  template <class V>
  static constexpr bool writable = !std::is_const_v<typename View::value_type>;
  static ColumnsRef columns(const View& v) {
    constexpr bool on_device =
        !Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename View::memory_space>::accessible;
    const auto rows = static_cast<std::int64_t>(v.extent(0));
    const auto row_stride = static_cast<std::int64_t>(v.stride(0));
    if constexpr (several) {
      return columns_ref(v.data(), rows, static_cast<std::int64_t>(v.extent(1)), row_stride,
                         static_cast<std::int64_t>(v.stride(1)), on_device);
    } else {
      return columns_ref(v.data(), rows, 1, row_stride, 0, on_device);
    }
  }
};

/// In place: a pack is pack_width numbers that stand together.
template <class T, class Exec>
struct VectorAdapter<MultiVector<T, Exec>> {
  using scalar = T;
  static constexpr bool several = true;
  template <class V>
  static constexpr bool writable = true;
  static ColumnsRef columns(const MultiVector<T, Exec>& v) {
    static_assert(sizeof(Pack<T>) == pack_width * sizeof(T));
    constexpr bool on_device =
        !Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Exec::memory_space>::accessible;
    ColumnsRef to = columns_ref(reinterpret_cast<T*>(v.panels.data()), v.rows, v.cols, pack_width,
                                1, on_device);
    to.group = pack_width;
    to.group_stride = v.rows * pack_width;
    return to;
  }
};

/// True for types that Krysol can read as a vector or as several.
template <class V>
concept SystemVector = requires(const std::remove_cvref_t<V>& v) {
  typename VectorAdapter<std::remove_cvref_t<V>>::scalar;
  { VectorAdapter<std::remove_cvref_t<V>>::columns(v) } -> std::same_as<ColumnsRef>;
};

template <SystemVector V>
ColumnsRef columns_of(const V& v) {
  return VectorAdapter<std::remove_cvref_t<V>>::columns(v);
}

/// Column c in the memory of the default space and in the solver's order: place i holds entry
/// order(i) of the column (i itself where order is empty). The caller's array where that has this
/// form already and `copied` is false. Bytes a row: 16 in double, and 16 more where memory of the
/// host goes to a device. Instantiated in the library for double and Kokkos::complex<double>.
/// Throws std::invalid_argument for complex numbers in a real system.
template <class T>
Vector<T> gathered(const ColumnsRef& columns, std::int64_t c, const Vector<Index>& order,
                   bool copied);

/// The way back: entry order(i) of column c := x(i).
template <class T>
void scatter(const Vector<T>& x, const Vector<Index>& order, const ColumnsRef& columns,
             std::int64_t c);

/// The first place whose number is Inf or NaN by its bits, or -1. Bytes a row: 8.
template <class T>
std::int64_t first_not_finite(const Vector<T>& v);

/// Throws std::invalid_argument, with the sizes, unless both have `rows` rows and as many columns,
/// and where arrays overlap.
void check_columns(std::string_view function, std::int64_t rows, const ColumnsRef& b,
                   const ColumnsRef& x);

}  // namespace krysol
