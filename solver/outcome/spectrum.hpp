// What a solve has found out about the eigenvalues of M^-1 A and about the error of x.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace krysol {

/// An eigenvalue of CG's tridiagonal matrix: approximates one of M^-1 A, from inside its spectrum.
struct RitzValue {
  double value = 0;
  double residual = 0;     // an eigenvalue of M^-1 A lies within this distance of `value`
  bool converged = false;  // accepted as an eigenvalue; at an end: as the extreme one (spectrum_of)
};

/// The spectrum of M^-1 A (of A without a preconditioner), estimated. Eigenvectors orthogonal to
/// the first residual cannot be seen, and b = A x* contains little of those of small eigenvalues.
/// Where confirming_steps > 0, the smallest is called converged only if that many Lanczos steps
/// from a pseudo-random start found none more than 1 % smaller (CgOptions::confirm).
struct Spectrum {
  std::vector<RitzValue> values;  // a few at both ends, ascending, copies merged; may be empty
  RitzValue smallest;
  RitzValue largest;
  double condition = 0;  // largest / smallest; 0: nothing is known
  bool at_least = true;  // an end has not converged: the condition is that, or larger
  std::int64_t confirming_steps = 0;
  double confirming_seconds = 0;  // that those took, after x was known

  bool known() const { return condition > 0; }
};

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

/// Bounds of |x - x*|_A; NaN: not known. Both upper ones are NaN where, through rounding,
/// |b - A x|_2 is more than twice the |r|_2 of the recurrence; lower and upper_bound where the
/// condition of M^-1 A is beyond 1 / (500 epsilon).
struct ErrorBounds {
  double lower = not_known;  // for the x `delay` iterations before the last; never too large
  std::int64_t delay = 0;
  double upper_estimate = not_known;  // for the last x, by the smallest Ritz value: approximate
  double upper_bound = not_known;     // for the last x, where CgOptions::lambda_min is given
  bool lambda_min_refuted = false;    // a Ritz value is smaller: then there is no upper_bound
  double solution_norm = not_known;   // |x*|_A, or a little less

  /// error / solution_norm: no less than error / |x*|_A, as solution_norm is a lower bound.
  double relative(double error) const { return error / solution_norm; }
};

/// The same for each iterate; NaN: not known. All [iterations + 1].
struct ErrorHistory {
  std::vector<double> lower;
  std::vector<double> upper_estimate;
  std::vector<double> upper_bound;
};

}  // namespace krysol
