// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/order/cuthill_mckee.hpp>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include <krysol/spmv/base/vector.hpp>

namespace krysol {
namespace {

constexpr Index unseen = -1;

/// Searches breadth first among the rows that no search has seen yet.
class LevelSearch {
 public:
  LevelSearch(const Offset* row_ptr, const Index* col_idx, Index rows)
      : row_ptr_(row_ptr), col_idx_(col_idx), level_(static_cast<std::size_t>(rows), unseen) {}

  Offset degree(Index i) const { return row_ptr_[i + 1] - row_ptr_[i]; }
  Index level(Index i) const { return level_[static_cast<std::size_t>(i)]; }
  bool seen(Index i) const { return level(i) != unseen; }

  /// Appends `start` and all that can be reached from it to `list`, level after level, neighbours
  /// by ascending degree where `sorted`. Returns the number of levels.
  Index visit(Index start, bool sorted, std::vector<Index>& list) {
    std::size_t next = list.size();
    list.push_back(start);
    level_[static_cast<std::size_t>(start)] = 0;
    for (; next < list.size(); ++next) {
      const Index i = list[next];
      const auto first_new = static_cast<std::ptrdiff_t>(list.size());
      for (Offset k = row_ptr_[i]; k < row_ptr_[i + 1]; ++k) {
        const Index j = col_idx_[k];
        if (seen(j)) continue;
        level_[static_cast<std::size_t>(j)] = level(i) + 1;
        list.push_back(j);
      }
      if (sorted) {
        std::stable_sort(list.begin() + first_new, list.end(),
                         [&](Index p, Index q) { return degree(p) < degree(q); });
      }
    }
    return level(list.back()) + 1;
  }

  /// Forgets the rows of `list`.
  void forget(const std::vector<Index>& list) {
    for (const Index i : list) level_[static_cast<std::size_t>(i)] = unseen;
  }

 private:
  const Offset* row_ptr_;
  const Index* col_idx_;
  std::vector<Index> level_;
};

/// A row of `start`'s component from which the levels are many and narrow: the far end is taken
/// while that adds levels.
Index pseudo_peripheral(Index start, LevelSearch& search, std::vector<Index>& reached) {
  constexpr int most_searches = 4;
  Index levels = 0;
  for (int k = 0; k < most_searches; ++k) {
    reached.clear();
    const Index found = search.visit(start, false, reached);
    Index far_end = reached.back();
    for (auto i = reached.rbegin(); i != reached.rend() && search.level(*i) == found - 1; ++i) {
      if (search.degree(*i) < search.degree(far_end)) far_end = *i;
    }
    search.forget(reached);
    if (found <= levels) break;
    levels = found;
    if (k + 1 < most_searches) start = far_end;
  }
  return start;
}

}  // namespace

Permutation reverse_cuthill_mckee(const Offset* row_ptr, const Index* col_idx, Index rows) {
  Permutation order;
  order.reserve(static_cast<std::size_t>(rows));
  LevelSearch search(row_ptr, col_idx, rows);
  std::vector<Index> reached;
  for (Index i = 0; i < rows; ++i) {
    if (search.seen(i)) continue;
    search.visit(pseudo_peripheral(i, search, reached), true, order);
    // Of an unsymmetric pattern the way back may not exist.
    if (!search.seen(i)) search.visit(i, true, order);
  }
  std::reverse(order.begin(), order.end());
  return order;
}

double mean_level_width(const Offset* row_ptr, const Index* col_idx, Index rows) {
  if (rows == 0) return 0;
  LevelSearch search(row_ptr, col_idx, rows);
  std::vector<Index> reached;
  reached.reserve(static_cast<std::size_t>(rows));
  search.visit(0, false, reached);
  const auto count = static_cast<double>(reached.size());
  if (2 * count < rows) return 0;
  const Index far_end = reached.back();
  search.forget(reached);
  reached.clear();
  return count / search.visit(far_end, false, reached);
}

double mean_bandwidth(const Offset* row_ptr, const Index* col_idx, Index rows) {
  if (rows == 0 || row_ptr[rows] == 0) return 0;
  double total = 0;
  Kokkos::parallel_reduce(
      "krysol::mean_bandwidth", Kokkos::RangePolicy<Host, Kokkos::IndexType<std::int64_t>>(0, rows),
      [=](std::int64_t i, double& sum) {
        for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
          sum += static_cast<double>(std::abs(col_idx[k] - i));
        }
      },
      total);
  return total / static_cast<double>(row_ptr[rows]);
}

}  // namespace krysol
