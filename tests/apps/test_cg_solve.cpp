// The program cg_solve as its user meets it: started as a process, judged by its exit code, its
// output and its files.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_paths.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <krysol/io/read.hpp>
#include <krysol/solver/registry.hpp>
#include <krysol/spmv/select/formats.hpp>
#include <nlohmann/json.hpp>
#include "dense.hpp"
#include "documented_json.hpp"
#include "problems.hpp"
#include "programs.hpp"

#ifdef KRYSOL_CG_SOLVE
namespace {

using namespace krysol_tests;
using krysol::Triplets;

class CgSolve : public ProgramTest {
 protected:
  CgSolve() : ProgramTest(KRYSOL_CG_SOLVE) {}

  const std::string grid_ = (fs::path(KRYSOL_DATA_DIR) / "gr_30_30.mtx").string();
};

/// tridiag(-1, 2, -1): CG needs as many iterations as there are rows.
Triplets<double> chain(krysol::Index n) {
  Triplets<double> t;
  t.rows = t.cols = n;
  t.symmetry = krysol::Symmetry::symmetric;
  for (krysol::Index i = 0; i < n; ++i) {
    t.add(i, i, 2);
    if (i > 0) t.add(i, i - 1, -1);
  }
  return t;
}

const std::string indefinite =
    "%%MatrixMarket matrix coordinate real symmetric\n"
    "3 3 5\n1 1 2\n2 1 3\n2 2 2\n3 2 -1\n3 3 2\n";
const std::string negative_diagonal =
    "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2\n2 1 1\n2 2 -2\n";
const std::string unsymmetric =
    "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 2\n1 2 1\n2 1 0.5\n2 2 2\n";
const std::string hermitian =
    "%%MatrixMarket matrix coordinate complex hermitian\n2 2 3\n1 1 2 0\n2 1 0 1\n2 2 3 0\n";

/// A x, entry by entry from what stands in the file.
std::vector<double> product(const fs::path& matrix, const std::vector<double>& x) {
  const auto file = krysol::read_matrix(matrix);
  const auto& a = std::get<Triplets<double>>(file.matrix);
  std::vector<double> y(static_cast<std::size_t>(a.rows), 0.0);
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    const auto i = static_cast<std::size_t>(a.row_idx[k]);
    const auto j = static_cast<std::size_t>(a.col_idx[k]);
    y[i] += a.values[k] * x[j];
    if (i != j && a.symmetry == krysol::Symmetry::symmetric) y[j] += a.values[k] * x[i];
  }
  return y;
}

std::vector<double> vector_in(const fs::path& path) {
  return std::get<std::vector<double>>(krysol::read_dense(path).values);
}

/// |b - A x|
double residual(const fs::path& matrix, const std::vector<double>& x,
                const std::vector<double>& b) {
  auto r = product(matrix, x);
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
  return std::sqrt(dot(r, r));
}

// ---- what is printed

TEST_F(CgSolve, ReportsMatrixMethodOutcomeAndWork) {
  const Outcome o = run({grid_});
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(o.err, "");
  for (const char* part :
       {"matrix     ", "900 x 900, 7 744 nonzeros (integer symmetric, 4 322 entries stored)",
        "symmetric, exactly", "diagonal positive, 8", "rows of 4 to 9 nonzeros, 8.6 on average",
        "format     csr, ", "b          A*random:1", "x0         0", "method     cg with jacobi",
        "stop       |b - Ax| <= 1e-08 |b|", "converged after 63 iterations",
        "true residual |b - Ax|", "error |x - x*|", "error |x - x*|_A: at most about",
        "spectrum of M^-1 A: 0.007683 (converged) to 1.495 (converged), condition 195", "SpMV",
        "vectors", "true residuals", "GB/s"}) {
    EXPECT_TRUE(holds(o.out, part)) << part << "\n" << o.out;
  }
}

TEST_F(CgSolve, MeasuresTheBandwidthUnlessToldNotTo) {
  const Outcome with = run_exactly({grid_, "--threads", "1"});
  EXPECT_EQ(with.code, 0);
  EXPECT_TRUE(holds(with.out, "bandwidth of this run, arrays of")) << with.out;
  EXPECT_FALSE(holds(run({grid_}).out, "bandwidth"));
}

TEST_F(CgSolve, IsSilentWithQuiet) {
  for (const auto& matrix : {grid_, write("a.mtx", indefinite)}) {
    const Outcome o = run({matrix, "--quiet"});
    EXPECT_EQ(o.code, matrix == grid_ ? 0 : 1);
    EXPECT_EQ(o.out + o.err, "");
  }
}

TEST_F(CgSolve, ListsEveryMethodThatTheLibraryHas) {
  const Outcome o = run_exactly({"--list"});
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(o.err, "");
  const auto expect_line = [&](const auto& entry) {
    EXPECT_TRUE(holds(o.out, fmt::format("\n  {} ", entry.name))) << entry.name;
    EXPECT_TRUE(holds(o.out, std::string(entry.good_for))) << entry.name;
  };
  for (const auto& e : krysol::list_formats()) expect_line(e);
  for (const auto& e : krysol::list_solvers()) expect_line(e);
  for (const auto& e : krysol::list_preconditioners()) expect_line(e);
  EXPECT_TRUE(holds(o.out, "A*random[:SEED]"));
}

