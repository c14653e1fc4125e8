// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/report/runs/run_comparison.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include <krysol/report/text.hpp>

namespace krysol::report {
namespace {

/// How an outcome reads: the status where that says more.
std::string said_of(const RunEntry& e) {
  return e.outcome == SolveOutcome::not_converged && !e.status.empty()
             ? e.status
             : std::string(to_string(e.outcome));
}

/// Two entries of one solve, and what differs.
class Differences {
 public:
  Differences(const RunEntry& before, const RunEntry& now, const ComparisonLimits& limits,
              std::vector<Change>& changes)
      : before_(before), now_(now), limits_(limits), changes_(changes) {}

  void find() {
    if (now_.outcome != before_.outcome) {
      add(now_.outcome > before_.outcome ? Change::Kind::worse : Change::Kind::better,
          fmt::format("{} became {}{}", said_of(before_), said_of(now_),
                      now_.outcome > before_.outcome && !now_.message.empty()
                          ? fmt::format(" ({})", now_.message)
                          : ""),
          1e6 + static_cast<double>(now_.outcome));
      return;
    }
    if (now_.status != before_.status) {
      add(Change::Kind::changed, fmt::format("{} became {}", said_of(before_), said_of(now_)), 1);
      return;
    }
    iterations();
    const bool solved = now_.outcome <= SolveOutcome::stagnated;
    if (solved)
      ratio("|b - A x| / |b|", before_.checked_residual, now_.checked_residual, limits_.residual);
    if (now_.outcome == SolveOutcome::converged) {
      ratio("|x - x*| / |x*|", before_.error, now_.error, limits_.error);
    }
    memory();
  }

 private:
  void add(Change::Kind kind, std::string what, double severity) {
    changes_.push_back({kind, now_.matrix, now_.method, std::move(what), severity});
  }

  void iterations() {
    if (before_.iterations < 0 || now_.iterations < 0) return;
    const std::int64_t low = std::min(before_.iterations, now_.iterations);
    const std::int64_t high = std::max(before_.iterations, now_.iterations);
    const double times =
        static_cast<double>(high) / static_cast<double>(std::max<std::int64_t>(1, low));
    if (high - low < limits_.least_iterations || times <= limits_.iterations) return;
    add(now_.iterations > before_.iterations ? Change::Kind::worse : Change::Kind::better,
        fmt::format("{} became {}", plural(before_.iterations, "iteration", "iterations"),
                    grouped(now_.iterations)),
        times);
  }

  void ratio(std::string_view what, const std::optional<double>& before,
             const std::optional<double>& now, double limit) {
    if (!before || !now || !(*before > 0) || !(*now > 0)) return;
    // At the level of rounding nothing is better or worse.
    constexpr double rounding = 1e-14;
    const double from = std::max(*before, rounding);
    const double to = std::max(*now, rounding);
    if (from / to <= limit && to / from <= limit) return;
    add(to > from ? Change::Kind::worse : Change::Kind::better,
        fmt::format("{} was {:.2e}, is {:.2e}", what, *before, *now),
        std::max(to / from, from / to));
  }

  void memory() {
    const std::int64_t low = std::min(before_.peak_bytes, now_.peak_bytes);
    const std::int64_t high = std::max(before_.peak_bytes, now_.peak_bytes);
    if (low <= 0 || high - low < limits_.least_memory ||
        static_cast<double>(high) <= limits_.memory * static_cast<double>(low)) {
      return;
    }
    add(now_.peak_bytes > before_.peak_bytes ? Change::Kind::worse : Change::Kind::better,
        fmt::format("{} of memory became {}", size(static_cast<double>(before_.peak_bytes)),
                    size(static_cast<double>(now_.peak_bytes))),
        static_cast<double>(high) / static_cast<double>(low));
  }

