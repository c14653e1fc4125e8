// regress where something is against it: other programs, full disks, names.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_paths.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "apps/regress/regress_runs.hpp"

#if defined(KRYSOL_REGRESS) && defined(KRYSOL_CG_SOLVE)
namespace {

using namespace krysol_tests;

/// A program that does what a shell script says where it solves.
std::string planted(const fs::path& folder, const std::string& what) {
  const fs::path path = folder / "planted";
  std::ofstream(path) << "#!/bin/sh\ncase \"$*\" in --version) exec " << KRYSOL_CG_SOLVE
                      << " --version;; esac\n"
                      << what << '\n';
  fs::permissions(path, fs::perms::owner_all);
  return path.string();
}

/// cg_solve, after which `command` is run for each argument "$a" that fits the shell's pattern.
std::string planted_after(const fs::path& folder, const std::string& pattern,
                          const std::string& command, const std::string& options = {}) {
  return planted(folder,
                 fmt::format("{} \"$@\" {}; code=$?\nfor a in \"$@\"; do case $a in {}) {};; "
                             "esac; done\nexit $code",
                             KRYSOL_CG_SOLVE, options, pattern, command));
}

/// What cg_solve says where there is no room for x, after what `first` does.
std::string planted_full_disk(const fs::path& folder, const std::string& first = {}) {
  return planted(folder,
                 first +
                     "for a in \"$@\"; do case $a in *x.mtx) echo \"cg_solve: error: $a: "
                     "cannot be written: No space left on device\" >&2; exit 2;; esac; done");
}

TEST_F(Regress, GoesOnInTheFolderOfTheMatrices) {
  krysol::write_matrix(in("a.mtx"), chain(200));
  krysol::write_matrix(in("b.mtx"), chain(210));
  const std::string program =
      planted(in(""), fmt::format("case $* in *b.mtx*--history*) sleep 30;; esac\nexec {} \"$@\"",
                                  KRYSOL_CG_SOLVE));
  const Arguments command = {
      in("").string(),        "--program", program, "--turns", "0", "--jobs", "1", "--output",
      in("run.json").string()};
  const pid_t pid = start(program_, command, in(".out"), in(".err"));
  for (int k = 0; k < 5000; ++k) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (fs::exists(in("run.json.journal")) && holds(text_of(in("run.json.journal")), "\"solve\""))
      break;
    if (k == 1000) break;  // b, the larger, comes first: it sleeps
  }
  kill(pid, SIGKILL);
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_TRUE(fs::exists(in("run.json.regress-work")));
  const Outcome o = run_exactly({in("").string(), "--program", program, "--turns", "0", "--jobs",
                                 "1", "--output", in("run.json").string(), "--list"});
  EXPECT_EQ(lines_of(o.out).size(), 2U) << o.out << "what a run works in is no matrix";
  planted(in(""), fmt::format("exec {} \"$@\"", KRYSOL_CG_SOLVE));
  const Outcome other = run_exactly(command);
  EXPECT_EQ(other.code, 2) << "another program";
  EXPECT_TRUE(holds(other.err, "had another file of the program")) << other.err;
  krysol::write_matrix(in("b.mtx"), chain(10));
  Arguments anew = command;
  anew.emplace_back("--restart");
  EXPECT_EQ(run_exactly(anew).code, 0);
  EXPECT_EQ(result()["solves"].size(), 2U);
  EXPECT_FALSE(fs::exists(in("run.json.regress-work")));
}

TEST_F(Regress, TakesWhatUsersRunForTheOutcome) {
  // It converges with what regress adds, and gives up otherwise.
  const std::string program =
      planted(in(""), fmt::format("case \"$*\" in *--reorder*) exec {0} \"$@\";; *) exec {0} "
                                  "\"$@\" --max-iterations 1;; esac",
                                  KRYSOL_CG_SOLVE));
  const Outcome o = run_exactly({"poisson2d:30", "--program", program, "--against", KRYSOL_CG_SOLVE,
                                 "--turns", "2", "--output", in("run.json").string()});
  EXPECT_EQ(o.code, 1) << o.out << o.err;
  EXPECT_TRUE(holds(o.out, "converged became max_iterations, as it is typed")) << o.out;
  EXPECT_EQ(outcome_of(result(), "poisson2d:30"), "not_converged");
  EXPECT_TRUE(holds(outcome_of(result(), "poisson2d:30", "message"), "as it is typed, without"));
}

