// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/order/reorder.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <fmt/core.h>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <krysol/spmv/base/spaces.hpp>
#include <krysol/spmv/formats/csr.hpp>
#include <krysol/spmv/kernels/missed_reads.hpp>
#include <krysol/spmv/order/partition.hpp>

namespace krysol {
namespace {

void check_order(const Permutation& order, Index rows, Index cols) {
  if (rows != cols) {
    throw std::invalid_argument(fmt::format(
        "krysol::reordered: a square matrix is needed, this one is {} x {}", rows, cols));
  }
  std::vector<bool> there(static_cast<std::size_t>(rows), false);
  for (const Index i : order) {
    if (i < 0 || i >= rows || there[static_cast<std::size_t>(i)]) {
      throw std::invalid_argument(
          fmt::format("krysol::reordered: row {} stands twice or is none of 0 to {}", i, rows - 1));
    }
    there[static_cast<std::size_t>(i)] = true;
  }
  if (order.size() != there.size()) {
    throw std::invalid_argument(
        fmt::format("krysol::reordered: an order of {} rows for {}", order.size(), rows));
  }
}

/// Moves the row at place i, columns ascending.
template <class S>
struct MoveRow {
  const HostCsr<S>& a;
  const HostCsr<S>& to;
  const Index* from_row;   // [rows] the order
  const Index* new_index;  // [rows] its inverse

  void operator()(std::int64_t i) const {
    const auto from = static_cast<std::size_t>(from_row[i]);
    const Offset begin = a.row_ptr(from);
    const auto n = static_cast<std::size_t>(a.row_ptr(from + 1) - begin);
    const Offset out = to.row_ptr.data()[i];
    thread_local std::vector<std::pair<Index, Offset>> entries;
    entries.resize(n);
    for (std::size_t j = 0; j < n; ++j) {
      const Offset k = begin + static_cast<Offset>(j);
      entries[j] = {new_index[a.col_idx.data()[k]], k};
    }
    std::sort(entries.begin(), entries.end());
    for (std::size_t j = 0; j < n; ++j) {
      to.col_idx.data()[out + static_cast<Offset>(j)] = entries[j].first;
      to.values.data()[out + static_cast<Offset>(j)] = a.values.data()[entries[j].second];
    }
  }
};

/// The least of a few multiplications by csr, s.
template <class S>
double product_seconds(const HostCsr<S>& host) {
  Csr<S, Host> a;
  from_csr(host, a);
  const auto x = allocate<Vector<S, Host>>("reorder.x", a.cols);
  const auto y = allocate<Vector<S, Host>>("reorder.y", a.rows);
  Kokkos::deep_copy(x, S(1));
  double least = std::numeric_limits<double>::infinity();
  for (int k = 0; k < 3; ++k) {
    Kokkos::Timer timer;
    apply(Host{}, S(1), a, ConstVector<S, Host>(x), S(0), y);
    Host{}.fence();
    least = std::min(least, timer.seconds());
  }
  return least;
}

/// The same if x cost nothing to find: the same arrays, read from end to end.
template <class S>
struct ReadAlong {
  const S* values;
  const Index* col_idx;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k, double& sum) const {
    sum += static_cast<double>(real_part(values[k])) + static_cast<double>(col_idx[k]);
  }
};
template <class S>
double seconds_to_read(const HostCsr<S>& a) {
  double least = std::numeric_limits<double>::infinity();
  for (int k = 0; k < 2; ++k) {
    Kokkos::Timer timer;
    double sum = 0;
    Kokkos::parallel_reduce("krysol::reorder(read)",
                            Kokkos::RangePolicy<Host, Kokkos::IndexType<std::int64_t>>(0, a.nnz()),
                            ReadAlong<S>{a.values.data(), a.col_idx.data()}, sum);
    least = std::min(least, timer.seconds());
  }
  return least;
}

/// Rows of x, 64 KiB in double, beside the matrix in a core's caches.
constexpr Index rows_of_part = 8192;

}  // namespace

template <class S>
HostCsr<S> reordered(const HostCsr<S>& a, const Permutation& order) {
  check_order(order, a.rows, a.cols);
  std::vector<Index> new_index(order.size());
  HostCsr<S> to;
  to.rows = a.rows;
  to.cols = a.cols;
  to.row_ptr = allocate<decltype(to.row_ptr)>("csr.row_ptr", order.size() + 1);
  to.col_idx = allocate<decltype(to.col_idx)>("csr.col_idx", a.nnz());
  to.values = allocate<decltype(to.values)>("csr.values", a.nnz());
  to.row_ptr(0) = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto from = static_cast<std::size_t>(order[i]);
    new_index[from] = static_cast<Index>(i);
    to.row_ptr(i + 1) = to.row_ptr(i) + a.row_ptr(from + 1) - a.row_ptr(from);
  }
  host_for("krysol::reordered", a.rows, MoveRow<S>{a, to, order.data(), new_index.data()});
  return to;
}

