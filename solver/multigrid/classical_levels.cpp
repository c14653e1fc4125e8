// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/multigrid/classical_levels.hpp>

#include <algorithm>

#include <fmt/core.h>
#include <krysol/solver/coarsening/classical.hpp>
#include <krysol/solver/coarsening/sparse_product.hpp>

namespace krysol::multigrid {
namespace {

constexpr Index most_of_a_row = 4;  // entries of P

/// P of one coarsening; no columns where none is strongly connected to another. `unknown` becomes
/// that of the next level.
HostCsr<double> interpolation_of(const HostCsr<double>& a, Unknowns& unknown, double theta,
                                 RowMemory<double>& memory) {
  const HostArray<std::uint8_t> strong = strong_dependence(a, unknown, theta);
  const Splitting splitting = independent_sets(a, strong);
  HostCsr<double> p = extended_interpolation(a, unknown, strong, splitting, most_of_a_row, memory);
  if (!unknown.empty()) {
    Unknowns next(static_cast<std::size_t>(splitting.count));
    for (std::size_t i = 0; i < unknown.size(); ++i) {
      const Index c = splitting.coarse.data()[i];
      if (c >= 0) next[static_cast<std::size_t>(c)] = unknown[i];
    }
    unknown = std::move(next);
  }
  return p;
}

/// Of nodes whose rows stand one after the other.
Unknowns unknowns_of(Index rows, Index block) {
  if (block == 1) return {};
  Unknowns unknown(static_cast<std::size_t>(rows));
  for (Index i = 0; i < rows; ++i) {
    unknown[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(i % block);
  }
  return unknown;
}

}  // namespace

void coarsen_classically(const HostCsr<double>& a, const HierarchyOptions& options,
                         HostHierarchy<double>& h, Stopwatch& watch) {
  constexpr double least_coarsening = 0.9;  // rows of the next level over those of this
  constexpr double rounding = 1e-13;
  RowMemory<double> memory;
  Unknowns unknown = unknowns_of(a.rows, h.block);
  h.near_null = h.block;
  h.coarsening = "classical";
  h.levels.emplace_back();
  h.levels.back().a = a;
  h.levels.back().block = h.block;
  h.levels.back().scale = h.scale;
  for (;;) {
    HostLevel<double>& fine = h.levels.back();
    bound_by_row_sums(fine);
    watch.add_to(h.seconds.bounds);
    if (fine.a.rows <= options.coarsest) return;
    HostCsr<double> p = interpolation_of(fine.a, unknown, options.strength, memory);
    watch.add_to(h.seconds.prolongation);
    HostCsr<double> r = adjoint_of_rows(p);
    HostCsr<double> next = p.cols > 0 ? triple_product(r, fine.a, p, memory) : HostCsr<double>{};
    watch.add_to(h.seconds.product);
    if (static_cast<Index>(h.levels.size()) <= options.aggressive && p.cols > 1) {
      Unknowns between = unknown;
      const HostCsr<double> second = interpolation_of(next, between, options.strength, memory);
      if (second.cols > 0) {
        unknown = std::move(between);
        p = truncated(product(p, second, memory), most_of_a_row, memory);
        watch.add_to(h.seconds.prolongation);
        r = adjoint_of_rows(p);
        next = triple_product(r, fine.a, p, memory);
        watch.add_to(h.seconds.product);
      }
    }
    if (p.cols == 0) {
      h.stalled = "no unknown is strongly connected to another";
      return;
    }
    if (p.cols > least_coarsening * fine.a.rows || h.levels.size() == most_levels) {
      h.stalled = fmt::format("the next level would have {} of {} rows", p.cols, fine.a.rows);
      return;
    }
    HostLevel<double> level;
    level.scale = scale_of(next, h.levels.size() + 1, rounding, sizes_of_rows(r, fine.scale));
    level.a = std::move(next);
    // S_f^-1 P S_c, which is P between the scaled systems, and its adjoint.
    const auto of_rows = inverse_of(fine.scale);
    scale_entries(p, of_rows.data(), level.scale.data(), p.values.data());
    scale_entries(r, level.scale.data(), of_rows.data(), r.values.data());
    fine.p = std::move(p);
    fine.r = std::move(r);
    h.levels.push_back(std::move(level));
    watch.add_to(h.seconds.scaling);
  }
}

}  // namespace krysol::multigrid
