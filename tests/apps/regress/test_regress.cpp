// regress as its users meet it: which matrices, what is said, what is kept, what is refused.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_paths.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "apps/regress/regress_runs.hpp"
#include "documented_json.hpp"

#if defined(KRYSOL_REGRESS) && defined(KRYSOL_CG_SOLVE)
namespace {

using namespace krysol_tests;

TEST_F(Regress, SolvesAFolderAndSaysHowEachEnded) {
  const Outcome o = run_regress({matrices()});
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  EXPECT_TRUE(holds(o.out, "6 matrices by 1 method: 3 converged, 2 not_converged, 1 refused"))
      << o.out;
  const Json run = result();
  EXPECT_EQ(run["schema"], "krysol/regress/1");
  EXPECT_EQ(run["matrices"].size(), 6U) << "chain_b.mtx is a right-hand side, notes.txt no matrix";
  EXPECT_EQ(outcome_of(run, "chain"), "converged");
  EXPECT_EQ(outcome_of(run, "chain", "rhs"),
            in("m/chain_b.mtx").string() + " (found beside the matrix)");
  EXPECT_EQ(outcome_of(run, "GROUP/other"), "converged");
  EXPECT_EQ(outcome_of(run, "hermitian"), "converged");
  EXPECT_EQ(outcome_of(run, "indefinite", "status"), "indefinite_matrix");
  EXPECT_EQ(outcome_of(run, "unsymmetric", "status"), "not_symmetric");
  EXPECT_EQ(outcome_of(run, "broken"), "refused");
  EXPECT_TRUE(holds(outcome_of(run, "broken", "message"), "broken.mtx:3:3: "))
      << outcome_of(run, "broken", "message");
  for (const Json& e : run["solves"]) {
    if (e["outcome"] != "converged") continue;
    EXPECT_LE(e["checked_residual"].get<double>(), 1e-8) << e;
    EXPECT_GT(e["rounding"].get<double>(), 0) << e;
    EXPECT_FALSE(e["curve"].empty());
  }
  EXPECT_EQ(run["matrices"][2]["name"], "chain");
  EXPECT_EQ(run["matrices"][2]["nonzeros"], 88);
  EXPECT_EQ(run["matrices"][2]["spy"].get<std::string>().substr(0, 6), "30x30:");
  EXPECT_EQ(files(), (std::set<std::string>{"m", "run.csv", "run.html", "run.json"}))
      << "nothing temporary is left";
}

TEST_F(Regress, RepeatsEachSolveByTheCommandThatItGives) {
  ASSERT_EQ(
      run_regress({matrices(), "--method", "ic=--precond ic0 --rhs ones", "--name", "other"}).code,
      0);
  const Json e = result()["solves"][0];
  const Outcome again = run_exactly(
      {"-c", e["command"].get<std::string>() + " --json - --quiet --no-bandwidth"}, "/bin/sh");
  EXPECT_EQ(again.code, 0) << again.err;
  const Json report = Json::parse(again.out);
  EXPECT_EQ(report["result"]["iterations"], e["iterations"]);
  EXPECT_EQ(report["preconditioner"], "ic0");
  EXPECT_EQ(report["result"]["residual"].get<double>() / report["result"]["b_norm"].get<double>(),
            e["residual"].get<double>());
}

/// Quotes may stand anywhere in a word, keep what is between them, and may hold nothing.
TEST_F(Regress, TakesQuotedWordsOfAMethod) {
  ASSERT_EQ(run_regress(
                {"poisson2d:9", "--method", "q=--precond 'ic0'\t --rhs o\"n\"'es' --tol \"1e-9\" "})
                .code,
            0);
  const std::string command = outcome_of(result(), "poisson2d:9", "command");
  EXPECT_TRUE(holds(command, " --precond ic0 --rhs ones --tol 1e-9 ")) << command;
  run_regress({"poisson2d:9", "--method", "e=--rhs '' --x0 'a \"b'"}, "empty.json");
  const std::string other = outcome_of(result("empty.json"), "poisson2d:9", "command");
  EXPECT_TRUE(holds(other, " --rhs '' --x0 'a \"b' ")) << other;
}

TEST_F(Regress, ComparesWithAnEarlierRun) {
  ASSERT_EQ(run_regress({"poisson2d:12", "poisson2d:14"}, "old.json").code, 0);
  leave_out_unsteady_memory("old.json");
  Outcome o = run_regress({"poisson2d:12", "poisson2d:16", "--baseline", in("old.json").string()});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(holds(o.out, "1 solve, 0 worse, 0 changed, 0 better, 1 new, 1 gone")) << o.out;
  EXPECT_TRUE(holds(text_of(in("run.html")), "old.json"));
  Json old = result("old.json");
  old["solves"][0]["iterations"] = old["solves"][0]["iterations"].get<int>() / 2;
  write("better.json", old.dump());
  o = run_regress({"poisson2d:12", "--restart", "--baseline", in("better.json").string()});
  EXPECT_EQ(o.code, 1) << o.out << o.err;
  EXPECT_TRUE(holds(o.out, "worse")) << o.out;
}

TEST_F(Regress, HoldsGoldenOutcomes) {
  const std::string golden = in("golden.tsv").string();
  ASSERT_EQ(run_regress({"poisson2d:12", "neumann2d:8", "--save-golden", golden}).code, 0);
  Outcome o = run_regress({"poisson2d:12", "--restart", "--golden", golden});
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  std::string text = text_of(golden);
  const auto at = text.find("converged\tconverged\t");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 20, "stagnated\tstagnated\t");
  write("golden.tsv", text);
  o = run_regress({"poisson2d:12", "neumann2d:8", "--restart", "--golden", golden});
  EXPECT_TRUE(holds(o.out, "stagnated stagnated was expected, found converged converged")) << o.out;
  EXPECT_EQ(o.code, 0) << "that is better";
}

