// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/coarsening/aggregation.hpp>

#include <algorithm>
#include <numeric>

#include <krysol/spmv/base/vector.hpp>

namespace krysol::multigrid {
namespace {

constexpr Index nobody = -1;

/// A thread's nodes. Their aggregates are counted from 0 in each block.
struct NodeBlock {
  const Strength& strength;
  Index first;
  Index last;

  /// visit(j) for each strong neighbour j of a node, of this block; returns their number in all.
  template <class Visit>
  int neighbours(Index node, const Visit& visit) const {
    int count = 0;
    for (Offset k = strength.row_ptr.data()[node]; k < strength.row_ptr.data()[node + 1]; ++k) {
      if (strength.weight.data()[k] == 0) continue;
      const Index j = strength.col_idx.data()[k];
      if (j >= first && j < last) visit(j);
      ++count;
    }
    return count;
  }

  /// Pass 1. Returns the number made.
  Index make(Index* of_node) const {
    Index made = 0;
    for (Index i = first; i < last; ++i) {
      if (of_node[i] != nobody) continue;
      bool all_free = true;
      const int count =
          neighbours(i, [&](Index j) { all_free = all_free && of_node[j] == nobody; });
      if (count == 0 || !all_free) continue;
      of_node[i] = made;
      neighbours(i, [&](Index j) { of_node[j] = made; });
      ++made;
    }
    return made;
  }
};

/// Some 64 at most, none so small that its border matters; one where neighbours' numbers are so far
/// apart that a tenth of them would be in other blocks.
EqualBlocks blocks_of(const Strength& s, Index nodes_of_block) {
  constexpr Index most = 64;
  constexpr double inside = 0.9;
  const std::int64_t count = std::clamp<Index>(s.nodes / nodes_of_block, 1, most);
  const EqualBlocks blocks{s.nodes, std::max<std::int64_t>(1, (s.nodes + count - 1) / count)};
  if (count == 1) return blocks;
  std::vector<Offset> strong(static_cast<std::size_t>(blocks.count()), 0);
  std::vector<Offset> here(strong.size(), 0);
  host_for("krysol::aggregate(blocks)", blocks.count(), [&](std::int64_t b) {
    const auto at = static_cast<std::size_t>(b);
    for (std::int64_t i = blocks.first(b); i < blocks.last(b); ++i) {
      for (Offset k = s.row_ptr.data()[i]; k < s.row_ptr.data()[i + 1]; ++k) {
        if (s.weight.data()[k] == 0) continue;
        const Index j = s.col_idx.data()[k];
        ++strong[at];
        if (j >= blocks.first(b) && j < blocks.last(b)) ++here[at];
      }
    }
  });
  const auto all = static_cast<double>(std::accumulate(strong.begin(), strong.end(), Offset{0}));
  const auto of_all = static_cast<double>(std::accumulate(here.begin(), here.end(), Offset{0}));
  return of_all >= inside * all ? blocks : EqualBlocks{s.nodes, s.nodes};
}

/// The aggregate of the strongest neighbour that is in one.
Index strongest(const Strength& s, std::int64_t node, const Index* of_node) {
  Index found = nobody;
  int weight = 0;
  for (Offset k = s.row_ptr.data()[node]; k < s.row_ptr.data()[node + 1]; ++k) {
    if (s.weight.data()[k] <= weight) continue;
    const Index of = of_node[s.col_idx.data()[k]];
    if (of == nobody) continue;
    weight = s.weight.data()[k];
    found = of;
  }
  return found;
}

}  // namespace

Aggregates aggregate(const Strength& strength, Index nodes_of_block) {
  const EqualBlocks blocks = blocks_of(strength, nodes_of_block);
  const auto count = static_cast<std::size_t>(blocks.count());
  std::vector<Index> made(count);
  const auto nodes = static_cast<std::size_t>(strength.nodes);
  const auto of_node = host_array<Index>("aggregates", nodes);
  Index* const after_1 = of_node.data();
  host_for("krysol::aggregate(1)", blocks.count(), [&](std::int64_t b) {
    const auto first = static_cast<Index>(blocks.first(b));
    const auto last = static_cast<Index>(blocks.last(b));
    std::fill(after_1 + first, after_1 + last, nobody);
    made[static_cast<std::size_t>(b)] = NodeBlock{strength, first, last}.make(after_1);
  });
  // They were counted from 0 in each block.
  std::vector<Index> first(count + 1, 0);
  for (std::size_t b = 0; b < count; ++b) first[b + 1] = first[b] + made[b];
  host_for("krysol::aggregate(number)", blocks.count(), [&](std::int64_t b) {
    for (std::int64_t i = blocks.first(b); i < blocks.last(b); ++i) {
      if (after_1[i] != nobody) after_1[i] += first[static_cast<std::size_t>(b)];
    }
  });
  Aggregates a;
  a.count = first[count];
  a.of_node = host_array<Index>("aggregates", nodes);
  host_for("krysol::aggregate(2)", strength.nodes, [&, of = a.of_node.data()](std::int64_t i) {
    of[i] = after_1[i] != nobody ? after_1[i] : strongest(strength, i, after_1);
  });
  return a;
}

}  // namespace krysol::multigrid