TEST_F(CgSolve, TellsItsVersionAndItsOptions) {
  const Outcome version = run_exactly({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_TRUE(version.out.starts_with("krysol ")) << version.out;
  EXPECT_TRUE(holds(version.out, "Kokkos")) << version.out;
  EXPECT_EQ(lines_of(version.out).size(), 1U);
  const Outcome help = run_exactly({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const char* option :
       {"--rhs",     "--x0",           "--format",  "--explain",        "--solver",
        "--precond", "--tol",          "--atol",    "--max-iterations", "--time-limit",
        "--output",  "--history",      "--json",    "--witness",        "--repair",
        "--quiet",   "--no-bandwidth", "--threads", "--device",         "--list",
        "--version", "--lambda-min",   "--strict",  "Exit code"}) {
    EXPECT_TRUE(holds(help.out, option)) << option;
  }
}

TEST_F(CgSolve, PrintsNothingOnStandardErrorWhenThatIsAFile) {
  ::unsetenv("OMP_PROC_BIND");  // where it is missing Kokkos likes to say so
  const auto matrix = write("chain.mtx", chain(100000));
  const Outcome o = run({matrix, "--time-limit", "0.8"});
  EXPECT_EQ(o.code, 1);
  EXPECT_EQ(o.err, "");
}

TEST_F(CgSolve, ShowsItsProgressOnATerminal) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0) {
    GTEST_SKIP() << "no pseudo-terminals here";
  }
  const fs::path name = ::ptsname(terminal);
  const auto matrix = write("chain.mtx", chain(100000));
  const auto arguments = with_defaults({matrix, "--time-limit", "0.8"});
  const pid_t pid = start(KRYSOL_CG_SOLVE, arguments, in("out"), name);
  std::string shown;
  char buffer[4096];
  for (ssize_t n; (n = ::read(terminal, buffer, sizeof buffer)) > 0 || (n < 0 && errno == EINTR);) {
    if (n > 0) shown.append(buffer, static_cast<std::size_t>(n));
  }
  ::close(terminal);
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(exit_code(status), 1);
  EXPECT_TRUE(holds(shown, "\r\033[Kiteration ")) << shown;
  EXPECT_TRUE(shown.ends_with("\r\033[K")) << "the line is not cleared: " << shown;
  EXPECT_FALSE(holds(text_of(in("out")), "\033"));
}

// ---- options, one by one

TEST_F(CgSolve, MakesEveryRightHandSide) {
  const std::size_t n = 900;
  std::mt19937_64 engine(5);
  std::vector<double> random;
  for (std::size_t i = 0; i < n; ++i) {
    random.push_back(2 * (static_cast<double>(engine() >> 11) * 0x1p-53) - 1);
  }
  const std::vector<double> ones(n, 1.0);
  const std::map<std::string, std::vector<double>> expected = {
      {"ones", ones},
      {"random:5", random},
      {"A*ones", product(grid_, ones)},
      {"A*random:5", product(grid_, random)},
      {write_vector("given.mtx", random), random}};
  for (const auto& [rhs, b] : expected) {
    SCOPED_TRACE(rhs);
    const Json j = report({grid_, "--rhs", rhs, "--output", in("x.mtx").string()}, 0);
    EXPECT_EQ(j["rhs"], rhs);
    const double norm = std::sqrt(dot(b, b));
    EXPECT_NEAR(j["result"]["b_norm"], norm, 1e-12 * norm);
    EXPECT_LE(residual(grid_, vector_in(in("x.mtx")), b), 1.001e-8 * norm);
    EXPECT_EQ(j["result"]["relative_error"].is_null(), !rhs.starts_with("A*"));
  }
  const Json one = report({grid_, "--rhs", "A*random:1"}, 0);
  EXPECT_EQ(report({grid_, "--rhs", "A*random"}, 0)["result"]["b_norm"], one["result"]["b_norm"]);
  EXPECT_EQ(report({grid_}, 0)["result"]["b_norm"], one["result"]["b_norm"]);
  EXPECT_LE(one["result"]["relative_error"].get<double>(), 1e-6);
}

TEST_F(CgSolve, FindsTheRightHandSideBesideTheMatrix) {
  const std::vector<double> b = {3, 0, 0, 4};
  const auto plain = write("plain.mtx", chain(4));
  write_vector("plain_b.mtx", b);
  const auto packed = write("packed.mtx.gz", chain(4));
  write_vector("packed_b.mtx.gz", b);
  for (const auto& matrix : {plain, packed}) {
    const Json j = report({matrix}, 0);
    EXPECT_TRUE(holds(j["rhs"], "_b.mtx")) << j["rhs"];
    EXPECT_TRUE(holds(j["rhs"], "found beside the matrix")) << j["rhs"];
    EXPECT_DOUBLE_EQ(j["result"]["b_norm"], 5);
    EXPECT_EQ(report({matrix, "--rhs", "ones"}, 0)["rhs"], "ones");
  }
}

TEST_F(CgSolve, PassesOverAFileThatOnlyHasTheNameOfARightHandSide) {
  const auto matrix = write("a.mtx", chain(4));
  write_vector("a_b.mtx", {1, 2, 3});
  const Json j = report({matrix}, 0);
  EXPECT_EQ(j["rhs"], "A*random:1");
  ASSERT_EQ(j["notes"].size(), 1U);
  EXPECT_TRUE(holds(j["notes"][0], "a_b.mtx")) << j["notes"][0];
}

TEST_F(CgSolve, SolvesInEveryFormat) {
  Arguments formats = {"csr:thread", "csr:lanes", "csr:balanced"};
  for (const auto& f : krysol::list_formats()) formats.emplace_back(f.name);
  for (const auto& format : formats) {
    SCOPED_TRACE(format);
    const Json j = report({grid_, "--format", format}, 0);
    EXPECT_EQ(j["format"]["name"], format);
    EXPECT_NEAR(j["result"]["iterations"], 63, 1);
    EXPECT_LE(j["result"]["residual"], j["result"]["target"]);
  }
}

TEST_F(CgSolve, GivesTheSolutionInTheOrderOfTheFileWhateverTheOrderWas) {
  // A grid whose rows stand in any order, with a right-hand side and a starting guess from files.
  std::vector<krysol::Index> place(900);
  std::iota(place.begin(), place.end(), 0);
  std::mt19937 random(5);
  std::shuffle(place.begin(), place.end(), random);
  auto t = poisson2d(30, 30);
  for (auto& i : t.row_idx) i = place[static_cast<std::size_t>(i)];
  for (auto& j : t.col_idx) j = place[static_cast<std::size_t>(j)];
  const auto matrix = write("mixed.mtx", t);
  std::vector<double> b(900);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::sin(static_cast<double>(i));
  const auto vector = write_vector("b.mtx", b);
  const auto x_file = in("x.mtx").string();
  const auto solve = [&](const std::string& order) {
    return report({matrix, "--rhs", vector, "--x0", vector, "--tol", "1e-12", "--reorder", order,
                   "--output", x_file},
                  0)["reorder"];
  };
  const auto solution = [&] {
    return std::get<std::vector<double>>(krysol::read_dense(x_file).values);
  };
  EXPECT_EQ(solve("none")["name"], "none");
  const auto x = solution();
  const Json rcm = solve("rcm");
  EXPECT_EQ(rcm["name"], "rcm");
  EXPECT_LT(rcm["bandwidth_after"].get<double>(), 40);
  EXPECT_GT(rcm["bandwidth_before"].get<double>(), 200);
  const auto same = solution();
  ASSERT_EQ(x.size(), same.size());
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], same[i], 1e-9) << i;
  const Json measured = solve("auto");  // a small matrix is in the cache in any order
  EXPECT_EQ(measured["name"], "none");
  EXPECT_NE(measured["reason"], "");
  EXPECT_EQ(solution(), x);
}

