// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/order/partition.hpp>

#include <stdexcept>

#ifdef KRYSOL_HAVE_METIS
#include <algorithm>
#include <limits>
#include <new>
#include <numeric>

#include <fmt/core.h>
#include <metis.h>
#include <krysol/spmv/order/cuthill_mckee.hpp>
#endif

namespace krysol {

#ifdef KRYSOL_HAVE_METIS
namespace {

/// The neighbours of each row, each once, and not the row itself.
struct Graph {
  std::vector<idx_t> begin;      // [rows + 1]
  std::vector<idx_t> neighbour;  // [begin[rows]]
};

Graph graph_of(const Offset* row_ptr, const Index* col_idx, Index rows) {
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };
  // Both directions of every entry, then each neighbour once.
  std::vector<std::size_t> next(at(rows) + 1, 0);
  for (Index i = 0; i < rows; ++i) {
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      if (col_idx[k] == i) continue;
      ++next[at(i) + 1];
      ++next[at(col_idx[k]) + 1];
    }
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  const std::vector<std::size_t> begin = next;
  std::vector<idx_t> both(begin.back());
  for (Index i = 0; i < rows; ++i) {
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      const Index j = col_idx[k];
      if (j == i) continue;
      both[next[at(i)]++] = j;
      both[next[at(j)]++] = i;
    }
  }
  Graph graph;
  graph.begin.reserve(at(rows) + 1);
  graph.begin.push_back(0);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < at(rows); ++i) {
    const auto first = both.begin() + static_cast<std::ptrdiff_t>(begin[i]);
    const auto last = both.begin() + static_cast<std::ptrdiff_t>(begin[i + 1]);
    std::sort(first, last);
    const auto end = std::unique(first, last);
    kept = static_cast<std::size_t>(
        std::copy(first, end, both.begin() + static_cast<std::ptrdiff_t>(kept)) - both.begin());
    if (kept > static_cast<std::size_t>(std::numeric_limits<idx_t>::max())) {
      throw std::invalid_argument(
          fmt::format("krysol::partition_order: this METIS counts {} neighbours at most, and the "
                      "first {} of {} rows have more",
                      std::numeric_limits<idx_t>::max(), i + 1, rows));
    }
    graph.begin.push_back(static_cast<idx_t>(kept));
  }
  both.resize(kept);
  graph.neighbour = std::move(both);
  return graph;
}

std::vector<idx_t> parts_by_metis(Graph& graph, Index rows, idx_t parts) {
  std::vector<idx_t> part(static_cast<std::size_t>(rows), 0);
  if (parts < 2) return part;
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  options[METIS_OPTION_NITER] = 3;
  idx_t n = rows;
  idx_t constraints = 1;
  idx_t cut = 0;
  const int status =
      METIS_PartGraphKway(&n, &constraints, graph.begin.data(), graph.neighbour.data(), nullptr,
                          nullptr, nullptr, &parts, nullptr, nullptr, options, &cut, part.data());
  if (status == METIS_ERROR_MEMORY) throw std::bad_alloc();
  if (status != METIS_OK) {
    throw std::invalid_argument(
        fmt::format("krysol::partition_order: METIS ended with status {}", status));
  }
  return part;
}

}  // namespace

bool can_partition() { return true; }

std::vector<Index> partition_rows(const Offset* row_ptr, const Index* col_idx, Index rows,
                                  Index parts) {
  Graph graph = graph_of(row_ptr, col_idx, rows);
  const std::vector<idx_t> part = parts_by_metis(graph, rows, parts);
  return {part.begin(), part.end()};
}

Permutation partition_order(const Offset* row_ptr, const Index* col_idx, Index rows,
                            Index rows_per_part) {
  Permutation order = reverse_cuthill_mckee(row_ptr, col_idx, rows);
  Graph graph = graph_of(row_ptr, col_idx, rows);
  const std::vector<idx_t> part = parts_by_metis(graph, rows, rows / rows_per_part);
  std::stable_sort(order.begin(), order.end(), [&](Index i, Index j) {
    return part[static_cast<std::size_t>(i)] < part[static_cast<std::size_t>(j)];
  });
  return order;
}

#else

bool can_partition() { return false; }

std::vector<Index> partition_rows(const Offset*, const Index*, Index, Index) {
  throw std::invalid_argument("krysol::partition_rows: Krysol was built without METIS");
}

Permutation partition_order(const Offset*, const Index*, Index, Index) {
  throw std::invalid_argument("krysol::partition_order: Krysol was built without METIS");
}

#endif

}  // namespace krysol
