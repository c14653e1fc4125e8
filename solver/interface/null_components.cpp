// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/interface/null_components.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace krysol {
namespace {

/// Whether row i sums to 0, and is not empty.
template <class T>
bool sums_to_zero(const HostCsr<T>& a, std::int64_t i) {
  constexpr double rounding = 32 * std::numeric_limits<double>::epsilon();
  T sum(0);
  double size = 0;
  for (Offset k = a.row_ptr.data()[i]; k < a.row_ptr.data()[i + 1]; ++k) {
    const T v = a.values.data()[k];
    sum += v;
    size += std::abs(real_part(v)) + std::abs(imaginary_part(v));
  }
  return size > 0 && std::abs(real_part(sum)) + std::abs(imaginary_part(sum)) <= rounding * size;
}

/// visit(j) for the columns of row i, until one says true; whether one did.
template <class T, class Visit>
bool any_neighbour(const HostCsr<T>& a, std::int64_t i, const Visit& visit) {
  for (Offset k = a.row_ptr.data()[i]; k < a.row_ptr.data()[i + 1]; ++k) {
    if (a.values.data()[k] != T(0) && visit(a.col_idx.data()[k])) return true;
  }
  return false;
}

/// Takes out the rows that are connected to one that is out.
template <class T>
void spread(const HostCsr<T>& a, std::vector<std::uint8_t>& in) {
  const auto out = [&](Index j) { return in[static_cast<std::size_t>(j)] == 0; };
  // In the order of the rows and back: most are out then, each after a look or two.
  for (const bool forward : {true, false}) {
    for (Index k = 0; k < a.rows; ++k) {
      const Index i = forward ? k : a.rows - 1 - k;
      if (!out(i) && any_neighbour(a, i, out)) in[static_cast<std::size_t>(i)] = 0;
    }
  }
  std::vector<Index> stack;  // out, with neighbours that may be in
  for (Index i = 0; i < a.rows; ++i) {
    if (!out(i) && any_neighbour(a, i, out)) {
      in[static_cast<std::size_t>(i)] = 0;
      stack.push_back(i);
    }
  }
  while (!stack.empty()) {
    const Index i = stack.back();
    stack.pop_back();
    any_neighbour(a, i, [&](Index j) {
      if (!out(j)) {
        in[static_cast<std::size_t>(j)] = 0;
        stack.push_back(j);
      }
      return false;
    });
  }
}

}  // namespace

template <class T>
NullComponents null_components(const HostCsr<T>& a) {
  const auto rows = static_cast<std::size_t>(a.rows);
  std::vector<std::uint8_t> in(rows);
  host_for("krysol::null_components", a.rows,
           [&](std::int64_t i) { in[static_cast<std::size_t>(i)] = sums_to_zero(a, i) ? 1 : 0; });
  spread(a, in);
  NullComponents null;
  std::vector<Index> stack;
  for (Index i = 0; i < a.rows; ++i) {
    if (in[static_cast<std::size_t>(i)] == 0) continue;
    if (null.component.empty()) null.component.assign(rows, -1);
    Index size = 0;
    const Index c = null.count();
    const auto take = [&](Index j) {
      if (in[static_cast<std::size_t>(j)] == 0) return false;
      in[static_cast<std::size_t>(j)] = 0;
      null.component[static_cast<std::size_t>(j)] = c;
      ++size;
      stack.push_back(j);
      return false;
    };
    take(i);
    while (!stack.empty()) {
      const Index j = stack.back();
      stack.pop_back();
      any_neighbour(a, j, take);
    }
    null.size.push_back(size);
  }
  return null;
}

template <class T>
Index rows_of_diagonal_alone(const HostCsr<T>& a) {
  std::int64_t count = 0;
  Kokkos::parallel_reduce(
      "krysol::rows_of_diagonal_alone",
      Kokkos::RangePolicy<Host, Kokkos::IndexType<std::int64_t>>(0, a.rows),
      [&](std::int64_t i, std::int64_t& n) {
        const bool beside = any_neighbour(a, i, [=](Index j) { return j != i; });
        if (!beside && any_neighbour(a, i, [](Index) { return true; })) ++n;
      },
      count);
  return static_cast<Index>(count);
}

template <class T>
std::vector<T> means(const NullComponents& null, const Vector<T>& v) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, v);
  std::vector<T> mean(null.size.size(), T(0));
  // Twice: what the first sums lost to rounding is the mean of what is left without them.
  for (int pass = 0; pass < 2; ++pass) {
    std::vector<T> sum(mean.size(), T(0));
    for (std::size_t i = 0; i < null.component.size(); ++i) {
      if (null.component[i] < 0) continue;
      const auto c = static_cast<std::size_t>(null.component[i]);
      sum[c] += host(i) - mean[c];
    }
    for (std::size_t c = 0; c < mean.size(); ++c) {
      mean[c] += sum[c] / static_cast<double>(null.size[c]);
    }
  }
  return mean;
}

template <class T>
double norm_of_means(const NullComponents& null, const std::vector<T>& mean) {
  const auto size_of = [](const T& m) { return std::hypot(real_part(m), imaginary_part(m)); };
  double largest = 0;
  for (const T& m : mean) largest = std::max(largest, size_of(m));
  if (!(largest > 0)) return 0;
  double square = 0;
  for (std::size_t c = 0; c < mean.size(); ++c) {
    const double part = size_of(mean[c]) / largest;
    square += static_cast<double>(null.size[c]) * part * part;
  }
  return largest * std::sqrt(square);
}

template <class T>
void add_means(const NullComponents& null, const std::vector<T>& mean, double factor,
               const Vector<T>& v) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, v);
  for (std::size_t i = 0; i < null.component.size(); ++i) {
    if (null.component[i] < 0) continue;
    host(i) += factor * mean[static_cast<std::size_t>(null.component[i])];
  }
  Kokkos::deep_copy(v, host);
}

#define KRYSOL_INSTANTIATE(T)                                                  \
  template NullComponents null_components(const HostCsr<T>&);                  \
  template Index rows_of_diagonal_alone(const HostCsr<T>&);                    \
  template std::vector<T> means(const NullComponents&, const Vector<T>&);      \
  template double norm_of_means(const NullComponents&, const std::vector<T>&); \
  template void add_means(const NullComponents&, const std::vector<T>&, double, const Vector<T>&);
KRYSOL_INSTANTIATE(double)
KRYSOL_INSTANTIATE(Kokkos::complex<double>)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