TEST_F(CgSolve, TellsTheRowsOfTheFileWhateverTheOrderWas) {
  // Indefinite through the pair of rows 3 and 20 alone, which no diagonal entry gives away.
  krysol::Triplets<double> t;
  t.rows = t.cols = 30;
  t.symmetry = krysol::Symmetry::symmetric;
  for (krysol::Index i = 0; i < 30; ++i) {
    t.add(i, i, 4);
    if (i > 0) t.add(i, i - 1, -1);
  }
  t.add(19, 2, 100);
  const auto matrix = write("pair.mtx", t);
  const auto evidence = report({matrix, "--reorder", "rcm", "--witness", in("p.mtx").string()},
                               1)["result"]["breakdown"];
  std::set<int> rows;
  for (const auto& row : evidence["largest_rows"]) rows.insert(row["row"].get<int>());
  EXPECT_EQ(rows.count(3), 1U) << evidence;
  EXPECT_EQ(rows.count(20), 1U) << evidence;
  EXPECT_TRUE(holds(run({matrix, "--reorder", "rcm"}).out, "order      rcm, mean |i - j|"));
  // The direction is a proof in the order of the file.
  const auto p = std::get<std::vector<double>>(krysol::read_dense(in("p.mtx")).values);
  double curvature = 0;
  for (std::size_t k = 0; k < t.values.size(); ++k) {
    const auto i = static_cast<std::size_t>(t.row_idx[k]);
    const auto j = static_cast<std::size_t>(t.col_idx[k]);
    curvature += (i == j ? 1 : 2) * t.values[k] * p[i] * p[j];
  }
  EXPECT_LT(curvature, 0);
}

TEST_F(CgSolve, SolvesAnIndefiniteSystemWithMinres) {
  for (const auto& matrix :
       {write("i.mtx", indefinite), write("n.mtx", negative_diagonal), grid_}) {
    const Json j = report({matrix, "--solver", "minres"}, 0);
    EXPECT_EQ(j["solver"], "minres");
    EXPECT_EQ(j["result"]["status"], "converged");
    EXPECT_LE(j["result"]["relative_error"].get<double>(), 1e-5);
    EXPECT_TRUE(j["result"]["spectrum"].is_null());
    EXPECT_TRUE(j["result"]["energy_error"]["lower"].is_null());
    const Outcome text = run({matrix, "--solver", "minres"});
    EXPECT_EQ(text.code, 0);
    EXPECT_TRUE(holds(text.out, "minres with jacobi")) << text.out;
    EXPECT_FALSE(holds(text.out, "|x - x*|_A") || holds(text.out, "spectrum")) << text.out;
  }
  EXPECT_EQ(report({write("u.mtx", unsymmetric), "--solver", "minres"}, 1)["result"]["status"],
            "not_symmetric");
  const Json early = report({grid_, "--solver", "minres", "--max-iterations", "20"}, 1);
  const std::string advice = early["result"]["advice"];
  EXPECT_TRUE(holds(advice, "x has the smallest residual of its Krylov space")) << advice;
  EXPECT_FALSE(holds(advice, "CG")) << advice;
  expect_refusal({grid_, "--solver", "minres", "--lambda-min", "1"},
                 "solver 'minres': unknown option 'lambda_min'; known: none");
}

TEST_F(CgSolve, SolvesWithEveryPreconditioner) {
  const auto matrix = write("chain.mtx", chain(256));
  Arguments names = {"block-jacobi:8", "block-jacobi:64"};
  for (const auto& p : krysol::list_preconditioners()) names.emplace_back(p.name);
  std::map<std::string, int> iterations;
  for (const auto& name : names) {
    SCOPED_TRACE(name);
    const Json j = report({matrix, "--precond", name}, 0);
    EXPECT_EQ(j["preconditioner"], name);
    iterations[name] = j["result"]["iterations"];
  }
  EXPECT_NEAR(iterations["none"], 256, 3);
  EXPECT_NEAR(iterations["jacobi"], 256, 3);
  // Four blocks are coupled through three pairs of entries: M^-1 A differs from I by rank 6.
  EXPECT_LE(iterations["block-jacobi:64"], 8);
}

