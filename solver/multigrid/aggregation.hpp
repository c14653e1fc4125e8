// Nodes in disjoint groups, each of which becomes one node of the next level.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/multigrid/strength.hpp>

namespace krysol::multigrid {

struct Aggregates {
  HostArray<Index> of_node;  // [nodes] from 0; -1: a node without strong neighbours is in none
  Index count = 0;
};

/// In three passes over the nodes in their order: (1) a node none of whose strong neighbours is in
/// an aggregate makes one with all of them; (2) a node that is left joins the aggregate of pass 1
/// that it is most strongly connected to; (3) what is left makes aggregates with its neighbours.
/// Passes 1 and 3 are done in blocks of nodes by several threads, whose size depends on the number
/// of nodes alone, so the aggregates do not depend on the threads; neighbours in other blocks are
/// not looked at there. Vanek, Mandel & Brezina 1996, section 5.1.
Aggregates aggregate(const Strength& strength);

}  // namespace krysol::multigrid
