// What a page shows of a matrix: where it has entries, how long its rows are, how large its values.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <krysol/report/html/spy_cells.hpp>

namespace krysol::report::html {

struct MatrixPicture {
  SpyCells spy{};
  std::vector<std::int64_t> row_lengths{};   // [0]: empty rows; [k]: 2^(k-1) <= length < 2^k
  std::map<int, std::int64_t> magnitudes{};  // of entries with 10^k <= |a_ij| < 10^(k+1)
  std::int64_t zeros = 0;                    // stored entries that are 0
};

}  // namespace krysol::report::html