TEST_F(CgSolve, PutsJacobiInThePlaceOfWhatCannotBeBuilt) {
  auto t = chain(20);
  t.add(9, 8, -100);  // no diagonal entry says that this is indefinite
  if (t.symmetry == krysol::Symmetry::general) t.add(8, 9, -100);
  const auto matrix = write("wrong.mtx", t);
  const std::string seen = "ic0: row 10 has no positive pivot, with any shift up to 4";
  const Json j = report({matrix, "--precond", "ic0"}, 1);
  EXPECT_EQ(j["preconditioner"], "jacobi");
  ASSERT_EQ(j["notes"].size(), 1U);
  EXPECT_EQ(j["notes"][0], seen + "; jacobi is used instead");
  EXPECT_EQ(j["result"]["status"], "indefinite_matrix");
  const Outcome text = run({matrix, "--precond", "ic0"});
  EXPECT_TRUE(holds(text.out, "cg with jacobi")) << text.out;
  EXPECT_TRUE(holds(text.out, seen + "; jacobi is used instead")) << text.out;

  const Outcome strict = run({matrix, "--precond", "ic0", "--strict"});
  EXPECT_EQ(strict.code, 2);
  EXPECT_EQ(strict.out, "");
  EXPECT_EQ(strict.err, "cg_solve: error: " + seen + "; --strict takes nothing in its place\n");
  EXPECT_EQ(run({matrix, "--precond", "jacobi", "--strict"}).code, 1);
  EXPECT_EQ(run({grid_, "--precond", "ic0", "--strict"}).code, 0);

  const Json blocks = report({matrix, "--precond", "block-jacobi:2"}, 1);
  EXPECT_EQ(blocks["preconditioner"], "block-jacobi:2");
  EXPECT_TRUE(holds(blocks["notes"][0], "the first at row 9; their diagonal is used instead"));
  const Outcome block = run({matrix, "--precond", "block-jacobi:2", "--strict"});
  EXPECT_EQ(block.code, 2);
  EXPECT_TRUE(holds(block.err,
                    "1 block(s) are not positive definite, the first at row 9; "
                    "--strict takes nothing in its place"))
      << block.err;
}

TEST_F(CgSolve, SaysThatAPivotNeededAShift) {
  Triplets<double> t;  // Kershaw's example
  t.rows = t.cols = 4;
  t.symmetry = krysol::Symmetry::symmetric;
  for (krysol::Index i = 0; i < 4; ++i) t.add(i, i, 3);
  for (krysol::Index i = 1; i < 4; ++i) t.add(i, i - 1, -2);
  t.add(3, 0, 2);
  const auto matrix = write("kershaw.mtx", t);
  for (const Arguments& extra : {Arguments{}, Arguments{"--strict"}}) {
    Arguments arguments = {matrix, "--precond", "ic0"};
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    const Json j = report(arguments, 0);
    EXPECT_EQ(j["preconditioner"], "ic0");
    ASSERT_EQ(j["notes"].size(), 1U);
    EXPECT_TRUE(holds(j["notes"][0], "ic0: row 4 has no positive pivot; A + ")) << j["notes"][0];
  }
}

TEST_F(CgSolve, StopsWhereItIsTold) {
  int previous = 0;
  for (const char* tol : {"1e-2", "1e-6", "1e-12"}) {
    const Json r = report({grid_, "--tol", tol}, 0)["result"];
    EXPECT_LE(r["residual"].get<double>(), std::stod(tol) * r["b_norm"].get<double>());
    EXPECT_GT(r["iterations"], previous);
    previous = r["iterations"];
  }
  const Json absolute = report({grid_, "--tol", "0", "--atol", "1e-3"}, 0)["result"];
  EXPECT_LE(absolute["residual"], 1e-3);
  EXPECT_EQ(absolute["target"], 1e-3);

  const Json limited = report({grid_, "--max-iterations", "5"}, 1)["result"];
  EXPECT_EQ(limited["status"], "max_iterations");
  EXPECT_EQ(limited["iterations"], 5);

  for (const char* tol : {"0", "1e-17"}) {
    const Json exact = report({grid_, "--tol", tol}, 1)["result"];
    EXPECT_EQ(exact["status"], "stagnated");
    EXPECT_LE(exact["residual"], exact["attainable"]);
  }

  const auto slow = write("chain.mtx", chain(100000));
  const Json timed = report({slow, "--time-limit", "0.1"}, 1)["result"];
  EXPECT_EQ(timed["status"], "time_limit");
  EXPECT_GE(timed["seconds"], 0.1);
}

TEST_F(CgSolve, TakesAStartingGuess) {
  const auto exact = write_vector("x0.mtx", std::vector<double>(900, 1.0));
  const Json j = report({grid_, "--rhs", "A*ones", "--x0", exact}, 0);
  EXPECT_EQ(j["result"]["iterations"], 0);
  EXPECT_EQ(j["x0"], exact);
}

TEST_F(CgSolve, WritesASolutionThatOthersCanCheck) {
  const auto trefethen = fs::path(KRYSOL_DATA_DIR) / "Trefethen_2000.mtx";
  const Json j = report({trefethen.string(), "--rhs", "ones", "--output", in("x.mtx").string()}, 0);
  const auto x = vector_in(in("x.mtx"));
  ASSERT_EQ(x.size(), 2000U);
  const double r = residual(trefethen, x, std::vector<double>(2000, 1.0));
  EXPECT_LE(r, 1.001e-8 * std::sqrt(2000.0));
  EXPECT_NEAR(r, j["result"]["residual"], 1e-3 * r + 1e-13);
}

TEST_F(CgSolve, WritesAComplexSolution) {
  const auto matrix = write("h.mtx", hermitian);
  EXPECT_EQ(
      report({matrix, "--rhs", "ones", "--output", in("x.mtx").string()}, 0)["matrix"]["field"],
      "complex");
  const auto file = krysol::read_dense(in("x.mtx"));
  using Complex = std::complex<double>;
  const auto& x = std::get<std::vector<Complex>>(file.values);
  // [2 -i; i 3] x = (1, 1)
  EXPECT_LT(std::abs(2.0 * x[0] - Complex(0, 1) * x[1] - 1.0), 1e-7);
  EXPECT_LT(std::abs(Complex(0, 1) * x[0] + 3.0 * x[1] - 1.0), 1e-7);
}

