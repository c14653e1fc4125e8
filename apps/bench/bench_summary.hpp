// Many matrices in one table: a line each, and means over all.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/bench.hpp"

namespace krysol::apps {

/// The candidate's name without auto's choice, as in "auto" for "auto: ell".
std::string_view candidate(const BenchLine& line);

/// The line of a candidate, or null where it has none or was refused.
const BenchLine* find_line(const BenchReport& report, std::string_view name);

double gigabytes_a_second(const BenchLine& line);

bool is_reordered(const BenchReport& report);
/// ", rows in the order of rcm"; nothing where they stand as in the file.
std::string order_as_text(const BenchReport& report);

/// "8 vectors".
std::string of_vectors(int n);

/// The time for several vectors over that for one, "-" where there is none.
std::string to_one(const BenchLine& line);

/// Whose speed-ups a summary shows: auto where it is among the candidates, else the first format.
std::string summary_subject(const BenchReport& report);

/// The subject against one other over all matrices that both multiplied.
struct Comparison {
  std::string over;  // a candidate, or "best peer": of each matrix the fastest peer
  int matrices = 0;
  double geometric_mean = 0;  // of time(other) / time(subject), medians
  double lowest = 0;
  std::string lowest_at;  // the matrix
};

/// Over the serial reference, csr, each peer, and the fastest peer, of all that any matrix has;
/// none where no matrix has figures of both.
std::vector<Comparison> compare(const std::vector<BenchReport>& reports);

/// Head, a line a matrix, and means, to be printed as they come. `width` is that of the names.
std::string summary_head(const BenchReport& first, std::size_t width);
std::string summary_line(const BenchReport& report, std::size_t width);
std::string summary_end(const std::vector<BenchReport>& reports, std::size_t width);

}  // namespace krysol::apps
