// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/precond/level_scheduled_solve.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/core.h>
#include <krysol/spmv/base/finite.hpp>
#include <krysol/spmv/base/spaces.hpp>

namespace krysol {
namespace {

/// Sorts row i's entries by column and sums those of one place, from `begin` to the end of the
/// arrays.
template <class T>
void tidy_row(std::size_t begin, LowerPart<T>& part, std::vector<std::pair<Index, T>>& room) {
  const auto first = part.col_idx.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto unordered = [](Index a, Index b) { return a >= b; };
  if (std::adjacent_find(first, part.col_idx.end(), unordered) == part.col_idx.end()) return;
  room.clear();
  for (std::size_t k = begin; k < part.col_idx.size(); ++k) {
    room.emplace_back(part.col_idx[k], part.values[k]);
  }
  std::stable_sort(room.begin(), room.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  part.col_idx.resize(begin);
  part.values.resize(begin);
  for (const auto& [col, value] : room) {
    if (part.col_idx.size() > begin && part.col_idx.back() == col) {
      part.values.back() += value;
    } else {
      part.col_idx.push_back(col);
      part.values.push_back(value);
    }
  }
}

}  // namespace

std::string number_as_text(double v) { return fmt::format("{:.6g}", v); }

template <class T>
LowerPart<T> lower_part(const HostCsr<T>& a, const std::vector<Index>& rank) {
  if (a.rows != a.cols) {
    throw std::invalid_argument(
        fmt::format("krysol::lower_part: A must be square, not {} x {}", a.rows, a.cols));
  }
  const auto rows = static_cast<std::size_t>(a.rows);
  const auto rank_of = [&](Index i) {
    return rank.empty() ? i : rank[static_cast<std::size_t>(i)];
  };
  LowerPart<T> part;
  part.row_ptr.reserve(rows + 1);
  part.row_ptr.push_back(0);
  part.col_idx.reserve(static_cast<std::size_t>(a.nnz()) / 2);
  part.values.reserve(static_cast<std::size_t>(a.nnz()) / 2);
  part.diagonal.assign(rows, T(0));
  std::vector<std::pair<Index, T>> room;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = static_cast<Index>(i);
    const std::size_t begin = part.col_idx.size();
    for (Offset k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
      const Index col = a.col_idx(static_cast<std::size_t>(k));
      const T value = a.values(static_cast<std::size_t>(k));
      if (col == row) {
        part.diagonal[i] += value;
      } else if (rank_of(col) < rank_of(row)) {
        part.col_idx.push_back(col);
        part.values.push_back(value);
      } else if (rank_of(col) == rank_of(row) && part.tied_row < 0) {
        part.tied_row = row;
      }
    }
    tidy_row(begin, part, room);
    part.row_ptr.push_back(static_cast<Offset>(part.col_idx.size()));
  }
  return part;
}

template <class T>
void check_diagonal(std::string_view name, const LowerPart<T>& part) {
  for (std::size_t i = 0; i < part.diagonal.size(); ++i) {
    const auto d = static_cast<double>(real_part(part.diagonal[i]));
    if (is_finite(d) && d > 0) continue;
    const std::string seen =
        d == 0 ? "has no diagonal entry, or 0" : fmt::format("has {} on the diagonal", d);
    throw PreconditionerRefusal(fmt::format("{}: row {} {}", name, i + 1, seen),
                                static_cast<Index>(i));
  }
}

void check_pattern(std::string_view name, const std::vector<Offset>& row_ptr,
                   const std::vector<Index>& col_idx, const std::vector<Offset>& other_row_ptr,
                   const std::vector<Index>& other_col_idx) {
  if (row_ptr.size() != other_row_ptr.size()) {
    throw std::invalid_argument(fmt::format("{}: a matrix of {} rows where one of {} was analysed",
                                            name, other_row_ptr.size() - 1, row_ptr.size() - 1));
  }
  for (std::size_t i = 0; i + 1 < row_ptr.size(); ++i) {
    const auto begin = col_idx.begin() + static_cast<std::ptrdiff_t>(row_ptr[i]);
    const auto end = col_idx.begin() + static_cast<std::ptrdiff_t>(row_ptr[i + 1]);
    // Rows before this one are the same, so both begin at one place.
    const auto other = other_col_idx.begin() + static_cast<std::ptrdiff_t>(row_ptr[i]);
    if (row_ptr[i + 1] != other_row_ptr[i + 1] || !std::equal(begin, end, other)) {
      throw std::invalid_argument(
          fmt::format("{}: row {} has nonzeros at other places than when the matrix was analysed",
                      name, i + 1));
    }
  }
}

Levels order_by_level(const std::vector<Index>& level_of_row) {
  Levels levels;
  Index count = 0;
  for (const Index level : level_of_row) count = std::max(count, level + 1);
  levels.begin.assign(static_cast<std::size_t>(count) + 1, 0);
  for (const Index level : level_of_row) ++levels.begin[static_cast<std::size_t>(level) + 1];
  std::partial_sum(levels.begin.begin(), levels.begin.end(), levels.begin.begin());
  std::vector<Index> next = levels.begin;
  levels.order.resize(level_of_row.size());
  for (std::size_t i = 0; i < level_of_row.size(); ++i) {
    Index& place = next[static_cast<std::size_t>(level_of_row[i])];
    levels.order[static_cast<std::size_t>(place++)] = static_cast<Index>(i);
  }
  return levels;
}

Levels dependency_levels(const std::vector<Offset>& row_ptr, const std::vector<Index>& col_idx) {
  std::vector<Index> level(row_ptr.size() - 1, 0);
  for (std::size_t i = 0; i < level.size(); ++i) {
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      const auto col = static_cast<std::size_t>(col_idx[static_cast<std::size_t>(k)]);
      level[i] = std::max(level[i], level[col] + 1);
    }
  }
  return order_by_level(level);
}

