// What the values of the entries say of a matrix: symmetry, diagonal, dominance, row sums.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/analysis/exact_sum.hpp>
#include <krysol/analysis/host_rows.hpp>
#include <krysol/analysis/matrix_report.hpp>

namespace krysol::analysis {

/// Of a square matrix. largest_magnitude: max |a(i,j)|, which keeps squares in the range of double.
/// Cost: rows of A and A' side by side, once each.
template <class S>
SymmetryProperties symmetry_of(const HostCsr<S>& a, const HostCsr<S>& transposed,
                               double largest_magnitude);

template <class S>
Diagonal diagonal_of(const HostCsr<S>& a);

/// Memory: a second copy of the values, to find equal ones.
template <class S>
Values values_of(const HostCsr<S>& a, const HostCsr<S>& transposed);

template <class S>
RowSums row_sums_of(const HostCsr<S>& a);

/// How |a(i,i)| compares with the sum of |a(i,j)|, j != i.
enum class Dominance { strict, equal, none };

/// `equal` where that is exact; where rounding leaves it open, `none`.
template <class S>
Dominance dominance_of_row(const HostCsr<S>& a, std::int64_t i) {
  const auto row = static_cast<std::size_t>(i);
  ExactSum excess;
  for (Offset k = a.row_ptr(row); k < a.row_ptr(row + 1); ++k) {
    const auto at = static_cast<std::size_t>(k);
    const S v = a.values(at);
    const double size = magnitude(v);
    // hypot of two numbers that are not 0 may be off by its last bit.
    const bool rounded = imaginary_part(v) != 0 && real_part(v) != 0;
    const double error = rounded ? size * std::numeric_limits<double>::epsilon() : 0;
    excess.add(a.col_idx(at) == i ? size : -size, error);
  }
  if (excess.certainly_positive()) return Dominance::strict;
  return excess.certainly_zero() ? Dominance::equal : Dominance::none;
}

/// Is the sum of row i exactly zero?
template <class S>
bool row_sum_is_zero(const HostCsr<S>& a, std::int64_t i) {
  const auto row = static_cast<std::size_t>(i);
  ExactSum re;
  ExactSum im;
  for (Offset k = a.row_ptr(row); k < a.row_ptr(row + 1); ++k) {
    const S v = a.values(static_cast<std::size_t>(k));
    re.add(static_cast<double>(real_part(v)));
    im.add(static_cast<double>(imaginary_part(v)));
  }
  return re.certainly_zero() && im.certainly_zero();
}

}  // namespace krysol::analysis