/// A program compared with itself. Beside other work times may seem to differ in as many turns as
/// the verdict asks for: then it says so, and of nothing else.
void expect_alike_but_for_times(const Outcome& o) {
  std::istringstream lines(o.out);
  std::string line;
  bool slower = false;
  while (std::getline(lines, line)) {
    if (line.rfind("  worse ", 0) != 0) continue;
    EXPECT_TRUE(holds(line, "slower by ")) << o.out;
    slower = true;
  }
  EXPECT_EQ(o.code, slower ? 1 : 0) << o.out << o.err;
  EXPECT_NE(holds(o.out, ", 0 worse"), slower) << o.out;
}

TEST_F(Regress, TakesTimesInTurnsWithAnotherProgram) {
  const Outcome o = run_exactly({"poisson2d:20", "--turns", "2", "--against", KRYSOL_CG_SOLVE,
                                 "--output", in("run.json").string()});
  expect_alike_but_for_times(o);
  const Json e = result()["solves"][0];
  EXPECT_GE(e["seconds"].size(), 2U);
  EXPECT_EQ(e["seconds"].size(), e["other_seconds"].size());
  for (const Json& s : e["seconds"]) EXPECT_GT(s.get<double>(), 0);
  EXPECT_GE(result()["triad_GB_per_s"].size(), 2U);
  EXPECT_TRUE(holds(o.out, fmt::format("compared with {}: 1 solve, ", KRYSOL_CG_SOLVE))) << o.out;
}

/// None as well; three where nothing is said.
TEST_F(Regress, TakesAsManyTimesAsAreAskedFor) {
  const std::pair<std::string, std::size_t> cases[] = {{"0", 0}, {"1", 1}, {"2", 2}, {"", 3}};
  for (const auto& [turns, times] : cases) {
    const std::string output = "run" + turns + ".json";
    Arguments command = {"poisson2d:9", "--output", in(output).string()};
    if (!turns.empty()) {
      command.emplace_back("--turns");
      command.push_back(turns);
    }
    const Outcome o = run_exactly(command);
    EXPECT_EQ(o.code, 0) << o.out << o.err;
    EXPECT_EQ(result(output)["solves"][0]["seconds"].size(), times) << turns;
  }
}

/// Of a solve of one iteration, too, and of none where there is nothing to do.
TEST_F(Regress, TakesTimesOfSolvesThatIterate) {
  const Outcome o =
      run_exactly({matrix_without_load(), "poisson2d:9", "--method", "d=--precond cholesky",
                   "--turns", "2", "--output", in("run.json").string()});
  const Json run = result();
  EXPECT_EQ(outcome_of(run, "zero", "iterations"), "0") << o.out << o.err;
  EXPECT_EQ(outcome_of(run, "zero", "seconds"), "[]") << o.out;
  EXPECT_EQ(outcome_of(run, "poisson2d:9"), "converged") << o.out << o.err;
  ASSERT_EQ(outcome_of(run, "poisson2d:9", "iterations"), "1") << o.out;
  for (const Json& e : run["solves"]) {
    if (e["matrix"] != "poisson2d:9") continue;
    ASSERT_EQ(e["seconds"].size(), 2U) << o.out;
    for (const Json& s : e["seconds"]) EXPECT_GT(s.get<double>(), 0);
  }
}

