// What CG learns beside x: the spectrum, bounds of the error, and how long it will take.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/outcome/error_bounds.hpp>
#include <krysol/solver/outcome/solver.hpp>

namespace krysol {

/// Collects CG's coefficients. Each restart from the true residual begins another Lanczos process:
/// the spectrum merges the four longest, and each iterate gets its error bounds from its own.
class LanczosMonitor {
 public:
  /// From r = b - A x of that norm, with rho = scale^2 r'z.
  void start(double rho, double scale, double residual);
  /// Step `iteration`, by alpha, which made rho = r'z; the recurrence's |r| after it.
  void step(std::int64_t iteration, double alpha, double rho, double residual);
  /// Step `iteration` of a flexible method, whose coefficients belong to no Lanczos process.
  void step(std::int64_t iteration, double residual);

  /// Iterations until |r| <= target, as far as can be told; -1: cannot. Amortized O(1).
  ///
  ///     ln(smallest |r| / target) / rate,  rate = max(observed, f ln((s + 1) / (s - 1)))
  ///
  /// observed: of the smallest |r| so far over the last half of the iterations; s: the root of the
  /// condition number seen so far, whose rate CG keeps at least, once the spectrum has been seen
  /// (Saad 2003, 6.11.3). Until then the smallest Ritz value falls, at first as 1 / k^2, and is
  /// taken to fall as much again as it did over that half: f is the root of that factor, 1 where it
  /// stays. On the matrices of the tests' collection, after 0.6 of the iterations, this is within a
  /// factor of 1.5 for 58 of 100.
  std::int64_t iterations_left(double target);

  /// What all runs together know of the spectrum. Of a condition beyond 1 / (500 epsilon) no
  /// smallest eigenvalue is called converged: rounding of A alone moves it by that much.
  Spectrum spectrum(double epsilon) const;

  /// Sets errors and iterations_left of a result that is otherwise complete, with its cg->spectrum
  /// and cg->error.solution_norm. NaN are: all errors, where A or M turned out indefinite; both
  /// upper ones of the last x, where |b - A x| > 2 |r| of the recurrence; every upper_bound, where
  /// a Ritz value below lambda_min refutes it.
  void conclude(double lambda_min, double epsilon, SolveResult& result);

 private:
  struct Run {
    LanczosRun lanczos;
    std::size_t first = 0;  // iterate from which it started
  };
  std::vector<Run> runs_;
  double smallest_ = 0;  // ends of the spectrum seen so far, roughly
  double largest_ = 0;
  std::vector<double> smallest_after_;  // [iterations + 1] smallest_ after each
  std::vector<double> best_;            // [iterations + 1] the smallest |r| since start or restart
  double last_ = 0;                     // the recurrence's |r| after the last step
  std::int64_t predicted_end_ = -1;
  std::int64_t next_prediction_ = 0;
};

}  // namespace krysol
