// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/precond/ssor.hpp>

#include <fmt/core.h>
#include <krysol/solver/precond/colours.hpp>
#include <krysol/spmv/base/spaces.hpp>

namespace krysol {

void check_ssor_weight(double w) {
  constexpr double least = 1e-6;  // nearer to an end M is D / (w (2 - w)), and little else
  if (w >= least && w <= 2 - least) return;
  throw std::invalid_argument(
      fmt::format("ssor: a weight of {}; it must be between 0 and 2, by {} at least", w, least));
}

template <class T>
SsorStructure analyze_ssor(const HostCsr<T>& a) {
  if (a.rows != a.cols) {
    throw std::invalid_argument(fmt::format("ssor: A must be square, not {} x {}", a.rows, a.cols));
  }
  SsorStructure s;
  s.colour = greedy_colours(a);
  LowerPart<T> part = lower_part(a, s.colour);
  s.sweeps = arrange(part.row_ptr, part.col_idx, order_by_level(s.colour));
  s.row_ptr = std::move(part.row_ptr);
  s.col_idx = std::move(part.col_idx);
  return s;
}

template <class T>
FactorValues<T> weigh_ssor(const SsorStructure& structure, const HostCsr<T>& a, double w) {
  if (structure.colour.size() != static_cast<std::size_t>(a.rows)) {
    throw std::invalid_argument(fmt::format(
        "ssor: a matrix of {} rows where one of {} was analysed", a.rows, structure.colour.size()));
  }
  LowerPart<T> part = lower_part(a, structure.colour);
  if (part.tied_row >= 0) {
    throw std::invalid_argument(
        fmt::format("ssor: row {} has nonzeros at other places than when the matrix was analysed",
                    part.tied_row + 1));
  }
  check_pattern("ssor", structure.row_ptr, structure.col_idx, part.row_ptr, part.col_idx);
  check_diagonal("ssor", part);
  using R = Real<T>;
  const auto weight = static_cast<R>(w);
  FactorValues<T> f;
  f.lower = std::move(part.values);
  for (std::size_t k = 0; k < f.lower.size(); ++k) {
    const R d = real_part(part.diagonal[static_cast<std::size_t>(part.col_idx[k])]);
    f.lower[k] = f.lower[k] * (weight / d);
  }
  f.diagonal.reserve(part.diagonal.size());
  for (const T& d : part.diagonal) f.diagonal.push_back(real_part(d) / (weight * (2 - weight)));
  return f;
}

#define KRYSOL_INSTANTIATE(T)                             \
  template SsorStructure analyze_ssor(const HostCsr<T>&); \
  template FactorValues<T> weigh_ssor(const SsorStructure&, const HostCsr<T>&, double);
KRYSOL_FOR_EACH_ENTRY(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
