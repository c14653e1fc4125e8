// An order of rows, and how it was chosen: plain data for reports; which orders there are.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
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

/// The orders that reorder() knows, as `--reorder` names them.
struct OrderInfo {
  std::string_view name;
  std::string_view good_for;
};
std::vector<OrderInfo> list_orders();

/// What an order may save, against what it costs, seconds.
struct OrderBudget {
  double saved = 0;  // (product - reading) products: waiting for x is all that an order can spare
  double cost = 0;   // 50 ns an entry to find it and to move the matrix
  bool pays() const { return saved >= cost; }
};

/// `product_seconds`: of a multiplication by csr; `reading_seconds`: of the same arrays without x.
/// Where reading took longer, which is noise, nothing is saved.
OrderBudget order_budget(double product_seconds, double reading_seconds, double products,
                         Offset nnz);

/// Whether an order that was found is kept: where csr multiplies at least 5 % faster in it.
bool is_worth_keeping(double speed_up);

namespace detail {
/// Throws std::invalid_argument with the list of names for one that is unknown.
void check_order_name(std::string_view name);
}  // namespace detail

}  // namespace krysol
