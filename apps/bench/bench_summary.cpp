// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/bench_summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/core.h>

namespace krysol::apps {
namespace {

constexpr std::string_view best_peer = "best peer";

/// Whom the subject is compared with, in the order of the columns; refused or not, so that each
/// matrix of a run has the same.
std::vector<std::string> references(const BenchReport& r, std::string_view subject) {
  std::vector<std::string> names = {r.lines[0].name};
  const auto is_csr = [](const BenchLine& line) { return candidate(line) == "csr"; };
  if (subject != "csr" && std::any_of(r.lines.begin(), r.lines.end(), is_csr)) {
    names.emplace_back("csr");
  }
  int peers = 0;
  for (const BenchLine& line : r.lines) {
    if (!line.peer) continue;
    names.push_back(line.name);
    ++peers;
  }
  if (peers > 1) names.emplace_back(best_peer);
  return names;
}

/// The same for all of them together; reports that were made elsewhere may have other candidates.
std::vector<std::string> references(const std::vector<BenchReport>& reports,
                                    std::string_view subject) {
  std::vector<std::string> names;
  for (const BenchReport& r : reports) {
    for (std::string& name : references(r, subject)) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  // It sums up the others.
  const auto best = std::find(names.begin(), names.end(), best_peer);
  if (best != names.end()) std::rotate(best, best + 1, names.end());
  return names;
}

/// time(reference) / time(subject), where both have one.
std::optional<double> speed_up(const BenchReport& r, std::string_view subject,
                               std::string_view reference) {
  const BenchLine* mine = find_line(r, subject);
  if (mine == nullptr) return std::nullopt;
  double theirs = std::numeric_limits<double>::infinity();
  for (const BenchLine& line : r.lines) {
    const bool counts = reference == best_peer ? line.peer : candidate(line) == reference;
    if (counts && line.refused.empty()) theirs = std::min(theirs, line.product.median);
  }
  if (!std::isfinite(theirs) || !(mine->product.median > 0)) return std::nullopt;
  return theirs / mine->product.median;
}

std::size_t column_width(std::string_view name) {
  return std::max<std::size_t>(9, name.size() + 2);
}

/// The head of the column that says what several vectors cost.
std::string of_several(int vectors) { return of_vectors(vectors) + "/one"; }
std::size_t several_width(int vectors) { return of_several(vectors).size() + 2; }

}  // namespace

bool is_reordered(const BenchReport& report) { return !report.order.order.empty(); }

std::string order_as_text(const BenchReport& report) {
  return is_reordered(report) ? fmt::format(", rows in the order of {}", report.order.name) : "";
}

std::string of_vectors(int n) { return fmt::format("{} vector{}", n, n == 1 ? "" : "s"); }

std::string to_one(const BenchLine& line) {
  return line.several.median > 0 ? fmt::format("{:.2f}", line.several_over_one) : "-";
}

std::string_view candidate(const BenchLine& line) {
  const std::string_view name = line.name;
  return name.substr(0, name.find(": "));
}

const BenchLine* find_line(const BenchReport& report, std::string_view name) {
  for (const BenchLine& line : report.lines) {
    if (candidate(line) == name && line.refused.empty()) return &line;
  }
  return nullptr;
}

double gigabytes_a_second(const BenchLine& line) {
  return line.product.median > 0 ? static_cast<double>(line.bytes) / line.product.median / 1e9 : 0;
}

std::string summary_subject(const BenchReport& report) {
  for (const BenchLine& line : report.lines) {
    if (candidate(line) == "auto") return "auto";
  }
  return report.lines.size() > 1 ? report.lines[1].name : report.lines[0].name;
}

std::vector<Comparison> compare(const std::vector<BenchReport>& reports) {
  std::vector<Comparison> out;
  if (reports.empty()) return out;
  const std::string subject = summary_subject(reports[0]);
  for (const std::string& reference : references(reports, subject)) {
    Comparison c;
    c.over = reference;
    c.lowest = std::numeric_limits<double>::infinity();
    double logarithms = 0;
    for (const BenchReport& r : reports) {
      const auto factor = speed_up(r, subject, reference);
      if (!factor) continue;
      ++c.matrices;
      logarithms += std::log(*factor);
      if (*factor < c.lowest) {
        c.lowest = *factor;
        c.lowest_at = r.matrix;
      }
    }
    if (c.matrices == 0) continue;
    c.geometric_mean = std::exp(logarithms / c.matrices);
    out.push_back(std::move(c));
  }
  return out;
}

std::string summary_head(const BenchReport& first, std::size_t width) {
  const std::string subject = summary_subject(first);
  std::string out =
      fmt::format("{}, {}{}; {} by turns with the others, {} turns, medians\n", first.scalar,
                  first.where, order_as_text(first), subject, first.turns);
  out += fmt::format("{:<{}}{:>10}{:>12}  {:<18}{:>10}{:>24}{:>8}", "speed-up over", width, "rows",
                     "nonzeros", "format", "ms", "10 % .. 90 %", "GB/s");
  if (first.vectors > 0) {
    out += fmt::format("{:>{}}", of_several(first.vectors), several_width(first.vectors));
  }
  for (const std::string& name : references(first, subject)) {
    out += fmt::format("{:>{}}", name, column_width(name));
  }
  return out + '\n';
}

std::string summary_line(const BenchReport& r, std::size_t width) {
  const std::string subject = summary_subject(r);
  std::string out = fmt::format("{:<{}}{:>10}{:>12}  ", r.matrix, width, r.rows, r.nnz);
  const BenchLine* mine = find_line(r, subject);
  if (mine == nullptr) return out + fmt::format("{} refused\n", subject);
  std::string_view format = mine->name;
  if (subject == "auto") format.remove_prefix(std::min(format.size(), sizeof("auto: ") - 1));
  const Spread& t = mine->product;
  out += fmt::format("{:<18}{:>10.4g}{:>24}{:>8.1f}", format, 1e3 * t.median,
                     fmt::format("{:.4g} .. {:.4g}", 1e3 * t.low, 1e3 * t.high),
                     gigabytes_a_second(*mine));
  if (r.vectors > 0) out += fmt::format("{:>{}}", to_one(*mine), several_width(r.vectors));
  for (const std::string& name : references(r, subject)) {
    const auto factor = speed_up(r, subject, name);
    out += fmt::format("{:>{}}", factor ? fmt::format("{:.2f}", *factor) : "-", column_width(name));
  }
  return out + '\n';
}

std::string summary_end(const std::vector<BenchReport>& reports, std::size_t width) {
  if (reports.size() < 2) return {};
  std::string means;
  std::string lowest;
  const std::vector<Comparison> all = compare(reports);
  for (const std::string& name : references(reports[0], summary_subject(reports[0]))) {
    const auto c =
        std::find_if(all.begin(), all.end(), [&](const Comparison& v) { return v.over == name; });
    const bool known = c != all.end();
    means += fmt::format("{:>{}}", known ? fmt::format("{:.2f}", c->geometric_mean) : "-",
                         column_width(name));
    lowest +=
        fmt::format("{:>{}}", known ? fmt::format("{:.2f}", c->lowest) : "-", column_width(name));
  }
  const int vectors = reports[0].vectors;
  const std::size_t between =
      10 + 12 + 2 + 18 + 10 + 24 + 8 + (vectors > 0 ? several_width(vectors) : 0);
  return fmt::format("{:<{}}{}\n{:<{}}{}\n", fmt::format("geometric mean of {}", reports.size()),
                     width + between, means, "lowest", width + between, lowest);
}

}  // namespace krysol::apps
