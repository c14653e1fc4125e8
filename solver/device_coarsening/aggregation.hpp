// Strength of connection and aggregates, in the memory of a device.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include <krysol/solver/device_coarsening/rows.hpp>

namespace krysol::device_coarsening {

/// The nodes of a matrix whose blocks are full: neighbour n of node I is in the columns
/// [block n, block n + block) of each of its rows.
struct NodeGraph {
  const Offset* row_ptr;  // of the matrix
  const Index* col_idx;
  Index block;

  KOKKOS_INLINE_FUNCTION Offset first(std::int64_t node) const {
    return row_ptr[node * block] / (Offset{block} * block);
  }
  /// Of the node whose neighbours begin at `begin`.
  KOKKOS_INLINE_FUNCTION Index neighbour(std::int64_t node, Offset begin, Offset k) const {
    return col_idx[row_ptr[node * block] + (k - begin) * block] / block;
  }
  /// Entry c of row r in neighbour n of the node, counted from 0.
  KOKKOS_INLINE_FUNCTION Offset entry(std::int64_t node, Offset n, Index r, Index c) const {
    return row_ptr[node * block + r] + n * block + c;
  }
};

template <class S, class Exec>
NodeGraph graph_of(const Csr<S, Exec>& a, Index block) {
  return {a.row_ptr.data(), a.col_idx.data(), block};
}

/// sum += 1 for a node whose rows do not all have the same full blocks of ascending columns.
struct CountUnevenNodes {
  const Offset* row_ptr;
  const Index* col_idx;
  Index block;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t node, Offset& sum) const {
    const Offset begin = row_ptr[node * block];
    const Offset length = row_ptr[node * block + 1] - begin;
    bool full = length % block == 0;
    for (Index r = 0; full && r < block; ++r) {
      const Offset mine = row_ptr[node * block + r];
      full = row_ptr[node * block + r + 1] - mine == length;
      for (Offset k = 0; full && k < length; ++k) {
        const Index c = col_idx[mine + k];
        full = c == col_idx[begin + k - k % block] / block * block + static_cast<Index>(k % block);
        if (k > 0) full = full && c > col_idx[mine + k - 1];
      }
    }
    sum += full ? 0 : 1;
  }
};

/// True where each node's rows have the same columns, ascending, in full blocks; of block 1, where
/// columns ascend.
template <class S, class Exec>
bool has_full_blocks(const Exec& exec, const Csr<S, Exec>& a, Index block) {
  Offset uneven = 0;
  if (a.rows % block != 0) return false;
  if (a.rows == 0) return true;
  Kokkos::parallel_reduce(
      "krysol::has_full_blocks",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, a.rows / block),
      CountUnevenNodes{a.row_ptr.data(), a.col_idx.data(), block}, uneven);
  return uneven == 0;
}

/// square[k] := |A_IJ|^2, in the Frobenius norm, of each block; largest[I] := the square root of
/// the largest of them but A_II.
template <class S>
struct BlockSquares {
  NodeGraph graph;
  const S* values;
  double* square;
  double* largest;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t node) const {
    const Offset begin = graph.first(node);
    double most = 0;
    for (Offset k = begin; k < graph.first(node + 1); ++k) {
      double sum = 0;
      for (Index r = 0; r < graph.block; ++r) {
        for (Index c = 0; c < graph.block; ++c) {
          sum += abs_squared(values[graph.entry(node, k - begin, r, c)]);
        }
      }
      square[k] = sum;
      if (graph.neighbour(node, begin, k) != node && sum > most) most = sum;
    }
    largest[node] = Kokkos::sqrt(most);
  }
};

/// weight[k] of each block, as in multigrid::Strength.
struct WeighBlocks {
  NodeGraph graph;
  const double* square;
  const double* largest;
  double theta;
  std::uint8_t* weight;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t node) const {
    const Offset begin = graph.first(node);
    for (Offset k = begin; k < graph.first(node + 1); ++k) {
      const Index j = graph.neighbour(node, begin, k);
      const double scale = largest[node] * largest[j];
      const double share = j != node && scale > 0 ? square[k] / scale : 0;
      const double of_255 = Kokkos::round(254 * Kokkos::sqrt(share));
      weight[k] = share > theta * theta
                      ? static_cast<std::uint8_t>(1 + (of_255 < 254 ? of_255 : 254))
                      : std::uint8_t{0};
    }
  }
};

/// [nnz / block^2] the weight of each block of A, as in multigrid::Strength; A with full blocks.
template <class S, class Exec>
Vector<std::uint8_t, Exec> strength(const Exec& exec, const Csr<S, Exec>& a, Index block,
                                    double theta) {
  const NodeGraph graph = graph_of(a, block);
  const Index nodes = a.rows / block;
  const Offset blocks = a.nnz() / (Offset{block} * block);
  const auto square = uninitialized<double>(exec, "strength.square", blocks);
  const auto largest = uninitialized<double>(exec, "strength.largest", nodes);
  auto weight = uninitialized<std::uint8_t>(exec, "strength.weight", blocks);
  for_rows("krysol::strength(largest)", exec, nodes,
           BlockSquares<S>{graph, a.values.data(), square.data(), largest.data()});
  for_rows("krysol::strength", exec, nodes,
           WeighBlocks{graph, square.data(), largest.data(), theta, weight.data()});
  return weight;
}

/// What is known of a node while an independent set is looked for: whether it is in the set, a
/// pseudo-random number, its own number, in this order of weight.
using NodeKey = std::uint64_t;
inline constexpr NodeKey out_of_set = 0;
inline constexpr NodeKey undecided = NodeKey{1} << 62;
inline constexpr NodeKey in_set = NodeKey{2} << 62;
inline constexpr NodeKey of_state = NodeKey{3} << 62;

