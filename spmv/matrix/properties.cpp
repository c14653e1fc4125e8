// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/matrix/properties.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <krysol/spmv/base/finite.hpp>
#include <krysol/spmv/base/spaces.hpp>

namespace krysol {
namespace {

template <class S>
double magnitude(const S& v) {
  return std::hypot(static_cast<double>(real_part(v)), static_cast<double>(imaginary_part(v)));
}

template <class S>
void compare_entries(const S& value, const S& mirror, Index row, Index col,
                     const std::vector<S>& diagonal, MatrixProperties<S>& f) {
  if (value == conjugate(mirror)) return;
  f.mirrored = false;
  const double difference = magnitude(value - conjugate(mirror));
  if (is_nan(difference) || difference == 0) return;
  const double scale =
      std::max({magnitude(value), magnitude(mirror),
                std::sqrt(magnitude(diagonal[static_cast<std::size_t>(row)])) *
                    std::sqrt(magnitude(diagonal[static_cast<std::size_t>(col)]))});
  const double relative = is_finite(scale) ? difference / scale : 1;
  if (relative > f.asymmetry) {
    f.asymmetry = relative;
    f.asymmetric_row = row;
    f.asymmetric_col = col;
    f.asymmetric_value = value;
    f.asymmetric_mirror = mirror;
  }
}

/// Walks every row in step with the same column of the transpose: as rows are visited in ascending
/// order, the mirror image of a(i, j) with j > i is the next unvisited entry of row j.
template <class S>
void check_symmetry(const HostCsr<S>& a, const std::vector<S>& diagonal, MatrixProperties<S>& f) {
  const auto rows = static_cast<std::size_t>(a.rows);
  std::vector<Offset> next(rows);
  for (std::size_t i = 0; i < rows; ++i) next[i] = a.row_ptr(i);
  f.mirrored = true;
  const auto col = [&](Offset k) { return a.col_idx(static_cast<std::size_t>(k)); };
  const auto value = [&](Offset k) { return a.values(static_cast<std::size_t>(k)); };
  for (Index i = 0; i < a.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    // What is left below the diagonal of row i has no image above it.
    for (; next[row] < a.row_ptr(row + 1) && col(next[row]) < i; ++next[row]) {
      f.mirrored = false;
      compare_entries(value(next[row]), S(0), i, col(next[row]), diagonal, f);
    }
    for (Offset k = next[row]; k < a.row_ptr(row + 1); ++k) {
      const Index j = col(k);
      if (j == i) {
        compare_entries(value(k), value(k), i, i, diagonal, f);  // a Hermitian diagonal is real
        continue;
      }
      const auto other = static_cast<std::size_t>(j);
      for (; next[other] < a.row_ptr(other + 1) && col(next[other]) < i; ++next[other]) {
        f.mirrored = false;
        compare_entries(value(next[other]), S(0), j, col(next[other]), diagonal, f);
      }
      S mirror = S(0);
      if (next[other] < a.row_ptr(other + 1) && col(next[other]) == i) {
        mirror = value(next[other]++);
      } else {
        f.mirrored = false;
      }
      compare_entries(value(k), mirror, i, j, diagonal, f);
    }
  }
}

}  // namespace

template <class S>
MatrixProperties<S> analyze(const HostCsr<S>& a) {
  MatrixProperties<S> f;
  f.rows = a.rows;
  f.cols = a.cols;
  f.nnz = a.nnz();
  const auto rows = static_cast<std::size_t>(a.rows);
  std::vector<S> diagonal(std::max(rows, static_cast<std::size_t>(a.cols)), S(0));
  for (std::size_t i = 0; i < rows; ++i) {
    const Offset length = a.row_ptr(i + 1) - a.row_ptr(i);
    f.shortest_row = i == 0 ? length : std::min(f.shortest_row, length);
    f.longest_row = std::max(f.longest_row, length);
    f.empty_rows += length == 0 ? 1 : 0;
    bool stored = false;
    for (Offset k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
      const auto at = static_cast<std::size_t>(k);
      if (static_cast<std::size_t>(a.col_idx(at)) == i) {
        diagonal[i] += a.values(at);
        stored = true;
      }
      if (f.not_finite_row < 0 && !is_finite(a.values(at))) {
        f.not_finite_row = static_cast<Index>(i);
        f.not_finite_col = a.col_idx(at);
      }
    }
    const auto d = static_cast<double>(real_part(diagonal[i]));
    if (!stored) {
      ++f.missing_diagonal;
    } else if (d > 0) {
      ++f.positive_diagonal;
    } else if (d < 0) {
      ++f.negative_diagonal;
    } else {
      ++f.zero_diagonal;
    }
    if (!(d > 0) && f.first_not_positive < 0) {
      f.first_not_positive = static_cast<Index>(i);
      f.first_not_positive_value = diagonal[i];
    }
    f.smallest_diagonal = i == 0 ? d : std::min(f.smallest_diagonal, d);
    f.largest_diagonal = i == 0 ? d : std::max(f.largest_diagonal, d);
  }
  if (a.rows == a.cols) {
    check_symmetry(a, diagonal, f);
    f.symmetric = f.asymmetry <= symmetry_tolerance;
  }
  return f;
}

#define KRYSOL_INSTANTIATE(S) template MatrixProperties<S> analyze(const HostCsr<S>&);
KRYSOL_FOR_EACH_ENTRY(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
