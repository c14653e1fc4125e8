// Timing products of dense blocks: candidates that take turns, and what came out as plain data.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <krysol/spmv/dense/dense.hpp>

#include <krysol/report/report.hpp>
#include "bench/interleaved_timing.hpp"
#include "common/rooms.hpp"

namespace krysol::apps {

/// C [x, z] := A [x, y] B [y, z].
struct GemmBenchOptions {
  std::int64_t x = 64;
  std::int64_t y = 64;
  std::int64_t z = 64;
  int block = 16;
  std::vector<std::string> kernels;  // of list_dense_kernels, and serial
  int turns = 11;
  int warm_up = 2;
  bool verify = false;
  bool transfers = false;
  bool peers = true;
};

struct GemmLine {
  std::string name;
  bool peer = false;
  std::string refused;  // why there are no figures
  Spread product;
  Spread with_transfers;           // A and B to the device, C back, where asked for
  std::optional<double> speed_up;  // over the serial reference, where that was timed
  double error = 0;  // the largest |C - reference| / (|A| |B|) of its entry, where verified
  bool wrong = false;
};

struct GemmReport {
  std::int64_t x = 0;
  std::int64_t y = 0;
  std::int64_t z = 0;
  int block = 0;
  std::string scalar;  // double, float
  std::string where;   // OpenMP, 2 threads
  bool verified = false;
  double error_bound = 0;
  bool transfers = false;
  int turns = 0;
  std::vector<GemmLine> lines;
  std::optional<Bandwidth> bandwidth;

  double flops() const {
    return 2 * static_cast<double>(x) * static_cast<double>(y) * static_cast<double>(z);
  }
};

/// Entries are fractions from -1 to 1, none of which is like its neighbours.
template <class T>
GemmReport run_gemm_bench(const GemmBenchOptions& options);

/// The name of the serial reference among the kernels.
inline constexpr std::string_view serial_kernel = "serial";

std::string as_text(const GemmReport& report);
std::string as_csv(const GemmReport& report);
/// docs/gemm_bench.md describes it.
std::string as_json(const GemmReport& report, const std::string& version);

}  // namespace krysol::apps
