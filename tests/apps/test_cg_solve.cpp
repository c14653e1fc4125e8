// The program cg_solve, started as a process: what it prints, how it ends, what it refuses.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_paths.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/core.h>
#include <krysol/io/bytes/file.hpp>
#include <krysol/solver/registry.hpp>
#include <krysol/spmv/base/memory.hpp>
#include <krysol/spmv/select/formats.hpp>
#include <nlohmann/json.hpp>
#include "apps/common/progress_line.hpp"
#include "cg_solve_runs.hpp"

#ifdef KRYSOL_CG_SOLVE
namespace {

using namespace krysol_tests;
using krysol::Triplets;

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
        "true residual |b - Ax|", "error |x - x*|", "error |x - x*|_A: estimated ",
        "spectrum of M^-1 A: 0.007683 (converged) to 1.495 (converged), condition 195", "SpMV",
        "vectors", "true residuals", "GB/s"}) {
    EXPECT_TRUE(holds(o.out, part)) << part << "\n" << o.out;
  }
}

TEST_F(CgSolve, SaysWhereTheEstimateOfTheErrorMayBeTooSmall) {
  const std::string converged = run({grid_}).out;
  EXPECT_TRUE(holds(converged, " |x*|_A; ")) << converged;
  EXPECT_FALSE(holds(converged, " |x*|_A or more")) << converged;
  const std::string early = run({grid_, "--max-iterations", "8"}).out;
  EXPECT_TRUE(holds(early, " |x*|_A or more; ")) << early;
  EXPECT_TRUE(holds(early, "spectrum of M^-1 A: 0.1202 (seen) to ")) << early;
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

TEST_F(CgSolve, TakesAProblemByItsName) {
  const Outcome o = run({"poisson:12", "--precond", "amg", "--rhs", "ones"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(holds(o.out, "1 728 x 1 728, 11 232 nonzeros")) << o.out;
  EXPECT_TRUE(holds(o.out, "cg with amg")) << o.out;
  EXPECT_TRUE(holds(o.out,
                    "\n           levels 3, coarsening grids, smoother chebyshev, steps of a "
                    "smoother 2, rows a node 1, "))
      << o.out;
  EXPECT_TRUE(holds(o.out, "\n           level 1: 1728 rows, 11232 nonzeros, ")) << o.out;
  EXPECT_TRUE(holds(o.out, "converged after ")) << o.out;
  const Outcome unknown = run({"poisson:0"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_TRUE(holds(unknown.err, "'poisson:0': a size from 1 to 1000 is needed")) << unknown.err;
  const Outcome member = run({"poisson:12", "--member", "a.mtx"});
  EXPECT_EQ(member.code, 2);
  EXPECT_TRUE(holds(member.err, "--member: poisson:12 is made, not read from a file"))
      << member.err;
  // A file of that name is what was meant.
  write("poisson:12", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 3\n2 2 4\n");
  const auto there = std::filesystem::current_path();
  std::filesystem::current_path(in("poisson:12").parent_path());
  const Outcome file = run({"poisson:12"});
  std::filesystem::current_path(there);
  EXPECT_TRUE(holds(file.out, "2 x 2, 2 nonzeros")) << file.out << file.err;
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
  const Outcome o = run({matrix, "--precond", "jacobi", "--time-limit", "0.8"});
  EXPECT_EQ(o.code, 1);
  EXPECT_EQ(o.err, "");
}

/// OpenMP binds the thread that starts the program again to one core, which is undone: all of them.
TEST_F(CgSolve, HasAsManyThreadsWhereTheyAreBound) {
  const auto threads = [this](const Arguments& environment) {
    Arguments all;
    for (const char* const name :
         {"KOKKOS_NUM_THREADS", "OMP_NUM_THREADS", "OMP_PLACES", "OMP_PROC_BIND", "OMP_WAIT_POLICY",
          "GOMP_SPINCOUNT", "GOMP_CPU_AFFINITY"}) {
      all.insert(all.end(), {"-u", name});
    }
    all.insert(all.end(), environment.begin(), environment.end());
    all.insert(all.end(), {KRYSOL_CG_SOLVE, "poisson2d:9", "--precond", "jacobi", "--format", "csr",
                           "--no-bandwidth", "--json", "-", "--quiet"});
    const Outcome o = run_exactly(all, "env");
    EXPECT_EQ(o.code, 0) << o.err;
    const Json report = Json::parse(o.out, nullptr, false);
    return report.is_object() ? report["threads"].get<int>() : -1;
  };
  const int unbound = threads({});
  EXPECT_GE(unbound, 1);
  EXPECT_EQ(threads({"OMP_PROC_BIND=true"}), unbound);
  EXPECT_EQ(threads({"OMP_PROC_BIND=spread"}), unbound);
}

TEST_F(CgSolve, ShowsItsProgressOnATerminal) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0) {
    GTEST_SKIP() << "no pseudo-terminals here";
  }
  const fs::path name = ::ptsname(terminal);
  const auto matrix = write("chain.mtx", chain(100000));
  const auto arguments = with_defaults({matrix, "--precond", "jacobi", "--time-limit", "0.8"});
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

/// What `body` writes to standard error while that is a terminal; nothing where there is none.
template <class Body>
std::string shown_on_a_terminal(const Body& body) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0) return {};
  const bool usable = ::grantpt(terminal) == 0 && ::unlockpt(terminal) == 0;
  const int other_end = usable ? ::open(::ptsname(terminal), O_RDWR | O_NOCTTY) : -1;
  const int before = ::dup(STDERR_FILENO);
  std::string shown;
  if (other_end >= 0 && before >= 0) {
    ::dup2(other_end, STDERR_FILENO);
    ::close(other_end);
    body();
    ::dup2(before, STDERR_FILENO);  // which closes the last of that end
    char buffer[4096];
    for (ssize_t n;
         (n = ::read(terminal, buffer, sizeof buffer)) > 0 || (n < 0 && errno == EINTR);) {
      if (n > 0) shown.append(buffer, static_cast<std::size_t>(n));
    }
  }
  if (before >= 0) ::close(before);
  ::close(terminal);
  return shown;
}

TEST(Progress, IsRelativeToTheRightHandSide) {
  krysol::Progress p;
  p.iteration = 12;
  p.residual = 0.5;
  p.target = 1e-9;
  p.seconds = 1;
  p.iterations_left = 1;
  p.seconds_left = 0.5;
  p.rounding = 1e-3;
  for (const double b_norm : {0.25, 1.0, 8.0, 0.0}) {
    const std::string shown = shown_on_a_terminal([&] {
      krysol::apps::ProgressLine line(true);
      line.show(p, b_norm);
    });
    if (shown.empty()) GTEST_SKIP() << "no pseudo-terminals here";
    const double unit = b_norm > 0 ? b_norm : 1;
    EXPECT_EQ(shown, fmt::format("\r\033[Kiteration 12, |r| = {:.2e} |b|, 1.0 s; about 1 iteration "
                                 "and 0.5 s left; the tolerance is below what rounding x makes, "
                                 "{:.1e} |b|\r\033[K",
                                 0.5 / unit, 1e-3 / unit));
  }
  p.iterations_left = -1;
  p.target = 1;
  const auto shown_with = [&p](bool wanted) {
    return shown_on_a_terminal([&] {
      krysol::apps::ProgressLine line(wanted);
      line.show(p, 1);
      line.show(p, 1);  // too soon after the first
    });
  };
  EXPECT_EQ(shown_with(true), "\r\033[Kiteration 12, |r| = 5.00e-01 |b|, 1.0 s\r\033[K");
  EXPECT_EQ(shown_with(false), "");
}

// ---- outcomes other than a solution

TEST_F(CgSolve, RefusesMatricesThatAreNotSymmetricOrNotDefinite) {
  const auto u = write("u.mtx", unsymmetric);
  const Outcome o = run({u, "--output", in("x.mtx").string()});
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(holds(o.out, "not_symmetric: nothing was solved")) << o.out;
  EXPECT_TRUE(holds(o.out, "A(1, 2) = 1, A(2, 1) = 0.5")) << o.out;
  EXPECT_TRUE(holds(o.out, "x.mtx was not written: nothing was solved")) << o.out;
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

/// Ctrl-C, what batch systems send, and what a lost terminal sends.
TEST_F(CgSolve, KeepsWhatItHasWhenInterrupted) {
  if (!fs::exists("/proc/self/status")) GTEST_SKIP() << "no /proc here to see the solve begin";
  const auto matrix = write("chain.mtx", chain(100000));
  const std::pair<int, int> codes[] = {{SIGINT, 1}, {SIGTERM, 143}, {SIGHUP, 129}};
  for (const auto& [signal, code] : codes) {
    SCOPED_TRACE(signal);
    const auto arguments =
        with_defaults({matrix, "--rhs", "ones", "--precond", "jacobi", "--time-limit", "100",
                       "--output", in("x.mtx").string(), "--json", in("report.json").string()});
    const pid_t pid = start(KRYSOL_CG_SOLVE, arguments, in("out"), in("err"));
    int status = 0;
    while (!catches_interrupt(pid)) {
      ASSERT_EQ(waitpid(pid, &status, WNOHANG), 0) << text_of(in("err"));
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ASSERT_EQ(kill(pid, signal), 0);
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(exit_code(status), code);
    EXPECT_EQ(WIFSIGNALED(status), code > 128);
    EXPECT_EQ(text_of(in("err")), "");
    EXPECT_TRUE(holds(text_of(in("out")), "interrupted after "));
    const Json r = Json::parse(text_of(in("report.json")))["result"];
    EXPECT_EQ(r["status"], "interrupted");
    const double found = residual(matrix, vector_in(in("x.mtx")), std::vector<double>(100000, 1.0));
    EXPECT_NEAR(found, r["residual"], 1e-6 * found);
    EXPECT_EQ(files(), (std::set<std::string>{"chain.mtx", "err", "out", "report.json", "x.mtx"}));
    fs::remove(in("x.mtx"));
    fs::remove(in("report.json"));
  }
}

/// SIGKILL cannot be caught: what is being written has no name before it is whole.
TEST_F(CgSolve, LeavesNothingHalfWrittenWhenKilled) {
  const pid_t child = fork();
  if (child == 0) {
    krysol::OutputFile half(in("x.mtx"));
    half.write(std::string(1 << 20, 'x'));
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(exit_code(status), 128 + SIGKILL);
  const int handle = open(folder_.c_str(), O_TMPFILE | O_WRONLY, 0600);
  if (handle < 0) GTEST_SKIP() << "this file system has no files without names";
  close(handle);
  EXPECT_EQ(files(), std::set<std::string>{});
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
  expect_refusal({grid_, "--max-iterations", "0"}, "takes a whole number from 1, not '0'");
  expect_refusal({grid_, "--time-limit", "0"}, "takes a number above 0, not '0'");
  expect_refusal({grid_, "--threads", "0"}, "--threads");
  expect_refusal({grid_, "--device", "-1"}, "takes a whole number from 0 to 2147483647, not '-1'");
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

/// Outputs do not hang on each other: what one disk cannot take the next one gets.
TEST_F(CgSolve, WritesEachOutputAlthoughAnotherFails) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const std::vector<std::string> names = {"--output", "--history", "--json", "--save-tuning"};
  for (const std::string& full : names) {
    SCOPED_TRACE(full);
    Arguments arguments{grid_};
    std::set<std::string> expected;
    for (const std::string& name : names) {
      arguments.push_back(name);
      arguments.push_back(name == full ? "/dev/full" : in(name.substr(2)).string());
      if (name != full) expected.insert(name.substr(2));
    }
    const Outcome o = run(arguments);
    EXPECT_EQ(o.code, 2);
    EXPECT_TRUE(holds(o.err, "/dev/full: cannot be written")) << o.err;
    EXPECT_TRUE(holds(o.out, "converged after 63 iterations")) << o.out;
    EXPECT_EQ(files(), expected);
    for (const std::string& name : expected) fs::remove(in(name));
  }
}

TEST_F(CgSolve, NeverWritesOverWhatItReadsOrWrites) {
  const auto matrix = write("a.mtx", chain(10));
  const std::string before = text_of(matrix);
  fs::create_symlink("a.mtx", in("link.mtx"));
  for (const char* name : {"a.mtx", "./a.mtx", "link.mtx"}) {
    for (const char* option : {"--output", "--json", "--history", "--witness", "--save-tuning"}) {
      expect_refusal({matrix, option, in(name).string()}, "is read as well, and would be lost");
    }
  }
  const auto b = write_vector("b.mtx", std::vector<double>(10, 1.0));
  expect_refusal({matrix, "--rhs", b, "--output", b}, "b.mtx: is read as well");
  expect_refusal({matrix, "--output", in("x").string(), "--json", in("./x").string()},
                 "two outputs would go to this file");
  const auto here = fs::relative(in("x"));  // neither is there yet, and one has no folder
  expect_refusal({matrix, "--output", here.string(), "--json", in("x").string()},
                 "two outputs would go to this file");
  expect_refusal({matrix, "--output", "no_such_x", "--json", "./no_such_x"},
                 "two outputs would go to this file");
  EXPECT_EQ(text_of(matrix), before);
  EXPECT_FALSE(fs::exists(in("x")));
  EXPECT_EQ(run({matrix, "--output", "/dev/null", "--json", "/dev/null"}).code, 0);
}

/// Of a file that is not text no more is read than its first bytes: this one has no end.
TEST_F(CgSolve, LooksAtTheFirstBytesBeforeItReadsAll) {
  if (!fs::exists("/dev/zero")) GTEST_SKIP() << "no /dev/zero here";
  expect_refusal({"/dev/zero"}, "/dev/zero: binary data (byte 1 is \\x00)");
  expect_refusal({grid_, "--rhs", "/dev/zero"}, "/dev/zero: binary data (byte 1 is \\x00)");
}

/// 70 bytes may declare more rows than the machine has memory for: nothing is made of them.
TEST_F(CgSolve, RefusesMoreRowsThanThereIsMemoryFor) {
  const auto free = krysol::free_host_bytes();
  if (!free || *free > 140'000'000'000) GTEST_SKIP() << "there is room for 2e9 rows";
  for (const bool twice : {false, true}) {
    const auto matrix = write("rows.mtx",
                              "%%MatrixMarket matrix coordinate real symmetric\n"
                              "2000000000 2000000000 1\n1 1 1\n");
    Arguments arguments{matrix};
    if (twice) arguments.emplace_back("--low-memory");
    const Outcome o = run(arguments);
    EXPECT_EQ(o.code, 3);
    EXPECT_TRUE(holds(o.err,
                      "not enough memory: no room for 'the rows of a matrix of 2000000000 x "
                      "2000000000, "))
        << o.err;
    EXPECT_TRUE(holds(o.err, "144.0 GB asked of Host memory, of which ")) << o.err;
  }
}

TEST_F(CgSolve, SaysSoWhenMemoryRunsOut) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the address sanitizer needs more address space than this test leaves";
#endif
  if constexpr (!krysol::on_host<Kokkos::DefaultExecutionSpace>) {
    GTEST_SKIP() << "the runtime of a GPU needs more address space than this test leaves";
  }
  const auto matrix = write("large.mtx",
                            "%%MatrixMarket matrix coordinate real symmetric\n"
                            "300000000 300000000 1\n1 1 1\n");
  const auto run_within = [this](const std::string& kilobytes, const std::string& file) {
    return run_exactly({"-c", "ulimit -v " + kilobytes + " || exit 77; exec \"$@\"", "sh",
                        KRYSOL_CG_SOLVE, file, "--threads", "1", "--no-bandwidth"},
                       "sh");
  };
  const Outcome o = run_within("1500000", matrix);
  if (o.code == 77) GTEST_SKIP() << "ulimit -v does not work here";
  EXPECT_EQ(o.code, 3);
  EXPECT_EQ(o.out, "");
  EXPECT_TRUE(
      o.err.starts_with("cg_solve: error: not enough memory: no room for 'the rows of a "
                        "matrix of 300000000 x 300000000, 1 nonzeros': 21.6 GB asked of "
                        "Host memory, of which "))
      << o.err;
  // As many entries as the file says that it holds, before they are read.
  std::string text = "%%MatrixMarket matrix coordinate real symmetric\n1 1 20000000\n";
  for (int k = 0; k < 20000000; ++k) text += "1 1 1\n";
  const auto long_file = write("long.mtx", text);
  const Outcome entries = run_within("300000", long_file);
  EXPECT_EQ(entries.code, 3);
  EXPECT_TRUE(holds(entries.err, "not enough memory: no room for 'the entries of " + long_file +
                                     "': 324.2 MB asked of Host memory, of which "))
      << entries.err;
}

}  // namespace
#endif
