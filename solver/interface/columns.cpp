// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/interface/columns.hpp>

#include <algorithm>
#include <functional>
#include <stdexcept>

#include <fmt/core.h>

namespace krysol {
namespace {

using Exec = Kokkos::DefaultExecutionSpace;

/// A number of type V as one of type T; a complex number's real part where T is real, which callers
/// have refused before.
template <class T, class V>
KOKKOS_INLINE_FUNCTION T as(const V& v) {
  if constexpr (is_complex<T>) {
    return T(static_cast<Real<T>>(real_part(v)), static_cast<Real<T>>(imaginary_part(v)));
  } else {
    return static_cast<T>(real_part(v));
  }
}

template <class V, class T>
struct Gather {
  const V* from;
  std::int64_t stride;
  const Index* order;  // null: none
  T* to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    to[i] = as<T>(from[stride * (order == nullptr ? i : std::int64_t{order[i]})]);
  }
};

template <class T, class V>
struct ScatterColumn {
  const T* from;
  const Index* order;
  std::int64_t stride;
  V* to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    to[stride * (order == nullptr ? i : std::int64_t{order[i]})] = as<V>(from[i]);
  }
};

template <class T>
struct FirstNotFinite {
  const T* v;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, std::int64_t& first) const {
    if (!has_finite_bits(v[i]) && i < first) first = i;
  }
};

template <class Space, class Body>
void run(const char* label, std::int64_t n, const Body& body) {
  Kokkos::parallel_for(
      label, Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(Space{}, 0, n), body);
}

/// Calls body with the first number of column c as a pointer to its type.
template <class T, class Body>
void with_column(const ColumnsRef& columns, std::int64_t c, const Body& body) {
  const auto at = [&](auto* data) { body(data + columns.offset(c)); };
  switch (columns.kind) {
    case ScalarKind::float32:
      return at(static_cast<float*>(columns.data));
    case ScalarKind::float64:
      return at(static_cast<double*>(columns.data));
    case ScalarKind::complex32:
      if constexpr (is_complex<T>) return at(static_cast<Kokkos::complex<float>*>(columns.data));
      break;
    case ScalarKind::complex64:
      if constexpr (is_complex<T>) return at(static_cast<Kokkos::complex<double>*>(columns.data));
      break;
  }
  throw std::invalid_argument("krysol::solve: the matrix is real, b or x are complex");
}

std::size_t bytes_of_number(ScalarKind kind) {
  if (kind == ScalarKind::float32) return sizeof(float);
  return kind == ScalarKind::complex64 ? 2 * sizeof(double) : sizeof(double);
}

/// Bytes of a column's numbers, from the first one to the end of the last: [begin, end).
struct Range {
  const char* begin;
  const char* end;
};
Range range_of(const ColumnsRef& columns) {
  const std::size_t size = bytes_of_number(columns.kind);
  const auto* begin = static_cast<const char*>(columns.data);
  if (columns.rows == 0 || columns.cols == 0) return {begin, begin};
  std::int64_t last = 0;
  for (std::int64_t c = 0; c < columns.cols; ++c) last = std::max(last, columns.offset(c));
  last += (columns.rows - 1) * columns.row_stride;
  return {begin, begin + (static_cast<std::size_t>(last) + 1) * size};
}

/// Two columns of one matrix in rows lie between each other, and share nothing.
bool interleaved(const ColumnsRef& a, const ColumnsRef& b) {
  if (a.cols != 1 || b.cols != 1 || a.kind != b.kind || a.row_stride != b.row_stride) return false;
  const auto size = static_cast<std::int64_t>(bytes_of_number(a.kind));
  const std::int64_t apart = static_cast<const char*>(a.data) - static_cast<const char*>(b.data);
  return apart % (a.row_stride * size) != 0;
}

}  // namespace