/// Where the other program fails there are no two times to compare.
TEST_F(Regress, ComparesNoTimesWithAProgramThatFails) {
  const std::string failing = planted(in(""), "exit 3");
  const Outcome o = run_exactly(
      {"poisson2d:20", "--against", failing, "--turns", "2", "--output", in("run.json").string()});
  EXPECT_EQ(outcome_of(result(), "poisson2d:20"), "converged") << o.out << o.err;
  EXPECT_EQ(outcome_of(result(), "poisson2d:20", "seconds"), "[]") << o.out;
  EXPECT_EQ(outcome_of(result(), "poisson2d:20", "other_seconds"), "[]") << o.out;
}

TEST_F(Regress, ChecksXOfWhatUsersRun) {
  const std::string program = planted(
      in(""),
      fmt::format("{} \"$@\"; code=$?\ncase \"$*\" in *--history*) ;; *--output*) for a in \"$@\"; "
                  "do case $a in *x.mtx) sed -i '3s/.*/7/' $a;; esac; done;; esac\nexit $code",
                  KRYSOL_CG_SOLVE));
  const Outcome o = run_exactly(
      {"poisson2d:20", "--program", program, "--turns", "1", "--output", in("run.json").string()});
  EXPECT_EQ(o.code, 1) << o.out << o.err;
  EXPECT_EQ(outcome_of(result(), "poisson2d:20"), "wrong_result") << o.out;
}

/// Its x is what it says, and is not as good as the goal that it says it has reached.
TEST_F(Regress, HoldsAReportAgainstItsOwnGoal) {
  const std::string program =
      planted_after(in(""), "*report.json",
                    "sed -i 's/\"target\": *[-+.0-9e]*/\"target\": 0.002/' \"$a\"", "--tol 0.03");
  const Outcome o = run_regress(
      {"poisson2d:20", "--program", program, "--method", "m=--precond none --rhs ones"});
  EXPECT_EQ(o.code, 1) << o.out << o.err;
  EXPECT_EQ(outcome_of(result(), "poisson2d:20"), "wrong_result") << o.out;
  const std::string message = outcome_of(result(), "poisson2d:20", "message");
  EXPECT_TRUE(holds(message, "(the tolerance is 1.0e-04, ")) << message;  // 0.002 / |b|
}

/// Twice the residual that is reported is no rounding; a part in a thousand more may be.
TEST_F(Regress, AllowsAReportFewDigits) {
  const std::pair<std::string, std::string> cases[] = {{"1.000000001", "converged"},
                                                       {"1.0000025", "wrong_result"}};
  for (const auto& [factor, outcome] : cases) {
    const std::string program = planted_after(
        in(""), "*x.mtx",
        fmt::format(
            "awk '/^%/ || !sized {{ if (!/^%/) sized = 1; print; next }} "
            "{{ printf \"%.17g\\n\", $1 * {} }}' \"$a\" > \"$a.new\" && mv \"$a.new\" \"$a\"",
            factor));
    const std::string to = outcome + ".json";
    const Outcome o = run_regress({"poisson2d:20", "--program", program, "--method",
                                   "m=--tol 1e-6 --precond none --rhs ones"},
                                  to);
    EXPECT_EQ(o.code, outcome == "converged" ? 0 : 1) << o.out << o.err;
    EXPECT_EQ(outcome_of(result(to), "poisson2d:20"), outcome) << o.out;
  }
}

/// Where |A||x| overflows, it is not known what rounding explains: nothing, then.
TEST_F(Regress, ExplainsNoResidualThatOverflowsByRounding) {
  const std::string program = planted_after(in(""), "*x.mtx", "sed -i '3s/.*/1.7e308/' \"$a\"");
  const Outcome o =
      run_regress({"poisson2d:20", "--program", program, "--method", "m=--tol 1e-7", "--no-page"});
  EXPECT_EQ(o.code, 1) << o.out << o.err;
  EXPECT_EQ(outcome_of(result(), "poisson2d:20"), "wrong_result") << o.out;
  const std::string message = outcome_of(result(), "poisson2d:20", "message");
  EXPECT_TRUE(holds(message, "|b - A x| is inf |b|, the report says ")) << message;
  EXPECT_TRUE(holds(message, " (the tolerance is 1.0e-07, rounding explains 0.0e+00)")) << message;
}