TEST_F(CgSolve, WritesItsHistory) {
  const Json j = report({grid_, "--history", in("h.csv").string()}, 0);
  const auto lines = lines_of(text_of(in("h.csv")));
  const int iterations = j["result"]["iterations"];
  ASSERT_EQ(lines.size(), static_cast<std::size_t>(iterations) + 2);
  EXPECT_EQ(lines[0],
            "iteration,residual,relative_residual,error_lower,error_upper_estimate,"
            "error_upper_bound");
  double last = 0;
  double last_relative = 0;
  int k = -1;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    ASSERT_EQ(std::sscanf(lines[i].c_str(), "%d,%lf,%lf", &k, &last, &last_relative), 3);
    EXPECT_EQ(k, static_cast<int>(i) - 1);
  }
  EXPECT_EQ(last, j["result"]["residual"].get<double>());
  EXPECT_NEAR(last_relative, last / j["result"]["b_norm"].get<double>(), 1e-15);
}

TEST_F(CgSolve, BoundsTheErrorWhereTheSpectrumIsBounded) {
  const Json j = report({grid_, "--lambda-min", "0.007", "--history", in("h.csv").string()}, 0);
  EXPECT_EQ(j["stop"]["lambda_min"], 0.007);
  const Json& bounds = j["result"]["energy_error"];
  const double upper = bounds["upper_bound"];
  EXPECT_GT(upper, bounds["upper_estimate"].get<double>());
  EXPECT_LT(upper, 4 * bounds["upper_estimate"].get<double>());
  EXPECT_TRUE(report({grid_}, 0)["result"]["energy_error"]["upper_bound"].is_null());
  const auto lines = lines_of(text_of(in("h.csv")));
  for (std::size_t i = 1; i < lines.size(); ++i) {
    double lower = 0;
    double bound = 0;
    const bool delayed = lines.size() - 1 - i < bounds["delay"].get<std::size_t>();
    const char* format = delayed ? "%*d,%*lf,%*lf,,%*lf,%lf" : "%*d,%*lf,%*lf,%lf,%*lf,%lf";
    if (delayed) {
      ASSERT_EQ(std::sscanf(lines[i].c_str(), format, &bound), 1) << lines[i];
    } else {
      ASSERT_EQ(std::sscanf(lines[i].c_str(), format, &lower, &bound), 2) << lines[i];
    }
    EXPECT_LT(lower, bound);
  }
  expect_refusal({grid_, "--lambda-min", "0"}, "takes a number above 0, not '0'");
}

TEST_F(CgSolve, GivesTheSameBitsOnAnyNumberOfThreads) {
  const auto trefethen = (fs::path(KRYSOL_DATA_DIR) / "Trefethen_2000.mtx").string();
  for (const auto& format : krysol::list_formats()) {
    std::set<std::string> solutions;
    for (const char* threads : {"1", "2", "3"}) {
      const auto x = in(std::string("x") + threads + ".mtx");
      const Json j = report({trefethen, "--format", std::string(format.name), "--threads", threads,
                             "--output", x.string()},
                            0);
      if (j["backend"] == "OpenMP") {
        EXPECT_EQ(j["threads"], std::stoi(threads));
      }
      solutions.insert(text_of(x));
    }
    EXPECT_EQ(solutions.size(), 1U) << format.name;
  }
}

TEST_F(CgSolve, ChoosesAFormatAndSaysHowToRepeatTheRun) {
  const auto trefethen = (fs::path(KRYSOL_DATA_DIR) / "Trefethen_2000.mtx").string();
  const Json j = report({trefethen, "--output", in("auto.mtx").string()}, 0);
  const auto format = j["format"]["name"].get<std::string>();
  EXPECT_EQ(j["format"]["auto"]["trials"].size(), krysol::list_formats().size());
  const Json again =
      report({trefethen, "--format", format, "--output", in("again.mtx").string()}, 0);
  EXPECT_EQ(again["format"]["name"], format);
  EXPECT_FALSE(again["format"].contains("auto"));
  EXPECT_EQ(text_of(in("auto.mtx")), text_of(in("again.mtx")));
  const Outcome o = run({trefethen, "--explain", "--max-iterations", "100"});
  EXPECT_EQ(o.code, 0) << o.out;
  for (const auto& f : krysol::list_formats()) {
    EXPECT_TRUE(holds(o.out, fmt::format("\n  {}", f.name))) << f.name << o.out;
  }
  EXPECT_TRUE(holds(run({trefethen, "--max-iterations", "12"}).out,
                    "12 multiplications are too few to measure for"));
}

TEST_F(CgSolve, SavesItsChoiceOfAFormatAndTakesItBack) {
  const auto trefethen = (fs::path(KRYSOL_DATA_DIR) / "Trefethen_2000.mtx").string();
  const auto file = in("choice.json").string();
  const Json j = report({trefethen, "--save-tuning", file, "--output", in("x.mtx").string()}, 0);
  EXPECT_EQ(j["format"]["auto"]["reused"], false);
  const Json saved = Json::parse(text_of(file));
  EXPECT_EQ(saved["schema"], "krysol/tuning_record/1");
  EXPECT_EQ(saved["format"], j["format"]["name"]);
  EXPECT_EQ(saved["matrix"]["nnz"], j["matrix"]["nonzeros"]);
  EXPECT_EQ(saved["auto"]["trials"].size(), krysol::list_formats().size());
  EXPECT_EQ(saved["version"], j["version"]);
  EXPECT_EQ(saved["order"], j["reorder"]["name"]);

  // What is written again is what was read.
  const Json again = report({trefethen, "--tuning", file, "--save-tuning", in("b.json").string(),
                             "--output", in("y.mtx").string()},
                            0);
  EXPECT_EQ(again["format"]["auto"]["reused"], true);
  EXPECT_EQ(again["format"]["auto"]["mismatch"], "");
  EXPECT_EQ(again["format"]["name"], j["format"]["name"]);
  EXPECT_EQ(again["notes"], j["notes"]);
  EXPECT_EQ(text_of(in("b.json")), text_of(file));
  EXPECT_EQ(text_of(in("x.mtx")), text_of(in("y.mtx"))) << "the same format, the same bits";
  EXPECT_TRUE(holds(run({trefethen, "--tuning", file}).out, "(auto: as saved; when it was"));

  // The order goes with it; without it the nonzeros would be at other places.
  const auto ordered = in("rcm.json").string();
  report({trefethen, "--reorder", "rcm", "--save-tuning", ordered}, 0);
  const Json in_order = report({trefethen, "--tuning", ordered}, 0);
  EXPECT_EQ(in_order["reorder"]["name"], "rcm");
  EXPECT_EQ(in_order["format"]["auto"]["reused"], true);
  const Json out_of_order = report({trefethen, "--tuning", ordered, "--reorder", "none"}, 0);
  EXPECT_EQ(out_of_order["format"]["auto"]["mismatch"],
            "the nonzeros of this matrix are at other places");

  const Json other = report({grid_, "--tuning", file, "--save-tuning", file}, 0);
  EXPECT_EQ(other["format"]["auto"]["reused"], false);
  const std::string mismatch = other["format"]["auto"]["mismatch"];
  EXPECT_TRUE(holds(mismatch, "it is for 2000 x 2000 with 41906 nonzeros")) << mismatch;
  EXPECT_EQ(other["notes"][0], file + " does not fit, the format was measured anew: " + mismatch);
  EXPECT_EQ(Json::parse(text_of(file))["matrix"]["rows"], 900) << "the new one takes its place";
}

