// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/precond/ic0.hpp>

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

/// A pivot of S A S below this is what rounding left of a cancellation.
template <class R>
constexpr R least_pivot = 16 * std::numeric_limits<R>::epsilon();

/// L of S A S + shift I, in the order of `part`; l(i,i) in `pivots`. Returns the first row without
/// a usable pivot, or -1.
template <class T>
Index factorize(const LowerPart<T>& part, const std::vector<Real<T>>& scale, double shift,
                std::vector<T>& work, std::vector<T>& lower, std::vector<Real<T>>& pivots) {
  using R = Real<T>;
  const R diagonal = 1 + static_cast<R>(shift);
  const R least = least_pivot<R> * diagonal;
  const Offset* row_ptr = part.row_ptr.data();
  const Index* col_idx = part.col_idx.data();
  const T* a = part.values.data();
  T* l = lower.data();
  T* row = work.data();  // [rows] l(i, :) while i is at work, else 0
  for (std::size_t i = 0; i < pivots.size(); ++i) {
    R pivot = diagonal;
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      const Index j = col_idx[k];
      T sum = scale[i] * a[k] * scale[static_cast<std::size_t>(j)];
      for (Offset q = row_ptr[j]; q < row_ptr[j + 1]; ++q) sum -= row[col_idx[q]] * conjugate(l[q]);
      const T entry = sum / pivots[static_cast<std::size_t>(j)];
      l[k] = entry;
      row[j] = entry;
      pivot -= real_part(entry * conjugate(entry));
    }
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) row[col_idx[k]] = T(0);
    if (!is_finite(pivot) || !(pivot > least)) return static_cast<Index>(i);
    pivots[i] = std::sqrt(pivot);
  }
  return -1;
}

/// Whether several threads would be done with the levels before one is with the rows in their own
/// order. In units of an entry in that order; a row costs one as well. Measured on two cores of an
/// EPYC 9005 for the 7-point star on 100^3, which has 298 levels: 5.5 ms by two threads, 5.4 ms by
/// one. Under other load each wait for a thread costs far more.
bool levels_pay(const SweepPattern& pattern, int threads) {
  constexpr double detour = 1.5;  // of an entry, for vectors in another order than their rows
  constexpr double wait = 8000;   // until all threads are at the end of a level
  constexpr double margin = 0.8;
  double levels = 0;
  double own_order = 0;
  for (const SweepStep& step : pattern.steps(true)) {
    const Offset* row_ptr = pattern.forward.row_ptr.data();
    const auto work =
        static_cast<double>(step.last - step.first + row_ptr[step.last] - row_ptr[step.first]);
    own_order += work;
    levels += step.wide ? detour * work / threads + wait : detour * work;
  }
  return levels < margin * own_order;
}

[[noreturn]] void refuse(std::string_view name, Index row) {
  throw PreconditionerRefusal(
      fmt::format("{}: row {} has no positive pivot, with any shift up to {}", name, row + 1,
                  largest_ic0_shift),
      row);
}

/// The entries of L up to a level of fill, row by row. Those of column k that rows so far have are
/// a list, as elimination of k meets them.
class Fill {
 public:
  Fill(const std::vector<Offset>& row_ptr, const std::vector<Index>& col_idx, int most)
      : most_(most), columns_(row_ptr.size() - 1), level_(row_ptr.size() - 1, none) {
    const std::size_t rows = row_ptr.size() - 1;
    fill_ptr.reserve(rows + 1);
    fill_ptr.push_back(0);
    for (std::size_t i = 0; i < rows; ++i) {
      for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) meet(col_idx[k], 0);
      while (!waiting_.empty()) {
        std::pop_heap(waiting_.begin(), waiting_.end(), std::greater<>());
        const Index next = waiting_.back();
        waiting_.pop_back();
        eliminate(next);
      }
      finish_row(static_cast<Index>(i));
      if (fill_idx.size() > most_fill * (col_idx.size() + rows)) {
        throw PreconditionerRefusal(
            fmt::format("ic: fill of level {} is more than {} times the entries of A when it comes "
                        "to row {}; fewer levels have less, and ic0 has none",
                        most_, most_fill, i + 1),
            static_cast<Index>(i));
      }
    }
  }

  std::vector<Offset> fill_ptr;
  std::vector<Index> fill_idx;

 private:
  static constexpr int none = std::numeric_limits<int>::max();
  static constexpr std::size_t most_fill = 30;  // a row that all others share fills everything
  struct Entry {
    Index row;
    int level;
  };

  void meet(Index col, int level) {
    int& now = level_[static_cast<std::size_t>(col)];
    if (now == none) {
      waiting_.push_back(col);
      std::push_heap(waiting_.begin(), waiting_.end(), std::greater<>());
      fill_idx.push_back(col);
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
    const auto begin = fill_idx.begin() + static_cast<std::ptrdiff_t>(fill_ptr.back());
    std::sort(begin, fill_idx.end());
    for (auto k = begin; k != fill_idx.end(); ++k) {
      int& level = level_[static_cast<std::size_t>(*k)];
      if (level < most_) columns_[static_cast<std::size_t>(*k)].push_back({i, level});
      level = none;
    }
    constexpr std::size_t often = 4096;  // rows, until memory is looked at again
    fill_ptr.push_back(static_cast<Offset>(fill_idx.size()));
    if (fill_ptr.size() % often == 0) {
      constexpr double of_an_entry = 64;  // bytes, with what is to come
      require_host_memory("ic", of_an_entry * static_cast<double>(fill_idx.size()));
    }
  }

  int most_;
  std::vector<std::vector<Entry>> columns_;
  std::vector<int> level_;      // [rows] of the entry in each column of the row at work; else none
  std::vector<Index> waiting_;  // columns of that row, the least first
};

