// What krysol::Solver did, as a Report shows it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/report/report.hpp>
#include <krysol/solver/interface/solve_options.hpp>

namespace krysol::report {

/// Fills in the matrix's shape, symmetry and diagonal, order, format, methods, stopping criteria,
/// result and times, and adds the notes. What is known of files, b and machine stays.
void take(const SolveReport& solve, Report& report);

}  // namespace krysol::report