/// Where b is 0, so are the residual, what is allowed and what rounding explains.
TEST_F(Regress, TakesAResidualOfExactlyZero) {
  const Outcome o = run_regress({matrix_without_load()});
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  const Json run = result();
  ASSERT_EQ(run["solves"].size(), 1U);
  EXPECT_EQ(outcome_of(run, "zero"), "converged") << outcome_of(run, "zero", "message");
  EXPECT_EQ(run["solves"][0]["residual"], 0.0);
  EXPECT_EQ(run["solves"][0]["checked_residual"], 0.0);
  EXPECT_EQ(run["solves"][0]["rounding"], 0.0);
}

TEST_F(Regress, MergesPartsAndRefusesToCountASolveTwice) {
  const Arguments places = {"poisson2d:9", "poisson2d:10", "poisson2d:11", "poisson2d:12",
                            "poisson2d:13"};
  Arguments first = places;
  first.insert(first.end(), {"--shard", "1/2"});
  Arguments second = places;
  second.insert(second.end(), {"--shard", "2/2"});
  ASSERT_EQ(run_regress(first, "a.json").code, 0);
  ASSERT_EQ(run_regress(second, "b.json").code, 0);
  ASSERT_EQ(run_regress(places, "whole.json").code, 0);
  EXPECT_EQ(result("a.json")["solves"].size(), 3U);
  EXPECT_EQ(result("b.json")["solves"].size(), 2U);
  EXPECT_EQ(result("b.json")["shard"], "2/2");
  const Outcome o = run_exactly({"--merge", in("b.json").string(), in("a.json").string(),
                                 "--output", in("merged.json").string()});
  EXPECT_EQ(o.code, 0) << o.err;
  const Json merged = result("merged.json")["solves"];
  const Json whole = result("whole.json")["solves"];
  ASSERT_EQ(merged.size(), whole.size());
  for (std::size_t k = 0; k < whole.size(); ++k) {
    for (const char* const key :
         {"matrix", "method", "outcome", "iterations", "residual", "checked_residual"}) {
      EXPECT_EQ(merged[k][key], whole[k][key]) << k << key;
    }
  }
  expect_refused({"--merge", in("a.json").string(), in("a.json").string(), "--output",
                  in("twice.json").string()},
                 "is in an earlier one of the files too");
}

TEST_F(Regress, ShowsTheHistoryOfAFolderOfRuns) {
  fs::create_directories(in("runs"));
  for (int k = 0; k < 4; ++k) {
    const std::string name = fmt::format("runs/{}.json", k);
    ASSERT_EQ(run_regress({"poisson2d:12", "--no-page"}, name).code, 0);
    Json run = result(name);
    run["started"] = fmt::format("2026-01-0{}", k + 1);
    if (k >= 2) run["solves"][0]["iterations"] = 2 * run["solves"][0]["iterations"].get<int>();
    write(name, run.dump());
  }
  write("runs/other.json", "{\"schema\": \"else\"}");
  write("runs/cut.json", "{\"schema\": ");
  const Outcome o =
      run_exactly({"--history", in("runs").string(), "--output", in("history.html").string()});
  EXPECT_EQ(o.code, 1) << o.out << o.err;
  EXPECT_TRUE(holds(o.out, "iterations: 2.00 times as much from the run of 2026-01-03 on"))
      << o.out;
  EXPECT_TRUE(holds(o.err, "left out: ")) << o.err;
  EXPECT_TRUE(holds(text_of(in("history.html")), "2.00 times as much"));
  expect_refused({"--history", in("none").string(), "--output", in("h.html").string()},
                 "--history");
}

