// The inverse of the last level's matrix.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/coarsening/row_builder.hpp>

namespace krysol::multigrid {

template <class S>
struct CoarsestInverse {
  HostArray<S> inverse;  // [rows rows] by columns
  Index null_space = 0;  // dimension of what was left out of it
};

/// A^-1 of a Hermitian positive semidefinite A, by its Cholesky factors; where a pivot is lost in
/// rounding (1e-13 rows of the largest), the sum of v v' / lambda over the eigenpairs of A with
/// |lambda| above 1e-13 rows lambda_max. Throws PreconditionerRefusal where an eigenvalue is below
/// the negative of that. O(rows^3).
template <class S>
CoarsestInverse<S> coarsest_inverse(const HostCsr<S>& a);

}  // namespace krysol::multigrid