template <class T>
Vector<T> gathered(const ColumnsRef& columns, std::int64_t c, const Vector<Index>& order,
                   bool copied) {
  const auto n = columns.rows;
  Vector<T> v;
  with_column<T>(columns, c, [&](auto* data) {
    using V = std::remove_pointer_t<decltype(data)>;
    const bool in_order = order.extent(0) == 0;
    if (on_host<Exec> || columns.on_device) {
      if constexpr (std::is_same_v<V, T>) {
        if (in_order && columns.row_stride == 1 && !copied) {
          v = Vector<T>(data, static_cast<std::size_t>(n));
          return;
        }
      }
      v = uninitialized<T>(Exec{}, "column", n);
      run<Exec>(
          "krysol::gathered", n,
          Gather<V, T>{data, columns.row_stride, in_order ? nullptr : order.data(), v.data()});
      return;
    }
    const auto packed = uninitialized<T>(Host{}, "column(host)", n);
    run<Host>("krysol::gathered(host)", n,
              Gather<V, T>{data, columns.row_stride, nullptr, packed.data()});
    Host{}.fence();
    v = uninitialized<T>(Exec{}, "column", n);
    Kokkos::deep_copy(v, packed);
    if (in_order) return;
    const auto moved = uninitialized<T>(Exec{}, "column", n);
    run<Exec>("krysol::gathered", n, Gather<T, T>{v.data(), 1, order.data(), moved.data()});
    v = moved;
  });
  Exec{}.fence("krysol::gathered");
  return v;
}

template <class T>
void scatter(const Vector<T>& x, const Vector<Index>& order, const ColumnsRef& columns,
             std::int64_t c) {
  const auto n = columns.rows;
  with_column<T>(columns, c, [&](auto* data) {
    using V = std::remove_pointer_t<decltype(data)>;
    const Index* places = order.extent(0) == 0 ? nullptr : order.data();
    if (on_host<Exec> || columns.on_device) {
      run<Exec>("krysol::scatter", n,
                ScatterColumn<T, V>{x.data(), places, columns.row_stride, data});
      return;
    }
    Vector<T> moved = x;
    if (places != nullptr) {
      moved = uninitialized<T>(Exec{}, "column", n);
      run<Exec>("krysol::scatter", n, ScatterColumn<T, T>{x.data(), places, 1, moved.data()});
    }
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, moved);
    run<Host>("krysol::scatter(host)", n,
              ScatterColumn<T, V>{host.data(), nullptr, columns.row_stride, data});
    Host{}.fence();
  });
  Exec{}.fence("krysol::scatter");
}

template <class T>
std::int64_t first_not_finite(const Vector<T>& v) {
  const auto n = static_cast<std::int64_t>(v.extent(0));
  std::int64_t first = n;
  Kokkos::parallel_reduce("krysol::first_not_finite",
                          Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(0, n),
                          FirstNotFinite<T>{v.data()}, Kokkos::Min<std::int64_t>(first));
  return first < n ? first : -1;
}

void check_columns(std::string_view function, std::int64_t rows, const ColumnsRef& b,
                   const ColumnsRef& x) {
  if (b.rows != rows || x.rows != rows) {
    throw std::invalid_argument(fmt::format(
        "{}: A has {} rows, b {} and x {}; x holds the starting guess, zeros where there is none",
        function, rows, b.rows, x.rows));
  }
  if (b.cols != x.cols) {
    throw std::invalid_argument(
        fmt::format("{}: b has {} columns, x {}", function, b.cols, x.cols));
  }
  const Range of_b = range_of(b);
  const Range of_x = range_of(x);
  const std::less<> before;  // of pointers into any arrays
  if (before(of_b.begin, of_x.end) && before(of_x.begin, of_b.end) && !interleaved(b, x)) {
    throw std::invalid_argument(
        fmt::format("{}: b and x overlap in memory; give x an array of its own", function));
  }
}

#define KRYSOL_INSTANTIATE(T)                                                                     \
  template Vector<T> gathered(const ColumnsRef&, std::int64_t, const Vector<Index>&, bool);       \
  template void scatter(const Vector<T>&, const Vector<Index>&, const ColumnsRef&, std::int64_t); \
  template std::int64_t first_not_finite(const Vector<T>&);
KRYSOL_INSTANTIATE(double)
KRYSOL_INSTANTIATE(Kokkos::complex<double>)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