TEST_F(Regress, ChoosesMatricesByWhatIsKnownOfThem) {
  const std::string folder = matrices();
  const auto listed = [&](Arguments arguments) {
    arguments.insert(arguments.begin(), folder);
    arguments.emplace_back("--list");
    const Outcome o = run_exactly(arguments);
    EXPECT_EQ(o.code, 0) << o.err;
    return names_in(o.out);
  };
  EXPECT_EQ(listed({}), "GROUP/other broken chain hermitian indefinite unsymmetric ");
  EXPECT_EQ(listed({"--min-rows", "3"}), "GROUP/other chain indefinite ");
  EXPECT_EQ(listed({"--min-rows", "3", "--max-nonzeros", "100"}), "chain indefinite ");
  EXPECT_EQ(listed({"--field", "complex"}), "hermitian ");
  EXPECT_EQ(listed({"--group", "GROUP"}), "GROUP/other ");
  EXPECT_EQ(listed({"--name", "def"}), "indefinite ");
  EXPECT_EQ(listed({"--shard", "2/4"}), "broken unsymmetric ");
  write("m/INDEX.tsv",
        "file\tgroup/name\trows\tcols\tnnz_expanded\tfield\tspd\nchain.mtx\tHB/"
        "chain\t30\t30\t88\treal\tyes\n"
        "indefinite.mtx\tHB/indefinite\t3\t3\t7\treal\tno\n");
  EXPECT_EQ(listed({"--spd", "yes"}), "HB/chain ");
  EXPECT_EQ(listed({"--spd", "no"}), "HB/indefinite ");
  write(
      "stats.csv",
      "2\n31-Oct-2023\nGROUP,other,40,40,118,1,0,1,1,1,1,a chain\nHB,no,3,3,7,0,0,0,0,1,1,none\n");
  EXPECT_EQ(listed({"--index", in("stats.csv").string(), "--spd", "yes"}), "GROUP/other ");
  write("list.txt", "# two of them\nm/chain.mtx\n" + folder + "/GROUP\n");
  const Outcome o = run_exactly({"--list-file", in("list.txt").string(), "--list"});
  EXPECT_EQ(lines_of(o.out).size(), 2U) << o.out << o.err;
}

/// One as well as several; nothing where none are.
TEST_F(Regress, SaysHowManyAFilterCannotJudge) {
  fs::create_directories(in("m"));
  krysol::write_matrix(in("m/known.mtx"), chain(9));
  write("m/INDEX.tsv", "file\tspd\nknown.mtx\tyes\n");
  const std::string sizes =
      " left out: neither an index nor the first lines say how large they are, "
      "which a filter asks for\n";
  const std::string spd =
      " left out: no index says whether they are positive definite, which --spd "
      "asks for\n";
  const auto said = [&](const Arguments& filter) {
    Arguments command = {in("m").string(), "--list"};
    command.insert(command.end(), filter.begin(), filter.end());
    const Outcome o = run_exactly(command);
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_TRUE(o.out.starts_with("known\t")) << o.out;
    return o.err;
  };
  for (int unknown = 0; unknown < 3; ++unknown) {
    SCOPED_TRACE(unknown);
    const std::string number = "regress: " + std::to_string(unknown);
    EXPECT_EQ(said({"--min-rows", "1"}), unknown > 0 ? number + sizes : "");
    EXPECT_EQ(said({"--spd", "yes"}), unknown > 0 ? number + spd : "");
    write("m/unknown" + std::to_string(unknown) + ".mtx",
          "%%MatrixMarket matrix coordinate real general\nno sizes\n");
  }
}

/// The collection's index says what the filters ask for; these files would say something else.
TEST_F(Regress, TakesWhatTheCollectionsIndexSays) {
  fs::create_directories(in("m"));
  for (const std::string name : {"co", "pa", "re"}) {
    krysol::write_matrix(in("m/" + name + ".mtx"), chain(9));
  }
  const std::string index = write("stats.csv",
                                  "3\n31-Oct-2023\nG,re,100,200,1000,1,0,1,1,1,1,a\n"
                                  "G,pa,300,400,3000,1,1,0,0,1,1,b\n"
                                  "H,co,500,600,5000,0,0,1,0,0,1,c\n");
  const auto listed = [&](const std::string& option, const std::string& value) {
    const Outcome o = run_exactly({in("m").string(), "--index", index, option, value, "--list"});
    EXPECT_EQ(o.code, 0) << o.err;
    return names_in(o.out);
  };
  EXPECT_EQ(listed("--field", "real"), "G/re ");
  EXPECT_EQ(listed("--field", "pattern"), "G/pa ");
  EXPECT_EQ(listed("--field", "complex"), "H/co ");
  EXPECT_EQ(listed("--group", "G"), "G/pa G/re ");
  EXPECT_EQ(listed("--spd", "yes"), "G/re ");
  EXPECT_EQ(listed("--spd", "no"), "G/pa H/co ");
  EXPECT_EQ(listed("--min-rows", "300"), "G/pa H/co ");
  EXPECT_EQ(listed("--max-rows", "100"), "G/re ");
  EXPECT_EQ(listed("--min-nonzeros", "3001"), "H/co ");
  EXPECT_EQ(listed("--max-nonzeros", "3000"), "G/pa G/re ");
}