/// Reports without seconds_to_solution have the seconds of parts, and not all of them.
TEST_F(Regress, AddsUpTheSecondsOfEarlierVersions) {
  const std::string program =
      planted_after(in(""), "*report.json",
                    "sed -i -E 's/\"seconds\": [^,]*/\"seconds\": 0.25/; "
                    "s/\"seconds_to_solution\"/\"total\"/; s/\"setup\"/\"made\"/' \"$a\"");
  const Outcome o = run_exactly(
      {"poisson2d:20", "--program", program, "--turns", "2", "--output", in("run.json").string()});
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  const Json seconds = result()["solves"][0]["seconds"];
  ASSERT_EQ(seconds.size(), 2U);
  // Of the solve and of the conversion; there is no setup.
  for (const Json& s : seconds) EXPECT_EQ(s.get<double>(), 0.5);
}

/// However few they are: those of parts are not added.
TEST_F(Regress, TakesTheSecondsToTheSolutionAsTheyAre) {
  const std::string program = planted_after(
      in(""), "*report.json",
      "sed -i -E 's/\"seconds\": [^,]*/\"seconds\": 0.25/; "
      "s/\"seconds_to_solution\": [0-9.e+-]+/\"seconds_to_solution\": 0.125/' \"$a\"");
  const Outcome o = run_exactly(
      {"poisson2d:20", "--program", program, "--turns", "2", "--output", in("run.json").string()});
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  const Json seconds = result()["solves"][0]["seconds"];
  ASSERT_EQ(seconds.size(), 2U);
  for (const Json& s : seconds) EXPECT_EQ(s.get<double>(), 0.125);
}

TEST_F(Regress, KnowsWhatProjectLeavesOut) {
  const Outcome o = run_regress({"neumann2d:12", "--method", "p=--rhs random:3 --project"});
  EXPECT_EQ(o.code, 0) << o.out;
  EXPECT_EQ(outcome_of(result(), "neumann2d:12"), "converged");
}

TEST_F(Regress, CallsAFullDiskNoOutcome) {
  const std::string program = planted_full_disk(in(""));
  const Outcome o = run_exactly(
      {"poisson2d:20", "--program", program, "--turns", "0", "--output", in("run.json").string()});
  EXPECT_EQ(o.code, 2) << o.out;
  EXPECT_TRUE(holds(o.err, "No space left on device; what is done so far is kept")) << o.err;
  EXPECT_FALSE(fs::exists(in("run.json")));
  EXPECT_TRUE(fs::exists(in("run.json.journal")));
}

/// A matrix that nobody could read has an outcome in the journal, and no sizes.
TEST_F(Regress, KeepsNoSizesOfWhatCannotBeRead) {
  const auto bad =
      write("bad.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 x 3\n");
  const std::string program = planted_full_disk(
      in(""), fmt::format("case \"$*\" in *bad.mtx*) exec {} \"$@\";; esac\n", KRYSOL_CG_SOLVE));
  // The largest file is first; a problem that is made has none.
  const Outcome o = run_exactly({bad, "poisson2d:20", "--program", program, "--turns", "0",
                                 "--jobs", "1", "--output", in("run.json").string()});
  EXPECT_EQ(o.code, 2) << o.out << o.err;
  EXPECT_TRUE(holds(o.err, "No space left on device")) << o.err;
  const auto lines = lines_of(text_of(in("run.json.journal")));
  ASSERT_EQ(lines.size(), 2U);
  const Json solve = Json::parse(lines[1], nullptr, false)["solve"];
  EXPECT_EQ(solve["outcome"], "refused") << lines[1];
  EXPECT_TRUE(holds(solve["message"].get<std::string>(), "bad.mtx:3:3: ")) << lines[1];
}

