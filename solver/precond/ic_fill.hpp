// The places of the nonzeros of an incomplete factor.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/precond/level_scheduled_solve.hpp>

namespace krysol {

/// Which entries L has beside those of A; none of both: no others.
struct FillRule {
  int level = 0;         // those of so many levels
  double threshold = 0;  // those that are so large, whatever A has

  bool fills() const { return level > 0 || threshold > 0; }
};

/// Places below the diagonal.
struct FillPattern {
  std::vector<Offset> row_ptr;  // [rows + 1]
  std::vector<Index> col_idx;   // ascending in a row
};

/// An entry of A has level 0, one that elimination of k makes at (i, j) the sum of those of (i, k)
/// and (j, k) and 1, the least over k; L has those up to `level`. Gustafsson, BIT 18, 1978,
/// DOI 10.1007/BF01931691; Saad 2003, section 10.3.3. row_ptr, col_idx: of the strictly lower
/// triangle of A. Throws PreconditionerRefusal where the fill is more than 30 times the entries and
/// rows of the triangle, OutOfMemory where it would take more memory than there is.
FillPattern fill_of_levels(const std::vector<Offset>& row_ptr, const std::vector<Index>& col_idx,
                           int level);

/// The places of the factor of S A S, S = diag(A)^-1/2, from which each |l(i,j)| < threshold is
/// dropped once it is known, before other entries are computed from it. Where a pivot is not
/// positive, 1 is used: values are not what this is for. Munksgaard, ACM TOMS 6(2), 1980,
/// DOI 10.1145/355887.355893; Saad 2003, section 10.4. a.diagonal: positive and finite. Throws as
/// fill_of_levels does. Instantiated in the library for its entry types.
template <class T>
FillPattern fill_above(const LowerPart<T>& a, double threshold);

}  // namespace krysol
