// Properties of a matrix, whatever the type of its entries.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <complex>

#include <krysol/spmv/matrix/properties.hpp>

namespace krysol {

template <class S>
std::complex<double> as_complex(const S& v) {
  return {static_cast<double>(real_part(v)), static_cast<double>(imaginary_part(v))};
}

/// The same, with complex numbers for entries of any type.
template <class S>
MatrixProperties<std::complex<double>> plain(const MatrixProperties<S>& p) {
  MatrixProperties<std::complex<double>> out;
  out.rows = p.rows;
  out.cols = p.cols;
  out.nnz = p.nnz;
  out.shortest_row = p.shortest_row;
  out.longest_row = p.longest_row;
  out.empty_rows = p.empty_rows;
  out.symmetric = p.symmetric;
  out.asymmetry = p.asymmetry;
  out.mirrored = p.mirrored;
  out.asymmetric_row = p.asymmetric_row;
  out.asymmetric_col = p.asymmetric_col;
  out.asymmetric_value = as_complex(p.asymmetric_value);
  out.asymmetric_mirror = as_complex(p.asymmetric_mirror);
  out.positive_diagonal = p.positive_diagonal;
  out.negative_diagonal = p.negative_diagonal;
  out.zero_diagonal = p.zero_diagonal;
  out.missing_diagonal = p.missing_diagonal;
  out.first_not_positive = p.first_not_positive;
  out.first_not_positive_value = as_complex(p.first_not_positive_value);
  out.smallest_diagonal = p.smallest_diagonal;
  out.largest_diagonal = p.largest_diagonal;
  out.not_finite_row = p.not_finite_row;
  out.not_finite_col = p.not_finite_col;
  return out;
}

}  // namespace krysol
