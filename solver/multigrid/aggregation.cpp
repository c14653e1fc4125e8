// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/multigrid/aggregation.hpp>

#include <algorithm>

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

  /// Pass 1 (whole: none of the neighbours may be taken) and pass 3. Returns the number made.
  Index make(bool whole, Index* of_node) const {
    Index made = 0;
    for (Index i = first; i < last; ++i) {
      if (of_node[i] != nobody) continue;
      bool all_free = true;
      const int count =
          neighbours(i, [&](Index j) { all_free = all_free && of_node[j] == nobody; });
      if (count == 0 || (whole && !all_free)) continue;
      of_node[i] = made;
      neighbours(i, [&](Index j) {
        if (of_node[j] == nobody) of_node[j] = made;
      });
      ++made;
    }
    return made;
  }
};

/// Blocks of pass 1 and 3: some 64 at most, none so small that its border matters.
EqualBlocks blocks_of(Index nodes) {
  constexpr Index smallest = 65536;
  constexpr Index most = 64;
  const Index count = std::clamp<Index>(nodes / smallest, 1, most);
  return {nodes, std::max<std::int64_t>(1, (nodes + count - 1) / count)};
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

Aggregates aggregate(const Strength& strength) {
  const EqualBlocks blocks = blocks_of(strength.nodes);
  const auto block = [&](std::int64_t b) {
    return NodeBlock{strength, static_cast<Index>(blocks.first(b)),
                     static_cast<Index>(blocks.last(b))};
  };
  const auto count = static_cast<std::size_t>(blocks.count());
  std::vector<Index> made(count);
  std::vector<Index> first(count + 1, 0);  // of each block's aggregates
  const auto nodes = static_cast<std::size_t>(strength.nodes);
  const auto of_node = host_array<Index>("aggregates", nodes);
  Index* const after_1 = of_node.data();
  const auto number = [&](Index from) {
    first[0] = from;
    for (std::size_t b = 0; b < count; ++b) first[b + 1] = first[b] + made[b];
  };
  host_for("krysol::aggregate(1)", blocks.count(), [&](std::int64_t b) {
    std::fill(after_1 + blocks.first(b), after_1 + blocks.last(b), nobody);
    made[static_cast<std::size_t>(b)] = block(b).make(true, after_1);
  });
  number(0);
  host_for("krysol::aggregate(number)", blocks.count(), [&](std::int64_t b) {
    for (std::int64_t i = blocks.first(b); i < blocks.last(b); ++i) {
      if (after_1[i] != nobody) after_1[i] += first[static_cast<std::size_t>(b)];
    }
  });
  Aggregates a;
  a.of_node = host_array<Index>("aggregates", nodes);
  Index* const of = a.of_node.data();
  host_for("krysol::aggregate(2)", strength.nodes, [&](std::int64_t i) {
    of[i] = after_1[i] != nobody ? after_1[i] : strongest(strength, i, after_1);
  });
  // Those of pass 3 are counted from 0 in each block, and then from where those of pass 1 end.
  const Index roots = first[count];
  std::copy_n(of, nodes, after_1);
  host_for("krysol::aggregate(3)", blocks.count(),
           [&](std::int64_t b) { made[static_cast<std::size_t>(b)] = block(b).make(false, of); });
  number(roots);
  host_for("krysol::aggregate(number 3)", blocks.count(), [&](std::int64_t b) {
    for (std::int64_t i = blocks.first(b); i < blocks.last(b); ++i) {
      if (after_1[i] == nobody && of[i] != nobody) of[i] += first[static_cast<std::size_t>(b)];
    }
  });
  a.count = first[count];
  return a;
}

}  // namespace krysol::multigrid
