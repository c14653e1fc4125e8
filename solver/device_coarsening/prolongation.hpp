// From the unknowns of a level to those of the finer one, in the memory of a device.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/coarsening/prolongation.hpp>
#include <krysol/solver/device_coarsening/aggregation.hpp>
#include <krysol/solver/device_coarsening/sparse_product.hpp>

namespace krysol::device_coarsening {

/// Vectors that A turns into almost nothing; see multigrid::NearNullSpace.
template <class S, class Exec>
struct NearNullSpace {
  Index count = 0;         // k
  Vector<S, Exec> values;  // [rows k] that of vector c in row i at k i + c
};

/// length[i + 1] := k where the node of row i is in an aggregate, else 0.
struct CountInAggregates {
  const Index* of_node;
  Index block;
  Index k;
  Offset* length;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    length[i + 1] = of_node[i / block] >= 0 ? k : 0;
  }
};

struct WriteMembership {
  const Index* of_node;
  const Offset* row_ptr;
  Index* col_idx;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    if (of_node[i] >= 0) col_idx[row_ptr[i]] = of_node[i];
  }
};

/// [nodes, aggregates] with an entry, without a value, where a node is in an aggregate.
template <class S, class Exec>
Csr<S, Exec> membership(const Exec& exec, const Aggregates<Exec>& aggregates) {
  const auto nodes = static_cast<Index>(aggregates.of_node.extent(0));
  const auto row_ptr = zeros<Offset>(exec, "membership.row_ptr", std::int64_t{nodes} + 1);
  for_rows("krysol::membership(count)", exec, nodes,
           CountInAggregates{aggregates.of_node.data(), 1, 1, row_ptr.data()});
  Csr<S, Exec> m = pattern_of<S>(nodes, aggregates.count, row_ptr, sum_lengths(exec, row_ptr));
  for_rows("krysol::membership", exec, nodes,
           WriteMembership{aggregates.of_node.data(), row_ptr.data(), m.col_idx.data()});
  return m;
}

/// Q R of the rows of each aggregate, in place: `q` by rows, `r` [k k] by rows for each.
/// Gram-Schmidt, twice.
template <class S>
struct Orthonormalize {
  const Offset* member_ptr;  // [aggregates + 1]
  const Index* member;       // nodes of each
  Index block;
  Index k;
  S* q;
  S* r;

  KOKKOS_INLINE_FUNCTION double norm(Offset begin, Offset end, Index c) const {
    double square = 0;
    for (Offset n = begin; n < end; ++n) {
      for (Index u = 0; u < block; ++u) square += abs_squared(entry(n, u, c));
    }
    return Kokkos::sqrt(square);
  }
  /// Of vector c in unknown u of the n-th of all members.
  KOKKOS_INLINE_FUNCTION S& entry(Offset n, Index u, Index c) const {
    return q[(Offset{member[n]} * block + u) * k + c];
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t g) const {
    constexpr double dependent = 1e-8;  // of what is left of a column
    const Offset begin = member_ptr[g];
    const Offset end = member_ptr[g + 1];
    S* const mine = r + g * k * k;
    for (Index c = 0; c < k * k; ++c) mine[c] = S(0);
    for (Index c = 0; c < k; ++c) {
      const double before = norm(begin, end, c);
      for (int pass = 0; pass < 2; ++pass) {
        for (Index d = 0; d < c; ++d) {
          S inner = S(0);
          for (Offset n = begin; n < end; ++n) {
            for (Index u = 0; u < block; ++u) inner += conjugate(entry(n, u, d)) * entry(n, u, c);
          }
          for (Offset n = begin; n < end; ++n) {
            for (Index u = 0; u < block; ++u) entry(n, u, c) -= inner * entry(n, u, d);
          }
          mine[d * k + c] += inner;
        }
      }
      const double left = norm(begin, end, c);
      const bool usable = left > dependent * before;
      const S by = from_double<S>(usable ? 1 / left : 0);
      for (Offset n = begin; n < end; ++n) {
        for (Index u = 0; u < block; ++u) entry(n, u, c) *= by;
      }
      mine[c * k + c] = from_double<S>(usable ? left : 0);
    }
  }
};

template <class S>
struct WriteTentative {
  const Index* of_node;
  Index block;
  Index k;
  const S* q;
  const Offset* row_ptr;
  Index* col_idx;
  S* values;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const Index g = of_node[i / block];
    if (g < 0) return;
    for (Index c = 0; c < k; ++c) {
      col_idx[row_ptr[i] + c] = g * k + c;
      values[row_ptr[i] + c] = q[i * k + c];
    }
  }
};

template <class S, class Exec>
struct Tentative {
  Csr<S, Exec> t;                 // [rows, k aggregates]
  NearNullSpace<S, Exec> coarse;  // Bc, for the rows of the next level
};

