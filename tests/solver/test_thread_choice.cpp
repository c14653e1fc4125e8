// When a solve goes on with one thread instead of all, by times that are made up here.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <functional>

#include <krysol/solver/krylov/thread_choice.hpp>

namespace {

using krysol::ThreadTrials;

/// What became of a solve whose iteration k takes seconds(one thread?, k).
struct TrialRun {
  int iterations = 0;
  int with_one = 0;
  int changes = 0;
  double seconds = 0;
  bool one_at_end = false;
};

TrialRun run(int iterations, const std::function<double(bool, int)>& seconds) {
  ThreadTrials trials;
  TrialRun r;
  for (int k = 0; k < iterations; ++k) {
    const double s = seconds(trials.one(), k);
    r.with_one += trials.one() ? 1 : 0;
    r.seconds += s;
    ++r.iterations;
    r.changes += trials.add(s) ? 1 : 0;
  }
  r.one_at_end = trials.one();
  return r;
}

TEST(ThreadTrials, LeavesSteadyLongIterationsAlone) {
  for (const double s : {1e-4, 1e-3, 1e-1}) {
    const TrialRun r =
        run(2000, [s](bool one, int k) { return (one ? 2 : 1) * s * (1 + 0.2 * (k % 2)); });
    EXPECT_EQ(r.with_one, 0) << s;
  }
}

TEST(ThreadTrials, GoesOnWithOneThreadWhereWakingOthersDoesNotPay) {
  const TrialRun r = run(1000, [](bool one, int) { return one ? 5e-6 : 20e-6; });
  EXPECT_TRUE(r.one_at_end);
  EXPECT_LT(r.seconds, 1.2 * 1000 * 5e-6);
}

TEST(ThreadTrials, GoesOnWithAllWhereShortIterationsPay) {
  const TrialRun r = run(1000, [](bool one, int) { return one ? 20e-6 : 12e-6; });
  EXPECT_FALSE(r.one_at_end);
  EXPECT_LT(r.seconds, 1.03 * 1000 * 12e-6);
}

TEST(ThreadTrials, LosesLittleWhereOneThreadIsNotShort) {
  // All threads are within what is tried for, one is not; the first iterations read memory.
  const TrialRun r =
      run(340, [](bool one, int k) { return (one ? 36e-6 : 22e-6) + (k < 1 ? 60e-6 : 0); });
  EXPECT_FALSE(r.one_at_end);
  EXPECT_GT(r.with_one, 0);
  EXPECT_LT(r.with_one, 340 / 20);
}

TEST(ThreadTrials, DoesNotCountTheFirstIterationAfterAChange) {
  int since = 0;
  bool before = false;
  const TrialRun r = run(1000, [&](bool one, int) {
    since = one == before ? since + 1 : 0;
    before = one;
    return (one ? 5e-6 : 6e-6) + (since == 0 ? 50e-6 : 0);
  });
  EXPECT_TRUE(r.one_at_end);
}

TEST(ThreadTrials, GivesWayToOtherProcesses) {
  // A thread that waits for a core costs 4 ms, two times of five.
  const TrialRun r =
      run(2500, [](bool one, int k) { return one ? 500e-6 : 250e-6 + (k % 5 < 2 ? 4e-3 : 0); });
  EXPECT_LT(r.seconds, 1.3 * 2500 * 500e-6);
}

TEST(ThreadTrials, GivesWayWhereEachIterationWaitsAlike) {
  ThreadTrials trials;
  double all = 0;
  for (int k = 0; k < 3000; ++k) {
    const double seconds = trials.one() ? 300e-6 : 16e-3;
    all += seconds;
    trials.add(seconds, 0.5);
  }
  EXPECT_TRUE(trials.one());
  EXPECT_LT(all, 1.3 * 3000 * 300e-6);
}

TEST(ThreadTrials, TakesAllThreadsAgainWhenTheyAreFree) {
  const TrialRun r = run(20000, [](bool one, int k) {
    return one ? 500e-6 : 250e-6 + (k < 1000 && k % 5 < 2 ? 4e-3 : 0);
  });
  EXPECT_FALSE(r.one_at_end);
  EXPECT_LT(r.with_one, 4000);
}

TEST(ThreadTrials, TriesInVainEverMoreSeldom) {
  // Disturbed, but one thread is no better.
  const TrialRun r =
      run(20000, [](bool one, int k) { return (one ? 2.2 : 1.0) * (k % 5 == 0 ? 2e-3 : 250e-6); });
  EXPECT_FALSE(r.one_at_end);
  EXPECT_LT(r.with_one, 20000 / 20);
}

/// However many trials were in vain, that one thread is faster by now is seen within the longest
/// wait.
TEST(ThreadTrials, SeesAChangeAfterManyTrialsInVain) {
  ThreadTrials trials;
  int k = 0;
  // Disturbed iterations for so many seconds, `of_one` times as long with one thread. Returns the
  // seconds of those with all threads.
  const auto pass = [&](double seconds, double of_one) {
    double with_all = 0;
    for (double passed = 0; passed < seconds; ++k) {
      const double s = (trials.one() ? of_one : 1.0) * (k % 5 == 0 ? 2e-3 : 250e-6);
      with_all += trials.one() ? 0 : s;
      passed += s;
      trials.add(s);
    }
    return with_all;
  };
  EXPECT_GT(pass(33, 2.2), 0.9 * 33);
  // The wait, and short trials of all threads after it.
  EXPECT_LT(pass(5, 0.1), 2 * ThreadTrials::longest_wait);
}

TEST(ThreadTrials, LosesLittleWithLongIterations) {
  const TrialRun r =
      run(250, [](bool one, int k) { return (one ? 0.1 : 0.05) * (k % 7 == 0 ? 4 : 1); });
  EXPECT_LE(r.with_one, 12);
}

TEST(ThreadTrials, SayWhenTheNumberChangesAndOnlyThen) {
  for (const double s : {5e-6, 1e-4, 16e-3}) {
    ThreadTrials trials;
    int changes = 0;
    for (int k = 0; k < 3000; ++k) {
      const bool before = trials.one();
      const bool says = trials.add((before ? 0.3 : 1.0) * (k % 5 == 0 ? 3 : 1) * s, 0.5);
      ASSERT_EQ(says, trials.one() != before) << s << ", iteration " << k;
      changes += says ? 1 : 0;
    }
    EXPECT_GT(changes, 0) << s;
  }
}

TEST(ThreadChoice, IsWhatWasGivenWhereThatHasOneThread) {
  const Kokkos::DefaultHostExecutionSpace given{};
  krysol::ThreadChoice<Kokkos::DefaultHostExecutionSpace> choice(given);
  EXPECT_EQ(choice.exec().concurrency(), given.concurrency());
  if (given.concurrency() > 1) return;
  for (int k = 0; k < 100; ++k) choice.after_iteration();
  EXPECT_TRUE(choice.exec() == given);
}

}  // namespace
