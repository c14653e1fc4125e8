// What a method asks of a system, and what sentences about its results may say.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string_view>

namespace krysol {

/// Stated once beside each method, as `cg_traits` is. By default nothing is asked of A.
struct MethodTraits {
  std::string_view name{};                 // as the registry takes it; empty: none in particular
  std::string_view title = "This method";  // at the start of a sentence: CG, MINRES
  bool needs_symmetry = false;             // A = A' (A = A^H), and so is M
  bool needs_definiteness = false;         // A is positive definite, too
  bool admits_changing_preconditioner = false;  // flexible: M may vary between iterations
  bool takes_parameters = false;                // in its name, after a colon, as in gmres:30
  std::string_view smallest{};  // completes "x has the smallest ...", over the Krylov space so far
  std::string_view best_in{};   // completes "x is best in ..."
};

/// Conjugate gradients (solver/krylov/cg.hpp), which ask most.
inline constexpr MethodTraits cg_traits{
    .name = "cg",
    .title = "CG",
    .needs_symmetry = true,
    .needs_definiteness = true,
    .admits_changing_preconditioner = true,
    .smallest = "energy norm of the error so far, not always the smallest residual",
    .best_in = "the energy norm"};

}  // namespace krysol
