// What cg_solve writes and reads beside its report: solutions, histories, tuning records.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_paths.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <krysol/io/read.hpp>
#include <krysol/spmv/select/formats.hpp>
#include <nlohmann/json.hpp>
#include "cg_solve_runs.hpp"
#include "dense.hpp"
#include "problems.hpp"

#ifdef KRYSOL_CG_SOLVE
namespace {

using namespace krysol_tests;

TEST_F(CgSolve, WritesASolutionThatOthersCanCheck) {
  const auto trefethen = fs::path(KRYSOL_DATA_DIR) / "Trefethen_2000.mtx";
  const Json j = report({trefethen.string(), "--rhs", "ones", "--output", in("x.mtx").string()}, 0);
  const auto x = vector_in(in("x.mtx"));
  ASSERT_EQ(x.size(), 2000U);
  const double r = residual(trefethen, x, std::vector<double>(2000, 1.0));
  EXPECT_LE(r, 1.001e-8 * std::sqrt(2000.0));
  EXPECT_NEAR(r, j["result"]["residual"], 1e-3 * r + 1e-13);
}

/// A chain with free ends has (1, ..., 1) in its null space, and no x for a b that has a part of
/// it.
TEST_F(CgSolve, WritesNothingThatIsNoSolution) {
  const auto matrix = write("chain.mtx", free_ends(200));
  const auto x = in("x.mtx").string();
  const Json j = report({matrix, "--rhs", "ones", "--output", x, "--max-iterations", "20000"}, 1);
  EXPECT_TRUE(holds(j["result"]["advice"].get<std::string>(), "singular")) << j["result"];
  if (j["result"]["residual"].get<double>() > j["result"]["initial_residual"].get<double>()) {
    EXPECT_FALSE(fs::exists(x));
    EXPECT_TRUE(holds(j["notes"].dump(), "x is no solution")) << j["notes"];
  }
  // Of a solve that was cut short x is worth something.
  EXPECT_EQ(run({matrix, "--rhs", "A*random", "--output", x, "--max-iterations", "3"}).code, 1);
  EXPECT_TRUE(fs::exists(x));
}

/// CG knows that no x solves it and does not begin; MINRES ends with a least-squares solution,
/// which is worth writing.
TEST_F(CgSolve, WritesALeastSquaresSolutionOfMinresOnly) {
  const auto matrix = write("free.mtx", free_ends(60));
  const auto x = in("x.mtx").string();
  const Json of_cg = report({matrix, "--rhs", "ones", "--output", x}, 1);
  EXPECT_EQ(of_cg["result"]["status"], "inconsistent") << of_cg["result"];
  EXPECT_TRUE(holds(of_cg["notes"].dump(), "x.mtx was not written: A x = b has no solution"))
      << of_cg["notes"];
  EXPECT_FALSE(fs::exists(x));
  const Json of_minres = report(
      {matrix, "--solver", "minres", "--precond", "none", "--rhs", "ones", "--output", x}, 1);
  EXPECT_EQ(of_minres["result"]["status"], "inconsistent") << of_minres["result"];
  EXPECT_FALSE(holds(of_minres["notes"].dump(), "was not written")) << of_minres["notes"];
  ASSERT_TRUE(fs::exists(x)) << of_minres["notes"];
  const auto solution = vector_in(x);
  ASSERT_EQ(solution.size(), 60U);
  auto r = product(matrix, solution);
  for (double& v : r) v = 1 - v;
  const auto of_r = product(matrix, r);
  EXPECT_LE(std::sqrt(dot(of_r, of_r)), 1e-11 * std::sqrt(dot(r, r)));
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

TEST_F(CgSolve, KeepsWhatAutoMeasuredForTheNextRun) {
  const auto trefethen = (fs::path(KRYSOL_DATA_DIR) / "Trefethen_2000.mtx").string();
  const fs::path folder = in("tuning");
  setenv("KRYSOL_TUNING_CACHE", folder.c_str(), 1);
  const auto count = [&] {
    return fs::exists(folder) ? std::distance(fs::directory_iterator(folder), {}) : 0;
  };
  const std::vector<std::string> solve = {trefethen, "--precond", "jacobi"};
  report({trefethen, "--precond", "jacobi", "--no-tuning-cache"}, 0);
  report({trefethen, "--format", "csr"}, 0);
  report({grid_}, 0);      // too small to measure for
  report({trefethen}, 0);  // auto: too soon done
  EXPECT_EQ(count(), 0);
  const Json first = report(solve, 0);
  EXPECT_FALSE(first["format"]["auto"]["used_earlier"]);
  ASSERT_EQ(count(), 1);
  const fs::path file = fs::directory_iterator(folder)->path();
  const Json kept = Json::parse(text_of(file));
  EXPECT_EQ(kept["schema"], "krysol/tuning_record/1");
  EXPECT_EQ(kept["format"], first["format"]["name"]);
  const Json second = report(solve, 0);
  EXPECT_EQ(count(), 1);
  EXPECT_EQ(second["result"]["status"], "converged");
  std::ofstream(file) << "{";
  EXPECT_FALSE(report(solve, 0)["format"]["auto"]["used_earlier"]);
  EXPECT_EQ(Json::parse(text_of(file))["schema"], "krysol/tuning_record/1") << "made again";
  setenv("KRYSOL_TUNING_CACHE", "off", 1);
}

TEST_F(CgSolve, ChoosesAFormatAndSaysHowToRepeatTheRun) {
  const auto trefethen = (fs::path(KRYSOL_DATA_DIR) / "Trefethen_2000.mtx").string();
  const Json j = report({trefethen, "--precond", "jacobi", "--output", in("auto.mtx").string()}, 0);
  const auto format = j["format"]["name"].get<std::string>();
  EXPECT_EQ(j["format"]["auto"]["trials"].size(), krysol::list_formats().size());
  const Json again = report(
      {trefethen, "--precond", "jacobi", "--format", format, "--output", in("again.mtx").string()},
      0);
  EXPECT_EQ(again["format"]["name"], format);
  EXPECT_FALSE(again["format"].contains("auto"));
  EXPECT_EQ(text_of(in("auto.mtx")), text_of(in("again.mtx")));
  const Outcome o = run({trefethen, "--precond", "jacobi", "--explain", "--max-iterations", "100"});
  EXPECT_EQ(o.code, 0) << o.out;
  for (const auto& f : krysol::list_formats()) {
    EXPECT_TRUE(holds(o.out, fmt::format("\n  {}", f.name))) << f.name << o.out;
  }
  EXPECT_TRUE(holds(run({trefethen, "--precond", "jacobi", "--max-iterations", "12"}).out,
                    "12 multiplications are too few to measure for"));
  // Beside another choice nothing is measured for what is soon done.
  const Json soon = report({trefethen}, 0);
  EXPECT_EQ(soon["format"]["name"], "csr");
  EXPECT_EQ(soon["format"]["auto"]["reason"],
            "fewer than 250 multiplications are known to be ahead, too few to measure for");
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

  // What auto went over to, and after how many iterations.
  const auto stiff = write("chain.mtx", chain(4000));
  const auto went = in("stages.json").string();
  const Json chosen = report(
      {stiff, "--format", "auto", "--save-tuning", went, "--output", in("u.mtx").string()}, 0);
  const std::string repeat = chosen["preconditioner_choice"]["repeat"];
  const bool on_device = chosen["backend"] != "OpenMP" && chosen["backend"] != "Serial";
  EXPECT_TRUE(repeat.starts_with(on_device ? "jacobi" : "auto:jacobi*")) << repeat;
  EXPECT_EQ(Json::parse(text_of(went))["preconditioner"], repeat);
  const Json repeated = report({stiff, "--tuning", went, "--output", in("v.mtx").string()}, 0);
  EXPECT_EQ(repeated["preconditioner_choice"]["repeat"], repeat);
  EXPECT_EQ(text_of(in("u.mtx")), text_of(in("v.mtx")));

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

TEST_F(CgSolve, ChoosesTheSameForAnyNumberOfThreads) {
  for (const char* precond : {"auto", "cholesky", "amg"}) {
    std::string first;
    for (const char* threads : {"1", "2", "3"}) {
      const auto x = in(std::string("x") + threads + ".mtx").string();
      const Json j = report({"beam2d:30", "--format", "csr", "--reorder", "none", "--precond",
                             precond, "--threads", threads, "--output", x},
                            0);
      if (first.empty()) first = text_of(x);
      EXPECT_EQ(text_of(x), first) << precond << threads;
      const bool on_device = j["backend"] != "OpenMP" && j["backend"] != "Serial";
      EXPECT_TRUE(on_device || j["preconditioner"] != "jacobi");
    }
  }
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

TEST_F(CgSolve, WritesBehindWhatStandardOutputHolds) {
  const std::string grid = (fs::path(KRYSOL_DATA_DIR) / "gr_30_30.mtx").string();
  for (const std::string to : {"--output -", "--output /dev/stdout", "--json /dev/stdout"}) {
    write("log", "precious\n");
    const std::string command =
        fmt::format("{{ echo before; {} {} --quiet --no-bandwidth {}; echo after; }} >> {}",
                    KRYSOL_CG_SOLVE, grid, to, in("log").string());
    EXPECT_EQ(std::system(command.c_str()), 0);
    const std::string text = text_of(in("log"));
    EXPECT_TRUE(text.starts_with("precious\nbefore\n")) << to;
    EXPECT_TRUE(text.ends_with("\nafter\n")) << to;
    EXPECT_GT(text.size(), 2000U) << to;
  }
  write("log", "precious\n");
  const std::string command = fmt::format("{} {} --quiet --no-bandwidth --output /dev/fd/5 5>> {}",
                                          KRYSOL_CG_SOLVE, grid, in("log").string());
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_TRUE(text_of(in("log")).starts_with("precious\n%%MatrixMarket matrix array"));
}

TEST_F(CgSolve, SaysThatAStreamCannotBeWrittenBeforeItSolves) {
  const auto err_of = [&](const std::string& arguments) {
    const std::string command = fmt::format("{} poisson2d:20 --no-bandwidth {} 2> {}",
                                            KRYSOL_CG_SOLVE, arguments, in("err").string());
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 2) << arguments;
    return text_of(in("err"));
  };
  write("f", "mine");
  EXPECT_TRUE(holds(err_of("--quiet --output /dev/fd/3 3< " + in("f").string()),
                    "/dev/fd/3: cannot be opened for writing"));
  EXPECT_TRUE(holds(err_of("--quiet --output - >&-"), "standard output: cannot be opened"));
  EXPECT_TRUE(holds(err_of("--json /dev/stdout"),
                    "the report and --json /dev/stdout would mix on standard output"));
}

TEST_F(CgSolve, KeepsItsWordsOutOfFilesWhereStreamsAreClosed) {
  const std::string command =
      fmt::format("{} poisson2d:20 --no-bandwidth --quiet --output {} --json {} <&- >&- 2>&-",
                  KRYSOL_CG_SOLVE, in("x.mtx").string(), in("o.json").string());
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 0);
  EXPECT_TRUE(text_of(in("x.mtx")).starts_with("%%MatrixMarket matrix array"));
  EXPECT_TRUE(Json::parse(text_of(in("o.json")))["result"]["converged"].get<bool>());
}

TEST_F(CgSolve, OverwritesNothingThatItFoundAndNoLink) {
  krysol::write_matrix(in("a.mtx"), chain(30));
  write_vector("a_b.mtx", std::vector<double>(30, 1.0));
  const std::string b = text_of(in("a_b.mtx"));
  Outcome o = run({in("a.mtx").string(), "--output", in("a_b.mtx").string()});
  EXPECT_EQ(o.code, 2);
  EXPECT_TRUE(holds(o.err, "a_b.mtx: is read as well, and would be lost")) << o.err;
  EXPECT_EQ(text_of(in("a_b.mtx")), b);
  // A link to what is not there yet.
  fs::create_symlink("later.html", in("link"));
  o = run(
      {in("a.mtx").string(), "--report", in("link").string(), "--json", in("later.html").string()});
  EXPECT_EQ(o.code, 2);
  EXPECT_TRUE(holds(o.err, "two outputs would go to this file")) << o.err;
  o = run({in("a.mtx").string(), "--report", in("link").string()});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(fs::is_symlink(in("link")));
  EXPECT_TRUE(fs::is_regular_file(in("later.html")));
}

TEST_F(CgSolve, OutlivesALimitOfTheSizeOfFiles) {
#ifdef KOKKOS_ENABLE_OPENMPTARGET
  GTEST_SKIP() << "the runtime of this space writes a file of its own before main";
#endif
  const std::string command = fmt::format(
      "ulimit -f 8; {} poisson2d:60 --quiet --no-bandwidth --rhs ones --output {} --history {}",
      KRYSOL_CG_SOLVE, in("x.mtx").string(), in("h.csv").string());
  const int status = std::system(("bash -c '" + command + "' 2> " + in("err").string()).c_str());
  EXPECT_EQ(WEXITSTATUS(status), 2);
  EXPECT_TRUE(holds(text_of(in("err")), "x.mtx: cannot be written: ")) << text_of(in("err"));
  EXPECT_FALSE(fs::exists(in("x.mtx")));
  EXPECT_TRUE(fs::exists(in("h.csv"))) << "which is short";
}

TEST_F(CgSolve, AsksForMemoryBeforeItMakesAProblem) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the address sanitizer needs address space of its own";
#endif
  for (const char* problem : {"random:1000000:1", "random:400000:0.9", "wathen:5000"}) {
    const std::string command =
        fmt::format("ulimit -v 8000000; exec {} {}", KRYSOL_CG_SOLVE, problem);
    const int status = std::system(("bash -c '" + command + "' 2> " + in("err").string()).c_str());
    EXPECT_EQ(WEXITSTATUS(status), 3) << problem;
    EXPECT_TRUE(holds(text_of(in("err")),
                      fmt::format("not enough memory: no room for 'the rows of {}': ", problem)))
        << text_of(in("err"));
  }
}

TEST_F(CgSolve, SendsOneDocumentToStandardOutput) {
  EXPECT_TRUE(run({grid_, "--quiet", "--output", "-"}).out.starts_with("%%MatrixMarket"));
  EXPECT_TRUE(run({grid_, "--quiet", "--history", "-"}).out.starts_with("iteration,"));
  expect_refusal({grid_, "--json", "-"}, "the report and --json - would mix");
  expect_refusal({grid_, "--quiet", "--json", "-", "--history", "-"}, "would mix");
}

}  // namespace
#endif
