// Timing products of a matrix: candidates that take turns, and what came out as plain data.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <krysol/spmv/order/order_choice.hpp>
#include <krysol/spmv/select/formats.hpp>
#include <krysol/spmv/select/select.hpp>

#include <krysol/report/report.hpp>
#include "bench/collection.hpp"
#include "bench/interleaved_timing.hpp"
#include "common/rooms.hpp"

namespace krysol::apps {

struct BenchOptions {
  std::vector<std::string> formats;  // as make_operator takes them, and auto
  int turns = 11;
  int warm_up = 2;
  bool verify = false;
  bool transfers = false;
  bool managed = false;
  bool peers = true;
  bool reduced = false;  // each format once more with values of float; of double only
  int vectors = 0;       // that are multiplied at once, beside one; 0: none
  /// Multiplications that auto chooses for.
  double products = SelectOptions{}.products;
};

struct BenchLine {
  std::string name;
  bool peer = false;
  bool reduced = false;    // values of float, vectors and sums of double
  std::string refused;     // why there are no figures
  std::int64_t bytes = 0;  // matrix, x read once, y written with its write-allocate
  double convert_seconds = 0;
  Spread product;
  Spread with_transfers;  // where asked for
  Spread several;         // a product of several vectors at once, likewise; median 0: has none
  double several_over_one = 0;
  double speed_up = 0;  // over the serial reference
  double error = 0;     // largest |y - reference| / (|A||x|), where verified
  bool wrong = false;
};

struct BenchReport {
  std::string matrix;
  std::string scalar;  // double, float
  std::string where;   // OpenMP, 2 threads
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  bool verified = false;
  bool transfers = false;
  bool managed = false;
  int turns = 0;
  int vectors = 0;               // at once
  std::vector<BenchLine> lines;  // the first is the serial reference
  OrderChoice order;             // of the rows; all that is above is of the matrix in that order
  std::optional<FormatChoice> choice;
  std::optional<Bandwidth> bandwidth;
};

/// x is (1, 1/2, 1/3, ...) in a shuffled order, so that no two columns may be confused; of several
/// vectors each begins elsewhere in it.
template <class S>
BenchReport run_bench(const HostCsr<S>& a, const BenchOptions& options);

std::string as_text(const BenchReport& report, bool explain);
/// One line a matrix: the speed-up of each candidate over the serial reference.
std::string speed_ups_as_text(const std::vector<BenchReport>& reports);
std::string as_csv(const std::vector<BenchReport>& reports);
/// `passed_over`: matrices that were not measured.
std::string as_json(const std::vector<BenchReport>& reports,
                    const std::vector<PassedOver>& passed_over, const std::string& version);
/// A picture as SVG: speed-up over csr, and bytes a second, of each candidate on each matrix, with
/// the bandwidth of reading as a line where it was measured.
std::string as_svg(const std::vector<BenchReport>& reports);

}  // namespace krysol::apps
