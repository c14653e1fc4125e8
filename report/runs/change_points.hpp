// Series of numbers over many runs: jumps and slow drifts.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <krysol/report/runs/run_record.hpp>

namespace krysol::report {

/// From `at` on the numbers are `ratio` times those before.
struct Jump {
  std::size_t at = 0;
  double ratio = 1;
};

/// Over the last sixty runs together the numbers became `ratio` times as large, by small steps.
struct Drift {
  double ratio = 1;
};

struct SeriesLimits {
  double jump = 1.10;          // the least ratio, up or down,
  double noises = 5;           // and so many times the noise between neighbours
  double drift = 1.10;         // over all runs
  double drift_sigmas = 2.8;   // of the Mann-Kendall statistic
  std::size_t least_runs = 6;  // for a drift
};

/// The largest jump of the medians of both sides, on logarithms; noise: 1.4826 times the median of
/// |difference of neighbours| / sqrt(2). Numbers that are not positive are left out. Where there is
/// noise, three numbers are needed on each side, and nine tenths of the pairs of one before and one
/// after must differ in that direction; where neighbours are equal, one.
std::optional<Jump> jump_in(const std::vector<double>& series, const SeriesLimits& limits = {});

/// A trend that Mann's and Kendall's test sees, whose slope is Theil's and Sen's (Sen, J. Am. Stat.
/// Assoc. 63, 1968, DOI 10.1080/01621459.1968.10480934).
std::optional<Drift> drift_in(const std::vector<double>& series, const SeriesLimits& limits = {});

/// What jumped or drifted, and when.
struct Mark {
  std::string text;
  bool worse = false;    // and still is in the last runs
  bool repeats = false;  // of numbers that repeat from run to run: iterations, memory; not of times
};

/// What is drawn of a solve over the runs. A run without it has NaN.
struct SolveHistory {
  std::string matrix;
  std::string method;
  std::vector<double> iterations;
  /// Of the fastest turn, which other work on the machine lengthens least: seconds times triad of
  /// the run, the bytes that could have been moved, GB.
  std::vector<double> work;
  std::vector<double> memory;  // bytes
  std::vector<Mark> marks{};
  double severity = 0;

  bool worse() const {
    return std::any_of(marks.begin(), marks.end(), [](const Mark& m) { return m.worse; });
  }
};

struct RunHistory {
  std::vector<std::string> runs;  // when each was started
  std::vector<std::string> versions;
  std::vector<double> triad;         // NaN where it was not measured
  std::vector<SolveHistory> solves;  // those with marks first, the severest first
};

/// Runs in the order of their starts.
RunHistory history_of(std::vector<RunRecord> runs, const SeriesLimits& limits = {});

/// A line for each mark, and counts.
std::string as_text(const RunHistory& history);

}  // namespace krysol::report
