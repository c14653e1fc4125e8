// The sentences of SolveResult, and other parts of a solve that need no templates.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <krysol/solver/outcome/solver.hpp>

namespace krysol {

/// What was seen, and what to try next, for a result whose other fields are set.
/// Rows and columns are named as files count them, from 1.
std::string advice(const SolveResult& result);

/// True where A looks singular and b outside its range: CG did not converge, |b - A x|_2 is larger
/// than at the start, and the condition number seen is above 1e11, or p'Ap was nothing but
/// rounding; of flexible CG, which sees no spectrum, where it is 1e6 times as large. x has then
/// grown along the null space of A and is of no use.
bool looks_singular(const SolveResult& result);

/// The five rows of largest |p_i|^2 / |p|^2, largest first.
std::vector<RowShare> largest_shares(const std::vector<std::complex<double>>& direction);

/// Throws std::invalid_argument, naming the sizes, unless A is square and b and x fit it.
void check_system(std::string_view function, std::int64_t rows, std::int64_t cols, std::size_t b,
                  std::size_t x);

/// Throws std::invalid_argument where b and x, of so many bytes each, overlap.
void check_apart(std::string_view function, const void* b, const void* x, std::size_t bytes);

/// Throws std::invalid_argument, "FUNCTION: FIELD must be WHAT; it is VALUE", where the value is
/// negative or not finite.
void check_number(std::string_view function, std::string_view field, double value,
                  std::string_view what);

/// Throws std::invalid_argument, naming the field, where one is negative or not finite.
void check_stop(std::string_view function, const StoppingCriteria& stop);

/// Iterations until |r| <= target at the rate of the last half of them; -1: cannot be told. For
/// methods that know no better. history: [k + 1] norms, as SolveResult has them. O(1).
std::int64_t iterations_left_at_this_rate(const std::vector<double>& history, double target);

}  // namespace krysol