TEST_F(CgSolve, RefusesWhatIsNoSavedChoice) {
  const auto saved = in("choice.json").string();
  EXPECT_EQ(run({grid_, "--save-tuning", saved, "--quiet"}).code, 0);
  const std::string text = text_of(saved);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const auto at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return changed.replace(at, from.size(), to);
  };
  const std::vector<std::pair<std::string, std::string>> broken = {
      {"", "unexpected end of input"},
      {"%%MatrixMarket", "parse error at line 1, column 1"},
      {text.substr(0, text.size() / 2), "parse error at line"},
      {"{}", "key 'schema' not found"},
      {"[1]", "is no saved choice of a format"},
      {with("tuning_record/1", "tuning_record/2"), "'schema' is not krysol/tuning_record/1"},
      {with("\"rows\": 900", "\"rows\": \"many\""), "type must be number, but is string"},
      {with("\"pattern\": \"", "\"pattern\": \"x"), "is no hash"},
      {with("\"order\"", "\"orders\""), "key 'order' not found"},
      {with("\"entry\"", "\"entries\""), "key 'entry' not found"}};
  for (const auto& [content, message] : broken) {
    const auto file = write("broken.json", content);
    expect_refusal({grid_, "--tuning", file}, message);
    expect_refusal({grid_, "--tuning", file}, "broken.json: is no saved choice of a format: ");
  }
  expect_refusal({grid_, "--tuning", in("none.json").string()}, "none.json");
  for (const char* option : {"--tuning", "--save-tuning"}) {
    expect_refusal({grid_, option, saved, "--format", "csr"},
                   std::string(option) + " goes with --format auto, not with --format csr");
  }
}

TEST_F(CgSolve, WritesTheDirectionThatProvesAMatrixIndefinite) {
  for (const auto& text : {indefinite, negative_diagonal}) {
    const auto matrix = write("a.mtx", text);
    const Json j = report({matrix, "--witness", in("p.mtx").string()}, 1);
    EXPECT_EQ(j["result"]["status"], "indefinite_matrix");
    const auto p = vector_in(in("p.mtx"));
    const double curvature = dot(p, product(matrix, p));
    EXPECT_LE(curvature, 0);
    EXPECT_NEAR(dot(p, p), 1, 1e-14);
    EXPECT_NEAR(curvature, j["result"]["breakdown"]["curvature"], 1e-13);
  }
  fs::remove(in("p.mtx"));
  EXPECT_EQ(run({grid_, "--quiet", "--witness", in("p.mtx").string()}).code, 0);
  EXPECT_FALSE(fs::exists(in("p.mtx")));
}

TEST_F(CgSolve, RepairsWhereItIsAskedTo) {
  const auto matrix = write("zero_based.mtx",
                            "%%MatrixMarket matrix coordinate real symmetric\n"
                            "2 2 3\n0 0 2\n1 0 1\n1 1 2\n");
  expect_refusal({matrix}, "zero_based.mtx:3:");
  const Json j = report({matrix, "--repair"}, 0);
  EXPECT_EQ(j["matrix"]["repairs"].size(), 1U);
  EXPECT_TRUE(holds(run({matrix, "--repair"}).out, "repaired: "));
}

TEST_F(CgSolve, SendsOneDocumentToStandardOutput) {
  EXPECT_TRUE(run({grid_, "--quiet", "--output", "-"}).out.starts_with("%%MatrixMarket"));
  EXPECT_TRUE(run({grid_, "--quiet", "--history", "-"}).out.starts_with("iteration,"));
  expect_refusal({grid_, "--json", "-"}, "the report and --json - would mix");
  expect_refusal({grid_, "--quiet", "--json", "-", "--history", "-"}, "would mix");
}

// ---- outcomes other than a solution

TEST_F(CgSolve, RefusesMatricesThatAreNotSymmetricOrNotDefinite) {
  const auto u = write("u.mtx", unsymmetric);
  const Outcome o = run({u, "--output", in("x.mtx").string()});
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(holds(o.out, "not_symmetric: nothing was solved")) << o.out;
  EXPECT_TRUE(holds(o.out, "A(1, 2) = 1, A(2, 1) = 0.5")) << o.out;
  EXPECT_TRUE(holds(o.out, "x.mtx was not written: there is no solution")) << o.out;
  EXPECT_EQ(files(), std::set<std::string>{"u.mtx"});

  const auto n = write("n.mtx", negative_diagonal);
  EXPECT_TRUE(holds(run({n}).out, "diagonal entry in row 2 is -2"));
  const auto i = write("i.mtx", indefinite);
  EXPECT_TRUE(holds(run({i}).out, "A is not positive definite: at iteration 3 p'Ap = -1.13"));
}

