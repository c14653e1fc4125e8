// Threads of kernels on cores of their own.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#if defined(_OPENMP) && defined(__linux__)
#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "apps/common/threads_apart.hpp"

namespace {

using krysol::apps::ThreadsApart;

using Cores = std::vector<bool>;

Cores cores_of_caller() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  EXPECT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  Cores cores(CPU_SETSIZE);
  for (std::size_t c = 0; c < CPU_SETSIZE; ++c) cores[c] = CPU_ISSET(c, &mask) != 0;
  return cores;
}

std::size_t count(const Cores& cores) {
  std::size_t n = 0;
  for (const bool core : cores) n += core ? 1 : 0;
  return n;
}

std::vector<Cores> cores_of_threads(int threads) {
  std::vector<Cores> all(static_cast<std::size_t>(threads));
#pragma omp parallel num_threads(threads)
  all[static_cast<std::size_t>(omp_get_thread_num())] = cores_of_caller();
  return all;
}

/// Those of the process, in parts that are as large as each other but for one core.
void expect_parts(const std::vector<Cores>& parts, const Cores& all) {
  Cores seen(all.size());
  std::size_t least = all.size();
  std::size_t most = 0;
  for (const Cores& part : parts) {
    least = std::min(least, count(part));
    most = std::max(most, count(part));
    for (std::size_t c = 0; c < all.size(); ++c) {
      EXPECT_FALSE(part[c] && seen[c]) << "two threads have core " << c;
      seen[c] = seen[c] || part[c];
    }
  }
  EXPECT_EQ(seen, all);
  EXPECT_GE(least, 1U);
  EXPECT_LE(most, least + 1);
}

TEST(ThreadsApart, HaveCoresOfTheirOwnAndAllOfThemAfterwards) {
  if (omp_get_proc_bind() != omp_proc_bind_false) GTEST_SKIP() << "OpenMP binds the threads";
  const Cores all = cores_of_caller();
  const int before = omp_get_max_threads();
  for (const int threads : {2, 3, before}) {
    if (threads < 2 || static_cast<std::size_t>(threads) > count(all)) continue;
    omp_set_num_threads(threads);
    {
      const ThreadsApart apart;
      const int core = sched_getcpu();
      const std::vector<Cores> parts = cores_of_threads(threads);
      expect_parts(parts, all);
      EXPECT_TRUE(parts.front()[static_cast<std::size_t>(core)]) << "it need not move";
    }
    for (const Cores& cores : cores_of_threads(threads)) EXPECT_EQ(cores, all);
  }
  omp_set_num_threads(before);
}

TEST(ThreadsApart, AreLeftAloneWhereThereAreMoreThanCoresOrOne) {
  const Cores all = cores_of_caller();
  const int before = omp_get_max_threads();
  for (const int threads : {1, static_cast<int>(count(all)) + 1}) {
    omp_set_num_threads(threads);
    const ThreadsApart apart;
    EXPECT_EQ(cores_of_caller(), all) << threads;
    omp_set_num_threads(before);
  }
}

}  // namespace
#endif
