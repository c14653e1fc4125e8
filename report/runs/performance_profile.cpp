// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/report/runs/performance_profile.hpp>

#include <algorithm>
#include <limits>
#include <map>

namespace krysol::report {

std::vector<PerformanceProfile> performance_profiles(const RunRecord& run, double most) {
  constexpr double unsolved = std::numeric_limits<double>::infinity();
  if (run.methods.size() < 2) return {};
  std::map<std::string, std::vector<double>> seconds;  // [methods] of each matrix
  const auto place = [&](const std::string& name) {
    std::size_t m = 0;
    while (m < run.methods.size() && run.methods[m].name != name) ++m;
    return m;
  };
  for (const RunEntry& e : run.entries) {
    const std::size_t m = place(e.method);
    if (m == run.methods.size()) continue;
    auto& of_matrix = seconds[e.matrix];
    of_matrix.resize(run.methods.size(), unsolved);
    const auto time = e.median_seconds();
    if (e.outcome <= SolveOutcome::stagnated && time && *time > 0) of_matrix[m] = *time;
  }
  std::vector<std::vector<double>> ratios(run.methods.size());
  std::size_t matrices = 0;
  for (const auto& [name, of_matrix] : seconds) {
    const double best = *std::min_element(of_matrix.begin(), of_matrix.end());
    if (best == unsolved) continue;
    ++matrices;
    for (std::size_t m = 0; m < of_matrix.size(); ++m) ratios[m].push_back(of_matrix[m] / best);
  }
  if (matrices == 0) return {};
  std::vector<PerformanceProfile> out;
  for (std::size_t m = 0; m < run.methods.size(); ++m) {
    PerformanceProfile p;
    p.method = run.methods[m].name;
    std::sort(ratios[m].begin(), ratios[m].end());
    p.steps.emplace_back(1, 0);
    for (const double ratio : ratios[m]) {
      if (ratio == unsolved) break;
      ++p.solved;
      if (ratio > most) continue;
      const double share = static_cast<double>(p.solved) / static_cast<double>(matrices);
      if (p.steps.back().first == ratio) {
        p.steps.back().second = share;
      } else {
        p.steps.emplace_back(ratio, share);
      }
    }
    p.steps.emplace_back(most, p.steps.back().second);
    out.push_back(std::move(p));
  }
  return out;
}

}  // namespace krysol::report
