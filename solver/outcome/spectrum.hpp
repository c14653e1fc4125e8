// What a solve has found out about the eigenvalues of M^-1 A and about the error of x.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace krysol {

/// An eigenvalue of CG's tridiagonal matrix: an estimate, from inside, of one of M^-1 A.
struct RitzValue {
  double value = 0;
  double residual = 0;     // within this distance there is an eigenvalue
  bool converged = false;  // and that is where it belongs, as far as CG can tell
};

/// The spectrum of M^-1 A (of A without a preconditioner) as far as it took part in the solve:
/// eigenvectors that are orthogonal to the first residual leave no trace, and b = A x* has little
/// of those of small eigenvalues. Where `confirming_steps` is not 0, the smallest is called
/// converged only if that many steps from a start that has a part of all of them brought no smaller
/// one (CgOptions::confirm).
struct Spectrum {
  std::vector<RitzValue> values;  // a few at both ends, ascending, copies merged; may be empty
  RitzValue smallest;
  RitzValue largest;
  double condition = 0;  // largest / smallest; 0: nothing is known
  bool at_least = true;  // an end has not converged: the condition is that, or larger
  std::int64_t confirming_steps = 0;

  bool known() const { return condition > 0; }
};

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

/// |x - x*|_A of the x that is returned and of an earlier one; NaN: not known, as the upper ones
/// are where |b - A x| is more than twice the |r| of the recurrence, by rounding.
struct ErrorBounds {
  double lower = not_known;  // of the x `delay` iterations before the last; never too large
  std::int64_t delay = 0;
  double upper_estimate = not_known;  // of the last x, with the smallest Ritz value: about that
  double upper_bound = not_known;     // of the last x, where CgOptions::lambda_min is given
  bool lambda_min_refuted = false;    // by a smaller Ritz value: then there is no such bound
  double solution_norm = not_known;   // |x*|_A, or a little less

  /// Relative to |x*|_A: no smaller than they should be, as that norm is bounded from below.
  double relative(double error) const { return error / solution_norm; }
};

/// The same for each iterate; NaN: not known. All [iterations + 1].
struct ErrorHistory {
  std::vector<double> lower;
  std::vector<double> upper_estimate;
  std::vector<double> upper_bound;
};

}  // namespace krysol
