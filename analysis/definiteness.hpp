// Whether a matrix is positive definite, as far as cheap tests can tell.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/analysis/host_rows.hpp>
#include <krysol/analysis/matrix_report.hpp>

namespace krysol::analysis {

/// Is A Hermitian, and x'Ax > 0 for all x != 0? The cheapest test comes first, and the first that
/// decides is reported. A "no" for a Hermitian A rests on an x with x'Ax <= 0, and `place` and
/// `value` say where. `p` holds rows, cols, symmetry, diagonal, values, components, and spectra
/// where those were computed. Proofs of "yes" are Gershgorin's: a Hermitian matrix with a positive
/// diagonal whose rows are all dominant, strictly in one row at least of each connected component
/// (Horn & Johnson 2013, section 6.2). O(nnz).
template <class S>
Definiteness definiteness_of(const HostCsr<S>& a, const HostCsr<S>& transposed,
                             const MatrixReport& p);

}  // namespace krysol::analysis