/// Of a list that is another one than that of the run before, the first item that differs.
TEST_F(Regress, NamesWhatDiffersInAList) {
  const std::string program = planted_full_disk(in(""));
  const auto command = [&](Arguments places) {
    places.insert(places.end(), {"--program", program, "--turns", "0", "--jobs", "1", "--output",
                                 in("run.json").string()});
    return places;
  };
  ASSERT_EQ(run_exactly(command({"poisson2d:10", "poisson2d:12"})).code, 2);
  ASSERT_TRUE(fs::exists(in("run.json.journal")));
  const auto differs = [&](const Arguments& places, const std::string& was,
                           const std::string& now) {
    expect_refused(command(places),
                   fmt::format("had another list of matrices: '{}', now '{}'. ", was, now));
  };
  differs({"poisson2d:10", "poisson2d:14"}, "poisson2d:12, ", "poisson2d:14, ");
  differs({"poisson2d:12"}, "poisson2d:10, ", "poisson2d:12, ");
  differs({"poisson2d:10"}, "poisson2d:12, ", "");
  differs({"poisson2d:10", "poisson2d:12", "poisson2d:14"}, "", "poisson2d:14, ");
}

/// A line of a journal that is damaged is named by its number, and the journal stays as it is.
TEST_F(Regress, NamesTheLineOfAJournalThatIsDamaged) {
  const std::string program = planted_full_disk(in(""));
  const Arguments command = {
      "poisson2d:10",         "--program", program, "--turns", "0", "--jobs", "1", "--output",
      in("run.json").string()};
  ASSERT_EQ(run_exactly(command).code, 2);
  std::string good = text_of(in("run.json.journal"));
  ASSERT_TRUE(good.ends_with("\n"));
  for (int more = 0; more < 3; ++more) {
    for (const std::string bad : {"{}\n", "no json\n", "\n"}) {
      write("run.json.journal", good + bad + "{\"triad\":1}\n");
      expect_refused(command, fmt::format("run.json.journal:{}: ", lines_of(good).size() + 1));
      expect_refused(command, "; --restart begins anew");
      EXPECT_EQ(text_of(in("run.json.journal")), good + bad + "{\"triad\":1}\n");
    }
    good += "{\"triad\":1}\n";
  }
}

TEST_F(Regress, LetsNothingGetAwayFromItsLimits) {
  // A child that leaves the group, and sleeps on.
  const std::string program = planted(
      in(""),
      fmt::format("setsid sh -c 'echo $$ > {}; exec sleep 300' &\nwait", in("pid").string()));
  const Outcome o =
      run_exactly({"poisson2d:9", "--program", program, "--turns", "0", "--time-limit", "0.2",
                   "--jobs", "1", "--output", in("run.json").string()});
  EXPECT_EQ(outcome_of(result(), "poisson2d:9"), "time_limit") << o.out << o.err;
  const int pid = std::stoi(text_of(in("pid")));
  EXPECT_NE(kill(pid, 0), 0) << "it lives on";
}

TEST_F(Regress, EndsWhatHasUsedUpItsProcessorTime) {
  const std::string program = planted(in(""), "while :; do :; done");
  const Outcome o =
      run_exactly({"poisson2d:9", "--program", program, "--turns", "0", "--time-limit", "1",
                   "--jobs", "1", "--output", in("run.json").string()});
  EXPECT_EQ(outcome_of(result(), "poisson2d:9"), "time_limit") << o.out << o.err;
  // The limit by the clock comes at five times as much.
  EXPECT_LT(result()["solves"][0]["cpu_seconds"].get<double>(), 4) << o.out;
}