template <class S>
OrderClock<S> measuring_clock() {
  return {product_seconds<S>, seconds_to_read<S>};
}

template <class S>
HostCsr<S> reorder(std::string_view name, const HostCsr<S>& a, double products, OrderChoice& choice,
                   const OrderClock<S>& clock) {
  const Kokkos::Profiling::ScopedRegion region("krysol::reorder");
  detail::check_order_name(name);
  choice = {};
  choice.name = "none";
  if (name == "none") return a;
  Kokkos::Timer timer;
  if (a.rows != a.cols) check_order({}, a.rows, a.cols);
  const Offset* row_ptr = a.row_ptr.data();
  const Index* col_idx = a.col_idx.data();
  choice.bandwidth_before = choice.bandwidth_after = mean_bandwidth(row_ptr, col_idx, a.rows);

  double before = 0;
  if (name == "auto") {
    // x, and what is near in it, stays in a core's cache whatever the order.
    constexpr double near = 64 * 1024;  // bytes
    if (choice.bandwidth_before * sizeof(S) < near) {
      choice.reason =
          fmt::format("entries are {:.0f} rows from the diagonal in the mean: x is in the cache",
                      choice.bandwidth_before);
      return a;
    }
    // Grids 0.02 to 0.08, meshes as they are generated 0.14 and more. Times alone do not tell where
    // a machine was slow for a moment: a grid in rcm takes four times as long to solve.
    constexpr double rare = 0.1;
    const double missed = missed_reads(col_idx, a.nnz(), sizeof(S));
    if (missed <= rare) {
      choice.reason =
          fmt::format("{:.0f} % of the reads of x are of lines that are not at hand", 100 * missed);
      return a;
    }
    before = clock.product(a);
    const OrderBudget budget = order_budget(before, clock.reading(a), products, a.nnz());
    if (!budget.pays()) {
      choice.reason = fmt::format(
          "{:.0f} multiplications wait {:.2g} s for x, an order takes about {:.2g} s to find",
          products, budget.saved, budget.cost);
      return a;
    }
  }
  const std::string_view found = name == "auto" ? "rcm" : name;
  choice.order = found == "rcm" ? reverse_cuthill_mckee(row_ptr, col_idx, a.rows)
                                : partition_order(row_ptr, col_idx, a.rows, rows_of_part);
  HostCsr<S> moved = reordered(a, choice.order);
  choice.bandwidth_after = mean_bandwidth(moved.row_ptr.data(), moved.col_idx.data(), moved.rows);
  choice.seconds = timer.seconds();
  if (name == "auto") {
    choice.speed_up = before / clock.product(moved);
    if (!is_worth_keeping(choice.speed_up)) {
      choice.order.clear();
      choice.bandwidth_after = choice.bandwidth_before;
      choice.reason =
          fmt::format("rcm makes a multiplication {:.2f} times as fast only", choice.speed_up);
      return a;
    }
  }
  choice.name = found;
  choice.reason = fmt::format("mean |i - j| of {:.0f} instead of {:.0f} rows",
                              choice.bandwidth_after, choice.bandwidth_before);
  if (name == "auto") {
    choice.reason += fmt::format("; csr multiplies {:.2f} times as fast", choice.speed_up);
  }
  return moved;
}

template <class S>
HostCsr<S> reorder(std::string_view name, const HostCsr<S>& a, double products,
                   OrderChoice& choice) {
  if (name == "auto" && !on_host<Kokkos::DefaultExecutionSpace>) {
    choice = {};
    choice.name = "none";
    choice.reason = "what an order is worth is measured on hosts only";
    return a;
  }
  return reorder(name, a, products, choice, measuring_clock<S>());
}

#define KRYSOL_INSTANTIATE(S)                                                             \
  template HostCsr<S> reordered(const HostCsr<S>&, const Permutation&);                   \
  template OrderClock<S> measuring_clock();                                               \
  template HostCsr<S> reorder(std::string_view, const HostCsr<S>&, double, OrderChoice&); \
  template HostCsr<S> reorder(std::string_view, const HostCsr<S>&, double, OrderChoice&,  \
                              const OrderClock<S>&);
KRYSOL_FOR_EACH_SOLVED_ENTRY(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
