// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/multigrid/hierarchy.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/core.h>
#include <krysol/solver/multigrid/coarsest.hpp>
#include <krysol/solver/multigrid/grid_modes.hpp>
#include <krysol/solver/multigrid/largest_eigenvalue.hpp>
#include <krysol/solver/multigrid/node_blocks.hpp>
#include <krysol/solver/multigrid/sparse_product.hpp>
#include <krysol/solver/precond/jacobi.hpp>
#include <krysol/spmv/base/finite.hpp>

namespace krysol::multigrid {
namespace {

/// Adds the time since it was made, or last asked, to a number of seconds.
class Stopwatch {
 public:
  void add_to(double& seconds) {
    seconds += timer_.seconds();
    timer_.reset();
  }

 private:
  Kokkos::Timer timer_;
};

/// 1 / sqrt(a(i,i)). Below the first level, where A = P'BP with columns of P of length 1 about, a
/// diagonal entry may be what rounding left of 0: an aggregate that is a component by itself, or a
/// column of P that was 0. It is scaled by 0, which takes the unknown out of the levels.
template <class S>
HostArray<double> scale_of(const HostCsr<S>& a, std::size_t level) {
  constexpr std::int64_t step = 4096;
  constexpr double rounding = 1e-13;
  const EqualBlocks pieces{a.rows, step};
  std::vector<Index> bad(static_cast<std::size_t>(pieces.count()), -1);
  auto scale = host_array<double>("multigrid.scale", static_cast<std::size_t>(a.rows));
  host_for("krysol::multigrid(scale)", pieces.count(), [&](std::int64_t p) {
    Index& first = bad[static_cast<std::size_t>(p)];
    for (std::int64_t i = pieces.first(p); i < pieces.last(p); ++i) {
      double d = 0;
      for (Offset k = a.row_ptr.data()[i]; k < a.row_ptr.data()[i + 1]; ++k) {
        if (a.col_idx.data()[k] == i) d += real_part(a.values.data()[k]);
      }
      const bool nothing = level > 1 && std::abs(d) <= rounding;
      const double s = nothing ? 0 : 1 / std::sqrt(d);
      scale.data()[i] = s;
      if (first < 0 && !nothing && !(is_finite(s) && s > 0)) first = static_cast<Index>(i);
    }
  });
  for (const Index i : bad) {
    if (i < 0) continue;
    throw PreconditionerRefusal(
        level == 1 ? fmt::format("amg: row {} has {:.6g} on the diagonal", i + 1,
                                 real_part(diagonal_entry(a, i)))
                   : fmt::format("amg: row {} of level {} has {:.6g} on the diagonal", i + 1, level,
                                 real_part(diagonal_entry(a, i))),
        level == 1 ? i : -1);
  }
  return scale;
}

/// to := diag(left) A diag(right); null: 1. `to` may be the values of A.
template <class S>
void scale_entries(const HostCsr<S>& a, const double* left, const double* right, S* to) {
  const Index* const col_idx = a.col_idx.data();
  host_for("krysol::multigrid(scaled)", a.rows, [=, &a](std::int64_t i) {
    const double l = left != nullptr ? left[i] : 1;
    for (Offset k = a.row_ptr.data()[i]; k < a.row_ptr.data()[i + 1]; ++k) {
      const double r = right != nullptr ? right[col_idx[k]] : 1;
      to[k] = from_double<S>(l * r) * a.values.data()[k];
    }
  });
}

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

/// Rows a node: as asked for, or what the pattern shows.
template <class S>
Index block_of(const HostCsr<S>& a, Index asked) {
  if (asked > 0 && a.rows % asked != 0) {
    throw std::invalid_argument(
        fmt::format("amg: nodes of {} rows do not make up a matrix of {}", asked, a.rows));
  }
  if (asked > 0) return asked;
  return rows_of_node(a.row_ptr.data(), a.col_idx.data(), a.rows);
}

template <class S>
void require_memory(const HostCsr<S>& a) {
  constexpr double of_the_matrix = 3;  // levels, products under way, the copy that is applied
  constexpr double of_a_row = 2;       // bytes a thread: places of an eighth of the columns
  const double threads = Host{}.concurrency();
  require_host_memory("multigrid",
                      of_the_matrix * static_cast<double>(bytes(a)) + of_a_row * threads * a.rows);
}

}  // namespace

template <class S>
HostHierarchy<S> make_hierarchy(const HostCsr<S>& a, const HierarchyOptions& options) {
  constexpr std::size_t most_levels = 30;
  constexpr double least_coarsening = 0.8;  // rows of the next level over those of this
  constexpr Index exact = 500;              // rows, where coarsening has stalled
  if (a.rows != a.cols) {
    throw std::invalid_argument(
        fmt::format("amg: a matrix of {} x {}, which is not square", a.rows, a.cols));
  }
  require_memory(a);
  HostHierarchy<S> h;
  RowMemory<S> memory;
  Stopwatch watch;
  h.block = block_of(a, options.block);
  h.scale = scale_of(a, 1);
  HostCsr<S>& first = h.levels.emplace_back().a;
  first = a;
  first.values = host_array<S>("multigrid.values", static_cast<std::size_t>(a.nnz()));
  scale_entries(a, h.scale.data(), h.scale.data(), first.values.data());
  NearNullSpace<S> b = near_null_space(a, h.block);
  // Where couplings that are 0 are not stored, blocks are too empty to be seen; rotations are not.
  for (Index block = 2; block <= 3 && options.block == 0 && h.block == 1; ++block) {
    if (auto of_nodes = with_rotations(a, block)) {
      b = std::move(*of_nodes);
      h.block = block;
    }
  }
  h.near_null = b.count;
  // As 1 at most, so that no square overflows.
  const double least = a.rows > 0 ? *std::min_element(h.scale.data(), h.scale.data() + a.rows) : 1;
  divide_rows(least, h.scale.data(), b);
  Index block = h.block;
  watch.add_to(h.seconds.scaling);
  for (;;) {
    HostLevel<S>& fine = h.levels.back();
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
    if (rows > least_coarsening * fine.a.rows || h.levels.size() == most_levels) {
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
    const HostArray<double> scale = scale_of(next.a, h.levels.size() + 1);
    scale_entries(fine.p, nullptr, scale.data(), fine.p.values.data());
    scale_entries(fine.r, scale.data(), nullptr, fine.r.values.data());
    scale_entries(next.a, scale.data(), scale.data(), next.a.values.data());
    b = std::move(t.coarse);
    divide_rows(1, scale.data(), b);
    block = b.count;
    h.levels.push_back(std::move(next));
    watch.add_to(h.seconds.scaling);
  }
  const HostCsr<S>& last = h.levels.back().a;
  if (last.rows > 0 && last.rows <= std::max(options.coarsest, exact)) {
    CoarsestInverse<S> made = coarsest_inverse(last);
    h.inverse = std::move(made.inverse);
    h.null_space = made.null_space;
  }
  watch.add_to(h.seconds.coarsest);
  return h;
}

template HostHierarchy<double> make_hierarchy(const HostCsr<double>&, const HierarchyOptions&);
template HostHierarchy<Kokkos::complex<double>> make_hierarchy(
    const HostCsr<Kokkos::complex<double>>&, const HierarchyOptions&);

}  // namespace krysol::multigrid
