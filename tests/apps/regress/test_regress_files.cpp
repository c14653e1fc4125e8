// regress and files: none that it reads, or that is somebody's, is lost; what is none is refused.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_paths.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>

#include "apps/regress/regress_runs.hpp"

#if defined(KRYSOL_REGRESS) && defined(KRYSOL_CG_SOLVE)
namespace {

using namespace krysol_tests;

TEST_F(Regress, OverwritesNothingThatItReads) {
  const std::string lost = "is read as well, and would be lost";
  krysol::write_matrix(in("a.mtx"), chain(20));
  const auto a = in("a.mtx").string();
  const auto kept = [&](const std::string& name, Arguments arguments) {
    const std::string before = text_of(in(name));
    arguments.insert(arguments.end(), {"--turns", "0", "--restart"});
    expect_refused(arguments, lost);
    EXPECT_EQ(text_of(in(name)), before);
  };
  const std::string output = in("run.json").string();
  kept("a.mtx", {a, "--output", output, "--save-golden", a});
  write("list.txt", a + "\n");
  const auto list = in("list.txt").string();
  kept("list.txt", {"--list-file", list, "--output", output, "--save-golden", list});
  write("list.csv", a + "\n");
  kept("list.csv", {"--list-file", in("list.csv").string(), "--output", in("list.json").string()});
  write("idx.csv", "file\trows\na.mtx\t20\n");
  kept("idx.csv", {a, "--index", in("idx.csv").string(), "--output", in("idx.json").string()});
  write("program", "#!/bin/sh\n");
  const auto program = in("program").string();
  kept("program", {a, "--program", program, "--output", output, "--save-golden", program});
  expect_refused({a, "--turns", "0", "--output", output, "--save-golden", output + ".journal"},
                 lost);
  // What it finds by itself in a folder.
  const auto folder = matrices();
  write("m/INDEX.tsv", "file\trows\nchain.mtx\t30\n");
  for (const char* name : {"m/INDEX.tsv", "m/chain_b.mtx"}) {
    kept(name, {folder, "--output", output, "--save-golden", in(name).string()});
  }
  kept("a.mtx", {"poisson:3", "--method", "m=--x0 " + a, "--output", output, "--save-golden", a});
}

TEST_F(Regress, TouchesNoJournalAndNoFolderOfOthers) {
  krysol::write_matrix(in("a.mtx"), chain(20));
  const auto a = in("a.mtx").string();
  const auto refused = [&](const std::string& output, const std::string& why) {
    for (const bool restart : {false, true}) {
      Arguments arguments = {a, "--turns", "0", "--output", in(output).string()};
      if (restart) arguments.emplace_back("--restart");
      expect_refused(arguments, why);
    }
  };
  write("p.json.journal", "precious, and no line feed");
  refused("p.json", ":1: the journal of a run");
  EXPECT_EQ(text_of(in("p.json.journal")), "precious, and no line feed");
  fs::create_symlink("a.mtx", in("l.json.journal"));
  const std::string matrix = text_of(in("a.mtx"));
  refused("l.json", "a link, a pipe or a device");
  EXPECT_EQ(text_of(in("a.mtx")), matrix);
  ASSERT_EQ(mkfifo(in("f.json.journal").c_str(), 0600), 0);
  refused("f.json", "a link, a pipe or a device");
  fs::create_directories(in("w.json.regress-work"));
  write("w.json.regress-work/file", "mine");
  refused("w.json", "is there already, and not of a run");
  EXPECT_EQ(text_of(in("w.json.regress-work/file")), "mine");
  EXPECT_FALSE(fs::exists(in("w.json.journal")));
  // One that runs have left, or an empty one.
  fs::create_directories(in("e.json.regress-work/123-0"));
  fs::create_directories(in("e.json.regress-work/tuning"));
  EXPECT_EQ(run_exactly({a, "--turns", "0", "--output", in("e.json").string()}).code, 0);
  EXPECT_FALSE(fs::exists(in("e.json.regress-work")));
  // The first line of a run that was ended while it was written.
  write("c.json.journal", "{\"journal\":\"krysol/regr");
  const Outcome o = run_exactly({a, "--turns", "0", "--output", in("c.json").string()});
  EXPECT_EQ(o.code, 0) << o.err;
}

TEST_F(Regress, RefusesTextsThatWouldTakeAllMemory) {
  const auto a = matrices();
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  write("deep.json", "{\"schema\":" + deep + "}");
  const auto with = [&](const char* option, const std::string& file) {
    return Arguments{a, "--turns", "0", "--output", in("run.json").string(), option, file};
  };
  const std::string too_deep = "lists and objects are nested deeper than 32";
  expect_refused(with("--baseline", in("deep.json").string()), "deep.json: " + too_deep);
  write("run.json.journal", "{\"journal\":\"krysol/regress_journal/1\",\"x\":" + deep + "}\n");
  expect_refused({a, "--turns", "0", "--output", in("run.json").string()}, too_deep);
  fs::remove(in("run.json.journal"));
  for (const char* option : {"--baseline", "--golden", "--list-file", "--index"}) {
    expect_refused(with(option, "/dev/zero"), " more than ");
    expect_refused(with(option, in("").string()), "is a folder, a file was expected");
  }
  std::string many = "[1";
  for (int k = 0; k < 16 << 20; ++k) many += ",1";
  write("many.json", many + "]");
  expect_refused(with("--baseline", in("many.json").string()), "many.json: more than 16777216");
  fs::remove(in("many.json"));
  fs::create_directories(in("nights"));
  write("nights/deep.json", "{\"schema\":" + deep + "}");
  fs::create_directories(in("nights/folder.json"));
  run_regress({a}, "nights/1.json");
  run_regress({a}, "nights/2.json");
  const Outcome o =
      run_exactly({"--history", in("nights").string(), "--output", in("h.json").string()});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(holds(o.err, "deep.json: " + too_deep)) << o.err;
}

TEST_F(Regress, KnowsWhichPartsOfAListItHas) {
  const auto folder = matrices();
  for (const char* k : {"1", "2", "3"}) {
    const Outcome o = run_regress({folder, "--shard", std::string(k) + "/3"}, "s" + std::string(k));
    EXPECT_EQ(o.code, 2) << "a name that ends in .json";
    run_regress({folder, "--shard", std::string(k) + "/3"}, "s" + std::string(k) + ".json");
  }
  run_regress({folder, "--shard", "1/2"}, "half.json");
  const auto merge = [&](const Arguments& files, const std::string& output) {
    Arguments arguments = {"--merge"};
    for (const std::string& f : files) arguments.push_back(in(f).string());
    arguments.insert(arguments.end(), {"--output", in(output).string()});
    return run_exactly(arguments);
  };
  EXPECT_TRUE(holds(merge({"s1.json", "s3.json"}, "two.json").err, "only 2 of 3 parts were given"));
  EXPECT_EQ(result("two.json")["shard"], "1/3,3/3");
  EXPECT_TRUE(holds(merge({"two.json"}, "again.json").err, "only 2 of 3 parts were given"));
  EXPECT_EQ(merge({"two.json", "s2.json"}, "all.json").err, "");
  EXPECT_EQ(result("all.json")["shard"], "");
  EXPECT_EQ(result("all.json")["solves"].size(), 6U);
  const Outcome o = merge({"s1.json", "half.json"}, "mixed.json");
  EXPECT_EQ(o.code, 2);
  EXPECT_TRUE(holds(o.err, "half.json: is of a list in 2 parts, others of one in 3")) << o.err;
}

TEST_F(Regress, MergesOnlyPartsThatWereMadeAlike) {
  const auto part_of = [&](const std::string& shard, const std::string& output) {
    const Outcome o = run_regress({"poisson2d:9", "poisson2d:10", "--shard", shard, "--no-page",
                                   "--method", "m=--tol 1e-6", "--method", "n=--tol 1e-8"},
                                  output);
    EXPECT_EQ(o.code, 0) << o.err;
  };
  part_of("1/2", "a.json");
  part_of("2/2", "b.json");
  const auto a = in("a.json").string();
  const Json b = result("b.json");
  ASSERT_EQ(b["methods"].size(), 2U);
  const auto refused = [&](const Json& changed, const std::string& why) {
    write("c.json", changed.dump());
    expect_refused({"--merge", a, in("c.json").string(), "--output", in("all.json").string()},
                   in("c.json").string() + ": " + why);
    EXPECT_FALSE(fs::exists(in("all.json"))) << why;
  };
  const std::string others = "was made with other methods than " + a;
  Json changed = b;
  changed["methods"][1]["name"] = "other";
  refused(changed, others);
  changed = b;
  changed["methods"][1]["options"] = Json::array({"--tol", "1e-3"});
  refused(changed, others);
  changed = b;
  changed["methods"][0] = b["methods"][1];
  changed["methods"][1] = b["methods"][0];
  refused(changed, others);
  changed = b;
  changed["methods"].erase(std::size_t{1});
  refused(changed, others);
  changed = b;
  changed["version"] = "another version";
  refused(changed, "was made by another version, " + a + " by ");
  changed = b;
  changed["time_limit_s"] = b["time_limit_s"].get<double>() + 1;
  refused(changed, "had a limit of ");
  write("c.json", b.dump());
  const Outcome o = run_exactly(
      {"--merge", a, in("c.json").string(), "--no-page", "--output", in("all.json").string()});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(result("all.json")["solves"].size(), 4U);
}

/// In Coordinated Universal Time, as ISO 8601 writes it.
TEST_F(Regress, SaysWhenItBeganAndEnded) {
  const std::time_t before = std::time(nullptr);
  ASSERT_EQ(run_regress({"poisson2d:5", "--no-page"}).code, 0);
  const std::time_t after = std::time(nullptr);
  std::time_t earlier = before;
  for (const char* key : {"started", "finished"}) {
    const auto said = result()[key].get<std::string>();
    std::tm utc{};
    int end = 0;
    ASSERT_EQ(std::sscanf(said.c_str(), "%4d-%2d-%2dT%2d:%2d:%2dZ%n", &utc.tm_year, &utc.tm_mon,
                          &utc.tm_mday, &utc.tm_hour, &utc.tm_min, &utc.tm_sec, &end),
              6)
        << said;
    EXPECT_EQ(static_cast<std::size_t>(end), said.size()) << said;
    utc.tm_year -= 1900;
    utc.tm_mon -= 1;
    const std::time_t when = ::timegm(&utc);
    EXPECT_GE(when, earlier) << said;
    EXPECT_LE(when, after) << said;
    earlier = when;
  }
}

TEST_F(Regress, NamesWhatIsMissingOfExpectedOutcomes) {
  const auto folder = matrices();
  run_regress({folder, "--save-golden", in("golden.tsv").string()});
  const Outcome o =
      run_regress({folder + "/chain.mtx", "--golden", in("golden.tsv").string()}, "one.json");
  EXPECT_TRUE(holds(o.out, "1 solve, 0 worse, 0 changed, 0 better, 0 new, 5 gone")) << o.out;
}

TEST_F(Regress, TakesNoNamesThatResultsCannotHold) {
  const auto a = matrices();
  const auto with = [&](const std::string& method) {
    return Arguments{a, "--turns", "0", "--output", in("run.json").string(), "--method", method};
  };
  expect_refused(with("m\xff=--tol 1e-9"), "--method m%FF=--tol 1e-9: printable UTF-8");
  expect_refused(with("a\tb=--tol 1e-9"), "--method a%09b=--tol 1e-9: printable UTF-8");
  expect_refused(with("a=--tol \x01"), "printable UTF-8");
}

TEST_F(Regress, RefusesOptionsThatWouldDoNothing) {
  write("s.json", "{}");
  const auto merge = [&](Arguments more) {
    more.insert(more.begin(), {"--output", in("run.json").string()});
    more.insert(more.end(), {"--merge", in("s.json").string()});
    return more;
  };
  for (const Arguments& ignored : std::vector<Arguments>{{"--name", "x"},
                                                         {"--spd", "yes"},
                                                         {"--group", "x"},
                                                         {"--field", "real"},
                                                         {"--min-rows", "3"},
                                                         {"--index", "x"},
                                                         {"--fetch-to", "x"},
                                                         {"--time-limit", "5"}}) {
    expect_refused(merge(ignored), "--merge solves nothing, and would ignore --");
  }
  expect_refused({"poisson:5", "--fetch-to", "x", "--output", in("run.json").string()},
                 "--fetch-to goes with --fetch");
  for (const char* gb : {"1e-10", "1e300", "0"}) {
    const Outcome o =
        run_exactly({"poisson:5", "--memory-limit", gb, "--output", in("run.json").string()});
    EXPECT_EQ(o.code, 2) << gb;
    EXPECT_TRUE(holds(o.err, "--memory-limit: ")) << o.err;
  }
}

}  // namespace
#endif