/// Strong neighbours alone.
struct StrongGraph {
  NodeGraph graph;
  const std::uint8_t* weight;

  /// visit(j, weight) for each.
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void visit(std::int64_t node, const Visit& visit) const {
    const Offset begin = graph.first(node);
    const Offset end = graph.first(node + 1);
    for (Offset k = begin; k < end; ++k) {
      if (weight[k] != 0) visit(graph.neighbour(node, begin, k), weight[k]);
    }
  }
};

/// A node without strong neighbours is out.
struct FirstKeys {
  StrongGraph strong;
  NodeKey* key;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    bool alone = true;
    strong.visit(i, [&](Index, std::uint8_t) { alone = false; });
    auto hash = static_cast<std::uint32_t>(i) * 2654435769U;  // mixed as in MurmurHash3
    hash = (hash ^ (hash >> 16U)) * 0x85ebca6bU;
    hash = (hash ^ (hash >> 13U)) * 0xc2b2ae35U;
    hash ^= hash >> 16U;
    key[i] =
        (alone ? out_of_set : undecided) | (NodeKey{hash >> 2U} << 32U) | static_cast<NodeKey>(i);
  }
};

struct LargestKeyNearby {
  StrongGraph strong;
  const NodeKey* key;
  NodeKey* largest;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    NodeKey most = key[i];
    strong.visit(i, [&](Index j, std::uint8_t) { most = key[j] > most ? key[j] : most; });
    largest[i] = most;
  }
};

/// Decides on nodes by the largest key within a distance of two; sum: of those undecided after it.
struct Decide {
  const NodeKey* largest;
  NodeKey* key;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, Offset& sum) const {
    if ((key[i] & of_state) != undecided) return;
    if (largest[i] == key[i]) {
      key[i] = (key[i] & ~of_state) | in_set;
    } else if ((largest[i] & of_state) == in_set) {
      key[i] = (key[i] & ~of_state) | out_of_set;
    } else {
      sum += 1;
    }
  }
};

struct CountRoots {
  const NodeKey* key;
  Offset* length;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    length[i + 1] = (key[i] & of_state) == in_set ? 1 : 0;
  }
};

/// Nodes that are in no aggregate join that of the neighbour that they are most strongly connected
/// to, of those that are in one.
struct JoinStrongest {
  StrongGraph strong;
  const Index* from;
  Index* of_node;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    Index found = from[i];
    int most = found >= 0 ? 256 : 0;
    strong.visit(i, [&](Index j, std::uint8_t weight) {
      if (weight <= most || from[j] < 0) return;
      most = weight;
      found = from[j];
    });
    of_node[i] = found;
  }
};

template <class Exec>
struct Aggregates {
  Vector<Index, Exec> of_node;  // [nodes] from 0; -1: a node without strong neighbours is in none
  Index count = 0;
};

/// The nodes of a maximal independent set at a distance of two make an aggregate each with all of
/// their strong neighbours; each other node joins that of the neighbour it is most strongly
/// connected to. Nodes are taken in a pseudo-random order that hangs on their numbers, many at a
/// time; the aggregates are the same in each run (Bell, Dalton & Olson, SISC 34(4), 2012,
/// DOI 10.1137/110838844, algorithm 5). weight: see strength.
template <class Exec>
Aggregates<Exec> aggregate(const Exec& exec, const NodeGraph& graph, Index nodes,
                           const Vector<std::uint8_t, Exec>& weight) {
  Aggregates<Exec> a;
  const StrongGraph strong{graph, weight.data()};
  const auto key = uninitialized<NodeKey>(exec, "aggregates.key", nodes);
  const auto nearby = uninitialized<NodeKey>(exec, "aggregates.nearby", nodes);
  const auto largest = uninitialized<NodeKey>(exec, "aggregates.largest", nodes);
  a.of_node = uninitialized<Index>(exec, "aggregates", nodes);
  if (nodes == 0) return a;
  for_rows("krysol::aggregate(keys)", exec, nodes, FirstKeys{strong, key.data()});
  Offset left = nodes;
  // Each round decides on the undecided node of the largest key, at least.
  while (left > 0) {
    for_rows("krysol::aggregate(1)", exec, nodes,
             LargestKeyNearby{strong, key.data(), nearby.data()});
    for_rows("krysol::aggregate(2)", exec, nodes,
             LargestKeyNearby{strong, nearby.data(), largest.data()});
    left = 0;
    Kokkos::parallel_reduce(
        "krysol::aggregate(decide)",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, nodes),
        Decide{largest.data(), key.data()}, left);
  }
  const auto before = zeros<Offset>(exec, "aggregates.before", std::int64_t{nodes} + 1);
  for_rows("krysol::aggregate(roots)", exec, nodes, CountRoots{key.data(), before.data()});
  a.count = static_cast<Index>(sum_lengths(exec, before));
  const auto with_roots = uninitialized<Index>(exec, "aggregates.with_roots", nodes);
  // A root makes an aggregate; others are in none yet.
  for_rows("krysol::aggregate(roots)", exec, nodes, NumberCounted{before.data(), a.of_node.data()});
  for_rows("krysol::aggregate(join roots)", exec, nodes,
           JoinStrongest{strong, a.of_node.data(), with_roots.data()});
  for_rows("krysol::aggregate(join)", exec, nodes,
           JoinStrongest{strong, with_roots.data(), a.of_node.data()});
  return a;
}

}  // namespace krysol::device_coarsening
