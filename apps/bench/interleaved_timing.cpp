// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/interleaved_timing.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <Kokkos_Core.hpp>
#include <nlohmann/json.hpp>

namespace krysol::apps {
namespace {

double time(const std::function<void()>& work, int repeats) {
  Kokkos::Timer timer;
  for (int k = 0; k < repeats; ++k) work();
  return timer.seconds() / repeats;
}

}  // namespace

Spread spread(std::vector<double> v) {
  if (v.empty()) return {};
  std::sort(v.begin(), v.end());
  const auto at = [&](double q) {
    return v[static_cast<std::size_t>(std::lround(q * static_cast<double>(v.size() - 1)))];
  };
  return {at(0.5), at(0.1), at(0.9)};
}

void time_interleaved(std::vector<Candidate>& candidates, int warm_up, int turns) {
  constexpr double shortest = 100e-6;
  constexpr double long_enough = 50e-3;  // for a product to warm up by itself
  std::vector<int> untimed;
  for (Candidate& c : candidates) {
    const double once = time(c.multiply, 1);
    c.repeats = std::clamp(static_cast<int>(shortest / std::max(once, 1e-9)), 1, 1000);
    untimed.push_back(once < long_enough ? 3 : 0);
  }
  for (int turn = -warm_up; turn < turns; ++turn) {
    for (std::size_t k = 0; k < candidates.size(); ++k) {
      Candidate& c = candidates[k];
      // Threads that the serial reference let sleep are woken, and caches forget the candidate
      // before, whose arrays may be the same.
      time(c.multiply, untimed[k]);
      const double seconds = time(c.multiply, c.repeats);
      if (turn >= 0) c.seconds.push_back(seconds);
      if (!c.with_transfers) continue;
      const double all = time(c.with_transfers, 1);
      if (turn >= 0) c.transfer_seconds.push_back(all);
    }
  }
}

std::string milliseconds(double seconds) {
  return seconds > 0 ? fmt::format("{:.4g}", 1e3 * seconds) : "-";
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

nlohmann::ordered_json as_json(const Spread& s) {
  return {{"median_s", s.median}, {"p10_s", s.low}, {"p90_s", s.high}};
}

}  // namespace krysol::apps
