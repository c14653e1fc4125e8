// An order of rows, and how it was chosen: plain data for reports.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include <krysol/spmv/base/types.hpp>

namespace krysol {

/// An order of the rows and columns of a square matrix: place i holds what was at from[i]. The
/// system P A P' (P x) = P b has the solution of A x = b, in that order.
using Permutation = std::vector<Index>;

/// What was found when an order was asked for.
struct OrderChoice {
  Permutation order;            // empty: the order that the rows have
  std::string name;             // "rcm", "metis" or "none"
  std::string reason;           // a sentence with the numbers that decided
  double seconds = 0;           // to find it and to move the matrix
  double bandwidth_before = 0;  // mean |i - j|, rows
  double bandwidth_after = 0;
  double speed_up = 1;  // of a multiplication by csr, where it was measured
};

}  // namespace krysol
