// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/multigrid/hierarchy.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/core.h>
#include <krysol/solver/coarsening/grid_modes.hpp>
#include <krysol/solver/coarsening/node_blocks.hpp>
#include <krysol/solver/coarsening/sparse_product.hpp>
#include <krysol/solver/multigrid/classical_levels.hpp>
#include <krysol/solver/multigrid/coarsest.hpp>
#include <krysol/solver/multigrid/grid_levels.hpp>
#include <krysol/solver/multigrid/largest_eigenvalue.hpp>
#include <krysol/solver/multigrid/level_scaling.hpp>

namespace krysol::multigrid {
namespace {

/// factor B in the unknowns of the scaled system; 0 for those that are out.
template <class S>
void divide_rows(double factor, const double* scale, NearNullSpace<S>& b) {
  const Index k = b.count;
  const auto rows = static_cast<std::int64_t>(b.values.extent(0)) / k;
  host_for("krysol::multigrid(near null)", rows, [=, v = b.values.data()](std::int64_t i) {
    const double by = scale[i] > 0 ? factor / scale[i] : 0;
    for (Index c = 0; c < k; ++c) v[i * k + c] *= from_double<S>(by);
  });
}

/// Rows a node: as asked for, as those know who gave vectors, or what the pattern shows.
template <class S>
Index block_of(const HostCsr<S>& a, Index asked, const NearNullVectors* near_null) {
  if (asked > 0 && a.rows % asked != 0) {
    throw std::invalid_argument(
        fmt::format("amg: nodes of {} rows do not make up a matrix of {}", asked, a.rows));
  }
  if (asked > 0) return asked;
  if (near_null != nullptr && near_null->block > 0) return near_null->block;
  return rows_of_node(a.row_ptr.data(), a.col_idx.data(), a.rows);
}

template <class S>
NearNullSpace<S> given(const NearNullVectors& v) {
  NearNullSpace<S> b;
  b.count = v.count;
  b.values = host_array<S>("near_null", v.values.size());
  host_for("krysol::multigrid(given)", static_cast<std::int64_t>(v.values.size()),
           [from = v.values.data(), to = b.values.data()](std::int64_t k) {
             to[k] = from_double<S>(from[k]);
           });
  return b;
}

template <class S>
void require_memory(const HostCsr<S>& a, Coarsening coarsening) {
  constexpr double of_the_matrix = 5;  // levels, products under way, the copy that is applied
  // Bytes a thread: places of an eighth of the columns; of all and of half of them.
  const double of_a_row = coarsening == Coarsening::classical ? 8 : 2;
  const double threads = Host{}.concurrency();
  require_host_memory("multigrid",
                      of_the_matrix * static_cast<double>(bytes(a)) + of_a_row * threads * a.rows);
}

/// Makes the levels by smoothed aggregation.
template <class S>
void coarsen_by_aggregates(const HostCsr<S>& a, const HierarchyOptions& options,
                           const FirstLevels<S>& first, HostHierarchy<S>& h, Stopwatch& watch) {
  RowMemory<S> memory;
  NearNullSpace<S> b =
      options.near_null ? given<S>(*options.near_null) : near_null_space(a, h.block);
  // Where couplings that are 0 are not stored, blocks are too empty to be seen; rotations are not.
  for (Index block = 2; block <= 3 && !options.near_null && options.block == 0 && h.block == 1;
       ++block) {
    if (auto of_nodes = with_rotations(a, block)) {
      b = std::move(*of_nodes);
      h.block = block;
    }
  }
  h.near_null = b.count;
  // As 1 at most, so that no square overflows.
  const double least = a.rows > 0 ? *std::min_element(h.scale.data(), h.scale.data() + a.rows) : 1;
  divide_rows(least, h.scale.data(), b);
  watch.add_to(h.seconds.scaling);
  if (first.aggregates) {
    first.aggregates(a, h, b);
    watch.reset();  // it has counted its own time
  }
  if (h.levels.empty()) {
    HostLevel<S>& finest = h.levels.emplace_back();
    finest.a = scaled_entries<S>(a, h.scale);
    finest.block = h.block;
  }
  Index block = h.levels.back().block;
  watch.add_to(h.seconds.scaling);
  for (;;) {
    HostLevel<S>& fine = h.levels.back();
    const std::size_t level_number = h.on_device.size() + h.levels.size();
    fine.block = block;
    fine.largest = largest_eigenvalue(fine.a);
    watch.add_to(h.seconds.bounds);
    if (fine.a.rows <= options.coarsest) break;
    const Strength strength = strong_connections(fine.a, block, options.strength);
    watch.add_to(h.seconds.strength);
    const Aggregates aggregates = aggregate(strength);
    watch.add_to(h.seconds.aggregation);
    if (aggregates.count == 0) {
      h.stalled = "no unknown is strongly connected to another";
      break;
    }
    const double rows = static_cast<double>(aggregates.count) * b.count;
    if (rows > least_coarsening_of_aggregates * fine.a.rows || level_number >= most_levels) {
      h.stalled = fmt::format("the next level would have {:.0f} of {} rows", rows, fine.a.rows);
      break;
    }
    Tentative<S> t = tentative(aggregates, block, b);
    fine.p = smoothed(fine.a, strength, fine.largest, aggregates, b, t, memory);
    watch.add_to(h.seconds.prolongation);
    fine.r = adjoint_of_rows(fine.p);
    HostLevel<S> next;
    next.a = triple_product(fine.r, fine.a, fine.p, memory);
    watch.add_to(h.seconds.product);
    const HostArray<double> scale = scale_of(next.a, level_number + 1, rounding_of_level);
    scale_entries(fine.p, nullptr, scale.data(), fine.p.values.data());
    scale_entries(fine.r, scale.data(), nullptr, fine.r.values.data());
    scale_entries(next.a, scale.data(), scale.data(), next.a.values.data());
    next.unit = scale;
    b = std::move(t.coarse);
    divide_rows(1, scale.data(), b);
    block = b.count;
    h.levels.push_back(std::move(next));
    watch.add_to(h.seconds.scaling);
  }
}

}  // namespace

template <class S>
HostHierarchy<S> make_hierarchy(const HostCsr<S>& a, const HierarchyOptions& options,
                                const FirstLevels<S>& first) {
  if (a.rows != a.cols) {
    throw std::invalid_argument(
        fmt::format("amg: a matrix of {} x {}, which is not square", a.rows, a.cols));
  }
  require_memory(a, options.coarsening);
  if (options.coarsening == Coarsening::classical && options.near_null) {
    throw std::invalid_argument(
        "amg: coarsening=classical holds constants alone, and would ignore near-null vectors");
  }
  HostHierarchy<S> h;
  Stopwatch watch;
  if (options.near_null) check_near_null(*options.near_null, a.rows);
  h.block = block_of(a, options.block, options.near_null.get());
  h.scale = scale_of(a, 1, 0);
  watch.add_to(h.seconds.scaling);
  bool done = false;
  if constexpr (!is_complex<S>) {
    if (options.coarsening == Coarsening::classical) {
      coarsen_classically(a, options, first.classical, h, watch);
      done = true;
    } else {
      done = options.coarsening == Coarsening::automatic &&
             coarsen_grids(a, options, first.grids, h, watch);
    }
  }
  if (!done) coarsen_by_aggregates(a, options, first, h, watch);
  invert_last(h, options.coarsest);
  watch.add_to(h.seconds.coarsest);
  return h;
}

template <class S>
void bound_by_row_sums(HostLevel<S>& level) {
  const double sum = largest_row_sum(level.a, level.scale);
  level.largest = std::max(sum, 1.0);
  level.far_bound = sum > near_row_sum;
}

template <class S>
void invert_last(HostHierarchy<S>& h, Index coarsest) {
  constexpr Index exact = 500;
  const HostLevel<S>& last = h.levels.back();
  if (last.a.rows == 0 || last.a.rows > std::max(coarsest, exact)) return;
  CoarsestInverse<S> made = coarsest_inverse(scaled_entries<S>(last.a, last.scale));
  h.inverse = std::move(made.inverse);
  h.null_space = made.null_space;
}

template void bound_by_row_sums(HostLevel<double>&);
template void bound_by_row_sums(HostLevel<Kokkos::complex<double>>&);
template void invert_last(HostHierarchy<double>&, Index);
template void invert_last(HostHierarchy<Kokkos::complex<double>>&, Index);
template HostHierarchy<double> make_hierarchy(const HostCsr<double>&, const HierarchyOptions&,
                                              const FirstLevels<double>&);
template HostHierarchy<Kokkos::complex<double>> make_hierarchy(
    const HostCsr<Kokkos::complex<double>>&, const HierarchyOptions&,
    const FirstLevels<Kokkos::complex<double>>&);

}  // namespace krysol::multigrid
