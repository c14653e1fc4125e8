// The one main of all unit tests.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifdef __linux__
#include <sched.h>
#endif

#include <cstdlib>

#include <Kokkos_Core.hpp>

#include <gtest/gtest.h>

namespace {

/// More threads than there are processors are here to be many, not to be fast. On one processor
/// they take turns; on several, each of a million barriers would wait for sleepers elsewhere, for
/// which virtual machines need ten times as long.
void share_one_processor_if_crowded() {
#ifdef __linux__
  const char* const wanted = std::getenv("OMP_NUM_THREADS");
  cpu_set_t allowed;
  if (wanted == nullptr || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  if (std::atoi(wanted) <= CPU_COUNT(&allowed)) return;
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(sched_getcpu(), &here);
  sched_setaffinity(0, sizeof here, &here);  // the threads to come inherit it
#endif
}

}  // namespace

int main(int argc, char** argv) {
  // The programs that tests start neither find nor leave anything in the user's folders.
  setenv("KRYSOL_TUNING_CACHE", "off", 1);
  testing::InitGoogleTest(&argc, argv);
  // Listing must work where the device of this build is absent: ctest asks for the list on every
  // machine.
  if (GTEST_FLAG_GET(list_tests)) return RUN_ALL_TESTS();
  share_one_processor_if_crowded();
  Kokkos::ScopeGuard kokkos(argc, argv);
  return RUN_ALL_TESTS();
}
