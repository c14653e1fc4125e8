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

/// The five rows of largest |p_i|^2 / |p|^2, largest first.
std::vector<RowShare> largest_shares(const std::vector<std::complex<double>>& direction);

/// Throws std::invalid_argument, naming the sizes, unless A is square and b and x fit it.
void check_system(std::string_view function, std::int64_t rows, std::int64_t cols, std::size_t b,
                  std::size_t x);

/// Throws std::invalid_argument where a bound of the spectrum is negative or not finite.
void check_stop(std::string_view function, const StoppingCriteria& stop);

}  // namespace krysol
