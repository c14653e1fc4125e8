// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/report/runs/golden_outcomes.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include <fast_float/fast_float.h>
#include <fmt/core.h>

#include <krysol/report/text.hpp>

namespace krysol::report {
namespace {

constexpr std::string_view golden_head =
    "matrix\tmethod\toutcome\tstatus\tfewest_iterations\tmost_iterations\tlargest_residual";

std::vector<std::string_view> split(std::string_view line, char by) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto at = line.find(by);
    parts.push_back(line.substr(0, at));
    if (at == std::string_view::npos) return parts;
    line.remove_prefix(at + 1);
  }
}

}  // namespace

std::string as_golden(const RunRecord& run) {
  constexpr double band = 0.15;
  constexpr std::int64_t more = 3;
  constexpr double least = 1e-8;
  std::string out(golden_head);
  out += '\n';
  for (const RunEntry& e : run.entries) {
    std::int64_t fewest = -1;
    std::int64_t most = -1;
    if (e.iterations >= 0 && !e.changed_preconditioner()) {
      const auto width =
          more + static_cast<std::int64_t>(std::ceil(band * static_cast<double>(e.iterations)));
      fewest = std::max<std::int64_t>(0, e.iterations - width);
      most = e.iterations + width;
    }
    const double residual = e.outcome <= SolveOutcome::stagnated && e.checked_residual
                                ? std::max(least, 10 * *e.checked_residual)
                                : 0;
    out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{:.1e}\n", e.matrix, e.method, to_string(e.outcome),
                       e.status, fewest, most, residual);
  }
  return out;
}

std::vector<GoldenOutcome> golden_of(std::string_view text, const std::string& name) {
  constexpr std::size_t columns = 7;
  std::vector<GoldenOutcome> out;
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    const auto refuse = [&](std::string_view expected, std::string_view found) {
      throw std::invalid_argument(
          fmt::format("{}:{}: {} was expected, found '{}'", name, number, expected, found));
    };
    if (number == 1) {
      if (line != golden_head) refuse("the line of names of golden outcomes", line.substr(0, 60));
      continue;
    }
    const auto parts = split(line, '\t');
    if (parts.size() != columns) refuse("a line of seven fields between tabs", line.substr(0, 60));
    GoldenOutcome g;
    g.matrix = parts[0];
    g.method = parts[1];
    try {
      g.outcome = outcome_of(parts[2]);
    } catch (const std::invalid_argument&) {
      refuse("an outcome", parts[2]);
    }
    g.status = parts[3];
    const auto whole = [&](std::string_view field, std::int64_t& to) {
      const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), to);
      if (error != std::errc{} || end != field.data() + field.size())
        refuse("a whole number", field);
    };
    whole(parts[4], g.fewest);
    whole(parts[5], g.most);
    const std::string_view residual = parts[6];
    const auto [end, error] =
        fast_float::from_chars(residual.data(), residual.data() + residual.size(), g.residual);
    if (error != std::errc{} || end != residual.data() + residual.size())
      refuse("a number", residual);
    out.push_back(std::move(g));
  }
  if (number < 2 && text.empty()) {
    throw std::invalid_argument(fmt::format("{}: the file is empty", name));
  }
  return out;
}

Comparison compare(const std::vector<GoldenOutcome>& golden, const RunRecord& run,
                   const std::string& name) {
  Comparison out;
  out.baseline = name;
  for (const RunEntry& e : run.entries) {
    const auto add = [&](Change::Kind kind, std::string what, double severity) {
      out.changes.push_back({kind, e.matrix, e.method, std::move(what), severity});
    };
    const auto found = std::find_if(golden.begin(), golden.end(), [&](const GoldenOutcome& g) {
      return g.matrix == e.matrix && g.method == e.method;
    });
    if (found == golden.end()) {
      add(Change::Kind::added, std::string(to_string(e.outcome)), 0);
      continue;
    }
    ++out.compared;
    if (e.outcome != found->outcome || e.status != found->status) {
      const bool worse = e.outcome >= found->outcome;
      add(worse ? Change::Kind::worse : Change::Kind::better,
          fmt::format("{} {} was expected, found {} {}{}", to_string(found->outcome), found->status,
                      to_string(e.outcome), e.status,
                      e.message.empty() ? "" : fmt::format(" ({})", e.message)),
          1e6);
      continue;
    }
    const bool counted = found->most >= 0 && e.iterations >= 0 && !e.changed_preconditioner();
    if (counted && e.iterations > found->most) {
      add(Change::Kind::worse,
          fmt::format("{}, at most {} were expected",
                      plural(e.iterations, "iteration", "iterations"), grouped(found->most)),
          static_cast<double>(e.iterations) /
              static_cast<double>(std::max<std::int64_t>(1, found->most)));
    } else if (counted && e.iterations < found->fewest) {
      add(Change::Kind::better,
          fmt::format("{}, {} or more were expected",
                      plural(e.iterations, "iteration", "iterations"), grouped(found->fewest)),
          1);
    }
    if (found->residual > 0 && e.checked_residual && *e.checked_residual > found->residual) {
      add(Change::Kind::worse,
          fmt::format("|b - A x| / |b| is {:.2e}, at most {:.1e} was expected", *e.checked_residual,
                      found->residual),
          *e.checked_residual / found->residual);
    }
  }
  if (run.shard.empty()) {
    const RunIndex index(run);
    const auto is_method = [&](const std::string& method) {
      return std::any_of(run.methods.begin(), run.methods.end(),
                         [&](const Method& m) { return m.name == method; });
    };
    for (const GoldenOutcome& g : golden) {
      if (!is_method(g.method) || index.entry(g.matrix, g.method) != nullptr) continue;
      out.changes.push_back({Change::Kind::gone, g.matrix, g.method,
                             fmt::format("{} was expected", to_string(g.outcome)), 0});
    }
  }
  sort_changes(out.changes);
  return out;
}

}  // namespace krysol::report
