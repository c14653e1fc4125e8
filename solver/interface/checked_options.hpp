// What can be wrong with options is said before hours are spent on the matrix.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/interface/solve_options.hpp>

namespace krysol {

/// Throws std::invalid_argument, naming the field, for a number that is negative or not finite.
void check_stopping(const StoppingCriteria& stop);

/// Throws std::invalid_argument for names that are unknown, with those that are known, and for
/// numbers that make no sense.
void check_options(const SolveOptions& options);

/// Whether the preconditioner is to be chosen.
bool is_auto(const SolveOptions& options);

/// Whether a choice can be made: other methods than CG need a preconditioner that is symmetric
/// positive definite for any A, and a bound of the eigenvalues of M^-1 A holds for one M.
bool may_choose(const SolveOptions& options);

/// Multiplications that choosing a format must pay off within.
double expected_products(const SolveOptions& options);

/// Whether the format is chosen when it is known how many multiplications are ahead: where the
/// preconditioner is chosen, too, and nobody said how many, or asked for a record of the choice.
bool may_choose_late(const SolveOptions& options);

/// That rows are to be in while solving: where vectors are given, "auto" leaves nodes together.
std::string order_of_rows(const SolveOptions& options);

/// The vectors that are given, for rows in that order; null: none. Throws std::invalid_argument
/// where they do not fit.
std::shared_ptr<const NearNullVectors> near_null_of(const SolveOptions& options, Index rows,
                                                    const std::vector<Index>& order);

}  // namespace krysol
