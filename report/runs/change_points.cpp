// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/report/runs/change_points.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include <fmt/core.h>

namespace krysol::report {
namespace {

/// Logarithms of the numbers that have one, and where they stand.
struct Logs {
  std::vector<double> values;
  std::vector<std::size_t> at;
};

Logs logs_of(const std::vector<double>& series) {
  Logs out;
  for (std::size_t k = 0; k < series.size(); ++k) {
    if (!(series[k] > 0) || !std::isfinite(series[k])) continue;
    out.values.push_back(std::log(series[k]));
    out.at.push_back(k);
  }
  return out;
}

double noise_of(const std::vector<double>& logs) {
  std::vector<double> steps;
  for (std::size_t k = 1; k < logs.size(); ++k) steps.push_back(std::abs(logs[k] - logs[k - 1]));
  return 1.4826 * median(steps).value_or(0) / std::sqrt(2.0);
}

/// The median of the numbers from `begin` to `end` that are known.
double level_of(const std::vector<double>& series, std::size_t begin, std::size_t end) {
  std::vector<double> known;
  for (std::size_t k = begin; k < end; ++k) {
    if (series[k] > 0 && std::isfinite(series[k])) known.push_back(series[k]);
  }
  return median(known).value_or(std::numeric_limits<double>::quiet_NaN());
}

std::string times_text(double ratio) {
  return ratio > 1 ? fmt::format("{:.2f} times as much", ratio)
                   : fmt::format("{:.2f} of that", ratio);
}

/// Adds what a series shows to the marks of its solve. repeats: its numbers do from run to run.
void mark(std::string_view name, const std::vector<double>& series, bool repeats,
          const RunHistory& history, const SeriesLimits& limits, SolveHistory& solve) {
  const auto add = [&](double ratio, bool worse, std::string text) {
    solve.marks.push_back({std::move(text), worse, repeats});
    solve.severity = std::max(solve.severity, std::abs(std::log(ratio)));
  };
  if (const auto jump = jump_in(series, limits)) {
    const std::size_t last = repeats ? 1 : 3;
    const double now =
        level_of(series, series.size() - std::min(last, series.size() - jump->at), series.size());
    const double before = level_of(series, 0, jump->at);
    const bool back = std::abs(std::log(now / before)) < std::log(limits.jump);
    add(jump->ratio, jump->ratio > 1 && !back,
        fmt::format("{}: {} from the run of {} on{}", name, times_text(jump->ratio),
                    history.runs[jump->at], back ? ", and by now as before" : ""));
    return;  // a jump makes a trend too
  }
  if (const auto drift = drift_in(series, limits)) {
    add(drift->ratio, drift->ratio > 1,
        fmt::format("{}: drifts, {} over {} runs", name, times_text(drift->ratio),
                    history.runs.size()));
  }
}

/// Whether nine tenths of the pairs of a number on the left and one on the right lie that way.
bool apart(const std::vector<double>& left, const std::vector<double>& right, bool up) {
  constexpr double share = 0.9;
  std::size_t that_way = 0;
  for (const double l : left) {
    for (const double r : right) that_way += (up ? r > l : r < l) ? 1 : 0;
  }
  return static_cast<double>(that_way) >= share * static_cast<double>(left.size() * right.size());
}

}  // namespace

std::optional<Jump> jump_in(const std::vector<double>& series, const SeriesLimits& limits) {
  const Logs logs = logs_of(series);
  const std::size_t n = logs.values.size();
  const double noise = noise_of(logs.values);
  const std::size_t side = noise > 0 ? 3 : 1;
  std::optional<Jump> out;
  double largest = std::max(std::log(limits.jump), limits.noises * noise);
  for (std::size_t k = side; k + side <= n; ++k) {
    const auto middle = logs.values.begin() + static_cast<std::ptrdiff_t>(k);
    const std::vector<double> left(logs.values.begin(), middle);
    const std::vector<double> right(middle, logs.values.end());
    const double before = *median(left);
    const double after = *median(right);
    // The step itself must be there: of a slow drift, neighbours differ by little.
    const double step = logs.values[k] - logs.values[k - 1];
    if (std::abs(after - before) <= largest || step * (after - before) <= 0 ||
        std::abs(step) < 0.6 * std::abs(after - before) || !apart(left, right, after > before)) {
      continue;
    }
    largest = std::abs(after - before);
    out = Jump{logs.at[k], std::exp(after - before)};
  }
  return out;
}

std::optional<Drift> drift_in(const std::vector<double>& series, const SeriesLimits& limits) {
  constexpr std::size_t most = 60;  // pairs of all are looked at
  const std::size_t first = series.size() > most ? series.size() - most : 0;
  const Logs logs = logs_of({series.begin() + static_cast<std::ptrdiff_t>(first), series.end()});
  const std::size_t n = logs.values.size();
  if (n < limits.least_runs) return std::nullopt;
  double s = 0;
  std::vector<double> slopes;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      const double d = logs.values[j] - logs.values[i];
      s += d > 0 ? 1 : d < 0 ? -1 : 0;
      slopes.push_back(d / static_cast<double>(logs.at[j] - logs.at[i]));
    }
  }
  const auto runs = static_cast<double>(n);
  const double deviation = std::sqrt(runs * (runs - 1) * (2 * runs + 5) / 18);
  const double z = s == 0 ? 0 : (std::abs(s) - 1) / deviation;
  const double total = *median(slopes) * static_cast<double>(logs.at.back() - logs.at.front());
  if (z < limits.drift_sigmas || std::abs(total) < std::log(limits.drift)) return std::nullopt;
  return Drift{std::exp(total)};
}

