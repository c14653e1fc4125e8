// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/order/order_choice.hpp>

#include <algorithm>
#include <stdexcept>

#include <fmt/core.h>
#include <krysol/spmv/order/partition.hpp>

namespace krysol {

std::vector<OrderInfo> list_orders() {
  std::vector<OrderInfo> orders = {
      {"none", "the order of the file"},
      {"rcm", "reverse Cuthill-McKee: rows that name each other stand near each other"}};
  if (can_partition()) {
    orders.push_back({"metis", "parts of 8192 rows with few entries between them, each as in rcm"});
  }
  orders.push_back({"auto", "rcm where finding it was measured to pay"});
  return orders;
}

OrderBudget order_budget(double product_seconds, double reading_seconds, double products,
                         Offset nnz) {
  // Seen for meshes of a million rows: some 50 ns an entry for the order and for moving them.
  constexpr double order_ns = 50;
  return {std::max(0.0, product_seconds - reading_seconds) * products,
          order_ns * 1e-9 * static_cast<double>(nnz)};
}

bool is_worth_keeping(double speed_up) { return speed_up >= 1.05; }

void detail::check_order_name(std::string_view name) {
  std::string known;
  for (const OrderInfo& o : list_orders()) {
    if (o.name == name) return;
    known += fmt::format(" {}", o.name);
  }
  throw std::invalid_argument(
      fmt::format("unknown order '{}'; known:{}{}", name, known,
                  name == "metis" ? "; this Krysol was built without METIS" : ""));
}

}  // namespace krysol
