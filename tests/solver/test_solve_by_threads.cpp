// krysol::solve and krysol::Solver called by several host threads at once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include <krysol/krysol.hpp>
#include "problems.hpp"
#include "solving.hpp"
#include "spaces.hpp"

namespace {

using krysol_tests::grid;
using krysol_tests::poisson2d;
using krysol_tests::random_vector;

TEST(Solve, ThreadsShareASolver) {
  if (krysol_tests::launched_by_one_thread<Kokkos::DefaultExecutionSpace>) {
    GTEST_SKIP() << "kernels of this space are one host thread's";
  }
  const auto a = grid();
  for (const char* precond :
       {"jacobi", "ic0", "ssor", "amg:coarsest=20", "amg:coarsest=20,smoother=gauss-seidel"}) {
    krysol::SolveOptions o;
    o.preconditioner = precond;
    const krysol::Solver solver(a, o);
    const auto n = static_cast<std::size_t>(a.rows);
    std::vector<std::vector<double>> expected(4, std::vector<double>(n));
    std::vector<std::vector<double>> x(4, std::vector<double>(n));
    for (std::size_t t = 0; t < 4; ++t) {
      EXPECT_TRUE(solver.solve(random_vector<double>(n, t), expected[t]).converged());
    }
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] { solver.solve(random_vector<double>(n, t), x[t]); });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(x, expected) << precond;
  }
}

TEST(Solve, EightThreadsSolveEightSystems) {
  if (krysol_tests::launched_by_one_thread<Kokkos::DefaultExecutionSpace>) {
    GTEST_SKIP() << "kernels of this space are one host thread's";
  }
  std::vector<std::vector<double>> expected(8);
  std::vector<std::vector<double>> x(8);
  std::vector<krysol::SolveResult> results(8);
  const auto solve = [](std::size_t t, std::vector<double>& to) {
    const auto a = krysol::to_csr(poisson2d(static_cast<krysol::Index>(20 + t), 30)).matrix;
    to.assign(static_cast<std::size_t>(a.rows), 0.0);
    krysol::SolveOptions o;
    o.preconditioner = t % 2 == 0 ? "jacobi" : "ic0";
    o.order = t % 3 == 0 ? "rcm" : "none";
    return krysol::solve(a, random_vector<double>(to.size(), t), to, o);
  };
  for (std::size_t t = 0; t < 8; ++t) EXPECT_TRUE(solve(t, expected[t]).converged());
  for (int round = 0; round < 3; ++round) {
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] { results[t] = solve(t, x[t]); });
    }
    for (std::thread& thread : threads) thread.join();
    for (std::size_t t = 0; t < 8; ++t) {
      EXPECT_EQ(results[t].status, krysol::Status::converged) << t << ": " << results[t].advice;
      EXPECT_EQ(x[t], expected[t]) << t;
    }
  }
}

}  // namespace