  const RunEntry& before_;
  const RunEntry& now_;
  const ComparisonLimits& limits_;
  std::vector<Change>& changes_;
};

}  // namespace

std::string_view to_string(Change::Kind kind) {
  switch (kind) {
    case Change::Kind::worse:
      return "worse";
    case Change::Kind::changed:
      return "changed";
    case Change::Kind::better:
      return "better";
    case Change::Kind::added:
      return "new";
    case Change::Kind::gone:
      return "gone";
  }
  return "";
}

std::size_t Comparison::count(Change::Kind kind) const {
  return static_cast<std::size_t>(std::count_if(
      changes.begin(), changes.end(), [kind](const Change& c) { return c.kind == kind; }));
}

void sort_changes(std::vector<Change>& changes) {
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return a.kind != b.kind ? a.kind < b.kind : a.severity > b.severity;
  });
}

Comparison compare(const RunRecord& baseline, const RunRecord& now,
                   const ComparisonLimits& limits) {
  Comparison out;
  const RunIndex of_baseline(baseline);
  const RunIndex of_now(now);
  double iterations = 0;
  std::size_t iterated = 0;
  double time = 0;
  const std::optional<double> triad_before = baseline.median_triad();
  const std::optional<double> triad_now = now.median_triad();
  const bool comparable = triad_before && triad_now && *triad_before > 0 && *triad_now > 0;
  for (const RunEntry& e : now.entries) {
    const RunEntry* const before = of_baseline.entry(e.matrix, e.method);
    if (before == nullptr) {
      out.changes.push_back({Change::Kind::added, e.matrix, e.method, said_of(e), 0});
      continue;
    }
    ++out.compared;
    Differences(*before, e, limits, out.changes).find();
    if (e.outcome != SolveOutcome::converged || before->outcome != SolveOutcome::converged)
      continue;
    if (e.iterations > 0 && before->iterations > 0) {
      iterations +=
          std::log(static_cast<double>(e.iterations) / static_cast<double>(before->iterations));
      ++iterated;
    }
    const auto was = before->median_seconds();
    const auto is = e.median_seconds();
    if (comparable && was && is && *was > 0 && *is > 0) {
      time += std::log(*is * *triad_now / (*was * *triad_before));
      ++out.timed;
    }
  }
  for (const RunEntry& e : baseline.entries) {
    if (of_now.entry(e.matrix, e.method) != nullptr) continue;
    out.changes.push_back({Change::Kind::gone, e.matrix, e.method, "was " + said_of(e), 0});
  }
  if (iterated > 0) out.iterations_ratio = std::exp(iterations / static_cast<double>(iterated));
  if (out.timed > 0) out.time_ratio = std::exp(time / static_cast<double>(out.timed));
  sort_changes(out.changes);
  return out;
}

std::string as_text(const Comparison& c) {
  std::string out = fmt::format("compared with {}: {}", c.baseline,
                                plural(static_cast<std::int64_t>(c.compared), "solve", "solves"));
  for (const Change::Kind kind : {Change::Kind::worse, Change::Kind::changed, Change::Kind::better,
                                  Change::Kind::added, Change::Kind::gone}) {
    out += fmt::format(", {} {}", c.count(kind), to_string(kind));
  }
  out += '\n';
  if (c.iterations_ratio) {
    out +=
        fmt::format("  iterations: {:.3f} times as many (geometric mean)\n", *c.iterations_ratio);
  }
  if (c.time_ratio && c.in_turns) {
    out += fmt::format("  time: {:.3f} times as much (geometric mean of {} in turns)\n",
                       *c.time_ratio, c.timed);
  } else if (c.time_ratio) {
    out += fmt::format(
        "  time: {:.2f} times as much, relative to each run's triad (geometric mean of {}); "
        "machines "
        "drift, so this is no verdict: see --against\n",
        *c.time_ratio, c.timed);
  }
  if (c.compared == 0) out += "  no solve of this run is known there: nothing was compared\n";
  std::size_t widest = 0;
  for (const Change& change : c.changes) widest = std::max(widest, change.matrix.size());
  for (const Change& change : c.changes) {
    out += fmt::format("  {:<8}{:<{}}  {:<8}  {}\n", to_string(change.kind), change.matrix, widest,
                       change.method, change.what);
  }
  return out;
}

}  // namespace krysol::report
