// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/precond/ic_fill.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <fmt/core.h>
#include <krysol/spmv/base/finite.hpp>
#include <krysol/spmv/base/memory.hpp>
#include <krysol/spmv/base/spaces.hpp>

namespace krysol {
namespace {

/// Columns of the row at work, handed out in ascending order while others are added.
class WaitingColumns {
 public:
  void add(Index col) {
    heap_.push_back(col);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
  bool empty() const { return heap_.empty(); }
  Index take() {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const Index next = heap_.back();
    heap_.pop_back();
    return next;
  }

 private:
  std::vector<Index> heap_;
};

/// The pattern so far, and its bounds.
class GrowingPattern {
 public:
  GrowingPattern(std::string what, std::string remedy, std::size_t entries_and_rows,
                 std::size_t rows)
      : what_(std::move(what)), remedy_(std::move(remedy)), most_(most_fill * entries_and_rows) {
    pattern_.row_ptr.reserve(rows + 1);
    pattern_.row_ptr.push_back(0);
  }

  std::vector<Index>& columns() { return pattern_.col_idx; }
  /// The columns of the row at work.
  std::vector<Index>::iterator begin() {
    return pattern_.col_idx.begin() + static_cast<std::ptrdiff_t>(pattern_.row_ptr.back());
  }
  std::vector<Index>::iterator end() { return pattern_.col_idx.end(); }

  void finish_row(Index i) {
    constexpr std::size_t often = 4096;  // rows, until memory is looked at again
    constexpr double of_an_entry = 64;   // bytes, with what is to come
    const std::size_t entries = pattern_.col_idx.size();
    pattern_.row_ptr.push_back(static_cast<Offset>(entries));
    if (pattern_.row_ptr.size() % often == 0) {
      require_host_memory("ic", of_an_entry * static_cast<double>(entries));
    }
    if (entries <= most_) return;
    throw PreconditionerRefusal(
        fmt::format(
            "ic: {} is more than {} times the entries of A when it comes to row {}; {}, and "
            "ic0 has none",
            what_, most_fill, i + 1, remedy_),
        i);
  }
  FillPattern take() { return std::move(pattern_); }

 private:
  static constexpr std::size_t most_fill = 30;  // a row that all others share fills everything

  FillPattern pattern_;
  std::string what_;
  std::string remedy_;
  std::size_t most_;
};

/// Row by row. Those of column k that rows so far have are a list, as elimination of k meets them.
class FillOfLevels {
 public:
  FillOfLevels(const std::vector<Offset>& row_ptr, const std::vector<Index>& col_idx, int most)
      : most_(most),
        pattern_(fmt::format("fill of level {}", most), "fewer levels have less",
                 col_idx.size() + row_ptr.size() - 1, row_ptr.size() - 1),
        columns_(row_ptr.size() - 1),
        level_(row_ptr.size() - 1, none) {
    for (std::size_t i = 0; i + 1 < row_ptr.size(); ++i) {
      for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) meet(col_idx[k], 0);
      while (!waiting_.empty()) eliminate(waiting_.take());
      finish_row(static_cast<Index>(i));
    }
  }
  FillPattern take() { return pattern_.take(); }

 private:
  static constexpr int none = std::numeric_limits<int>::max();
  struct Entry {
    Index row;
    int level;
  };

  void meet(Index col, int level) {
    int& now = level_[static_cast<std::size_t>(col)];
    if (now == none) {
      waiting_.add(col);
      pattern_.columns().push_back(col);
    }
    now = std::min(now, level);
  }
  /// Columns come in ascending order, so no level of column k changes any more.
  void eliminate(Index k) {
    const int own = level_[static_cast<std::size_t>(k)];
    for (const Entry& e : columns_[static_cast<std::size_t>(k)]) {
      if (own + e.level + 1 <= most_) meet(e.row, own + e.level + 1);
    }
  }
  void finish_row(Index i) {
    std::sort(pattern_.begin(), pattern_.end());
    for (auto k = pattern_.begin(); k != pattern_.end(); ++k) {
      int& level = level_[static_cast<std::size_t>(*k)];
      if (level < most_) columns_[static_cast<std::size_t>(*k)].push_back({i, level});
      level = none;
    }
    pattern_.finish_row(i);
  }

  int most_;
  GrowingPattern pattern_;
  std::vector<std::vector<Entry>> columns_;
  std::vector<int> level_;  // [rows] of the entry in each column of the row at work; else none
  WaitingColumns waiting_;
};

/// The same by values.
template <class T>
class FillAbove {
 public:
  FillAbove(const LowerPart<T>& a, double threshold)
      : threshold_(threshold),
        pattern_(fmt::format("what is above {:.3g} in L", threshold),
                 "a larger threshold leaves less", a.col_idx.size() + a.diagonal.size(),
                 a.diagonal.size()),
        columns_(a.diagonal.size()),
        row_(a.diagonal.size(), T(0)),
        met_(a.diagonal.size(), 0),
        pivots_(a.diagonal.size()) {
    std::vector<double> scale(a.diagonal.size());
    for (std::size_t i = 0; i < scale.size(); ++i) {
      scale[i] = 1 / std::sqrt(static_cast<double>(real_part(a.diagonal[i])));
    }
    for (std::size_t i = 0; i < scale.size(); ++i) {
      for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
        const auto j = static_cast<std::size_t>(a.col_idx[k]);
        meet(a.col_idx[k], from_double<T>(scale[i] * scale[j]) * a.values[k]);
      }
      double pivot = 1;
      while (!waiting_.empty()) eliminate(waiting_.take(), static_cast<Index>(i), pivot);
      pivots_[i] = pivot > 0 && is_finite(pivot) ? std::sqrt(pivot) : 1;
      pattern_.finish_row(static_cast<Index>(i));
    }
  }
  FillPattern take() { return pattern_.take(); }

 private:
  struct Entry {
    Index row;
    T value;  // l(row, column)
  };

  void meet(Index col, const T& value) {
    const auto at = static_cast<std::size_t>(col);
    if (met_[at] == 0) {
      met_[at] = 1;
      waiting_.add(col);
    }
    row_[at] += value;
  }
  /// Column j of row i, whose sum is complete.
  void eliminate(Index j, Index i, double& pivot) {
    const auto at = static_cast<std::size_t>(j);
    const T entry = from_double<T>(1 / pivots_[at]) * row_[at];
    row_[at] = T(0);
    met_[at] = 0;
    const double size = std::sqrt(abs_squared(entry));
    if (!(size >= threshold_)) return;
    pivot -= size * size;
    for (const Entry& e : columns_[at]) meet(e.row, -entry * conjugate(e.value));
    columns_[at].push_back({i, entry});
    pattern_.columns().push_back(j);
  }

  double threshold_;
  GrowingPattern pattern_;
  std::vector<std::vector<Entry>> columns_;
  std::vector<T> row_;     // [rows] sums of the row at work
  std::vector<char> met_;  // [rows] whether that has an entry there
  std::vector<double> pivots_;
  WaitingColumns waiting_;
};

}  // namespace

FillPattern fill_of_levels(const std::vector<Offset>& row_ptr, const std::vector<Index>& col_idx,
                           int level) {
  return FillOfLevels(row_ptr, col_idx, level).take();
}

template <class T>
FillPattern fill_above(const LowerPart<T>& a, double threshold) {
  return FillAbove<T>(a, threshold).take();
}

#define KRYSOL_INSTANTIATE(T) template FillPattern fill_above(const LowerPart<T>&, double);
KRYSOL_FOR_EACH_ENTRY(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
