// What every solver takes and returns.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <krysol/solver/outcome/method.hpp>
#include <krysol/solver/outcome/spectrum.hpp>
#include <krysol/spmv/base/types.hpp>

namespace krysol {

/// When to stop: |b - A x|_2 <= max(atol, rtol |b|_2). Every method takes these, and throws
/// std::invalid_argument, naming the field, for one that is negative, Inf or NaN.
struct StoppingCriteria {
  double rtol = 1e-8;
  double atol = 0;
  std::int64_t max_iterations = 0;  // 0: ten times the rows
  double time_limit_s = 0;          // 0: none
};

/// How a solve ended. Only `converged` says that x is what was asked for.
enum class Status {
  converged,          // the true residual meets the tolerance
  max_iterations,     // it does not, after as many iterations as were allowed
  time_limit,         // ... or as many seconds
  interrupted,        // the observer asked to stop
  stagnated,          // |b - A x|_2 is within 10 eps (|A||x| + |b|), and restarts do not lower it
  indefinite_matrix,  // p'Ap <= 0 was seen, or a diagonal entry that is not positive
  indefinite_preconditioner,  // r'M^-1 r <= 0 was seen for r != 0
  not_symmetric,              // a pair of entries differs, or u'A v and conj(v'A u) do
  not_finite,                 // Inf or NaN in A, b, x0 or an iteration
  inconsistent                // A is singular, A x = b has no solution
};

/// "converged", "max_iterations", ... as above.
std::string_view to_string(Status status);

/// A row and its share of |p|^2.
struct RowShare {
  Index row = 0;
  double share = 0;
};

/// What the matrix was seen to do, for others to check. Rows and columns count from 0.
struct BreakdownCertificate {
  std::int64_t iteration = 0;                   // 0: found before the first
  double curvature = 0;                         // p'Ap with |p|_2 = 1, for indefinite_matrix
  std::vector<std::complex<double>> direction;  // [rows] that p
  std::vector<RowShare> largest;                // rows of the largest |p_i|, largest first
  Index row = -1;                               // an entry: of the pair, or the one not finite
  Index col = -1;
  std::complex<double> value;           // A(row, col)
  std::complex<double> mirrored_value;  // A(col, row)
  bool complex_entries = false;         // A must be Hermitian, not symmetric
  /// |u'A v - conj(v'A u)| / (|u||A v| + |v||A u|) for two vectors u and v, where that showed
  /// not_symmetric; else 0
  double asymmetry = 0;
};

/// Seconds and bytes of one kind of work in a solve.
struct Counter {
  double seconds = 0;
  std::int64_t calls = 0;
  double bytes = 0;  // all calls together; 0 where an operator does not say

  void add(double s, double b) {
    seconds += s;
    bytes += b;
    ++calls;
  }
};

/// What conjugate gradients know of A besides, from their own coefficients.
struct CgInsight {
  bool flexible = false;        // M changed from call to call: nothing else of this is known
  bool preconditioned = true;   // else M = 1
  Spectrum spectrum;            // of M^-1 A
  ErrorBounds error;            // |x - x*|_A
  ErrorHistory error_history;   // [iterations + 1] the same for each iterate
  bool not_definite = false;    // p'Ap <= 0 was met in the confirming steps: no error has an A-norm
  bool null_direction = false;  // a p'Ap was rounding beside p'Mp: A is singular to this precision
};

/// What every method tells of a solve.
struct SolveResult {
  Status status = Status::max_iterations;
  MethodTraits method{};        // that made the result, or that a breakdown was looked for
  std::string advice;           // what was seen, and what to try next: one or two sentences
  std::int64_t iterations = 0;  // multiplications by A inside the iteration
  double residual = 0;          // |b - A x|_2, computed from the x that is returned
  double initial_residual = 0;  // |b - A x0|_2
  double b_norm = 0;            // |b|_2
  double outside_range = 0;     // |part of b along null vectors that are known|_2
  double target = 0;            // max(atol, rtol |b|_2)
  double attainable = 0;        // 10 eps (|A||x| + |b|); 0 where it was not needed
  double growth =
      0;  // |A||x| / |b|, which bounds A's condition number where r is small; 0 likewise
  double rounding = 0;        // |b - A x| due to rounding x alone, estimated; 0: not estimated
  std::int64_t restarts = 0;  // from the true residual, where the recurrence had drifted off it
  /// [iterations + 1] the recurrence's residual norm, and the true one where that was computed;
  /// history[0] = |b - A x0|_2.
  std::vector<double> history;
  std::optional<CgInsight> cg;        // absent for other methods, and where nothing was solved
  std::int64_t iterations_left = -1;  // that it would take, predicted; -1: not known, or done
  BreakdownCertificate breakdown;
  double seconds = 0;
  Counter spmv;     // A p inside the iteration
  Counter vectors;  // updates and dot products, with a preconditioner that is fused into them
  Counter preconditioner;  // applications that are not
  Counter residuals;       // true residuals and norms

  bool converged() const { return status == Status::converged; }
};

/// Rounding x alone makes a residual of about `rounding`; methods end at one to ten times that.
inline bool out_of_reach(double target, double rounding) { return target < 2 * rounding; }

/// What an observer sees after each iteration.
struct Progress {
  std::int64_t iteration = 0;
  double residual = 0;  // |r|_2 of the recurrence
  double target = 0;    // max(atol, rtol |b|_2)
  double seconds = 0;
  std::int64_t iterations_left = -1;  // until `residual` meets `target`, predicted; -1: not known
  double seconds_left = -1;
  double rounding = 0;  // SolveResult::rounding for the x so far; a smaller target is out of reach
};

/// Called after each iteration; false ends the solve with Status::interrupted and the x so far.
using Observer = std::function<bool(const Progress&)>;

}  // namespace krysol