/// Whether the process has installed a handler for SIGINT, as Linux shows it.
bool catches_interrupt(pid_t pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("SigCgt:")) continue;
    return (std::stoull(line.substr(7), nullptr, 16) >> (SIGINT - 1) & 1) != 0;
  }
  return false;
}

TEST_F(CgSolve, KeepsWhatItHasWhenInterrupted) {
  if (!fs::exists("/proc/self/status")) GTEST_SKIP() << "no /proc here to see the solve begin";
  const auto matrix = write("chain.mtx", chain(100000));
  const auto arguments =
      with_defaults({matrix, "--rhs", "ones", "--time-limit", "100", "--output",
                     in("x.mtx").string(), "--json", in("report.json").string()});
  const pid_t pid = start(KRYSOL_CG_SOLVE, arguments, in("out"), in("err"));
  int status = 0;
  while (!catches_interrupt(pid)) {
    ASSERT_EQ(waitpid(pid, &status, WNOHANG), 0) << text_of(in("err"));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ASSERT_EQ(kill(pid, SIGINT), 0);
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(exit_code(status), 1);
  EXPECT_EQ(text_of(in("err")), "");
  EXPECT_TRUE(holds(text_of(in("out")), "interrupted after "));
  const Json r = Json::parse(text_of(in("report.json")))["result"];
  EXPECT_EQ(r["status"], "interrupted");
  const double found = residual(matrix, vector_in(in("x.mtx")), std::vector<double>(100000, 1.0));
  EXPECT_NEAR(found, r["residual"], 1e-6 * found);
}

// ---- bad input and usage

TEST_F(CgSolve, RefusesBadInputWithASentence) {
  const auto rectangular =
      write("r.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n");
  const auto broken = write("broken.mtx",
                            "%%MatrixMarket matrix coordinate real symmetric\n"
                            "2 2 2\n1 1 2\n2 9 1\n");
  const auto three = write_vector("three.mtx", {1, 2, 3});
  const auto foreign = write("a.rb", "title\n1 1 1 1\nrsa 1 1 1 0\n");
  expect_refusal({in("none.mtx").string()}, "none.mtx: cannot be opened: No such file");
  expect_refusal({broken}, "broken.mtx:4:3:");
  expect_refusal({rectangular}, "needs a square matrix, this one is 2 x 3");
  expect_refusal({grid_, "--rhs", three},
                 "the right-hand side has 3 rows and 1 columns; the matrix has 900 rows");
  expect_refusal({grid_, "--x0", three}, "the starting guess has 3 rows");
  expect_refusal({grid_, "--rhs", in("none.mtx").string()}, "none.mtx: cannot be opened");
  expect_refusal({foreign}, "a.rb");
  const auto imaginary = write("i.mtx", "%%MatrixMarket matrix array complex general\n1 1\n1 1\n");
  expect_refusal({write("one.mtx", chain(1)), "--rhs", imaginary},
                 "is complex, the matrix is real");
}

TEST_F(CgSolve, RefusesBadUsageWithASentence) {
  expect_refusal({}, "matrix is required");
  expect_refusal({grid_, "--frobnicate"}, "--frobnicate");
  expect_refusal({grid_, "--format", "elk"}, "unknown format 'elk'; known: csr");
  expect_refusal({grid_, "--format", "csr:elk"}, "csr[:thread|lanes|balanced]");
  expect_refusal({grid_, "--solver", "elk"}, "unknown solver 'elk'; known: cg");
  expect_refusal({grid_, "--precond", "elk"}, "unknown preconditioner 'elk'; known: none jacobi");
  expect_refusal({grid_, "--precond", "jacobi:3"}, "unknown preconditioner 'jacobi:3'");
  expect_refusal({grid_, "--rhs", "random:x"}, "the seed 'x' is not a number");
  for (const char* option : {"--tol", "--atol"}) {
    for (const char* value : {"-1", "nan", "inf", "1e-8x"}) {
      expect_refusal({grid_, option, value}, fmt::format("takes a number from 0, not '{}'", value));
    }
  }
  expect_refusal({grid_, "--max-iterations", "0"}, "takes a number from 1, not '0'");
  expect_refusal({grid_, "--time-limit", "0"}, "takes a number above 0, not '0'");
  expect_refusal({grid_, "--threads", "0"}, "--threads");
  expect_refusal({grid_, "--device", "-1"}, "takes a number from 0, not '-1'");
}

TEST_F(CgSolve, RefusesAFormatThatCannotHoldTheMatrix) {
  Triplets<double> arrow;  // one dense row and column
  arrow.rows = arrow.cols = 20000;
  arrow.symmetry = krysol::Symmetry::symmetric;
  for (krysol::Index i = 0; i < arrow.rows; ++i) {
    arrow.add(i, i, i == 0 ? 30000 : 2);
    if (i > 0) arrow.add(i, 0, 1);
  }
  const auto matrix = write("arrow.mtx", arrow);
  expect_refusal({matrix, "--format", "ell"}, "ell");
  EXPECT_EQ(run({matrix, "--format", "hyb", "--quiet"}).code, 0);
}

TEST_F(CgSolve, FindsOutEarlyThatAFileCannotBeWritten) {
  for (const char* option : {"--output", "--history", "--json", "--witness", "--save-tuning"}) {
    SCOPED_TRACE(option);
    // The matrix does not exist either; what is to be written is looked at first.
    expect_refusal({"none.mtx", option, (folder_ / "missing" / "file").string()}, "missing/file");
    expect_refusal({"none.mtx", option, folder_.string()}, folder_.string());
    expect_refusal({"none.mtx", option, in("file").string()}, "none.mtx");
  }
  EXPECT_EQ(files(), std::set<std::string>{}) << "something was left after";
}

TEST_F(CgSolve, SaysSoWhenTheDiskIsFull) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  for (const char* option : {"--output", "--history", "--json"}) {
    expect_refusal({grid_, "--quiet", option, "/dev/full"}, "/dev/full: cannot be written");
  }
  for (const Arguments& arguments : {Arguments{grid_}, {"--list"}, {"--help"}, {"--version"}}) {
    const Outcome o = run_exactly(arguments, KRYSOL_CG_SOLVE, "/dev/full");
    EXPECT_EQ(o.code, 2) << arguments[0];
    EXPECT_TRUE(holds(o.err, "standard output: cannot be written")) << o.err;
  }
}

