// What the options of cg_solve do to a solve: right-hand sides, formats, orders,
// preconditioners, limits.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_paths.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <krysol/io/matrix_market/matrix_market.hpp>
#include <krysol/io/read.hpp>
#include <krysol/solver/precond/near_null_vectors.hpp>
#include <krysol/solver/registry.hpp>
#include <krysol/spmv/select/formats.hpp>
#include <nlohmann/json.hpp>
#include "apps/common/near_null.hpp"
#include "cg_solve_runs.hpp"
#include "dense.hpp"
#include "problems.hpp"
#include "tar_texts.hpp"

#ifdef KRYSOL_CG_SOLVE
namespace {

using namespace krysol_tests;
using krysol::Triplets;

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

/// A group of the system's, of version 1, whose processes get so many microseconds of each 100 000;
/// none where none may be made here.
class ControlGroup {
 public:
  explicit ControlGroup(int quota_us) : path_(fmt::format("{}/krysol_{}", root, ::getpid())) {
    std::error_code refused;
    if (!fs::exists(fs::path(root) / "cpu.cfs_quota_us") || !fs::create_directory(path_, refused)) {
      return;
    }
    std::ofstream(path_ / "cpu.cfs_period_us") << 100000;
    std::ofstream quota(path_ / "cpu.cfs_quota_us");
    quota << quota_us << std::flush;
    made_ = quota.good();
  }
  ~ControlGroup() {
    std::error_code gone;
    fs::remove(path_, gone);
  }
  ControlGroup(const ControlGroup&) = delete;
  ControlGroup& operator=(const ControlGroup&) = delete;

  bool made() const { return made_; }
  std::string members() const { return (path_ / "cgroup.procs").string(); }

 private:
  static constexpr const char* root = "/sys/fs/cgroup/cpu";
  fs::path path_;
  bool made_ = false;
};

/// Threads that wait for each other while the system has stopped one cost far more than they win.
TEST_F(CgSolve, StartsNoMoreThreadsThanItsQuotaIsWorth) {
  const ControlGroup one_core(100000);
  if (!one_core.made()) GTEST_SKIP() << "no control group of version 1 may be made here";
  const auto json = in("report.json").string();
  const std::string script = fmt::format(
      "echo $$ > '{}' && unset OMP_NUM_THREADS && exec '{}' '{}' --no-bandwidth --json "
      "'{}' --quiet \"$@\"",
      one_core.members(), KRYSOL_CG_SOLVE, grid_, json);
  ASSERT_EQ(run_exactly({"-c", script}, "/bin/sh").code, 0);
  EXPECT_EQ(Json::parse(text_of(json))["threads"], 1);
#ifdef KOKKOS_ENABLE_OPENMP
  ASSERT_EQ(run_exactly({"-c", script, "cg_solve", "--threads", "2"}, "/bin/sh").code, 0);
  EXPECT_EQ(Json::parse(text_of(json))["threads"], 2) << "who asks for threads gets them";
#endif
}

#ifdef KOKKOS_ENABLE_OPENMP
/// What a user asks of Kokkos by its variable holds, whatever OpenMP's says; unless it is said of
/// the program.
TEST_F(CgSolve, StartsTheThreadsOfTheVariableOfKokkos) {
  const auto json = in("report.json").string();
  for (const int of_kokkos : {1, 2}) {
    for (const int of_openmp : {1, 2}) {
      for (const int asked : {0, 1, 2}) {
        const std::string script = fmt::format(
            "export KOKKOS_NUM_THREADS={} OMP_NUM_THREADS={}; exec '{}' '{}' --no-bandwidth "
            "--json '{}' --quiet \"$@\"",
            of_kokkos, of_openmp, KRYSOL_CG_SOLVE, grid_, json);
        Arguments command = {"-c", script, "cg_solve"};
        if (asked > 0) command.insert(command.end(), {"--threads", std::to_string(asked)});
        const Outcome o = run_exactly(command, "/bin/sh");
        ASSERT_EQ(o.code, 0) << o.err;
        EXPECT_EQ(Json::parse(text_of(json))["threads"], asked > 0 ? asked : of_kokkos)
            << of_kokkos << ' ' << of_openmp << ' ' << asked;
      }
    }
  }
}
#endif

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
                 "--lambda-min: only cg bounds its error by it; --solver is minres");
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
  const Json timed = report({slow, "--precond", "jacobi", "--time-limit", "0.1"}, 1)["result"];
  EXPECT_EQ(timed["status"], "time_limit");
  EXPECT_GE(timed["seconds"], 0.1);
}

