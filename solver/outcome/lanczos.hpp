// What conjugate gradients know of the spectrum of M^-1 A, from their own coefficients.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <krysol/solver/outcome/spectrum.hpp>

namespace krysol {

/// The coefficients of CG from one true residual to the next: k steps of the Lanczos process for
/// M^-1 A, which end with
///
///     T(j,j) = 1 / alpha(j) + beta(j-1) / alpha(j-1),  T(j+1,j) = sqrt(beta(j)) / alpha(j)
///
/// T = L D L' with D(j) = 1 / alpha(j) and L(j+1,j) = sqrt(beta(j)). Saad 2003, section 6.7.3.
struct LanczosRun {
  std::vector<double> alpha;  // [k] lengths of steps
  std::vector<double> beta;   // [k] r'z / previous r'z
  std::vector<double> rho;    // [k + 1] scale^2 r'z; rho[0] of the first residual
  double scale = 1;

  /// O(1) a step: two numbers between the smallest and largest eigenvalue of T, close to them. Each
  /// is the better of two directions, the one before and the new one, for T and for its inverse
  /// (Meurant & Tichy, Numer. Algorithms 82, 2019, DOI 10.1007/s11075-018-0634-8).
  double smallest = 0;
  double largest = 0;

  /// A step was left out, and so are all after it: p'Ap / p'Mp, which is between two eigenvalues of
  /// M^-1 A, was below 4 eps times the largest. Its alpha is rounding, and T would be no projection
  /// of M^-1 A any longer.
  bool null_direction = false;

  std::size_t steps() const { return alpha.size(); }
  void start(double first_rho, double scale_of_r);
  void add(double alpha_k, double next_rho);

 private:
  double direction_ = 0;        // p'Mp, by p = z + beta p
  double last_of_largest_ = 1;  // of the direction for T: its last component
  double inverse_corner_ = 0;   // (T^-1)(k,k)
  double inverse_product_ = 0;  // of the direction for T^-1 with T^-1's last column
};

/// The `count` smallest and `count` largest eigenvalues (at most 8 each) of the leading block of
/// `steps` rows of T, to about ten digits relative to themselves: bisection by counts of negative
/// pivots of T - s I = L+ D+ L+', for up to sixteen shifts s at once, without forming T (Dhillon &
/// Parlett, Linear Algebra Appl. 387, 2004, DOI 10.1016/j.laa.2003.12.028). Ascending; each once.
/// O(steps).
std::vector<double> extreme_eigenvalues(const LanczosRun& run, std::size_t steps,
                                        std::size_t count);

/// |T(k+1,k) s_k| with s_k the last component of the eigenvector of `theta` and length 1: within
/// this distance of theta there is an eigenvalue of M^-1 A. The vector comes from the pivots of
/// T - theta I from both ends, joined where they fit best (the same source).
double residual_bound(const LanczosRun& run, std::size_t steps, double theta);

/// Both ends of the spectrum, and the converged Ritz values next to them. An end is converged where
/// its residual is at most 0.5 % of it and it has moved by at most 5 % over the last tenth of the
/// steps, or its residual is at most 0.01 % of it. The smallest is so, too, where residual^2 / gap,
/// the Kato-Temple bound of its error, is at most 0.02 % and it has moved by at most 0.1 %. A
/// smaller eigenvalue whose eigenvector the first residual hardly contains can go unseen: b = A x*
/// contains little of eigenvectors of small eigenvalues.
Spectrum spectrum_of(const LanczosRun& run);

/// Steps of a Lanczos process from a random start of n rows that show an eigenvalue far below a
/// spectrum of that condition, with a probability of 95 %: the Chebyshev polynomial of degree k
/// that is at most 1 on the spectrum makes the part of the hidden eigenvector, 0.05 / sqrt(n) at
/// least, outweigh all others,
///
///     k = sqrt(condition) / 2  ln(2 sqrt(condition n) / 0.05)
///
/// (after Kuczynski & Wozniakowski, SIAM J. Matrix Anal. Appl. 13(4), 1992, DOI 10.1137/0613066).
/// Or fewer, where CG has reduced its residual faster than such polynomials do: as many as it took
/// for the same reduction.
std::int64_t confirming_steps(double condition, std::int64_t rows, std::int64_t iterations,
                              double reduction);

/// Says of the smallest Ritz value whether it is the smallest eigenvalue.
void set_smallest_converged(Spectrum& spectrum, bool converged);

/// What two runs for the same operator know together. A Ritz value lies inside the spectrum, so the
/// outer one of two is the better.
Spectrum merged(const Spectrum& a, const Spectrum& b);

}  // namespace krysol
