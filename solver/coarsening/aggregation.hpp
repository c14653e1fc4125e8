// Nodes in disjoint groups, each of which becomes one node of the next level.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/coarsening/strength.hpp>

namespace krysol::multigrid {

struct Aggregates {
  HostArray<Index> of_node;  // [nodes] from 0; -1: a node without strong neighbours is in none
  Index count = 0;
};

/// In two passes over the nodes: (1) in their order, a node none of whose strong neighbours is in
/// an aggregate makes one with all of them; (2) a node that is left has such neighbours, and joins
/// the aggregate of the one that it is most strongly connected to. Pass 1 is done by several
/// threads in blocks of nodes, whose number depends on that of the nodes alone, so the aggregates
/// do not depend on the threads; neighbours in other blocks are not looked at there. Vanek, Mandel
/// & Brezina 1996, section 5.1. nodes_of_block: the fewest nodes of a block.
Aggregates aggregate(const Strength& strength, Index nodes_of_block = 65536);

}  // namespace krysol::multigrid