/// With their commands, which repeat them; what ended as solves may is counted alone.
TEST_F(Regress, ListsWhatEndedAsNoSolveShould) {
  const std::string program = planted(
      in(""),
      fmt::format("case \"$*\" in *poisson2d:8*) while :; do :; done;; *poisson2d:9*) exit 3;; "
                  "*poisson2d:11*) exec {0} \"$@\" --max-iterations 1;; esac\nexec {0} \"$@\"",
                  KRYSOL_CG_SOLVE));
  const Outcome o = run_regress({"poisson2d:8", "poisson2d:9", "poisson2d:10", "poisson2d:11",
                                 write("bad.mtx",
                                       "%%MatrixMarket matrix coordinate real general\n"
                                       "2 2 1\n1 x 3\n"),
                                 "--program", program, "--method", "m=--precond none --rhs ones",
                                 "--time-limit", "2"});
  EXPECT_EQ(o.code, 1) << o.out << o.err;
  const Json run = result();
  EXPECT_EQ(outcome_of(run, "poisson2d:8"), "time_limit");
  EXPECT_EQ(outcome_of(run, "poisson2d:9"), "internal_error");
  EXPECT_EQ(outcome_of(run, "poisson2d:10"), "converged");
  EXPECT_EQ(outcome_of(run, "poisson2d:11"), "not_converged");
  ASSERT_EQ(run["solves"].size(), 5U);
  const std::set<std::string> unlisted = {"converged", "stagnated", "not_converged", "refused"};
  for (const Json& e : run["solves"]) {
    const auto text = [&e](const char* key) { return e[key].get<std::string>(); };
    const std::string head =
        fmt::format("  {}  {}, {}: ", text("outcome"), text("matrix"), text("method"));
    EXPECT_FALSE(text("command").empty()) << head;
    if (unlisted.contains(text("outcome"))) {
      EXPECT_FALSE(holds(o.out, head)) << o.out;
    } else {
      EXPECT_TRUE(holds(o.out, head + text("message") + "\n      " + text("command") + "\n"))
          << o.out;
    }
  }
}

/// A program that is late is asked once to end, and has a grace then.
TEST_F(Regress, AsksALateProgramOnce) {
  const std::string program = planted(
      in(""),
      fmt::format("trap 'echo asked >> {}' TERM\nwhile :; do :; done", in("asked").string()));
  const Outcome o =
      run_exactly({"poisson2d:9", "--program", program, "--turns", "0", "--time-limit", "0.2",
                   "--jobs", "1", "--output", in("run.json").string()});
  EXPECT_EQ(outcome_of(result(), "poisson2d:9"), "time_limit") << o.out << o.err;
  EXPECT_EQ(text_of(in("asked")), "asked\n");
}

/// A run has as many solves as it likes, and a process few open files.
TEST_F(Regress, LeavesNoFileOpenAfterASolve) {
  constexpr int most_files = 64;
  constexpr std::size_t solves = 40;  // and as many checks: each a process
  fs::create_directory(in("m"));
  for (std::size_t k = 0; k < solves; ++k) {
    krysol::write_matrix(in(fmt::format("m/a{}.mtx", k)), chain(5));
  }
  const std::string program = planted(in(""), "echo 'cg_solve: error: no' >&2\nexit 2");
  const Outcome o =
      run_exactly({"-c", fmt::format("ulimit -n {} || exit 77; exec \"$@\"", most_files), "sh",
                   program_, in("m").string(), "--program", program, "--turns", "0", "--jobs", "2",
                   "--output", in("run.json").string()},
                  "/bin/sh");
  if (o.code == 77) GTEST_SKIP() << "ulimit -n does not work here";
  ASSERT_EQ(o.code, 0) << o.out << o.err;
  const Json run = result();
  ASSERT_EQ(run["solves"].size(), solves);
  for (const Json& e : run["solves"]) EXPECT_EQ(e["outcome"], "refused") << e;
}

/// Of two solves alike the second takes as long as the first, and so no longer than all until then.
TEST_F(Regress, SaysOnATerminalHowLongItTakesYet) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0) {
    if (terminal >= 0) ::close(terminal);
    GTEST_SKIP() << "there are no terminals here";
  }
  const std::string name = ::ptsname(terminal);
  const std::string program = planted(
      in(""),
      fmt::format("case $* in *--history*) sleep 1.2;; esac\nexec {} \"$@\"", KRYSOL_CG_SOLVE));
  const auto began = std::chrono::steady_clock::now();
  const pid_t pid = start(program_,
                          {"poisson2d:5", "poisson2d:6", "--program", program, "--turns", "0",
                           "--jobs", "1", "--output", in("run.json").string()},
                          in(".out"), name);
  const std::regex left(" of 2, ([0-9]+):([0-9][0-9]) left: ");
  int seen = 0;
  std::array<char, 4096> buffer{};
  for (;;) {  // until nobody has the terminal any more
    const ssize_t n = ::read(terminal, buffer.data(), buffer.size());
    if (n <= 0) break;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
    const std::string said(buffer.data(), static_cast<std::size_t>(n));
    for (std::sregex_iterator m(said.begin(), said.end(), left), end; m != end; ++m) {
      EXPECT_LE(60 * std::stod((*m)[1].str()) + std::stod((*m)[2].str()), passed.count()) << said;
      ++seen;
    }
  }
  ::close(terminal);
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_EQ(exit_code(status), 0);
  EXPECT_GT(seen, 0);
}