/// An index that lacks columns, and lines that end early, say less, and nothing of other lines.
TEST_F(Regress, TakesAnIndexWithoutSomeColumnsAndFields) {
  fs::create_directories(in("m"));
  for (const std::string name : {"a", "b", "c"}) {
    krysol::write_matrix(in("m/" + name + ".mtx"), chain(9));
  }
  const auto listed = [&](const std::string& spd) {
    const Outcome o = run_exactly({in("m").string(), "--spd", spd, "--list"});
    EXPECT_EQ(o.code, 0) << o.err;
    return names_in(o.out);
  };
  write("m/INDEX.tsv",
        "file\tgroup/name\tfield\tspd\na.mtx\tG/a\treal\tyes\nb.mtx\tG/b\treal\n"
        "c.mtx\tG/c\treal\tno\n");
  EXPECT_EQ(listed("yes"), "G/a ");
  EXPECT_EQ(listed("no"), "G/c ");
  write("m/INDEX.tsv", "file\tspd\na.mtx\tno\nb.mtx\nc.mtx\tyes\n");  // no group/name
  EXPECT_EQ(listed("yes"), "c ");
  EXPECT_EQ(listed("no"), "a ");
  write("m/INDEX.tsv", "group/name\tspd\nG/a\tyes\nG/b\nG/c\tno\n");  // no file
  EXPECT_EQ(listed("yes"), "G/a ");
  EXPECT_EQ(listed("no"), "G/c ");
}