RunHistory history_of(std::vector<RunRecord> runs, const SeriesLimits& limits) {
  std::stable_sort(runs.begin(), runs.end(),
                   [](const RunRecord& a, const RunRecord& b) { return a.started < b.started; });
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  RunHistory out;
  std::map<std::pair<std::string, std::string>, SolveHistory> solves;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const RunRecord& run = runs[k];
    out.runs.push_back(run.started);
    out.versions.push_back(run.version);
    const double triad = run.median_triad().value_or(unknown);
    out.triad.push_back(triad);
    for (const RunEntry& e : run.entries) {
      SolveHistory& s = solves[{e.matrix, e.method}];
      if (s.matrix.empty()) {
        s.matrix = e.matrix;
        s.method = e.method;
        for (auto* series : {&s.iterations, &s.work, &s.memory})
          series->assign(runs.size(), unknown);
      }
      if (e.iterations >= 0) s.iterations[k] = static_cast<double>(e.iterations);
      if (!e.seconds.empty()) {
        s.work[k] = *std::min_element(e.seconds.begin(), e.seconds.end()) * triad;
      }
      if (e.peak_bytes > 0) s.memory[k] = static_cast<double>(e.peak_bytes);
    }
  }
  for (auto& [key, s] : solves) {
    mark("iterations", s.iterations, true, out, limits, s);
    mark("time relative to triad", s.work, false, out, limits, s);
    mark("memory", s.memory, true, out, limits, s);
    out.solves.push_back(std::move(s));
  }
  std::stable_sort(out.solves.begin(), out.solves.end(),
                   [](const SolveHistory& a, const SolveHistory& b) {
                     if (a.worse() != b.worse()) return a.worse();
                     return a.severity > b.severity;
                   });
  return out;
}

std::string as_text(const RunHistory& h) {
  std::string out = fmt::format("{} runs, {} solves\n", h.runs.size(), h.solves.size());
  std::size_t marked = 0;
  for (const SolveHistory& s : h.solves) {
    for (const Mark& mark : s.marks) {
      out += fmt::format("  {:<8}{}  {}  {}\n", mark.worse ? "worse" : "", s.matrix, s.method,
                         mark.text);
    }
    if (!s.marks.empty()) ++marked;
  }
  return out + fmt::format("{} of {} solves jumped or drifted\n", marked, h.solves.size());
}

}  // namespace krysol::report
