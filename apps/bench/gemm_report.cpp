// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "bench/gemm.hpp"

namespace krysol::apps {
namespace {

double gigaflops(const GemmReport& r, const Spread& s) {
  return s.median > 0 ? r.flops() / s.median / 1e9 : 0;
}

}  // namespace

std::string as_text(const GemmReport& r) {
  std::string out = fmt::format("C ({0} x {2}) = A ({0} x {1}) B ({1} x {2}), {3}, {4}\n\n", r.x,
                                r.y, r.z, r.scalar, r.where);
  out += fmt::format("{:<16}{:>10}{:>24}{:>10}{:>10}", "C = A B", "ms", "10 % .. 90 %", "GFLOP/s",
                     "speed-up");
  if (r.transfers) out += fmt::format("{:>16}{:>10}", "with copies ms", "GFLOP/s");
  if (r.verified) out += fmt::format("{:>11}", "error");
  out += '\n';
  for (const GemmLine& line : r.lines) {
    if (!line.refused.empty()) {
      out += fmt::format("{:<16}{}\n", line.name, line.refused);
      continue;
    }
    out += fmt::format(
        "{:<16}{:>10}{:>24}{:>10.4g}{:>10}", line.name, milliseconds(line.product.median),
        fmt::format("{} .. {}", milliseconds(line.product.low), milliseconds(line.product.high)),
        gigaflops(r, line.product), line.speed_up ? fmt::format("{:.2f}", *line.speed_up) : "-");
    if (r.transfers) {
      const bool timed = line.with_transfers.median > 0;
      out += fmt::format("{:>16}{:>10}", milliseconds(line.with_transfers.median),
                         timed ? fmt::format("{:.4g}", gigaflops(r, line.with_transfers)) : "-");
    }
    if (r.verified && !line.peer) {
      out += line.wrong ? fmt::format("{:>11}", "WRONG") : fmt::format("{:>11.1e}", line.error);
    }
    out += '\n';
  }
  out += fmt::format(
      "  {} turns each, medians; 2 x y z operations; speed-up over the serial reference; tiled by "
      "{}\n",
      r.turns, r.block);
  if (r.verified) {
    out += fmt::format(
        "  error: largest |C - reference| / (|A| |B|) of an entry; up to {:.1e} is rounding\n",
        r.error_bound);
  }
  if (r.bandwidth) {
    out += fmt::format("  bandwidth of this run: triad {:.1f} GB/s, reading {:.1f} GB/s\n",
                       r.bandwidth->triad, r.bandwidth->read);
  }
  return out;
}

std::string as_csv(const GemmReport& r) {
  std::string out =
      "x,y,z,scalar,block,candidate,median_s,p10_s,p90_s,GFLOP_per_s,speed_up_over_serial,"
      "with_transfers_s,with_transfers_GFLOP_per_s,relative_error,refused\n";
  for (const GemmLine& line : r.lines) {
    out += fmt::format("{},{},{},{},{},{},", r.x, r.y, r.z, r.scalar, r.block, line.name);
    if (!line.refused.empty()) {
      out += fmt::format(",,,,,,,,{}\n", quoted(line.refused));
      continue;
    }
    out += fmt::format("{:.6e},{:.6e},{:.6e},{:.6g},", line.product.median, line.product.low,
                       line.product.high, gigaflops(r, line.product));
    if (line.speed_up) out += fmt::format("{:.4f}", *line.speed_up);
    out += ',';
    if (line.with_transfers.median > 0) {
      out += fmt::format("{:.6e},{:.6g},", line.with_transfers.median,
                         gigaflops(r, line.with_transfers));
    } else {
      out += ",,";
    }
    if (r.verified && !line.peer) out += fmt::format("{:.3e}", line.error);
    out += ",\n";
  }
  return out;
}

std::string as_json(const GemmReport& r, const std::string& version) {
  using Json = nlohmann::ordered_json;
  Json lines = Json::array();
  for (const GemmLine& line : r.lines) {
    Json one = {{"name", line.name}, {"peer", line.peer}};
    if (!line.refused.empty()) {
      one["refused"] = line.refused;
    } else {
      one["product"] = as_json(line.product);
      one["GFLOP_per_s"] = gigaflops(r, line.product);
      if (line.speed_up) one["speed_up_over_serial"] = *line.speed_up;
      if (line.with_transfers.median > 0) {
        one["with_transfers"] = as_json(line.with_transfers);
        one["with_transfers_GFLOP_per_s"] = gigaflops(r, line.with_transfers);
      }
      if (r.verified && !line.peer) {
        one["relative_error"] = line.error;
        one["correct"] = !line.wrong;
      }
    }
    lines.push_back(one);
  }
  Json out = {{"schema", 1},        {"version", version}, {"x", r.x},
              {"y", r.y},           {"z", r.z},           {"block", r.block},
              {"scalar", r.scalar}, {"where", r.where},   {"turns", r.turns}};
  if (r.verified) out["error_bound"] = r.error_bound;
  out["lines"] = lines;
  if (r.bandwidth) {
    out["bandwidth"] = {{"triad_GB_per_s", r.bandwidth->triad},
                        {"read_GB_per_s", r.bandwidth->read}};
  }
  return out.dump(2) + "\n";
}

}  // namespace krysol::apps
