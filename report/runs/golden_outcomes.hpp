// What a collection of matrices is known to do: names and numbers, kept with the source.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <krysol/report/runs/run_comparison.hpp>

namespace krysol::report {

/// One solve: its outcome, and bands that hold on any processor.
struct GoldenOutcome {
  std::string matrix;
  std::string method;
  SolveOutcome outcome = SolveOutcome::converged;
  std::string status;
  std::int64_t fewest = -1;  // iterations; -1: none are counted, or not the same everywhere
  std::int64_t most = -1;
  double residual = 0;  // the largest |b - A x| / |b|; 0: not looked at
};

/// A table of tabs with one line of names: bands of 15 %, and three iterations; residuals ten times
/// as large, at least 1e-8. Where `auto` left a preconditioner for another one there is no band of
/// iterations: when it does depends on the processor's caches and cores.
std::string as_golden(const RunRecord& run);

/// Throws std::invalid_argument, with name:line, what was expected and what was found.
std::vector<GoldenOutcome> golden_of(std::string_view text, const std::string& name);

/// Worse: another outcome or status, more iterations or a larger residual than the band holds.
/// Fewer iterations are better; they are not compared where `auto` changed the preconditioner in
/// either run. Solves of the run that the table does not know are new; what a run
/// that is no shard left out of its methods is gone, which is not worse.
Comparison compare(const std::vector<GoldenOutcome>& golden, const RunRecord& run,
                   const std::string& name);

}  // namespace krysol::report