/// The collection's table begins with the number of its matrices, which may be 0.
TEST_F(Regress, TakesACollectionsIndexOfNoMatrices) {
  fs::create_directories(in("m"));
  krysol::write_matrix(in("m/a.mtx"), chain(9));
  const std::string index = write("stats.csv", "0\n31-Oct-2023\n");
  const Outcome o = run_exactly({in("m").string(), "--index", index, "--list"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(names_in(o.out), "a ");
}

/// Vectors and coordinates of a matrix are no matrices; the same endings without one are.
TEST_F(Regress, ListsNothingThatBelongsToAMatrix) {
  fs::create_directories(in("m"));
  krysol::write_matrix(in("m/a.mtx"), chain(9));
  krysol::write_matrix(in("m/a_y.mtx"), chain(9));
  for (const std::string tail : {"b", "x", "coord", "rhs"}) {
    write_vector("m/a_" + tail + ".mtx", std::vector<double>(9, 1.0));
    krysol::write_matrix(in("m/lone_" + tail + ".mtx"), chain(9));
  }
  const Outcome o = run_exactly({in("m").string(), "--list"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(names_in(o.out), "a a_y lone_b lone_coord lone_rhs lone_x ");
}

/// Of files of one name the second keeps its ending; those that follow are numbered from 2 on.
TEST_F(Regress, NumbersMatricesOfOneName) {
  Arguments command;
  for (const std::string folder : {"a", "b", "c", "d"}) {
    fs::create_directories(in(folder));
    krysol::write_matrix(in(folder + "/same.mtx"), chain(9));
    command.push_back(in(folder).string());
  }
  command.emplace_back("--list");
  const Outcome o = run_exactly(command);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(names_in(o.out), "same same.mtx same.mtx#2 same.mtx#3 ");
}

/// What a list names is looked for where the program runs, then beside the list; what is in neither
/// place is taken as it is written.
TEST_F(Regress, LooksBesideAListForWhatIsNotHere) {
  fs::create_directories(in("here"));
  fs::create_directories(in("lists"));
  krysol::write_matrix(in("here/both.mtx"), chain(9));
  krysol::write_matrix(in("lists/both.mtx"), chain(9));
  krysol::write_matrix(in("here/one.mtx"), chain(9));
  krysol::write_matrix(in("lists/other.mtx"), chain(9));
  const std::string list =
      write("lists/list.txt", "poisson2d:12\nboth.mtx # here\none.mtx\n  other.mtx\r\n");
  const auto listed = [&](const std::string& file) {
    return run_exactly({"-c", "cd '" + in("here").string() + "' && exec \"$@\"", "sh", program_,
                        "--list-file", file, "--list"},
                       "/bin/sh");
  };
  const Outcome o = listed(list);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, "both\tboth.mtx\none\tone.mtx\nother\t" + in("lists/other.mtx").string() +
                       "\npoisson2d:12\tpoisson2d:12\n");
  const Outcome none = listed(write("lists/none.txt", "none.mtx\n"));
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(none.err.starts_with("regress: error: none.mtx: a folder, a matrix file, or "))
      << none.err;
}

TEST_F(Regress, RefusesWhatMakesNoRun) {
  fs::create_directories(in("empty"));
  write("cut.json", "{\"schema\": \"krysol/regress/1\", ");
  write("other.json", "{\"schema\": \"krysol/regress/7\"}");
  write("bad.tsv", "name\tsize\n");
  const std::string out = in("run.json").string();
  const auto refused = [&](Arguments arguments, const std::string& why) {
    arguments.insert(arguments.end(), {"--output", out});
    expect_refused(arguments, why);
  };
  refused({}, "no matrices: name a folder, files or problems");
  refused({in("empty").string()}, "no matrices: nothing of");
  refused({in("none").string()}, "a folder, a matrix file, or a problem that is made");
  refused({"poisson:3", "--baseline", in("cut.json").string()}, "cut.json: no JSON, or cut off");
  refused({"poisson:3", "--baseline", in("other.json").string()},
          "the schema krysol/regress/1 was expected, found krysol/regress/7");
  refused({"poisson:3", "--golden", in("bad.tsv").string()}, "bad.tsv:1: ");
  refused({"poisson:3", "--shard", "4/3"}, "--shard takes K/N");
  refused({"poisson:3", "--program", "/no/such/program"},
          "/no/such/program: cannot be started: No such file or directory");
  refused({"poisson:3", "--program", "/bin/false"},
          "/bin/false --version: a line of text and exit status 0 were expected");
  refused({"poisson:3", "--method", "a=--json x"}, "regress itself uses --json");
  refused({"poisson:3", "--method", "a=--precond 'ic0"}, "a quote is not closed");
  refused({"poisson:3", "--method", "a=", "--method", "a=--precond ic0"},
          "two methods have this name");
  refused({in("m").string(), "--index", in("bad.tsv").string()},
          "a line of column names with file or group/name was expected");
  refused({"--fetch", "bcsstk01"}, "--fetch takes GROUP/NAME");
  refused({"poisson:3", "--time-limit", "0"}, "takes a number above 0");
  EXPECT_FALSE(fs::exists(out));
  write("run.json", "kept");
  refused({"poisson:3"},
          "is there already; give --output another name, or --restart to replace it");
  EXPECT_EQ(text_of(out), "kept");
}

TEST_F(Regress, GoesOnWhereItWasKilled) {
  Arguments command;
  for (int n = 4; n < 40; ++n) command.push_back(fmt::format("poisson2d:{}", n));
  command.insert(command.end(),
                 {"--turns", "0", "--jobs", "1", "--output", in("run.json").string()});
  const pid_t pid = start(program_, command, in(".out"), in(".err"));
  const fs::path journal = in("run.json.journal");
  for (int k = 0; k < 2000; ++k) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (fs::exists(journal) && lines_of(text_of(journal)).size() > 10) break;
  }
  kill(pid, SIGKILL);
  int status = 0;
  waitpid(pid, &status, 0);
  const auto before = lines_of(text_of(journal));
  ASSERT_GT(before.size(), 10U);
  EXPECT_FALSE(fs::exists(in("run.json")));
  // Half a line, as a machine that fails leaves it.
  std::ofstream(journal, std::ios::app) << "{\"solve\":{\"matrix\":";
  Outcome o = run_exactly([&] {
    Arguments other = command;
    other.insert(other.end(), {"--time-limit", "7"});
    return other;
  }());
  EXPECT_EQ(o.code, 2);
  EXPECT_TRUE(holds(o.err, "had another time limit: '60', now '7'")) << o.err;
  o = run_exactly(command);
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  EXPECT_TRUE(holds(o.err, "goes on with the run of ")) << o.err;
  const Json run = result();
  EXPECT_EQ(run["solves"].size(), 36U);
  // What had been solved was not solved again: its seconds are those of the journal.
  int kept = 0;
  for (const std::string& line : before) {
    const Json j = Json::parse(line, nullptr, false);
    if (!j.is_object() || !j.contains("solve")) continue;
    for (const Json& e : run["solves"]) {
      if (e["matrix"] == j["solve"]["matrix"]) {
        EXPECT_EQ(e["wall_seconds"], j["solve"]["wall_seconds"]);
        ++kept;
      }
    }
  }
  EXPECT_GT(kept, 3);
  EXPECT_FALSE(fs::exists(journal));
}

TEST_F(Regress, LetsNoTwoRunsShareAFile) {
  const std::string script =
      write("slow", "#!/bin/sh\n[ \"$1\" = --version ] && echo slow 1.0 && exit 0\nsleep 20\n");
  fs::permissions(script, fs::perms::owner_all);
  const Arguments command = {"poisson:3", "--program", script, "--output", in("run.json").string()};
  const pid_t pid = start(program_, command, in(".o"), in(".e"));
  for (int k = 0; k < 2000 && !fs::exists(in("run.json.journal")); ++k) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const Outcome o = run_exactly(command);
  EXPECT_EQ(o.code, 2);
  EXPECT_TRUE(holds(o.err, "another regress is at work on it")) << o.err;
  kill(pid, SIGTERM);
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_EQ(exit_code(status), 128 + SIGTERM);
  EXPECT_TRUE(holds(text_of(in(".e")), "interrupted; the same command goes on from here"))
      << text_of(in(".e"));
  EXPECT_TRUE(fs::exists(in("run.json.journal")));
}

TEST_F(Regress, SaysHowToGoOnWithoutANetwork) {
  const std::string script =
      write("get", "#!/bin/sh\necho 'get-matrix: error: no network' >&2\nexit 1\n");
  fs::permissions(script, fs::perms::owner_all);
  setenv("KRYSOL_GET_MATRIX", script.c_str(), 1);
  const Outcome o =
      run_exactly({"poisson:3", "--fetch", "HB/bcsstk01", "--fetch-to", in("f").string(), "--turns",
                   "0", "--output", in("run.json").string()});
  unsetenv("KRYSOL_GET_MATRIX");
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  const Json run = result();
  EXPECT_EQ(outcome_of(run, "HB/bcsstk01"), "refused");
  EXPECT_TRUE(
      holds(outcome_of(run, "HB/bcsstk01", "message"),
            "not fetched: get-matrix: error: no network; fetch it where there is a network"));
  EXPECT_EQ(outcome_of(run, "poisson:3"), "converged");
}

TEST_F(Regress, LosesNothingToAFullDisk) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full here";
  fs::create_symlink("/dev/full", in("run.csv"));
  Outcome o = run_regress({"poisson2d:9"});
  EXPECT_EQ(o.code, 2) << o.out;
  EXPECT_TRUE(holds(o.err, "run.csv")) << o.err;
  EXPECT_EQ(result()["solves"].size(), 1U) << "the other files are written";
  EXPECT_TRUE(fs::exists(in("run.html")));
  EXPECT_TRUE(fs::exists(in("run.json.journal"))) << "and the run is kept until all are";
  fs::remove(in("run.csv"));
  o = run_regress({"poisson2d:9"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(fs::exists(in("run.csv")));
  EXPECT_FALSE(fs::exists(in("run.json.journal")));
}

TEST_F(Regress, WritesTheJsonThatIsDocumented) {
  const auto table = documented("regress.md");
  EXPECT_GT(table.size(), 40U);
  std::set<std::string> named;
  for (const auto& [path, types] : table) named.insert(path);
  PathTypes seen;
  const Outcome o = run_exactly({matrices(), "poisson2d:20", "--turns", "2", "--method",
                                 "a=--precond jacobi", "--shard", "1/1", "--against",
                                 KRYSOL_CG_SOLVE, "--output", in("run.json").string()});
  expect_alike_but_for_times(o);
  collect(result(), "", named, seen);
  expect_documented(seen, table);
  for (const auto& [path, types] : table) EXPECT_EQ(seen.count(path), 1U) << path << " never came";
}

}  // namespace
#endif
