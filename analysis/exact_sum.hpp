// Sums of doubles without rounding, so that their sign is certain.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <limits>

namespace krysol::analysis {

/// The rounded sum of a and b; lost: what rounding took, exactly (Knuth, The Art of Computer
/// Programming 2, 4.2.2).
inline double two_sum(double a, double b, double& lost) {
  const double sum = a + b;
  const double b_part = sum - a;
  lost = (a - (sum - b_part)) + (b - b_part);
  return sum;
}

/// A sum of doubles in two parts, high + low, after Knuth's exact addition of two numbers (Ogita,
/// Rump & Oishi, SIAM J. Sci. Comput. 26(6), 2005, DOI 10.1137/030601818). Most sums of matrix
/// entries are exact in it; `doubt` bounds the error of those that are not.
class ExactSum {
 public:
  /// error: a bound of the error that v itself has.
  void add(double v, double error = 0) {
    double lost = 0;
    high_ = two_sum(high_, v, lost);
    double lost_again = 0;
    low_ = two_sum(low_, lost, lost_again);
    // Of higher order than what is bounded, so its own rounding is covered by the factor.
    doubt_ += 2 * std::abs(lost_again) + error;
  }
  double value() const { return high_ + low_; }
  double doubt() const { return doubt_; }

  bool certainly_zero() const { return doubt_ == 0 && value() == 0; }
  bool certainly_positive() const { return value() > 2 * doubt_; }

 private:
  double high_ = 0;
  double low_ = 0;
  double doubt_ = 0;
};

}  // namespace krysol::analysis