Levels in_their_own_order(Index rows) {
  Levels levels;
  levels.order.resize(static_cast<std::size_t>(rows));
  std::iota(levels.order.begin(), levels.order.end(), 0);
  levels.begin = {0, rows};
  levels.chained = true;
  return levels;
}

SweepPattern arrange(const std::vector<Offset>& row_ptr, const std::vector<Index>& col_idx,
                     Levels levels) {
  const std::size_t rows = levels.order.size();
  std::vector<Index> place(rows);
  for (std::size_t p = 0; p < rows; ++p) {
    place[static_cast<std::size_t>(levels.order[p])] = static_cast<Index>(p);
  }
  SweepPattern s;
  for (SweepPattern::Triangle* t : {&s.forward, &s.backward}) {
    t->row_ptr.assign(rows + 1, 0);
    t->col_idx.resize(col_idx.size());
    t->source.resize(col_idx.size());
  }
  for (const Index col : col_idx) {
    ++s.backward.row_ptr[static_cast<std::size_t>(place[static_cast<std::size_t>(col)]) + 1];
  }
  std::partial_sum(s.backward.row_ptr.begin(), s.backward.row_ptr.end(),
                   s.backward.row_ptr.begin());
  for (std::size_t p = 0; p < rows; ++p) {
    const auto i = static_cast<std::size_t>(levels.order[p]);
    s.forward.row_ptr[p + 1] = s.forward.row_ptr[p] + row_ptr[i + 1] - row_ptr[i];
  }
  for (std::size_t i = 0; i < rows; ++i) {
    auto at = static_cast<std::size_t>(s.forward.row_ptr[static_cast<std::size_t>(place[i])]);
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k, ++at) {
      s.forward.col_idx[at] = place[static_cast<std::size_t>(col_idx[static_cast<std::size_t>(k)])];
      s.forward.source[at] = k;
    }
  }
  // By rows of the matrix, so that each sum is taken in an order that the levels have no part in;
  // from the last row on, so that a sum ends with what is known last.
  std::vector<Offset> next = s.backward.row_ptr;
  for (std::size_t i = rows; i-- > 0;) {
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      const auto col = static_cast<std::size_t>(col_idx[static_cast<std::size_t>(k)]);
      const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(place[col])]++);
      s.backward.col_idx[at] = place[i];
      s.backward.source[at] = k;
    }
  }
  s.levels = std::move(levels);
  return s;
}

std::vector<SweepStep> SweepPattern::steps(bool host) const {
  // What one core adds up, or a team of a GPU does, in the time of a few barriers or of a launch.
  constexpr Offset host_work = 8192;
  constexpr Index gpu_rows = 1024;
  std::vector<SweepStep> list;
  for (Index level = 0; level < levels.count(); ++level) {
    const Index first = levels.begin[static_cast<std::size_t>(level)];
    const Index last = levels.begin[static_cast<std::size_t>(level) + 1];
    const Offset work = last - first + forward.row_ptr[static_cast<std::size_t>(last)] -
                        forward.row_ptr[static_cast<std::size_t>(first)];
    const bool wide = !levels.chained && (host ? work >= host_work : last - first > gpu_rows);
    if (!wide && !list.empty() && !list.back().wide) {
      list.back().last_level = level + 1;
      list.back().last = last;
    } else {
      list.push_back({level, level + 1, first, last, wide});
    }
  }
  return list;
}

#define KRYSOL_INSTANTIATE(T)                                                     \
  template LowerPart<T> lower_part(const HostCsr<T>&, const std::vector<Index>&); \
  template void check_diagonal(std::string_view, const LowerPart<T>&);
KRYSOL_FOR_EACH_ENTRY(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
