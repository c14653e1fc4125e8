// The error of CG's iterates in the A-norm, from CG's own coefficients.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/outcome/lanczos.hpp>

namespace krysol {

/// With rho = r'z, |x - x_l|_A^2 = sum_{l <= j < k} alpha(j) rho(j) + |x - x_k|_A^2 for any k > l
/// (Hestenes & Stiefel 1952; it holds from step to step, so rounding does it little harm: Strakos &
/// Tichy, ETNA 13, 2002). Adds to `history`, from its place `first` on, for each iterate:
///
/// lower           sqrt of that sum for the last k there is, where the rest is estimated to be a
///                 quarter of it at most: s alpha(k) rho(k) <= sum / 4, s = max over j of
///                 sum_{j <= i <= k} alpha(i) rho(i) / (alpha(j) rho(j)) back to where that sum
///                 is 1e4 times its last term (Meurant, Papez & Tichy, Numer. Algorithms 88, 2021,
///                 DOI 10.1007/s11075-021-01078-w); NaN for the last iterates, where it is more.
///                 How many these are is the delay
/// upper_estimate  sqrt(rho phi / mu), phi(0) = 1, phi(j+1) = phi(j) / (phi(j) + beta(j)), with the
///                 smallest Ritz value for mu: an upper bound, were it the smallest eigenvalue
///                 (Meurant & Tichy, Numer. Algorithms 82, 2019, DOI 10.1007/s11075-018-0634-8);
///                 where that has converged no more than the rest as estimated above, either. Of
///                 earlier iterates no more than the same of the next with the step between them
/// upper_bound     sqrt(gamma rho) by Gauss-Radau quadrature, with gamma(0) = 1 / mu,
///                 gamma(j+1) = (gamma(j) - alpha(j)) / (mu (gamma(j) - alpha(j)) + beta(j)), for
///                 a mu = lambda_min that is no larger than the smallest eigenvalue of M^-1 A
///                 (Meurant & Tichy, Numer. Algorithms 62, 2013, DOI 10.1007/s11075-012-9591-9);
///                 NaN where lambda_min is 0
///
/// Rounding enters x but not the recurrence: below the attainable accuracy they bound the latter.
/// O(steps).
void add_error_bounds(const LanczosRun& run, std::size_t first, const RitzValue& smallest,
                      double lambda_min, ErrorHistory& history);

/// The last lower bound in `history` and the upper ones of the last iterate.
ErrorBounds last_bounds(const ErrorHistory& history);

}  // namespace krysol
