// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>

#include <nlohmann/json.hpp>

#include <krysol/report/choice_report.hpp>
#include "bench/bench_summary.hpp"
#include "common/cli.hpp"

namespace krysol::apps {
namespace {

nlohmann::ordered_json as_json(const BenchReport& r) {
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  for (const BenchLine& line : r.lines) {
    nlohmann::ordered_json one = {{"name", line.name}, {"peer", line.peer}};
    if (!line.refused.empty()) {
      one["refused"] = line.refused;
    } else {
      one["product"] = as_json(line.product);
      one["bytes"] = line.bytes;
      one["GB_per_s"] = gigabytes_a_second(line);
      one["speed_up_over_serial"] = line.speed_up;
      one["convert_seconds"] = line.convert_seconds;
      if (r.transfers) one["with_transfers"] = as_json(line.with_transfers);
      if (line.several.median > 0) {
        one["several_vectors"] = as_json(line.several);
        one["several_over_one"] = line.several_over_one;
      }
      if (r.verified && !line.peer && line.name != r.lines[0].name) {
        one["relative_error"] = line.error;
        one["correct"] = !line.wrong;
      }
    }
    lines.push_back(one);
  }
  nlohmann::ordered_json out = {{"matrix", r.matrix}, {"rows", r.rows},     {"cols", r.cols},
                                {"nnz", r.nnz},       {"scalar", r.scalar}, {"where", r.where},
                                {"turns", r.turns},   {"lines", lines}};
  out["reorder"] = {{"name", r.order.name}};
  if (is_reordered(r)) {
    out["reorder"]["reason"] = r.order.reason;
    out["reorder"]["seconds"] = r.order.seconds;
    out["reorder"]["bandwidth_before"] = r.order.bandwidth_before;
    out["reorder"]["bandwidth_after"] = r.order.bandwidth_after;
  }
  if (r.vectors > 0) out["vectors"] = r.vectors;
  if (r.transfers) out["memory"] = r.managed ? "managed" : "copies";
  if (r.choice) out["auto"] = choice_as_json(*r.choice);
  if (r.bandwidth) {
    out["bandwidth"] = {{"triad_GB_per_s", r.bandwidth->triad},
                        {"read_GB_per_s", r.bandwidth->read}};
  }
  return out;
}

}  // namespace

std::string as_text(const BenchReport& r, bool with_choice) {
  std::string out = fmt::format("{}: {} x {}, {} nonzeros, {}, {}\n", r.matrix, r.rows, r.cols,
                                r.nnz, r.scalar, r.where);
  if (is_reordered(r)) {
    out += fmt::format("rows in the order of {}: {}; it took {} ms\n", r.order.name, r.order.reason,
                       milliseconds(r.order.seconds));
  }
  out += '\n';
  out += fmt::format("{:<24}{:>10}{:>24}{:>10}{:>9}{:>12}", "y = A x", "ms", "10 % .. 90 %",
                     "speed-up", "GB/s", "convert ms");
  if (r.transfers) out += fmt::format("{:>16}", r.managed ? "managed ms" : "with copies ms");
  if (r.vectors > 0) out += fmt::format("{:>16}{:>8}", of_vectors(r.vectors) + " ms", "to one");
  if (r.verified) out += fmt::format("{:>11}", "error");
  out += '\n';
  for (const BenchLine& line : r.lines) {
    if (!line.refused.empty()) {
      out += fmt::format("{:<24}{}\n", line.name, line.refused);
      continue;
    }
    out += fmt::format(
        "{:<24}{:>10}{:>24}{:>10.2f}{:>9.1f}{:>12}", line.name, milliseconds(line.product.median),
        fmt::format("{} .. {}", milliseconds(line.product.low), milliseconds(line.product.high)),
        line.speed_up, gigabytes_a_second(line), milliseconds(line.convert_seconds));
    if (r.transfers) out += fmt::format("{:>16}", milliseconds(line.with_transfers.median));
    if (r.vectors > 0) {
      out += fmt::format("{:>16}{:>8}", milliseconds(line.several.median), to_one(line));
    }
    if (r.verified && !line.peer && line.name != r.lines[0].name) {
      out += line.wrong ? fmt::format("{:>11}", "WRONG") : fmt::format("{:>11.1e}", line.error);
    }
    out += '\n';
  }
  out += fmt::format(
      "  {} turns each, medians; speed-up over the serial reference; GB/s by the bytes of the\n"
      "  format, x read once and y written\n",
      r.turns);
  if (r.vectors > 0) {
    out += fmt::format(
        "  {} multiplied at once, and that time over the time for one; other libraries take them\n"
        "  row by row; the serial reference and Kokkos Kernels' peer have no such product here\n",
        of_vectors(r.vectors));
  }
  if (r.bandwidth) {
    out += fmt::format("  bandwidth of this run: triad {:.1f} GB/s, reading {:.1f} GB/s\n",
                       r.bandwidth->triad, r.bandwidth->read);
  }
  if (with_choice && r.choice) out += fmt::format("\n{}", explain(*r.choice));
  return out;
}

namespace {

/// A line a matrix, a column a candidate; `of` says what stands there.
template <class Of>
std::string table_over_sizes(const std::vector<BenchReport>& reports, const std::string& title,
                             const Of& of) {
  std::string out = fmt::format("{}, {}, {}{}\n{:>10}{:>12}", title, reports[0].scalar,
                                reports[0].where, order_as_text(reports[0]), "rows", "nonzeros");
  // auto's line is named after its choice, which differs from size to size.
  for (std::size_t k = 1; k < reports[0].lines.size(); ++k) {
    out += fmt::format("{:>15}", candidate(reports[0].lines[k]));
  }
  out += '\n';
  for (const BenchReport& r : reports) {
    out += fmt::format("{:>10}{:>12}", r.rows, r.nnz);
    for (std::size_t k = 1; k < r.lines.size(); ++k) {
      out += fmt::format("{:>15}", r.lines[k].refused.empty() ? of(r.lines[k]) : "refused");
    }
    out += '\n';
  }
  return out;
}

}  // namespace

std::string speed_ups_as_text(const std::vector<BenchReport>& reports) {
  if (reports.empty()) return {};
  std::string out =
      table_over_sizes(reports, "speed-up over the serial reference",
                       [](const BenchLine& line) { return fmt::format("{:.2f}", line.speed_up); });
  if (reports[0].vectors > 0) {
    out += table_over_sizes(
        reports, fmt::format("time for {} at once over one", of_vectors(reports[0].vectors)),
        to_one);
  }
  return out;
}

std::string as_csv(const std::vector<BenchReport>& reports) {
  std::string out =
      "matrix,rows,cols,nnz,scalar,candidate,median_s,p10_s,p90_s,speed_up_over_serial,bytes,"
      "GB_per_s,convert_s,with_transfers_s,vectors,several_vectors_s,several_over_one,"
      "relative_error,order,refused\n";
  for (const BenchReport& r : reports) {
    for (const BenchLine& line : r.lines) {
      out += fmt::format("{},{},{},{},{},{},", quoted(r.matrix), r.rows, r.cols, r.nnz, r.scalar,
                         quoted(line.name));
      if (!line.refused.empty()) {
        out += fmt::format(",,,,,,,,,,,,{},{}\n", r.order.name, quoted(line.refused));
        continue;
      }
      const bool verified = r.verified && !line.peer && line.name != r.lines[0].name;
      const bool several = line.several.median > 0;
      out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},\n", line.product.median,
                         line.product.low, line.product.high, line.speed_up, line.bytes,
                         gigabytes_a_second(line), line.convert_seconds,
                         r.transfers ? fmt::format("{}", line.with_transfers.median) : "",
                         several ? fmt::format("{}", r.vectors) : "",
                         several ? fmt::format("{}", line.several.median) : "",
                         several ? fmt::format("{}", line.several_over_one) : "",
                         verified ? fmt::format("{}", line.error) : "", r.order.name);
    }
  }
  return out;
}

std::string as_json(const std::vector<BenchReport>& reports,
                    const std::vector<PassedOver>& passed_over, const std::string& version) {
  using Json = nlohmann::ordered_json;
  Json all = Json::array();
  for (const BenchReport& r : reports) all.push_back(as_json(r));
  Json means = Json::array();
  for (const Comparison& c : compare(reports)) {
    means.push_back({{"over", c.over},
                     {"matrices", c.matrices},
                     {"geometric_mean", c.geometric_mean},
                     {"lowest", c.lowest},
                     {"lowest_matrix", c.lowest_at}});
  }
  Json others = Json::array();
  for (const PassedOver& p : passed_over) {
    others.push_back({{"matrix", p.name}, {"reason", p.reason}, {"broken", p.broken}});
  }
  const Json out = {
      {"schema", 1},
      {"version", version},
      {"reports", all},
      {"summary",
       {{"candidate", reports.empty() ? "" : summary_subject(reports[0])}, {"speed_ups", means}}},
      {"passed_over", others}};
  // A file's name may hold bytes that are not UTF-8; they are replaced, not fatal.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace krysol::apps
