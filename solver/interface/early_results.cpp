// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/interface/early_results.hpp>

#include <limits>

#include <krysol/solver/outcome/advice.hpp>

namespace krysol {

SolveResult stopped_at_not_finite(Index row, bool in_b, double atol, const MethodTraits& method) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  SolveResult r;
  r.status = Status::not_finite;
  r.method = method;
  r.residual = r.initial_residual = nan;
  r.b_norm = in_b ? nan : 0;
  r.target = atol;
  r.history = {nan};
  r.breakdown.row = row;
  r.advice = advice(r);
  return r;
}

SolveResult no_solution(double outside, double residual, double b_norm, double target,
                        const MethodTraits& method) {
  SolveResult r;
  r.status = Status::inconsistent;
  r.method = method;
  r.residual = r.initial_residual = residual;
  r.b_norm = b_norm;
  r.target = target;
  r.outside_range = outside;
  r.history = {residual};
  r.advice = advice(r);
  return r;
}

}  // namespace krysol
