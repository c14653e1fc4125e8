// A bound of the largest eigenvalue, which polynomial smoothers and prolongators need.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/multigrid/row_builder.hpp>

namespace krysol::multigrid {

/// A bound of the eigenvalues of a symmetric (Hermitian) positive semidefinite A with ones on its
/// diagonal: the largest row sum of |A| (Gershgorin), where that is at most 2.2; else, if that is
/// less, 1.02 times the largest Ritz value of twelve Lanczos steps from a pseudo-random start plus
/// the norm of its residual (Zhou & Li, Linear Algebra Appl. 435, 2011, DOI
/// 10.1016/j.laa.2010.06.034, bound of section 3). The same bits for any number of threads. Bytes:
/// those of A, or of thirteen products by it. Throws PreconditionerRefusal where an entry is not
/// finite, or the first step finds A not to be positive definite. scale: [rows] where A is still to
/// be multiplied with its diagonal matrix from both sides; else empty.
template <class S>
double largest_eigenvalue(const HostCsr<S>& a, const HostArray<double>& scale = {});

}  // namespace krysol::multigrid
