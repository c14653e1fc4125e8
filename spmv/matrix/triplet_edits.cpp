// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/matrix/triplet_edits.hpp>

#include <complex>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/core.h>

#include <krysol/spmv/matrix/sorted_columns.hpp>

namespace krysol {
namespace {

using Complex = std::complex<double>;

std::string entry_text(double v) { return fmt::format("{}", v); }
std::string entry_text(Complex v) { return fmt::format("{}{:+}i", v.real(), v.imag()); }

template <class T>
void take(Triplets<T>& a, SortedColumns<T> c) {
  a.col_idx.resize(c.values.size());
  for (std::size_t j = 0; j + 1 < c.begin.size(); ++j) {
    std::fill(a.col_idx.begin() + c.begin[j], a.col_idx.begin() + c.begin[j + 1],
              static_cast<Index>(j));
  }
  a.row_idx = std::move(c.row_idx);
  a.values = std::move(c.values);
}

template <class T>
Triplets<T> mirror_image(const Triplets<T>& a, Symmetry symmetry) {
  Triplets<T> image;
  image.rows = a.cols;
  image.cols = a.rows;
  image.row_idx = a.col_idx;
  image.col_idx = a.row_idx;
  image.values = a.values;
  for (T& v : image.values) v = mirrored(v, symmetry);
  return image;
}

/// Walks down one column of the matrix and of its mirror image at a time.
template <class T>
class Twins {
 public:
  Twins(const Triplets<T>& a, Symmetry symmetry)
      : symmetry_(symmetry),
        matrix_(sorted_columns(a)),
        image_(sorted_columns(mirror_image(a, symmetry))) {}

  /// The lower triangle's entries of column j go to `lower`.
  void column(Index j, Triplets<T>& lower) const {
    auto k = first(matrix_, j);
    auto t = first(image_, j);
    const auto k_end = last(matrix_, j);
    const auto t_end = last(image_, j);
    while (k < k_end || t < t_end) {
      const Index row = k < k_end ? matrix_.row_idx[k] : matrix_.rows;
      const Index twin_row = t < t_end ? image_.row_idx[t] : matrix_.rows;
      const Index i = std::min(row, twin_row);
      const T value = row == i ? matrix_.values[k++] : T(0);
      const T twin = twin_row == i ? image_.values[t++] : T(0);
      if (i < j) continue;  // seen from the other side
      if (value != twin) refuse(i, j, value, mirrored(twin, symmetry_));
      if (i > j || symmetry_ != Symmetry::skew_symmetric) lower.add(i, j, value);
    }
  }

 private:
  static std::size_t first(const SortedColumns<T>& c, Index j) {
    return static_cast<std::size_t>(c.begin[static_cast<std::size_t>(j)]);
  }
  static std::size_t last(const SortedColumns<T>& c, Index j) {
    return static_cast<std::size_t>(c.begin[static_cast<std::size_t>(j) + 1]);
  }

  [[noreturn]] void refuse(Index i, Index j, T value, T twin) const {
    const std::string kind(to_string(symmetry_));
    if (i == j) {
      throw std::invalid_argument(fmt::format("the matrix is not {}: entry ({}, {}) is {}", kind,
                                              i + 1, i + 1, entry_text(value)));
    }
    throw std::invalid_argument(
        fmt::format("the matrix is not {}: entry ({}, {}) is {}, entry ({}, {}) is {}", kind, i + 1,
                    j + 1, entry_text(value), j + 1, i + 1, entry_text(twin)));
  }

  Symmetry symmetry_;
  SortedColumns<T> matrix_;
  SortedColumns<T> image_;
};

}  // namespace

template <class T>
void expand(Triplets<T>& a) {
  if (a.symmetry == Symmetry::general) return;
  Triplets<T> all;
  all.rows = a.rows;
  all.cols = a.cols;
  all.reserve(2 * a.values.size());
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    all.add(a.row_idx[k], a.col_idx[k], a.values[k]);
    if (a.row_idx[k] == a.col_idx[k]) continue;
    all.add(a.col_idx[k], a.row_idx[k], mirrored(a.values[k], a.symmetry));
  }
  a = std::move(all);
}

template <class T>
Offset drop_zeros(Triplets<T>& a) {
  std::size_t kept = 0;
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    if (a.values[k] == T(0)) continue;
    a.row_idx[kept] = a.row_idx[k];
    a.col_idx[kept] = a.col_idx[k];
    a.values[kept++] = a.values[k];
  }
  const auto dropped = static_cast<Offset>(a.values.size() - kept);
  a.row_idx.resize(kept);
  a.col_idx.resize(kept);
  a.values.resize(kept);
  return dropped;
}

template <class T>
void sort(Triplets<T>& a) {
  take(a, sorted_columns(a, SamePlace::kept));
}

template <class T>
Offset sum_duplicates(Triplets<T>& a) {
  SortedColumns<T> c = sorted_columns(a);
  const Offset duplicates = c.duplicates;
  take(a, std::move(c));
  return duplicates;
}

template <class T>
void keep_lower_triangle(Triplets<T>& a, Symmetry symmetry) {
  if (a.rows != a.cols) {
    throw std::invalid_argument(
        fmt::format("the matrix is not {}: it is {} x {}", to_string(symmetry), a.rows, a.cols));
  }
  Triplets<T> lower;
  lower.rows = a.rows;
  lower.cols = a.cols;
  lower.symmetry = symmetry;
  lower.reserve(a.values.size() / 2 + 1);
  const Twins<T> twins(a, symmetry);
  for (Index j = 0; j < a.cols; ++j) twins.column(j, lower);
  a = std::move(lower);
}

template void expand(Triplets<double>&);
template void expand(Triplets<Complex>&);
template Offset drop_zeros(Triplets<double>&);
template Offset drop_zeros(Triplets<Complex>&);
template void sort(Triplets<double>&);
template void sort(Triplets<Complex>&);
template Offset sum_duplicates(Triplets<double>&);
template Offset sum_duplicates(Triplets<Complex>&);
template void keep_lower_triangle(Triplets<double>&, Symmetry);
template void keep_lower_triangle(Triplets<Complex>&, Symmetry);

}  // namespace krysol
