// The bar that ic0 is held to, over the positive definite matrices of a local collection.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_paths.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <krysol/io/read.hpp>
#include <krysol/solver/registry.hpp>
#include <krysol/spmv/select/formats.hpp>

namespace krysol {
namespace {

namespace fs = std::filesystem;

struct Counts {
  bool solved = false;  // converged, or stopped at attainable accuracy
  std::int64_t iterations = 0;
};

/// CG on A x = A ones from x = 0.
template <class T>
Counts solve_with(const std::string& precond, const Triplets<T>& entries) {
  using S = DeviceScalar<T>;
  using Exec = Kokkos::DefaultExecutionSpace;
  const Exec exec{};
  const HostCsr<S> a = to_csr(entries).matrix;
  const auto op = make_operator<S, Exec>("csr", a);
  const auto made = make_preconditioner<S, Exec>(precond, a);
  EXPECT_EQ(made.refusal, "");
  const auto rows = static_cast<std::size_t>(a.rows);
  const Vector<S> ones("ones", rows);
  const Vector<S> b("b", rows);
  const Vector<S> x("x", rows);
  Kokkos::deep_copy(ones, S(1));
  apply(exec, S(1), *op, ConstVector<S>(ones), S(0), b);
  StoppingCriteria stop;
  stop.max_iterations = 20000;
  const SolveResult r = solve<S, Exec>("cg", exec, *op, ConstVector<S>(b), x, *made.m, stop);
  return {r.status == Status::converged ||
              (r.status == Status::stagnated && r.residual <= r.attainable),
          r.iterations};
}

TEST(GoldenIc0, SolvesNearlyAllInHalfOfJacobisIterations) {
  const fs::path folder = fs::path(KRYSOL_SHARED_DIR) / "matrices";
  std::ifstream index(folder / "INDEX.tsv");
  if (!index) GTEST_SKIP() << "no folder of matrices: set KRYSOL_SHARED_DIR";
  std::vector<double> ratios;
  std::size_t solved = 0;
  for (std::string line; std::getline(index, line);) {
    std::vector<std::string> fields;
    std::istringstream in(line);
    for (std::string field; std::getline(in, field, '\t');) fields.push_back(field);
    const std::string& file = fields[0];
    if (fields.size() < 9 || fields[8] != "yes") continue;
    if (!file.ends_with(".mtx") && !file.ends_with(".mtx.gz")) continue;
    const MatrixFile read = read_matrix(folder / file);
    const auto count = [&](const std::string& precond) {
      return std::visit([&](const auto& t) { return solve_with(precond, t); }, read.matrix);
    };
    const Counts jacobi = count("jacobi");
    const Counts ic0 = count("ic0");
    solved += ic0.solved ? 1 : 0;
    ratios.push_back(static_cast<double>(ic0.iterations) / static_cast<double>(jacobi.iterations));
    std::cout << fields[1] << ": jacobi " << jacobi.iterations << ", ic0 " << ic0.iterations
              << (ic0.solved ? "" : ", not solved") << '\n';
  }
  ASSERT_FALSE(ratios.empty());
  std::sort(ratios.begin(), ratios.end());
  const double median = ratios[ratios.size() / 2];
  std::cout << solved << " of " << ratios.size() << " solved, median ratio " << median << '\n';
  EXPECT_GE(static_cast<double>(solved), 0.95 * static_cast<double>(ratios.size()));
  EXPECT_LE(median, 0.5);
}

}  // namespace
}  // namespace krysol
