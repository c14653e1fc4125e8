// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/report/runs/timing_verdict.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace krysol::report {
namespace {

/// Of a sorted list.
double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - std::floor(at)) * (sorted[above] - sorted[below]);
}

}  // namespace

std::string_view to_string(Speed speed) {
  return speed == Speed::alike ? "alike" : speed == Speed::slower ? "slower" : "faster";
}

double sign_test(std::size_t n, std::size_t k) {
  double sum = 0;
  for (std::size_t j = k; j <= n; ++j) {
    sum += std::exp(
        std::lgamma(static_cast<double>(n) + 1) - std::lgamma(static_cast<double>(j) + 1) -
        std::lgamma(static_cast<double>(n - j) + 1) - static_cast<double>(n) * std::log(2.0));
  }
  return std::min(1.0, 2 * sum);
}

TimingVerdict judge(const std::vector<double>& before, const std::vector<double>& now,
                    const TimingLimits& limits) {
  TimingVerdict out;
  const std::size_t turns = std::min(before.size(), now.size());
  std::vector<double> ratios;
  std::size_t above = 0;
  for (std::size_t k = 0; k < turns; ++k) {
    if (!(before[k] > 0) || !(now[k] > 0)) continue;
    ratios.push_back(now[k] / before[k]);
    if (now[k] > before[k]) ++above;
  }
  if (ratios.size() < 2) return out;
  std::sort(ratios.begin(), ratios.end());
  out.ratio = quantile(ratios, 0.5);
  out.low = quantile(ratios, 0.25);
  out.high = quantile(ratios, 0.75);
  const bool up = out.ratio > 1;
  const double times = up ? out.ratio : 1 / out.ratio;
  const double fastest =
      *std::min_element(now.begin(), now.end()) / *std::min_element(before.begin(), before.end());
  const double apart = std::abs(*median(now) - *median(before));
  const std::size_t on_side = up ? above : ratios.size() - above;
  const bool large = times > limits.ratio && apart > limits.least_seconds;
  out.suspect = large;
  if (large && (up ? fastest : 1 / fastest) > limits.of_fastest &&
      sign_test(ratios.size(), on_side) <= limits.chance) {
    out.speed = up ? Speed::slower : Speed::faster;
  }
  return out;
}

Comparison compare_turns(const RunRecord& run, const TimingLimits& limits) {
  constexpr double worth_a_share = 1e-3;  // seconds
  constexpr double whole_ratio = 1.08;
  constexpr std::size_t least_solves = 10;
  Comparison out;
  out.baseline = run.other_program;
  out.in_turns = true;
  double sum = 0;
  std::size_t above = 0;
  for (const RunEntry& e : run.entries) {
    if (e.other_seconds.empty() || e.seconds.empty()) continue;
    ++out.compared;
    const std::string& status = e.timed_status.empty() ? e.status : e.timed_status;
    if (!e.other_status.empty() && e.other_status != status) {
      // What ends elsewhere takes another time, and that says nothing.
      const bool lost = e.other_status == "converged";
      out.changes.push_back({lost                    ? Change::Kind::worse
                             : status == "converged" ? Change::Kind::better
                                                     : Change::Kind::changed,
                             e.matrix, e.method,
                             fmt::format("{} became {}, as it is typed", e.other_status, status),
                             1e6});
      continue;
    }
    const TimingVerdict v = judge(e.other_seconds, e.seconds, limits);
    if (v.speed != Speed::alike) {
      const bool slower = v.speed == Speed::slower;
      out.changes.push_back(
          {slower ? Change::Kind::worse : Change::Kind::better, e.matrix, e.method,
           fmt::format("{} by {:.2f} (half of {} turns {:.2f} to {:.2f}): {:.3g} s, was {:.3g} s",
                       to_string(v.speed), slower ? v.ratio : 1 / v.ratio, e.seconds.size(), v.low,
                       v.high, *e.median_seconds(), *median(e.other_seconds)),
           slower ? v.ratio : 1 / v.ratio});
    }
    if (*median(e.other_seconds) < worth_a_share || !(v.ratio > 0)) continue;
    sum += std::log(v.ratio);
    if (v.ratio > 1) ++above;
    ++out.timed;
  }
  if (out.timed > 0) out.time_ratio = std::exp(sum / static_cast<double>(out.timed));
  if (out.timed >= least_solves) {
    const bool up = *out.time_ratio > 1;
    const double times = up ? *out.time_ratio : 1 / *out.time_ratio;
    const std::size_t on_side = up ? above : out.timed - above;
    if (times > whole_ratio && sign_test(out.timed, on_side) <= limits.chance) {
      out.changes.push_back({up ? Change::Kind::worse : Change::Kind::better, "(all)", "",
                             fmt::format("{} by {:.2f}, geometric mean of {} solves",
                                         up ? "slower" : "faster", times, out.timed),
                             times});
    }
  }
  sort_changes(out.changes);
  return out;
}

}  // namespace krysol::report