TEST_F(CgSolve, SaysSoWhenMemoryRunsOut) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the address sanitizer needs more address space than this test leaves";
#endif
  const auto matrix = write("large.mtx",
                            "%%MatrixMarket matrix coordinate real symmetric\n"
                            "300000000 300000000 1\n1 1 1\n");
  const Outcome o = run_exactly({"-c", "ulimit -v 1500000 || exit 77; exec \"$@\"", "sh",
                                 KRYSOL_CG_SOLVE, matrix, "--threads", "1", "--no-bandwidth"},
                                "sh");
  if (o.code == 77) GTEST_SKIP() << "ulimit -v does not work here";
  EXPECT_EQ(o.code, 3);
  EXPECT_EQ(o.out, "");
  EXPECT_EQ(o.err,
            "cg_solve: error: not enough memory: no room for 'csr.row_ptr': 2.4 GB asked of Host "
            "memory\n");
}

// ---- the JSON report

TEST_F(CgSolve, WritesTheJsonThatIsDocumented) {
  const auto table = documented("cg_solve-json.md");
  EXPECT_GT(table.size(), 60U);
  std::set<std::string> named;
  for (const auto& [path, types] : table) named.insert(path);

  const auto complex_pair = write("c.mtx",
                                  "%%MatrixMarket matrix coordinate complex general\n"
                                  "2 2 4\n1 1 2 0\n1 2 0 1\n2 1 0 1\n2 2 2 0\n");
  PathTypes seen;
  const auto add = [&](const Json& j) { collect(j, "", named, seen); };
  const Outcome full =
      run_exactly({grid_, "--threads", "1", "--quiet", "--json", in("report.json").string()});
  EXPECT_EQ(full.code, 0) << full.err;
  add(Json::parse(text_of(in("report.json"))));
  for (const auto& [path, types] : table) {
    if (path.starts_with("result.breakdown.")) continue;      // only where there is some
    if (path.starts_with("preconditioner_report")) continue;  // jacobi has nothing to tell
    EXPECT_EQ(seen.count(path), 1U) << path << " is documented, and missing";
  }
  EXPECT_EQ(seen.count("result.breakdown.row"), 0U);
  add(report({grid_, "--precond", "ic0"}, 0));
  add(report({write("i.mtx", indefinite)}, 1));
  add(report({write("u.mtx", unsymmetric)}, 1));
  add(report({write("n.mtx", negative_diagonal)}, 1));
  add(report({complex_pair}, 1));
  expect_documented(seen, table);
  for (const auto& [path, types] : table) EXPECT_EQ(seen.count(path), 1U) << path << " never came";
}

TEST_F(CgSolve, WritesJsonEvenForNamesThatAreNotUtf8) {
  const auto matrix = write("a\xff.mtx", chain(3));
  EXPECT_EQ(report({matrix}, 0)["matrix"]["rows"], 3);
}

// ---- what README.md says

const fs::path root = fs::path(KRYSOL_DATA_DIR).parent_path();

TEST(Readme, ShowsTheExampleThatIsCompiled) {
  const std::string example = text_of(root / "examples" / "readme.cpp");
  const auto code = example.find("#include");
  ASSERT_NE(code, std::string::npos);
  EXPECT_TRUE(holds(text_of(root / "README.md"), "```cpp\n" + example.substr(code) + "```\n"));
}

TEST(Readme, ListsEveryMethodThatTheLibraryHas) {
  const std::string readme = text_of(root / "README.md");
  const auto expect_row = [&](const auto& entry) {
    const auto row = readme.find(fmt::format("\n| `{}` | ", entry.name));
    ASSERT_NE(row, std::string::npos) << entry.name << " is missing";
    std::string line = readme.substr(row + 1, readme.find('\n', row + 1) - row - 1);
    line.erase(std::remove(line.begin(), line.end(), '`'), line.end());
    EXPECT_EQ(line, fmt::format("| {} | {} |", entry.name, entry.good_for));
  };
  for (const auto& e : krysol::list_formats()) expect_row(e);
  for (const auto& e : krysol::list_solvers()) expect_row(e);
  for (const auto& e : krysol::list_preconditioners()) expect_row(e);
}

TEST(Readme, LinksToFilesThatExist) {
  for (const char* name :
       {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/design.md", "docs/cg_solve-json.md",
        "docs/gemm_bench.md", "docs/matrix_convert.md", "docs/spmv_bench.md", "data/README.md"}) {
    const std::string text = text_of(root / name);
    for (auto at = text.find("]("); at != std::string::npos; at = text.find("](", at + 1)) {
      const std::string target = text.substr(at + 2, text.find_first_of("#)", at + 2) - at - 2);
      if (target.empty() || holds(target, "://")) continue;
      EXPECT_TRUE(fs::exists((root / name).parent_path() / target)) << name << ": " << target;
    }
  }
}

TEST_F(CgSolve, PrintsWhatTheReadmeShows) {
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
  GTEST_SKIP() << "the README shows a run on a processor";
#endif
  const auto shown = lines_of(text_of(root / "README.md"));
  const auto printed = lines_of(run({grid_}).out);
  // Times, bytes a second, the number of threads and the path of the matrix differ from run to run.
  for (const std::string& line : printed) {
    if (line.starts_with("  work ")) break;
    if (line.starts_with("matrix ") || line.starts_with("method ") || holds(line, " ms")) continue;
    EXPECT_EQ(std::count(shown.begin(), shown.end(), line) > 0, true) << line;
  }
  EXPECT_GT(printed.size(), 15U);
}

}  // namespace
#endif
