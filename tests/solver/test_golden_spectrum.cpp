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
  int matrices = 0;       // of condition below 1e6
  int flagged = 0;        // both ends
  int right = 0;          // no flagged end off by more than 1 %
  int as_seen = 0;        // ends called converged by what CG has seen
  int confirmed = 0;      // those of them that are after a look from another start
  int wrong_as_seen = 0;  // off by more than 1 %, where rounding of A makes less than 0.1 %
};

constexpr double eps = 2.2e-16;

/// The reference itself is known to eps times the condition.
bool is_wrong(const RitzValue& end, double exact, double condition) {
  return end.converged && eps * condition < 1e-3 && std::abs(end.value / exact - 1) > 0.01;
}

void check_end(const RitzValue& end, double exact, bool& right) {
  const double off = std::abs(end.value / exact - 1);
  if (!end.converged) return;
  if (off > 0.01) right = false;
  EXPECT_LT(off, 0.1) << end.value << ", not " << exact;
}

SolveResult solve_with(const HostCsr<double>& a, const std::string& precond, bool times_a,
                       const NamedOptions& options) {
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
  return solve<double, Exec>("cg", Exec{}, *op, ConstVector<double>(b), x, *m.m, stop, {}, options);
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
        const SolveResult seen = solve_with(a, precond, times_a, {});
        const SolveResult r = solve_with(a, precond, times_a, {{"confirm", "1e9"}});
        EXPECT_EQ(r.history, seen.history);
        if (r.converged()) {
          EXPECT_FALSE(out_of_reach(r.target, r.rounding)) << r.rounding;
        }
        const Spectrum& s = r.cg->spectrum;
        const Spectrum& before = seen.cg->spectrum;
        const double condition = largest / smallest;
        bool right = true;
        for (const Spectrum* each : {&before, &s}) {
          check_end(each->smallest, smallest, right);
          check_end(each->largest, largest, right);
          EXPECT_LE(each->condition, 1.01 * condition);
        }
        EXPECT_FALSE(is_wrong(s.smallest, smallest, condition))
            << s.smallest.value << ", not " << smallest;
        EXPECT_FALSE(is_wrong(s.largest, largest, condition))
            << s.largest.value << ", not " << largest;
        EXPECT_FALSE(s.smallest.converged && condition > 1e13);
        std::cout << row[0] << ' ' << precond << (times_a ? " A*random " : " random ")
                  << to_string(r.status) << ' ' << r.iterations << ": " << s.smallest.value
                  << (s.smallest.converged        ? " (converged)"
                      : before.smallest.converged ? " (seen)"
                                                  : "")
                  << " / " << smallest << ", " << s.largest.value
                  << (s.largest.converged ? " (converged)" : "") << " / " << largest << "; "
                  << s.confirming_steps << " steps\n";
        BoundsTally& t = tally[times_a ? 1 : 0];
        t.as_seen += (before.smallest.converged ? 1 : 0) + (before.largest.converged ? 1 : 0);
        t.confirmed += (s.smallest.converged ? 1 : 0) + (s.largest.converged ? 1 : 0);
        t.wrong_as_seen += is_wrong(before.smallest, smallest, condition) ? 1 : 0;
        if (condition >= 1e6) continue;
        ++t.matrices;
        t.flagged += s.smallest.converged && s.largest.converged ? 1 : 0;
        t.right += right ? 1 : 0;
      }
    }
  }
  for (const BoundsTally& t : tally) {
    std::cout << "b = " << (&t == tally ? "random" : "A*random") << ": " << t.matrices
              << " systems of condition below 1e6, both ends flagged in " << t.flagged
              << "; of all " << t.as_seen << " ends called converged as seen, " << t.wrong_as_seen
              << " off by 1 %; " << t.confirmed << " called so after another start\n";
    EXPECT_GT(t.matrices, 0);
    EXPECT_GE(t.right, 0.9 * t.matrices);
    EXPECT_GE(t.flagged, (&t == tally ? 0.7 : 0.4) * t.matrices);
    EXPECT_GE(t.confirmed, 0.9 * (t.as_seen - t.wrong_as_seen));
  }
}

}  // namespace
