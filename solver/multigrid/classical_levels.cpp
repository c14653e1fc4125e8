// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/multigrid/classical_levels.hpp>

#include <optional>
#include <utility>

#include <fmt/core.h>
#include <krysol/solver/coarsening/classical.hpp>
#include <krysol/solver/coarsening/sparse_product.hpp>

namespace krysol::multigrid {
namespace {

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
                         const FirstClassical& first, HostHierarchy<double>& h, Stopwatch& watch) {
  RowMemory<double> memory;
  std::optional<ClassicalStart> start;
  if (first) {
    start = first(a, h, h.seconds);
    watch.reset();  // it has counted its own time
  }
  if (!start) {
    start.emplace();
    start->unknown = unknowns_of(a.rows, h.block);
    start->level.a = a;
    start->level.block = h.block;
    start->level.scale = h.scale;
  }
  Unknowns unknown = std::move(start->unknown);
  h.near_null = h.block;
  h.coarsening = "classical";
  h.on_device = std::move(start->before);
  h.levels.push_back(std::move(start->level));
  for (;;) {
    HostLevel<double>& fine = h.levels.back();
    const std::size_t number = h.on_device.size() + h.levels.size();
    bound_by_row_sums(fine);
    watch.add_to(h.seconds.bounds);
    if (fine.a.rows <= options.coarsest) return;
    HostCsr<double> p = interpolation_of(fine.a, unknown, options.strength, memory);
    watch.add_to(h.seconds.prolongation);
    HostCsr<double> r = adjoint_of_rows(p);
    HostCsr<double> next = p.cols > 0 ? triple_product(r, fine.a, p, memory) : HostCsr<double>{};
    watch.add_to(h.seconds.product);
    if (static_cast<Index>(number) <= options.aggressive && p.cols > 1) {
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
    if (p.cols > least_classical_coarsening * fine.a.rows || number >= most_levels) {
      h.stalled = fmt::format("the next level would have {} of {} rows", p.cols, fine.a.rows);
      return;
    }
    HostLevel<double> level;
    level.scale = scale_of(next, number + 1, rounding_of_level, sizes_of_rows(r, fine.scale));
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