/// The values of A at the places of L.
template <class T>
LowerPart<T> widened(LowerPart<T> part, const Ic0Structure& s) {
  LowerPart<T> wide;
  wide.row_ptr = s.fill_ptr;
  wide.col_idx = s.fill_idx;
  wide.values.assign(s.fill_idx.size(), T(0));
  wide.diagonal = std::move(part.diagonal);
  for (std::size_t i = 0; i + 1 < s.fill_ptr.size(); ++i) {
    Offset to = s.fill_ptr[i];
    for (Offset k = part.row_ptr[i]; k < part.row_ptr[i + 1]; ++k) {
      while (s.fill_idx[to] != part.col_idx[k]) ++to;
      wide.values[to] = part.values[k];
    }
  }
  return wide;
}

}  // namespace

template <class T>
Ic0Structure analyze_ic0(const HostCsr<T>& a, int threads, int level) {
  LowerPart<T> part = lower_part(a);
  Ic0Structure s;
  s.level = level;
  if (level > 0) {
    Fill fill(part.row_ptr, part.col_idx, level);
    s.fill_ptr = std::move(fill.fill_ptr);
    s.fill_idx = std::move(fill.fill_idx);
  }
  const std::vector<Offset>& row_ptr = level > 0 ? s.fill_ptr : part.row_ptr;
  const std::vector<Index>& col_idx = level > 0 ? s.fill_idx : part.col_idx;
  if (threads != 1) s.sweeps = arrange(row_ptr, col_idx, dependency_levels(row_ptr, col_idx));
  if (threads == 1 || (threads > 1 && !levels_pay(s.sweeps, threads))) {
    s.sweeps = arrange(row_ptr, col_idx, in_their_own_order(a.rows));
  }
  s.row_ptr = std::move(part.row_ptr);
  s.col_idx = std::move(part.col_idx);
  return s;
}

template <class T>
Ic0Factor<T> factorize_ic0(const Ic0Structure& structure, const HostCsr<T>& a) {
  LowerPart<T> part = lower_part(a);
  check_pattern(structure.name, structure.row_ptr, structure.col_idx, part.row_ptr, part.col_idx);
  check_diagonal(structure.name, part);
  if (structure.level > 0) part = widened(std::move(part), structure);
  const std::size_t rows = part.diagonal.size();
  std::vector<Real<T>> scale(rows);
  for (std::size_t i = 0; i < rows; ++i) scale[i] = 1 / std::sqrt(real_part(part.diagonal[i]));
  std::vector<T> work(rows, T(0));
  std::vector<Real<T>> pivots(rows);
  Ic0Factor<T> f;
  f.values.lower.resize(part.values.size());
  for (;; ++f.attempts) {
    const Index bad = factorize(part, scale, f.shift, work, f.values.lower, pivots);
    if (bad < 0) break;
    if (f.first_bad_row < 0) f.first_bad_row = bad;
    f.shift = f.shift == 0 ? smallest_ic0_shift : 2 * f.shift;
    if (f.shift > largest_ic0_shift) refuse(structure.name, f.first_bad_row);
  }
  // S^-1 L = (I + N) (S^-1 diag(L))
  f.values.diagonal.resize(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    f.values.diagonal[i] = pivots[i] * pivots[i] / scale[i] / scale[i];
    for (Offset k = part.row_ptr[i]; k < part.row_ptr[i + 1]; ++k) {
      const auto at = static_cast<std::size_t>(k);
      const auto j = static_cast<std::size_t>(part.col_idx[at]);
      f.values.lower[at] = f.values.lower[at] * (scale[j] / scale[i] / pivots[j]);
    }
  }
  return f;
}

SetupNote ic0_note(std::string_view name, double shift, int attempts, Index first_bad_row) {
  if (first_bad_row < 0) return {};
  return {{},
          fmt::format("{}: row {} has no positive pivot; A + {:.3g} diag(A) is factorized instead, "
                      "the shift that attempt {} found",
                      name, first_bad_row + 1, shift, attempts)};
}

#define KRYSOL_INSTANTIATE(T)                                     \
  template Ic0Structure analyze_ic0(const HostCsr<T>&, int, int); \
  template Ic0Factor<T> factorize_ic0(const Ic0Structure&, const HostCsr<T>&);
KRYSOL_FOR_EACH_ENTRY(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
