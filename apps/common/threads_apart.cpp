// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common/threads_apart.hpp"

#if defined(_OPENMP) && defined(__linux__)
#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include <krysol/spmv/base/processor.hpp>
#endif

namespace krysol::apps {

#if defined(_OPENMP) && defined(__linux__)
namespace {

std::vector<int> cores_of_caller() {
  cpu_set_t mask;
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &mask)) cores.push_back(core);
  }
  return cores;
}

std::size_t begin_of(std::size_t part, std::size_t parts, std::size_t size) {
  return part * size / parts;
}

/// The part that a core is in, or else the first.
std::size_t part_of(int core, std::size_t parts, const std::vector<int>& cores) {
  const auto at = std::lower_bound(cores.begin(), cores.end(), core) - cores.begin();
  std::size_t part = parts - 1;
  while (part > 0 && begin_of(part, parts, cores.size()) > static_cast<std::size_t>(at)) --part;
  return part;
}

/// The `part`-th of so many parts of the cores, for the calling thread.
void stay_within(std::size_t part, std::size_t parts, const std::vector<int>& cores) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (std::size_t c = begin_of(part, parts, cores.size());
       c < begin_of(part + 1, parts, cores.size()); ++c) {
    CPU_SET(static_cast<std::size_t>(cores[c]), &mask);
  }
  sched_setaffinity(0, sizeof mask, &mask);
}

}  // namespace

ThreadsApart::ThreadsApart() {
  if (omp_get_proc_bind() != omp_proc_bind_false) return;
  std::vector<int> cores = cores_of_caller();
  const auto threads = static_cast<std::size_t>(omp_get_max_threads());
  if (threads < 2 || threads > cores.size()) return;
  usable_cores();  // counted once, and from now on this thread would see those of its part
  cores_ = std::move(cores);
  threads_ = omp_get_max_threads();
  const std::size_t first = part_of(sched_getcpu(), threads, cores_);  // being moved takes long
#pragma omp parallel num_threads(threads_)
  {
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
    stay_within((first + thread) % threads, threads, cores_);
  }
}

ThreadsApart::~ThreadsApart() {
  if (threads_ == 0) return;
#pragma omp parallel num_threads(threads_)
  stay_within(0, 1, cores_);
}
#else
ThreadsApart::ThreadsApart() = default;
ThreadsApart::~ThreadsApart() = default;
#endif

}  // namespace krysol::apps