TEST_F(CgSolve, TakesAStartingGuess) {
  const auto exact = write_vector("x0.mtx", std::vector<double>(900, 1.0));
  const Json j = report({grid_, "--rhs", "A*ones", "--x0", exact}, 0);
  EXPECT_EQ(j["result"]["iterations"], 0);
  EXPECT_EQ(j["x0"], exact);
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

TEST_F(CgSolve, RefusesOptionsThatCannotBeMeant) {
  expect_refusal({grid_, "--max-iterations", "1.5"}, "takes a whole number from 1, not '1.5'");
  expect_refusal({grid_, "--max-iterations", "99999999999999999999"},
                 "takes a whole number from 1, not '99999999999999999999'");
  if constexpr (krysol::on_host<Kokkos::DefaultExecutionSpace>) {
    expect_refusal({grid_, "--device", "3"}, "--device 3: this program was built for ");
  } else {
    expect_refusal({grid_, "--device", "300"}, "--device 300: there are ");
  }
  expect_refusal({grid_, "--format", "bsr:9"},
                 "unknown format 'bsr:9'; known: bsr[:N]: dense blocks of 2 to 8 unknowns a node");
  expect_refusal({grid_, "--format", "ell:2"}, "unknown format 'ell:2'; known: ell");
  expect_refusal({grid_, "--member", "a/a.mtx"}, "is no tar archive");
  for (const char* option : {"--rhs", "--x0", "--output", "--json", "--history", "--tuning"}) {
    expect_refusal({grid_, option, ""}, std::string(option) + ": needs a value");
  }
  const Json one = report({grid_, "--max-iterations", "1"}, 1);
  EXPECT_NE(one["result"]["advice"].get<std::string>().find("after 1 iteration:"),
            std::string::npos)
      << one["result"]["advice"];
}

TEST_F(CgSolve, SaysWhichFileOfAnArchiveItRead) {
  const std::string matrix =
      "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2\n2 1 -1\n2 2 3\n";
  const std::string path =
      write("a.tar", tar_member("m/m.mtx", matrix) + tar_member("m/m_C.mtx", matrix) + tar_end());
  EXPECT_EQ(report({path}, 0)["matrix"]["member"], "m/m.mtx");
  EXPECT_EQ(report({path, "--member", "m/m_C.mtx"}, 0)["matrix"]["member"], "m/m_C.mtx");
  EXPECT_EQ(report({grid_}, 0)["matrix"]["member"], "");
  const auto text = run({path});
  EXPECT_NE(text.out.find("a.tar, file in it: m/m.mtx"), std::string::npos) << text.out;
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

TEST_F(CgSolve, RefusesOptionsThatWouldDoNothing) {
  const auto refused = [&](const Arguments& arguments, const std::string& why) {
    const Outcome o = run(arguments);
    EXPECT_EQ(o.code, 2) << why;
    EXPECT_TRUE(holds(o.err, why)) << o.err;
  };
  refused({"neumann2d:6", "--solver", "minres", "--project"},
          "--project: only cg looks for the null vectors of A; --solver is minres");
  refused({"poisson2d:6", "--explain", "--quiet"}, "--explain adds to the report");
  refused({"poisson2d:6", "--profile", "--quiet"}, "--profile adds to the report");
  Outcome o = run({"poisson2d:30", "--precond", "amg:cycle=k,coarsest=20", "--lambda-min", "1e-3"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(holds(o.out, "(flexible CG), so that --lambda-min bounds nothing")) << o.out;
  write("ind.mtx", indefinite);
  o = run({in("ind.mtx").string(), "--save-tuning", in("t.json").string()});
  EXPECT_EQ(o.code, 1) << o.err;
  EXPECT_EQ(holds(o.out, "t.json was not written: nothing was chosen"), !fs::exists(in("t.json")))
      << o.out;
}

TEST_F(CgSolve, SmoothsWithTheSameBitsOnAnyNumberOfThreads) {
  for (const char* smoother : {"l1-jacobi", "spai0", "gauss-seidel", "block", "line"}) {
    std::set<std::string> solutions;
    for (const char* threads : {"1", "2", "3"}) {
      const auto x = in(std::string("x") + threads + ".mtx");
      const Json j =
          report({"beam2d:10", "--format", "csr", "--threads", threads, "--precond",
                  std::string("amg:coarsening=aggregates,coarsest=50,smoother=") + smoother,
                  "--output", x.string()},
                 0);
      EXPECT_LT(j["result"]["iterations"].get<int>(), 40) << smoother;
      solutions.insert(text_of(x));
    }
    EXPECT_EQ(solutions.size(), 1U) << smoother;
  }
}

TEST_F(CgSolve, TakesWhatMultigridIsToKeepFromFiles) {
  // beam2d:3 has 12 x 4 nodes of two rows: places of nodes, and of one node less.
  const auto places = [](int nodes, int columns) {
    std::string text =
        fmt::format("%%MatrixMarket matrix array real general\n{} {}\n", nodes, columns);
    for (int c = 0; c < columns; ++c) {
      for (int i = 0; i < nodes; ++i) text += fmt::format("{}\n", c == 0 ? i % 12 : i / 12);
    }
    return text;
  };
  const Outcome sizes = run({"beam2d:3", "--precond", "none"});
  ASSERT_TRUE(holds(sizes.out, "96 x 96, ")) << sizes.out;
  const std::vector<std::string> amg = {"beam2d:3", "--precond", "amg:coarsest=20"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = amg;
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  };
  const Outcome o = with({"--coordinates", write("xy.mtx", places(48, 2))});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(holds(o.out, "near-null vectors 3")) << o.out;
  const Outcome vectors = with({"--near-null", write("v.mtx", places(96, 2))});
  EXPECT_EQ(vectors.code, 0) << vectors.err;
  EXPECT_TRUE(holds(vectors.out, "near-null vectors 2")) << vectors.out;
  const auto says = [](const Outcome& refused, const std::string& what) {
    EXPECT_EQ(refused.code, 2);
    EXPECT_TRUE(holds(refused.err, what)) << refused.err;
  };
  says(with({"--coordinates", write("few.mtx", places(47, 2))}),
       "near-null vectors: 3 of 94 rows for a matrix of 96 rows");
  says(with({"--coordinates", write("line.mtx", places(96, 1))}),
       "places of nodes have 2 or 3 columns, not 1");
  says(with({"--coordinates", "xy.mtx", "--near-null", "v.mtx"}), "--near-null");
  says(run({"beam2d:3", "--precond", "ic0", "--near-null", write("w.mtx", places(96, 1))}),
       "near-null vectors go with the preconditioners auto and amg, not ic0");
  says(with({"--near-null", "missing.mtx"}), "missing.mtx");
}

/// Files hold them column by column, NearNullVectors row by row.
TEST_F(CgSolve, HasTheNumbersOfVectorsRowByRow) {
  const std::string none;
  const krysol::ReadOptions read{};
  EXPECT_EQ(krysol::apps::near_null_from({none, none, read}), nullptr);
  for (const int cols : {1, 2, 3, 5}) {
    SCOPED_TRACE(cols);
    constexpr int rows = 7;
    std::vector<double> by_columns;
    std::vector<double> by_rows;
    for (int c = 0; c < cols; ++c) {
      for (int i = 0; i < rows; ++i) by_columns.push_back(10 * (i + 1) + c + 0.5);
    }
    for (int i = 0; i < rows; ++i) {
      for (int c = 0; c < cols; ++c) by_rows.push_back(10 * (i + 1) + c + 0.5);
    }
    const std::string file = in("v.mtx").string();
    krysol::write_dense(file, rows, cols, by_columns);
    const auto vectors = krysol::apps::near_null_from({file, none, read});
    ASSERT_NE(vectors, nullptr);
    EXPECT_EQ(vectors->count, cols);
    EXPECT_EQ(vectors->values, by_rows);
    if (cols != 2 && cols != 3) continue;
    const auto modes = krysol::apps::near_null_from({none, file, read});
    ASSERT_NE(modes, nullptr);
    const krysol::NearNullVectors expected = krysol::rigid_body_modes(by_rows, cols);
    EXPECT_EQ(modes->count, expected.count);
    EXPECT_EQ(modes->block, cols);
    EXPECT_EQ(modes->values, expected.values);
  }
}

}  // namespace
#endif
