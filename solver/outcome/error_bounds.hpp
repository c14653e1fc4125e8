// The error of CG's iterates in the A-norm, from CG's own coefficients.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/outcome/lanczos.hpp>

namespace krysol {

/// With rho = r'z and t(j) = alpha(j) rho(j), for any k > l
///
///     |x* - x_l|_A^2 = t(l) + ... + t(k-1) + |x* - x_k|_A^2
///
/// (Hestenes & Stiefel 1952; it holds from step to step, so rounding does it little harm: Strakos &
/// Tichy, ETNA 13, 2002). Sets in `history`, from index `first` on, for the iterates l = 0 .. k of
/// a run of k steps:
///
/// lower           sqrt(t(l) + ... + t(k-1)); NaN for the last iterates, where what this leaves
///                 out, estimated as s t(k-1), is more than a quarter of t(l) + ... + t(k-2). s is
///                 the largest (t(i) + ... + t(k-1)) / t(i), back to where that sum is
///                 1e4 t(k-1) (Meurant, Papez & Tichy, Numer. Algorithms 88, 2021,
///                 DOI 10.1007/s11075-021-01078-w). The delay is how many are NaN; l = 0 never is
/// upper_estimate  sqrt(rho phi / mu), phi(0) = 1, phi(j+1) = phi(j) / (phi(j) + beta(j)), mu the
///                 smallest Ritz value: an upper bound, were mu the smallest eigenvalue (Meurant &
///                 Tichy, Numer. Algorithms 82, 2019, DOI 10.1007/s11075-018-0634-8). For l = k at
///                 most sqrt(s t(k-1)), where mu has converged and the run was long enough for s;
///                 for l < k at most the root of t(l) plus the square for l + 1
/// upper_bound     sqrt(gamma rho) by Gauss-Radau quadrature, with gamma(0) = 1 / mu,
///                 gamma(j+1) = (gamma(j) - alpha(j)) / (mu (gamma(j) - alpha(j)) + beta(j)), for
///                 a mu = lambda_min that is no larger than the smallest eigenvalue of M^-1 A
///                 (Meurant & Tichy, Numer. Algorithms 62, 2013, DOI 10.1007/s11075-012-9591-9), or
///                 sqrt(rho phi / mu) where that is smaller; NaN where lambda_min is 0
///
/// They bound the error of the x that the recurrence would give without rounding: below the
/// attainable accuracy the upper ones are too small, and a lower one may be too large. O(steps).
void add_error_bounds(const LanczosRun& run, std::size_t first, const RitzValue& smallest,
                      double lambda_min, ErrorHistory& history);

/// The last lower bound in `history` and the upper ones of the last iterate.
ErrorBounds last_bounds(const ErrorHistory& history);

}  // namespace krysol
