// Properties of a matrix: shape, symmetry, diagonal, row lengths.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include <krysol/spmv/matrix/host_csr.hpp>

namespace krysol {

/// Two entries count as mirror images where they differ by no more than this, relative to the
/// larger of them and of sqrt(|a(i,i) a(j,j)|), the largest that a positive definite matrix could
/// hold there.
inline constexpr double symmetry_tolerance = 1e-10;

template <class S>
struct MatrixProperties {
  Index rows = 0;
  Index cols = 0;
  Offset nnz = 0;
  Offset shortest_row = 0;
  Offset longest_row = 0;
  Index empty_rows = 0;

  bool symmetric = false;  // (Hermitian, if complex) square, and asymmetry <= symmetry_tolerance
  double asymmetry = 0;    // the largest difference of mirror images, relative as above
  bool mirrored = false;   // square, each entry stored has a mirror image stored, to the bit (but
                           // for the sign of zeros); then `symmetric` too
  Index asymmetric_row = -1;  // where that is, from 0: a(row, col) and a(col, row)
  Index asymmetric_col = -1;
  S asymmetric_value{};
  S asymmetric_mirror{};

  Index positive_diagonal = 0;  // rows with a(i,i) > 0
  Index negative_diagonal = 0;
  Index zero_diagonal = 0;        // stored, and zero
  Index missing_diagonal = 0;     // not stored
  Index first_not_positive = -1;  // the first row whose diagonal entry is not > 0, from 0
  S first_not_positive_value{};   // that entry, 0 where it is missing
  double smallest_diagonal = 0;   // real parts
  double largest_diagonal = 0;

  Index not_finite_row = -1;  // the first entry that is Inf or NaN
  Index not_finite_col = -1;
};

/// One pass over the matrix, and a second over its transpose's order for the symmetry.
/// Columns must ascend in each row, as to_csr leaves them.
/// Instantiated in the library for double, float and complex numbers of both.
template <class S>
MatrixProperties<S> analyze(const HostCsr<S>& a);

}  // namespace krysol
