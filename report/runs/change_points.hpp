// Series of numbers over many runs: jumps and slow drifts.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

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

/// Over all runs together the numbers became `ratio` times as large, by small steps.
struct Drift {
  double ratio = 1;
};

struct SeriesLimits {
  double jump = 1.10;          // the least ratio, up or down,
  double noises = 4;           // and so many times the noise between neighbours
  double drift = 1.10;         // over all runs
  double drift_sigmas = 2.8;   // of the Mann-Kendall statistic
  std::size_t least_runs = 6;  // for a drift
};

/// The largest jump of the medians of both sides, on logarithms; noise: 1.4826 times the median of
/// |difference of neighbours| / sqrt(2). Numbers that are not positive are left out. Two numbers or
/// more are needed on each side where there is noise, one where neighbours are equal.
std::optional<Jump> jump_in(const std::vector<double>& series, const SeriesLimits& limits = {});

/// A trend that Mann's and Kendall's test sees, whose slope is Theil's and Sen's (Sen, J. Am. Stat.
/// Assoc. 63, 1968, DOI 10.1080/01621459.1968.10480934).
std::optional<Drift> drift_in(const std::vector<double>& series, const SeriesLimits& limits = {});

/// What is drawn of a solve over the runs. A run without it has NaN.
struct SolveHistory {
  std::string matrix;
  std::string method;
  std::vector<double> iterations;
  std::vector<double> work;  // seconds times triad of the run: bytes that could have been moved, GB
  std::vector<double> memory;      // bytes
  std::vector<std::string> marks;  // sentences: what jumped or drifted, and when
  bool worse = false;              // one of them is for the worse
  double severity = 0;
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
