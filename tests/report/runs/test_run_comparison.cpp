// What counts as better or worse: runs against runs, against golden outcomes, turns, series.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include <krysol/report/runs/change_points.hpp>
#include <krysol/report/runs/golden_outcomes.hpp>
#include <krysol/report/runs/performance_profile.hpp>
#include <krysol/report/runs/run_comparison.hpp>
#include <krysol/report/runs/run_page.hpp>
#include <krysol/report/runs/timing_verdict.hpp>
#include "messages.hpp"
#include "report/runs/run_records.hpp"

namespace krysol::report {
namespace {

using krysol_tests::holds;
using krysol_tests::run_of;
using krysol_tests::solved;

/// The only change between two runs of one solve.
Change change_of(const RunEntry& before, const RunEntry& now) {
  const Comparison c = compare(run_of({before}), run_of({now}));
  EXPECT_EQ(c.changes.size(), 1U) << as_text(c);
  return c.changes.empty() ? Change{} : c.changes[0];
}

TEST(RunComparison, SeesNoChangeWhereThereIsNone) {
  const RunRecord run = run_of({solved("a", 100), solved("b", 7)});
  const Comparison c = compare(run, run);
  EXPECT_TRUE(c.changes.empty()) << as_text(c);
  EXPECT_EQ(c.compared, 2U);
  EXPECT_FALSE(c.worse());
  EXPECT_DOUBLE_EQ(*c.iterations_ratio, 1);
}

TEST(RunComparison, CallsMoreIterationsWorseFromTenPercentOn) {
  EXPECT_TRUE(compare(run_of({solved("a", 100)}), run_of({solved("a", 110)})).changes.empty());
  EXPECT_TRUE(compare(run_of({solved("a", 5)}), run_of({solved("a", 6)})).changes.empty());
  const Change worse = change_of(solved("a", 100), solved("a", 111));
  EXPECT_EQ(worse.kind, Change::Kind::worse);
  EXPECT_EQ(worse.what, "100 iterations became 111");
  EXPECT_EQ(change_of(solved("a", 10), solved("a", 12)).kind, Change::Kind::worse);
  EXPECT_EQ(change_of(solved("a", 120), solved("a", 100)).kind, Change::Kind::better);
}

TEST(RunComparison, OrdersOutcomesFromGoodToBad) {
  RunEntry stagnated = solved("a", 100);
  stagnated.outcome = SolveOutcome::stagnated;
  stagnated.status = "stagnated";
  EXPECT_EQ(change_of(solved("a", 100), stagnated).kind, Change::Kind::worse);
  EXPECT_EQ(change_of(stagnated, solved("a", 100)).kind, Change::Kind::better);
  RunEntry crashed = solved("a", 100);
  crashed.outcome = SolveOutcome::crashed;
  crashed.message = "signal 11";
  const Change change = change_of(solved("a", 100), crashed);
  EXPECT_EQ(change.kind, Change::Kind::worse);
  EXPECT_EQ(change.what, "converged became crashed (signal 11)");
  RunEntry indefinite = solved("a", 100);
  indefinite.outcome = SolveOutcome::not_converged;
  indefinite.status = "indefinite_matrix";
  RunEntry unsymmetric = indefinite;
  unsymmetric.status = "not_symmetric";
  EXPECT_EQ(change_of(indefinite, unsymmetric).kind, Change::Kind::changed);
}

TEST(RunComparison, LooksAtResidualErrorAndMemory) {
  RunEntry now = solved("a", 100);
  now.checked_residual = 60e-9;
  EXPECT_TRUE(
      holds(change_of(solved("a", 100), now).what, "|b - A x| / |b| was 5.50e-09, is 6.00e-08"));
  now = solved("a", 100);
  now.error = 1.1e-6;
  EXPECT_EQ(change_of(solved("a", 100), now).kind, Change::Kind::worse);
  now = solved("a", 100);
  now.peak_bytes = 260000000;  // 30 % more, but less than 64 MiB
  EXPECT_TRUE(compare(run_of({solved("a", 100)}), run_of({now})).changes.empty());
  now.peak_bytes = 280000000;
  EXPECT_TRUE(holds(change_of(solved("a", 100), now).what, "200.00 MB of memory became 280.00 MB"));
  // At the level of rounding nothing is better or worse.
  RunEntry tiny = solved("a", 100);
  tiny.checked_residual = 1e-17;
  now = solved("a", 100);
  now.checked_residual = 8e-15;
  EXPECT_TRUE(compare(run_of({tiny}), run_of({now})).changes.empty());
}

TEST(RunComparison, NamesWhatIsNewAndGone) {
  const Comparison c =
      compare(run_of({solved("a", 1), solved("b", 1)}), run_of({solved("b", 1), solved("c", 1)}));
  ASSERT_EQ(c.changes.size(), 2U);
  EXPECT_EQ(c.changes[0].kind, Change::Kind::added);
  EXPECT_EQ(c.changes[0].matrix, "c");
  EXPECT_EQ(c.changes[1].kind, Change::Kind::gone);
  EXPECT_EQ(c.changes[1].matrix, "a");
  EXPECT_FALSE(c.worse());
  EXPECT_TRUE(holds(as_text(c), "1 new, 1 gone"));
}

TEST(RunComparison, PutsTheWorstFirst) {
  RunEntry crashed = solved("b", 10);
  crashed.outcome = SolveOutcome::crashed;
  const Comparison c =
      compare(run_of({solved("a", 10), solved("b", 10), solved("c", 10), solved("d", 10)}),
              run_of({solved("a", 13), crashed, solved("c", 8), solved("d", 30)}));
  ASSERT_EQ(c.changes.size(), 4U);
  EXPECT_EQ(c.changes[0].matrix, "b");
  EXPECT_EQ(c.changes[1].matrix, "d");
  EXPECT_EQ(c.changes[2].matrix, "a");
  EXPECT_EQ(c.changes[3].matrix, "c");
}

TEST(RunComparison, RelatesTimesToTheTriadOfEachRun) {
  RunRecord before = run_of({solved("a", 10)});
  before.triad = {40};
  before.entries[0].seconds = {1};
  RunRecord now = before;
  now.triad = {20};  // a machine that is half as fast
  now.entries[0].seconds = {2};
  EXPECT_DOUBLE_EQ(*compare(before, now).time_ratio, 1);
  EXPECT_TRUE(compare(before, now).changes.empty());
  now.triad.clear();
  EXPECT_FALSE(compare(before, now).time_ratio.has_value());
}

// ---- golden outcomes

TEST(GoldenOutcomes, ComeBackAndHoldTheRunTheyAreFrom) {
  RunEntry refused = solved("b", -1);
  refused.outcome = SolveOutcome::refused;
  refused.status = "";
  const RunRecord run = run_of({solved("a", 100), refused});
  const auto golden = golden_of(as_golden(run), "golden.tsv");
  ASSERT_EQ(golden.size(), 2U);
  EXPECT_EQ(golden[0].fewest, 82);
  EXPECT_EQ(golden[0].most, 118);
  EXPECT_DOUBLE_EQ(golden[0].residual, 5.5e-8);
  EXPECT_EQ(golden[1].most, -1);
  EXPECT_TRUE(compare(golden, run, "golden.tsv").changes.empty());
  RunRecord other = run;
  other.entries[0].iterations = 119;
  EXPECT_TRUE(compare(golden, other, "golden.tsv").worse());
  other.entries[0].iterations = 81;
  EXPECT_EQ(compare(golden, other, "golden.tsv").changes.at(0).kind, Change::Kind::better);
  other.entries[0].iterations = 100;
  other.entries[0].checked_residual = 6e-8;
  EXPECT_TRUE(compare(golden, other, "golden.tsv").worse());
  other = run;
  other.entries[1].outcome = SolveOutcome::not_converged;
  EXPECT_EQ(compare(golden, other, "golden.tsv").changes.at(0).kind, Change::Kind::better);
  other.entries[1].outcome = SolveOutcome::crashed;
  EXPECT_TRUE(compare(golden, other, "golden.tsv").worse());
  other = run_of({solved("new", 3)});
  EXPECT_TRUE(compare(golden, other, "golden.tsv").worse()) << "nothing was compared";
  EXPECT_EQ(compare(golden, other, "golden.tsv").changes.at(0).kind, Change::Kind::added);
  EXPECT_EQ(compare(golden, other, "golden.tsv").count(Change::Kind::gone), 2U);
  other.shard = "1/2";
  EXPECT_EQ(compare(golden, other, "golden.tsv").count(Change::Kind::gone), 0U);
}

TEST(GoldenOutcomes, LeaveIterationsAloneWhereAutoChangedThePreconditioner) {
  RunEntry one = solved("a", 100);
  one.choice = "auto:jacobi";
  RunEntry two = one;
  two.choice = "auto:jacobi*229/cholesky";
  two.iterations = 230;
  const auto of_one = golden_of(as_golden(run_of({one})), "golden.tsv");
  const auto of_two = golden_of(as_golden(run_of({two})), "golden.tsv");
  EXPECT_EQ(of_one.at(0).most, 118);
  EXPECT_EQ(of_two.at(0).fewest, -1);
  EXPECT_EQ(of_two.at(0).most, -1);
  EXPECT_TRUE(compare(of_one, run_of({two}), "golden.tsv").changes.empty());
  EXPECT_TRUE(compare(of_two, run_of({one}), "golden.tsv").changes.empty());
  two.choice = one.choice;
  EXPECT_TRUE(compare(of_one, run_of({two}), "golden.tsv").worse());
  one.choice = "auto:jacobi*229/cholesky";
  one.checked_residual = 1e-5;  // all else is compared
  EXPECT_TRUE(compare(of_two, run_of({one}), "golden.tsv").worse());
}

TEST(GoldenOutcomes, SayWhichLineIsWrong) {
  const std::string good = as_golden(run_of({solved("a", 100)}));
  const auto says = [&](const std::string& text, const std::string& what) {
    try {
      golden_of(text, "g.tsv");
      ADD_FAILURE() << "taken: " << text;
    } catch (const std::invalid_argument& e) {
      EXPECT_TRUE(holds(e.what(), what));
    }
  };
  says("", "g.tsv: the file is empty");
  says("matrix\n", "g.tsv:1: the line of names of golden outcomes was expected, found 'matrix'");
  says(good + "a\tb\n", "g.tsv:3: a line of seven fields between tabs was expected");
  std::string bad = good;
  bad.replace(bad.find("\t82\t"), 4, "\tx\t");
  says(bad, "g.tsv:2: a whole number was expected, found 'x'");
  bad = good;
  bad.replace(bad.rfind("converged"), 9, "finished!");
  EXPECT_EQ(golden_of(bad, "g.tsv").at(0).status, "finished!");
  bad.replace(bad.find("\tconverged"), 10, "\tsolved");
  says(bad, "g.tsv:2: an outcome was expected, found 'solved'");
}

// ---- turns

/// Times of a program that needs `seconds` on a machine that others use: most turns a little more,
/// some ten times as much, and a drift that both programs see.
struct NoisyMachine {
  std::mt19937 random;
  double drift = 1;

