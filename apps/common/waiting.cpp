// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common/waiting.hpp"

#include <cstdlib>

#if defined(_OPENMP) && defined(__GNUC__) && defined(__linux__)
#include <omp.h>
#include <sched.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <vector>
#endif

namespace krysol::apps {

#if defined(_OPENMP) && defined(__GNUC__) && defined(__linux__)
namespace {

/// Where OMP_PROC_BIND is set OpenMP has by now bound this thread to one place, and what it starts
/// would have no other: allows it all places again.
void leave_cores_of_one_thread() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (int place = 0; place < omp_get_num_places(); ++place) {
    std::vector<int> cores(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, cores.data());
    for (const int core : cores) {
      if (core >= 0 && core < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(core), &mask);
    }
  }
  if (CPU_COUNT(&mask) > 0) sched_setaffinity(0, sizeof mask, &mask);
}

}  // namespace
#endif

void settle_waiting([[maybe_unused]] char** argv) {
#if defined(_OPENMP) && defined(__GNUC__) && defined(__linux__)
  const auto said = [](const char* name) { return std::getenv(name) != nullptr; };
  if (said("OMP_WAIT_POLICY") || said("GOMP_SPINCOUNT")) return;
  // Started as an argument of the loader, as for its options: /proc/self/exe is that one then.
  if (::getauxval(AT_BASE) == 0) return;
  // Some 50 us: longer than the threads of one kernel differ, shorter than waking one costs others.
  if (::setenv("GOMP_SPINCOUNT", "20000", 1) != 0) return;
  leave_cores_of_one_thread();
  ::execv("/proc/self/exe", argv);
#endif
}

}  // namespace krysol::apps
