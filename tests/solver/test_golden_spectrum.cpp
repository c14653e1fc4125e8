// Eigenvalues that CG calls converged, against LAPACK's, for the matrices of a local copy of the
// collection.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_paths.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <krysol/io/read.hpp>
#include <krysol/solver/registry.hpp>
#include <krysol/spmv/select/formats.hpp>
#include "problems.hpp"

namespace {

namespace fs = std::filesystem;
using namespace krysol;

const fs::path matrices = fs::path(KRYSOL_SHARED_DIR) / "matrices";

std::vector<std::string> split(const std::string& line, char separator) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, separator);) fields.push_back(field);
  return fields;
}

/// GROUP/NAME -> file, of the real matrices.
std::map<std::string, fs::path> files() {
  std::map<std::string, fs::path> out;
  std::ifstream in(matrices / "INDEX.tsv");
  for (std::string line; std::getline(in, line);) {
    const auto row = split(line, '\t');
    const bool is_matrix = row[0].ends_with(".mtx") || row[0].ends_with(".mtx.gz");
    if (is_matrix && row[7] != "rhs" && row[7] != "solution") out[row[1]] = matrices / row[0];
  }
  return out;
}

struct BoundsTally {
  int matrices = 0;  // of condition below 1e6
  int flagged = 0;   // both ends
  int right = 0;     // no flagged end off by more than 1 %
};

void check_end(const RitzValue& end, double exact, bool& right) {
  const double off = std::abs(end.value / exact - 1);
  if (!end.converged) return;
  if (off > 0.01) right = false;
  EXPECT_LT(off, 0.1) << end.value << ", not " << exact;
}

SolveResult solve_with(const HostCsr<double>& a, const std::string& precond, bool times_a) {
  using Exec = Kokkos::DefaultExecutionSpace;
  const auto n = static_cast<std::size_t>(a.rows);
  const auto op = make_operator<double, Exec>("csr", a);
  const auto m = make_preconditioner<double, Exec>(precond, a);
  const auto numbers = krysol_tests::random_vector<double>(n, 1);
  const Vector<double> v("v", n);
  const Vector<double> b("b", n);
  const Vector<double> x("x", n);
  const auto host = Kokkos::create_mirror_view(v);
  for (std::size_t i = 0; i < n; ++i) host(i) = numbers[i];
  Kokkos::deep_copy(v, host);
  if (times_a) {
    apply(Exec{}, 1.0, *op, ConstVector<double>(v), 0.0, b);
  } else {
    Kokkos::deep_copy(b, v);
  }
  StoppingCriteria stop;
  stop.max_iterations = 20000;
  return solve<double, Exec>("cg", Exec{}, *op, ConstVector<double>(b), x, *m.m, stop);
}

TEST(GoldenSpectrum, WhatIsCalledConvergedIsRight) {
  if (!fs::exists(matrices / "spd_reference.csv")) {
    GTEST_SKIP() << "no folder of matrices: set KRYSOL_SHARED_DIR";
  }
  const auto file = files();
  BoundsTally tally[2];
  std::ifstream in(matrices / "spd_reference.csv");
  for (std::string line; std::getline(in, line);) {
    const auto row = split(line, ',');  // name,n,nnz,lambda_min,lambda_max,_j,_j,...
    if (line[0] == '#' || row[0] == "name" || row[3].empty() || !file.contains(row[0])) continue;
    const MatrixFile read = read_matrix(file.at(row[0]));
    const auto a = to_csr(std::get<Triplets<double>>(read.matrix)).matrix;
    for (const std::string precond : {"none", "jacobi"}) {
      const double smallest = std::stod(row[precond == "none" ? 3 : 5]);
      const double largest = std::stod(row[precond == "none" ? 4 : 6]);
      for (const bool times_a : {false, true}) {
        SCOPED_TRACE(row[0] + " " + precond + (times_a ? " A*random" : " random"));
        const SolveResult r = solve_with(a, precond, times_a);
        const Spectrum& s = r.cg->spectrum;
        bool right = true;
        if (r.converged()) {
          EXPECT_FALSE(out_of_reach(r.target, r.rounding)) << r.rounding;
        }
        check_end(s.smallest, smallest, right);
        check_end(s.largest, largest, right);
        EXPECT_LE(s.condition, 1.01 * largest / smallest);
        std::cout << row[0] << ' ' << precond << (times_a ? " A*random " : " random ")
                  << to_string(r.status) << ' ' << r.iterations << ": " << s.smallest.value
                  << (s.smallest.converged ? " (converged)" : "") << " / " << smallest << ", "
                  << s.largest.value << (s.largest.converged ? " (converged)" : "") << " / "
                  << largest << '\n';
        if (largest >= 1e6 * smallest) continue;
        BoundsTally& t = tally[times_a ? 1 : 0];
        ++t.matrices;
        t.flagged += s.smallest.converged && s.largest.converged ? 1 : 0;
        t.right += right ? 1 : 0;
      }
    }
  }
  for (const BoundsTally& t : tally) {
    std::cout << "b = " << (&t == tally ? "random" : "A*random") << ": " << t.matrices
              << " systems of condition below 1e6, both ends flagged in " << t.flagged
              << ", no flagged end off by 1 % in " << t.right << '\n';
    EXPECT_GT(t.matrices, 0);
    EXPECT_GE(t.right, 0.9 * t.matrices);
    EXPECT_GE(t.flagged, (&t == tally ? 0.7 : 0.4) * t.matrices);
  }
}

}  // namespace
