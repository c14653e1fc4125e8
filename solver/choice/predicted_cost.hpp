// What preconditioners are expected to cost, before they are made.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/cholesky/elimination.hpp>

namespace krysol::choice {

/// Costs are bytes that all cores together move between memory and registers in the same time, so
/// that they can be compared with an iteration, whose bytes are known: those from caches count for
/// less. They are the same in each run on a machine, whatever else it does, and so is what follows
/// from them.
struct Cost {
  double setup = 0;
  double iteration = 0;
  double iterations = 0;
  double total() const { return setup + iteration * iterations; }
};

/// What costs depend on.
struct SystemSize {
  double rows = 0;
  double nnz = 0;
  double scalar_bytes = 8;
  double operator_bytes = 0;         // of the matrix in its format
  double positive_off_diagonal = 0;  // share of positive entries in the sum of |a_ij|, i != j
  bool on_host = true;               // vectors are; setups always
  int grid = 0;  // unknowns of a node where levels of multigrid are going to be grids
};

/// One iteration of CG with a preconditioner that moves `preconditioner_bytes`, or is fused.
double iteration_cost(const SystemSize& size, double preconditioner_bytes);

/// Algebraic multigrid. The iterations are a guess: some 20 where hardly any entry beside the
/// diagonal is positive, as those of discretized scalar equations are, else 60. Where levels are
/// grids 10, 24, and 12 for nodes of several unknowns.
Cost multigrid_cost(const SystemSize& size);

/// Finding the order and pattern of a Cholesky factorization.
double elimination_cost(const SystemSize& size);

/// The rest of it, once that is known.
Cost cholesky_cost(const SystemSize& size, const sparse_cholesky::Elimination& elimination);

/// So many multiplications with their additions, of a factorization.
double multiplications_cost(const SystemSize& size, double multiplications);

/// What has to be ahead for something of that cost to pay: max(cost - spent, 0.4 cost), less by
/// what was spent so far, because a solve that took so long is likelier to go on for longer than
/// predicted. (Over the residuals of 200 solves this is 1.23 times what hindsight takes, cost
/// itself 1.25; further than 1.3 times in 27 and 33 % of them.)
double price_of(double cost, double spent);

/// Entries of L that cost as much to compute as `cost`, if nothing else did.
double entries_worth(const SystemSize& size, double cost);

}  // namespace krysol::choice
