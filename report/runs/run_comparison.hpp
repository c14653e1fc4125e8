// Two regression runs compared: what is better, worse, new or gone.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <krysol/report/runs/run_record.hpp>

namespace krysol::report {

/// From when on a difference counts. Solves whose outcomes are compared repeat bit for bit on one
/// machine; other compilers and processors round otherwise.
struct ComparisonLimits {
  double iterations = 1.10;              // times as many, and
  std::int64_t least_iterations = 2;     // so many more
  double residual = 10;                  // times as large
  double error = 10;                     // likewise, where both converged
  double memory = 1.25;                  // times as much, and
  std::int64_t least_memory = 64 << 20;  // bytes more
};

struct Change {
  enum class Kind { worse, changed, better, added, gone };  // in the order of a table
  Kind kind = Kind::changed;
  std::string matrix;
  std::string method;
  std::string what;     // a sentence
  double severity = 0;  // sorts changes of one kind, largest first
};
std::string_view to_string(Change::Kind kind);

struct Comparison {
  std::string baseline;  // its file, or what it is compared with
  std::vector<Change> changes;
  std::size_t compared = 0;                // solves that both have
  std::optional<double> iterations_ratio;  // geometric means over solves that converged in both
  std::optional<double> time_ratio;        // of seconds times triad of the run: no verdict
  std::size_t timed = 0;
  bool in_turns = false;  // times are of turns of both programs, and time_ratio is what it says

  std::size_t count(Change::Kind kind) const;
  /// Also where nothing could be compared: then nobody knows.
  bool worse() const { return count(Change::Kind::worse) > 0 || compared == 0; }
};

/// SolveOutcome, iterations, residual, error and memory. Of times only `time_ratio`.
Comparison compare(const RunRecord& baseline, const RunRecord& now,
                   const ComparisonLimits& limits = {});

/// Sorts `changes`: by kind, then the severest first.
void sort_changes(std::vector<Change>& changes);

/// Counts, and a line a change, the worst first.
std::string as_text(const Comparison& comparison);

}  // namespace krysol::report
