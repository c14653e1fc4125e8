// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/precond/ic0.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>
#include <krysol/solver/precond/ic_fill.hpp>
#include <krysol/spmv/base/finite.hpp>
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

/// The values of A at the places of L: those that L has not are left out.
template <class T>
LowerPart<T> at_places(LowerPart<T> part, const FillPattern& l) {
  LowerPart<T> out;
  out.row_ptr = l.row_ptr;
  out.col_idx = l.col_idx;
  out.values.assign(l.col_idx.size(), T(0));
  out.diagonal = std::move(part.diagonal);
  for (std::size_t i = 0; i + 1 < l.row_ptr.size(); ++i) {
    Offset to = l.row_ptr[i];
    const Offset end = l.row_ptr[i + 1];
    for (Offset k = part.row_ptr[i]; k < part.row_ptr[i + 1]; ++k) {
      while (to < end && l.col_idx[to] < part.col_idx[k]) ++to;
      if (to < end && l.col_idx[to] == part.col_idx[k]) out.values[to] = part.values[k];
    }
  }
  return out;
}

}  // namespace

template <class T>
Ic0Structure analyze_ic0(const HostCsr<T>& a, int threads, const FillRule& rule) {
  LowerPart<T> part = lower_part(a);
  Ic0Structure s;
  s.rule = rule;
  if (rule.threshold > 0) {
    check_diagonal("ic", part);
    s.fill = fill_above(part, rule.threshold);
  } else if (rule.level > 0) {
    s.fill = fill_of_levels(part.row_ptr, part.col_idx, rule.level);
  }
  const std::vector<Offset>& row_ptr = rule.fills() ? s.fill.row_ptr : part.row_ptr;
  const std::vector<Index>& col_idx = rule.fills() ? s.fill.col_idx : part.col_idx;
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
  if (structure.rule.fills()) part = at_places(std::move(part), structure.fill);
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

#define KRYSOL_INSTANTIATE(T)                                                 \
  template Ic0Structure analyze_ic0(const HostCsr<T>&, int, const FillRule&); \
  template Ic0Factor<T> factorize_ic0(const Ic0Structure&, const HostCsr<T>&);
KRYSOL_FOR_EACH_ENTRY(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