  explicit NoisyMachine(unsigned seed) : random(seed) {}
  double time(double seconds) {
    std::lognormal_distribution<double> wiggle(0, 0.05);
    std::uniform_real_distribution<double> chance(0, 1);
    drift *= std::exp(std::normal_distribution<double>(0, 0.03)(random));
    return seconds * drift * (chance(random) < 0.1 ? 2 + 8 * chance(random) : wiggle(random));
  }
};

/// As regress takes turns: five, and more where a difference is suspected.
TimingVerdict verdict_of(NoisyMachine& machine, double before, double now) {
  const TimingLimits limits;
  std::vector<double> a;
  std::vector<double> b;
  TimingVerdict v;
  for (std::size_t k = 0; k < limits.most_turns; ++k) {
    if (k >= limits.first_turns && !judge(a, b, limits).suspect) break;
    a.push_back(machine.time(before));
    b.push_back(machine.time(now));
    v = judge(a, b, limits);
  }
  return v;
}

TEST(TimingVerdict, SeesAThirdMoreAndNothingThatIsNotThere) {
  int seen = 0;
  int false_alarms = 0;
  constexpr int trials = 4000;
  for (unsigned seed = 0; seed < trials; ++seed) {
    NoisyMachine machine(seed);
    if (verdict_of(machine, 0.1, 0.13).speed == Speed::slower) ++seen;
    if (verdict_of(machine, 0.1, 0.1).speed != Speed::alike) ++false_alarms;
  }
  EXPECT_GE(seen, trials * 95 / 100) << "of a single solve; a run has many";
  EXPECT_LE(false_alarms, 1);
}

TEST(TimingVerdict, KnowsFasterFromSlower) {
  const std::vector<double> slow(15, 0.2);
  const std::vector<double> fast(15, 0.1);
  EXPECT_EQ(judge(slow, fast).speed, Speed::faster);
  EXPECT_EQ(judge(fast, slow).speed, Speed::slower);
  EXPECT_DOUBLE_EQ(judge(fast, slow).ratio, 2);
  EXPECT_EQ(judge({}, {}).speed, Speed::alike);
  EXPECT_EQ(judge({1}, {9}).speed, Speed::alike);
  EXPECT_EQ(judge(std::vector<double>(15, 1e-4), std::vector<double>(15, 2e-4)).speed, Speed::alike)
      << "a tenth of a millisecond is nobody's regression";
}

TEST(TimingVerdict, CountsCoins) {
  EXPECT_DOUBLE_EQ(sign_test(1, 1), 1);
  EXPECT_NEAR(sign_test(5, 5), 2.0 / 32, 1e-12);
  EXPECT_NEAR(sign_test(10, 9), 2 * 11.0 / 1024, 1e-12);
  EXPECT_DOUBLE_EQ(sign_test(10, 5), 1);
}

TEST(TimingVerdict, GivesNoTimesOfSolvesThatEndElsewhere) {
  RunEntry e = solved("a", 10);
  e.other_seconds = std::vector<double>(15, 0.2);
  e.seconds = std::vector<double>(15, 0.1);
  e.other_status = "converged";
  EXPECT_EQ(compare_turns(run_of({e})).changes.at(0).kind, Change::Kind::better);
  e.timed_status = "max_iterations";  // it gives up early: no wonder that it is fast
  const Comparison c = compare_turns(run_of({e}));
  ASSERT_EQ(c.changes.size(), 1U);
  EXPECT_EQ(c.changes[0].kind, Change::Kind::worse);
  EXPECT_EQ(c.changes[0].what, "converged became max_iterations, as it is typed");
  EXPECT_FALSE(c.time_ratio.has_value());
  std::swap(e.timed_status, e.other_status);
  EXPECT_EQ(compare_turns(run_of({e})).changes.at(0).kind, Change::Kind::better);
}

TEST(TimingVerdict, LooksAtTheWholeRunToo) {
  // Each too small a difference, or too few turns, to be flagged by itself.
  std::vector<RunEntry> entries;
  for (int k = 0; k < 40; ++k) {
    RunEntry e = solved("m" + std::to_string(k), 10);
    e.other_seconds = std::vector<double>(5, 0.01);
    e.seconds = std::vector<double>(5, 0.0111);
    entries.push_back(e);
  }
  RunRecord run = run_of(entries);
  Comparison c = compare_turns(run);
  ASSERT_EQ(c.changes.size(), 1U) << as_text(c);
  EXPECT_EQ(c.changes[0].matrix, "(all)");
  EXPECT_TRUE(c.worse());
  for (RunEntry& e : run.entries) e.seconds = std::vector<double>(5, 0.0102);
  EXPECT_FALSE(compare_turns(run).worse());
}

// ---- series over runs

TEST(ChangePoints, FindTheJump) {
  const auto jump = jump_in({100, 100, 100, 140, 140});
  ASSERT_TRUE(jump.has_value());
  EXPECT_EQ(jump->at, 3U);
  EXPECT_NEAR(jump->ratio, 1.4, 1e-12);
  EXPECT_FALSE(jump_in({100, 100, 104, 104}).has_value()) << "less than ten percent";
  EXPECT_FALSE(jump_in({}).has_value());
  EXPECT_FALSE(jump_in({5}).has_value());
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(jump_in({1, nan, 1, 2, 2}).value_or(Jump{}).at, 3U);
}

TEST(ChangePoints, TakeSlowNightsForNoise) {
  int jumps = 0;
  constexpr int trials = 3000;
  for (unsigned seed = 0; seed < trials; ++seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> noise(0, 0.05);
    std::uniform_real_distribution<double> chance(0, 1);
    std::vector<double> series;
    for (unsigned k = 0; k < 6 + seed % 15; ++k) {
      series.push_back(std::exp(noise(random)) *
                       (chance(random) < 0.1 ? 1.5 + 1.5 * chance(random) : 1));
    }
    jumps += jump_in(series).has_value() ? 1 : 0;
  }
  EXPECT_LE(jumps, trials / 50) << "one night in ten is up to three times slower";
}

TEST(ChangePoints, KnowWhatIsAsBefore) {
  std::vector<RunRecord> runs;
  for (int k = 0; k < 14; ++k) {
    RunRecord run = run_of(
        {solved("repaired", k >= 3 && k < 13 ? 200 : 100), solved("better", k < 7 ? 100 : 50)});
    run.entries[1].peak_bytes = k < 7 ? 200000000 : 400000000;
    run.started = "2026-01-" + std::to_string(k + 10);
    runs.push_back(run);
  }
  const RunHistory history = history_of(runs);
  for (const SolveHistory& s : history.solves) {
    if (s.matrix == "repaired") {
      ASSERT_EQ(s.marks.size(), 1U);
      EXPECT_TRUE(holds(s.marks[0].text, "and by now as before")) << s.marks[0].text;
      EXPECT_FALSE(s.worse());
    } else {
      ASSERT_EQ(s.marks.size(), 2U);
      EXPECT_FALSE(s.marks[0].worse) << "fewer iterations";
      EXPECT_TRUE(s.marks[1].worse) << "more memory";
    }
  }
}

TEST(ChangePoints, TellNoiseFromJumpsAndDrifts) {
  int jumps = 0;
  int drifts = 0;
  int found_jumps = 0;
  int found_drifts = 0;
  constexpr int trials = 500;
  for (unsigned seed = 0; seed < trials; ++seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> noise(0, 0.03);
    std::vector<double> still;
    std::vector<double> jumped;
    std::vector<double> drifting;
    for (int k = 0; k < 10; ++k) {
      still.push_back(std::exp(noise(random)));
      jumped.push_back((k < 6 ? 1 : 1.5) * std::exp(noise(random)));
      drifting.push_back(std::pow(1.04, k) * std::exp(noise(random)));
    }
    jumps += jump_in(still).has_value() ? 1 : 0;
    drifts += drift_in(still).has_value() ? 1 : 0;
    const auto jump = jump_in(jumped);
    found_jumps += jump && jump->at == 6 ? 1 : 0;
    const auto drift = drift_in(drifting);
    found_drifts += drift && drift->ratio > 1.2 && drift->ratio < 1.8 ? 1 : 0;
  }
  EXPECT_LE(jumps, trials / 100);
  EXPECT_LE(drifts, trials / 100);
  EXPECT_GE(found_jumps, trials * 95 / 100);
  EXPECT_GE(found_drifts, trials * 97 / 100);
}

TEST(ChangePoints, MarkASlowDriftAmongTenRuns) {
  std::vector<RunRecord> runs;
  std::mt19937 random(3);
  std::normal_distribution<double> noise(0, 0.02);
  for (int k = 0; k < 10; ++k) {
    RunRecord run =
        run_of({solved("still", 100), solved("drifts", 50), solved("jumps", k < 5 ? 10 : 15)});
    run.started = "2026-01-0" + std::to_string(k);
    // The machine is twice as fast in every second run: the triad says so.
    const double speed = k % 2 == 0 ? 1 : 2;
    run.triad = {20 * speed};
    for (RunEntry& e : run.entries) {
      const double drift = e.matrix == "drifts" ? std::pow(1.04, k) : 1;
      e.seconds = {drift * std::exp(noise(random)) / speed};
    }
    runs.push_back(run);
  }
  std::swap(runs[0], runs[7]);  // read from a folder in any order
  const RunHistory history = history_of(runs);
  ASSERT_EQ(history.runs.size(), 10U);
  EXPECT_EQ(history.runs.front(), "2026-01-00");
  const auto of = [&](const std::string& name) {
    for (const SolveHistory& s : history.solves) {
      if (s.matrix == name) return s;
    }
    return SolveHistory{};
  };
  EXPECT_TRUE(of("still").marks.empty()) << of("still").marks.at(0).text;
  ASSERT_EQ(of("drifts").marks.size(), 1U);
  EXPECT_TRUE(holds(of("drifts").marks[0].text, "time relative to triad: drifts, 1."));
  EXPECT_TRUE(of("drifts").worse());
  EXPECT_FALSE(of("drifts").marks[0].repeats);
  ASSERT_EQ(of("jumps").marks.size(), 1U);
  EXPECT_TRUE(holds(of("jumps").marks[0].text,
                    "iterations: 1.50 times as much from the run of 2026-01-05 on"));
  EXPECT_TRUE(holds(as_text(history), "2 of 3 solves jumped or drifted"));
  const std::string page = history_page(history);
  EXPECT_NE(page.find("iterations: 1.50 times as much"), std::string::npos);
  EXPECT_EQ(history.solves.back().matrix, "still");
}

// ---- performance profiles

TEST(PerformanceProfile, CountsWhoIsWithinWhatOfTheFastest) {
  const auto timed = [](const std::string& matrix, const std::string& method, double seconds) {
    RunEntry e = solved(matrix, 10, method);
    if (seconds > 0) {
      e.seconds = {seconds};
    } else {
      e.outcome = SolveOutcome::not_converged;
    }
    return e;
  };
  RunRecord run = run_of({timed("a", "default", 1), timed("a", "x", 2), timed("b", "default", 3),
                          timed("b", "x", 1), timed("c", "default", 1), timed("c", "x", -1),
                          timed("d", "default", -1), timed("d", "x", -1)});
  run.methods.push_back({"x", {}});
  const auto profiles = performance_profiles(run, 10);
  ASSERT_EQ(profiles.size(), 2U);
  using Steps = std::vector<std::pair<double, double>>;
  EXPECT_EQ(profiles[0].steps, (Steps{{1, 2.0 / 3}, {3, 1}, {10, 1}}))
      << "d was solved by none, and does not count";
  EXPECT_EQ(profiles[1].steps, (Steps{{1, 1.0 / 3}, {2, 2.0 / 3}, {10, 2.0 / 3}}));
  EXPECT_EQ(profiles[1].solved, 2U);
  run.methods.pop_back();
  EXPECT_TRUE(performance_profiles(run).empty());
}

}  // namespace
}  // namespace krysol::report
