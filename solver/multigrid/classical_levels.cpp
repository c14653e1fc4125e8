// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/multigrid/classical_levels.hpp>

#include <algorithm>

#include <fmt/core.h>
#include <krysol/solver/coarsening/classical.hpp>
#include <krysol/solver/coarsening/sparse_product.hpp>
#include <krysol/solver/multigrid/largest_eigenvalue.hpp>

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

/// S_f^-1 P S_c, which is P between the scaled systems; a row whose scale is 0 has no part in them.
HostCsr<double> between_scaled(HostCsr<double> p, const HostArray<double>& fine,
                               const HostArray<double>& coarse) {
  const auto inverse = host_array<double>("classical.inverse", fine.extent(0));
  host_for("krysol::classical(inverse)", static_cast<std::int64_t>(fine.extent(0)),
           [from = fine.data(), to = inverse.data()](std::int64_t i) {
             to[i] = from[i] > 0 ? 1 / from[i] : 0;
           });
  scale_entries(p, inverse.data(), coarse.data(), p.values.data());
  return p;
}

/// The sums of R(c, i)^2 / S_i^2, which the diagonal of R A R' is made of but for cancellation.
HostArray<double> sizes_of(const HostCsr<double>& r, const HostArray<double>& scale) {
  auto size = host_array<double>("classical.size", static_cast<std::size_t>(r.rows));
  host_for("krysol::classical(size)", r.rows, [&, to = size.data()](std::int64_t c) {
    double sum = 0;
    for (Offset k = r.row_ptr.data()[c]; k < r.row_ptr.data()[c + 1]; ++k) {
      const double s = scale.data()[r.col_idx.data()[k]];
      const double v = r.values.data()[k];
      if (s > 0) sum += v * v / s / s;
    }
    to[c] = sum;
  });
  return size;
}

}  // namespace

void coarsen_classically(const HostCsr<double>& a, const HierarchyOptions& options,
                         HostHierarchy<double>& h, Stopwatch& watch) {
  constexpr std::size_t most_levels = 30;
  constexpr double least_coarsening = 0.9;  // rows of the next level over those of this
  constexpr double rounding = 1e-13;
  RowMemory<double> memory;
  Unknowns unknown = unknowns_of(a.rows, h.block);
  h.near_null = h.block;
  h.coarsening = "classical";
  h.levels.emplace_back();
  h.levels.back().a = a;
  h.levels.back().scale = h.scale;
  for (;;) {
    HostLevel<double>& fine = h.levels.back();
    const double sum = largest_row_sum(fine.a, fine.scale);
    fine.largest = std::max(sum, 1.0);
    fine.far_bound = sum > near_row_sum;
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
    level.scale = scale_of(next, h.levels.size() + 1, rounding, sizes_of(r, fine.scale));
    level.a = std::move(next);
    fine.p = between_scaled(std::move(p), fine.scale, level.scale);
    fine.r = adjoint_of_rows(fine.p);
    h.levels.push_back(std::move(level));
    watch.add_to(h.seconds.scaling);
  }
}

}  // namespace krysol::multigrid