/// T and Bc as multigrid::tentative makes them.
template <class S, class Exec>
Tentative<S, Exec> tentative(const Exec& exec, const Aggregates<Exec>& aggregates, Index block,
                             const NearNullSpace<S, Exec>& b) {
  const Index k = b.count;
  const auto rows = static_cast<Index>(aggregates.of_node.extent(0)) * block;
  Tentative<S, Exec> out;
  out.coarse.count = k;
  out.coarse.values = uninitialized<S>(exec, "near_null", std::int64_t{aggregates.count} * k * k);
  const auto q = uninitialized<S>(exec, "tentative", std::int64_t{rows} * k);
  Kokkos::deep_copy(exec, q, b.values);
  const Csr<S, Exec> members = transposed_pattern(exec, membership<S>(exec, aggregates));
  for_rows("krysol::tentative(orthonormalize)", exec, aggregates.count,
           Orthonormalize<S>{members.row_ptr.data(), members.col_idx.data(), block, k, q.data(),
                             out.coarse.values.data()});
  const auto row_ptr = zeros<Offset>(exec, "tentative.row_ptr", std::int64_t{rows} + 1);
  for_rows("krysol::tentative(count)", exec, rows,
           CountInAggregates{aggregates.of_node.data(), block, k, row_ptr.data()});
  out.t = csr_of<S>(rows, aggregates.count * k, row_ptr, sum_lengths(exec, row_ptr));
  for_rows("krysol::tentative", exec, rows,
           WriteTentative<S>{aggregates.of_node.data(), block, k, q.data(), row_ptr.data(),
                             out.t.col_idx.data(), out.t.values.data()});
  return out;
}

/// diagonal[i] := what smoothing divides row i by; sum[i] := the sum of |F| / D in it;
/// length[i + 1] := its entries that smoothing takes. See multigrid::smoothed.
template <class S>
struct LumpWeakEntries {
  NodeGraph graph;
  const S* values;
  const std::uint8_t* weight;
  Index k;
  const S* b;
  double* diagonal;
  double* sum;
  Offset* length;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    constexpr double least = 0.1;  // of the diagonal of A
    const std::int64_t node = i / graph.block;
    const auto unknown = static_cast<Index>(i % graph.block);
    const Offset begin = graph.first(node);
    const S own = unknown < k ? b[i * k + unknown] : S(0);  // there may be fewer
    double d = 1;
    double strong = 0;
    Offset taken = 0;
    for (Offset n = begin; n < graph.first(node + 1); ++n) {
      const Index j = graph.neighbour(node, begin, n);
      if (weight[n] != 0 || j == node) {
        taken += graph.block;
        for (Index c = 0; c < graph.block; ++c) {
          const S v = values[graph.entry(node, n - begin, unknown, c)];
          if (j != node || c != unknown) strong += Kokkos::sqrt(abs_squared(v));
        }
      } else if (own != S(0)) {
        const S v = values[graph.entry(node, n - begin, unknown, unknown)];
        d += real_part(v * b[(Offset{j} * graph.block + unknown) * k + unknown] / own);
      }
    }
    if (!(d > least)) d = 1;
    diagonal[i] = d;
    sum[i] = 1 + strong / d;
    length[i + 1] = taken;
  }
};

/// Row i of I - omega D^-1 F.
template <class S>
struct WriteSmoother {
  NodeGraph graph;
  const S* values;
  const std::uint8_t* weight;
  const double* diagonal;
  double omega;
  const Offset* row_ptr;
  Index* col_idx;
  S* to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t node = i / graph.block;
    const auto unknown = static_cast<Index>(i % graph.block);
    const Offset begin = graph.first(node);
    const S by = from_double<S>(-omega / diagonal[i]);
    Offset place = row_ptr[i];
    for (Offset n = begin; n < graph.first(node + 1); ++n) {
      const Index j = graph.neighbour(node, begin, n);
      if (weight[n] == 0 && j != node) continue;
      for (Index c = 0; c < graph.block; ++c) {
        const bool own = j == node && c == unknown;
        col_idx[place] = j * graph.block + c;
        to[place++] =
            own ? from_double<S>(1 - omega) : by * values[graph.entry(node, n - begin, unknown, c)];
      }
    }
  }
};

/// P as multigrid::smoothed makes it, of the product of (I - omega D^-1 F) and T; entries that are
/// 0 are kept, so that nodes of the next level have full blocks. largest: a bound of the
/// eigenvalues of A, which has ones on its diagonal and full blocks.
template <class S, class Exec>
Csr<S, Exec> smoothed(const Exec& exec, const Csr<S, Exec>& a, Index block,
                      const Vector<std::uint8_t, Exec>& weight, double largest,
                      const NearNullSpace<S, Exec>& b, const Csr<S, Exec>& t) {
  const NodeGraph graph = graph_of(a, block);
  const auto diagonal = uninitialized<double>(exec, "smoothed.diagonal", a.rows);
  const auto sum = uninitialized<double>(exec, "smoothed.sum", a.rows);
  const auto row_ptr = zeros<Offset>(exec, "smoothed.row_ptr", std::int64_t{a.rows} + 1);
  for_rows("krysol::smoothed(lump)", exec, a.rows,
           LumpWeakEntries<S>{graph, a.values.data(), weight.data(), b.count, b.values.data(),
                              diagonal.data(), sum.data(), row_ptr.data()});
  const double most = largest_part<double>(exec, sum, ReductionWorkspace<Exec>{});
  const double bound = multigrid::bound_of_filtered(most, largest);
  Csr<S, Exec> smoother = csr_of<S>(a.rows, a.cols, row_ptr, sum_lengths(exec, row_ptr));
  for_rows("krysol::smoothed", exec, a.rows,
           WriteSmoother<S>{graph, a.values.data(), weight.data(), diagonal.data(), 4.0 / 3 / bound,
                            row_ptr.data(), smoother.col_idx.data(), smoother.values.data()});
  return product(exec, smoother, t, {block, block, b.count});
}

}  // namespace krysol::device_coarsening
