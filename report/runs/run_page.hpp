// The pages of regression runs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include <krysol/report/runs/change_points.hpp>
#include <krysol/report/runs/run_comparison.hpp>
#include <krysol/report/runs/run_record.hpp>

namespace krysol::report {

/// What changed, worst first; charts; a table of all solves with details of each; where and how the
/// run was made. Cells of the table hold what as_csv writes, in full, in `data-value`.
std::string run_page(const RunRecord& run, const std::vector<Comparison>& comparisons);

/// Iterations, time and memory of each solve over many runs; those with marks are drawn first, of
/// the others `most` at most.
std::string history_page(const RunHistory& history, std::size_t most = 100);

}  // namespace krysol::report
