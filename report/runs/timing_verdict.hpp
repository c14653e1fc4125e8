// Two programs timed in turns: is one slower?
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <krysol/report/runs/run_comparison.hpp>

namespace krysol::report {

/// When a difference of times counts. All of it must hold: a machine that others use makes single
/// times up to ten times longer, but not all of one program and none of the other.
struct TimingLimits {
  double ratio = 1.12;          // of the medians of the pairs, and
  double of_fastest = 1.08;     // of the fastest turns, and
  double least_seconds = 5e-4;  // between the medians, and
  double chance = 1e-2;         // of so many pairs on one side, were both alike (sign test)
  std::size_t first_turns = 5;  // of every solve; the ratio of medians alone asks for more
  std::size_t most_turns = 21;  // of those that seem to differ
};

enum class Speed { alike, slower, faster };
std::string_view to_string(Speed speed);

struct TimingVerdict {
  Speed speed = Speed::alike;
  bool suspect = false;  // more turns would tell
  double ratio = 1;      // the median over turns of now / before
  double low = 1;        // quartiles of that
  double high = 1;
};

/// before[k] and now[k] seconds of turn k, one after the other. Fewer than two turns: alike.
TimingVerdict judge(const std::vector<double>& before, const std::vector<double>& now,
                    const TimingLimits& limits = {});

/// The chance that of n fair coins k or more fall on the side that more of them fall on.
double sign_test(std::size_t n, std::size_t k);

/// The changes of `run`, whose other_seconds are of the older program, and one of the whole: faster
/// or slower by the geometric mean over solves of a millisecond and more.
Comparison compare_turns(const RunRecord& run, const TimingLimits& limits = {});

}  // namespace krysol::report
