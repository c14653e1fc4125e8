// What a program is told that uses the library without Kokkos.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_paths.hpp"

#include <gtest/gtest.h>

#include <string>

#include <Kokkos_Core.hpp>
#include "programs.hpp"

namespace {

using namespace krysol_tests;

class WithoutKokkos : public ProgramTest {
 protected:
  WithoutKokkos() : ProgramTest(KRYSOL_WITHOUT_KOKKOS, false) {}
};

TEST_F(WithoutKokkos, InitializesItAndSaysSoWhereThatCannotBeDone) {
  const std::string matrix =
      write("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
  for (const std::string how : {"to_csr", "read_csr", "read_csr in two passes", "allocate"}) {
    const Outcome o = run_exactly({how, matrix});
    EXPECT_EQ(o.code, 0) << how << ": " << o.err;
    EXPECT_EQ(o.err, "") << how << ": Kokkos had something to say";
    EXPECT_EQ(o.out, how + ": nothing was thrown\n" + how +
                         ": krysol: Kokkos was finalized, and cannot be initialised again in the "
                         "same process; call Krysol before Kokkos::finalize, and let the "
                         "Kokkos::ScopeGuard live as long as it is used\n");
  }
}

#ifdef KOKKOS_ENABLE_OPENMP
/// What a user asks of Kokkos by its variable holds where the library initializes it, too.
TEST_F(WithoutKokkos, InitializesItWithTheThreadsOfItsVariable) {
  for (const std::string threads : {"1", "3"}) {
    const Outcome o = run_exactly({"-c", "export KOKKOS_NUM_THREADS=" + threads + "; exec \"$@\"",
                                   "sh", KRYSOL_WITHOUT_KOKKOS, "threads", "none.mtx"},
                                  "/bin/sh");
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_TRUE(o.out.starts_with(threads + "\nthreads: nothing was thrown\n")) << o.out;
  }
}
#endif

}  // namespace
