// Results of solves that could not begin.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/outcome/solver.hpp>

namespace krysol {

/// For a b, or else an x0, that has Inf or NaN in `row`. atol: of the criteria, in |r|_2.
SolveResult stopped_at_not_finite(Index row, bool in_b, double atol, const MethodTraits& method);

/// For a b whose part outside the range of A, `outside` in the 2-norm, is beyond `target`.
/// residual: |b - A x0|_2.
SolveResult no_solution(double outside, double residual, double b_norm, double target,
                        const MethodTraits& method);

}  // namespace krysol
