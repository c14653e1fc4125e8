// Candidates that take turns, and how benchmarks write down their times.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>
#include "common/rooms.hpp"

namespace krysol::apps {

/// Seconds: the median, and the 10th and 90th percentile.
struct Spread {
  double median = 0;
  double low = 0;
  double high = 0;
};
Spread spread(std::vector<double> seconds);

/// One of those who take turns.
struct Candidate {
  std::size_t line = 0;  // of the report
  std::function<void()> multiply;
  std::function<void()> with_transfers;  // may be empty
  int repeats = 1;                       // products a turn, so that a turn can be timed
  std::vector<double> seconds{};
  std::vector<double> transfer_seconds{};
  bool several = false;  // vectors at once
};

/// Times every candidate once a turn, after `warm_up` turns that do not count.
void time_interleaved(std::vector<Candidate>& candidates, int warm_up, int turns);

/// "12.35" for 0.012345 s, "-" for none.
std::string milliseconds(double seconds);

/// Text as a field of a CSV table.
std::string quoted(const std::string& text);

nlohmann::ordered_json as_json(const Spread& s);

}  // namespace krysol::apps