TEST_F(Regress, LosesNoFileOfTheUsers) {
  ASSERT_EQ(run_regress({"poisson2d:9"}, "a.json").code, 0);
  expect_refused({"--merge", in("a.json").string(), "--output", in("a.json").string(), "--restart"},
                 "is read as well, and would be lost");
  expect_refused({"--merge", in("a.json").string(), "--output", in("a.json").string()},
                 "is there already");
  write("b.csv", "mine");
  expect_refused({"poisson:3", "--output", in("b.json").string()}, "b.csv: is there already");
  expect_refused({"poisson:3", "--output", in("run.1").string()}, "--output takes FILE.json");
  expect_refused({"poisson:3", "--output", "-"}, "--output takes FILE.json");
  expect_refused({"poisson:3", "--history", in("").string(), "--output", in("h.html").string()},
                 "--history solves nothing, and would ignore matrices");
  expect_refused(
      {"--merge", in("a.json").string(), "--method", "x=", "--output", in("m.json").string()},
      "--merge solves nothing, and would ignore --method");
  expect_refused({"poisson:3", "--against", KRYSOL_CG_SOLVE, "--turns", "1", "--output",
                  in("m.json").string()},
                 "needs --turns 2 or more");
  expect_refused({"poisson:3", "--method", "r=--report x.html", "--output", in("m.json").string()},
                 "regress itself uses --report");
  write("c.json.journal", "{\"journal\":5}\n");
  expect_refused({"poisson:3", "--output", in("c.json").string()},
                 "c.json.journal:1: the journal of a run (krysol/regress_journal/1) was expected, "
                 "found something "
                 "else");
  write("c.json.journal", "{\"journal\":\"krysol/regress_journal/1\"}\n");
  expect_refused({"poisson:3", "--output", in("c.json").string()}, "c.json.journal:1: ");
  EXPECT_EQ(text_of(in("b.csv")), "mine");
}

TEST_F(Regress, NamesFilesThatAreNotUtf8) {
  fs::create_directory(in("m"));
  krysol::write_matrix(in("m/caf\xe9\t1.mtx"), chain(9));
  ASSERT_EQ(run_regress({in("m").string()}, "a.json").code, 0);
  EXPECT_EQ(result("a.json")["solves"][0]["matrix"], "caf%E9%091");
  leave_out_unsteady_memory("a.json");
  const Outcome o = run_regress({in("m").string(), "--baseline", in("a.json").string(),
                                 "--save-golden", in("g.tsv").string()},
                                "b.json");
  EXPECT_TRUE(holds(o.out, "1 solve, 0 worse, 0 changed, 0 better, 0 new, 0 gone")) << o.out;
  EXPECT_EQ(run_regress({in("m").string(), "--golden", in("g.tsv").string()}, "c.json").code, 0);
}

TEST_F(Regress, SharesWhatIsFetchedAmongShards) {
  const std::string script =
      write("get", "#!/bin/sh\necho \"$1\" >> '" + in("got").string() + "'\nexit 1\n");
  fs::permissions(script, fs::perms::owner_all);
  setenv("KRYSOL_GET_MATRIX", script.c_str(), 1);
  const Arguments command = {
      "--fetch", "HB/a",    "HB/b", "--fetch-to", in("f").string(),       "--shard",
      "2/2",     "--turns", "0",    "--output",   in("run.json").string()};
  Arguments list = command;
  list.emplace_back("--list");
  EXPECT_EQ(lines_of(run_exactly(list).out).size(), 1U);
  EXPECT_FALSE(fs::exists(in("got"))) << "a list is no reason to fetch";
  EXPECT_EQ(run_exactly(command).code, 0);
  unsetenv("KRYSOL_GET_MATRIX");
  EXPECT_EQ(text_of(in("got")), "HB/b\n");
  EXPECT_EQ(result()["solves"].size(), 1U);
}

}  // namespace
#endif
