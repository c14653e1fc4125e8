// The extreme eigenvalues, estimated by a few products with the matrix.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/analysis/host_rows.hpp>
#include <krysol/analysis/matrix_report.hpp>

namespace krysol::analysis {

struct SpectraOptions {
  int steps = 60;          // of the Lanczos process
  bool hermitian = false;  // A may be taken for Hermitian
};

/// Lanczos, A V = V T + b v e', for a Hermitian A; Golub-Kahan bidiagonalization, A V = U B and
/// A^H U = V B' + ..., for any other and for one that is not definite (Golub & Van Loan 2013,
/// sections 10.1 and 10.4). No vector is orthogonalized against more than the last two: copies of
/// converged eigenvalues come up, which are harmless at the ends (Paige, Linear Algebra Appl. 34,
/// 1980, DOI 10.1016/0024-3795(80)90167-6). The start is the same on every machine; a spectrum of
/// which it contains nothing stays unseen. largest_magnitude: max |a(i,j)|, finite.
///
/// A smallest Ritz value below zero is followed by a second run, which makes its vector x and x'Ax.
/// Cost: two multiplications a step at most, and six vectors.
template <class S>
Spectra spectra_of(const HostCsr<S>& a, const HostCsr<S>& transposed, double largest_magnitude,
                   const SpectraOptions& options);

}  // namespace krysol::analysis
