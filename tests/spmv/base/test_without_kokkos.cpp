// What a program is told that uses the library without Kokkos.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_paths.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "programs.hpp"

namespace {

using namespace krysol_tests;

class WithoutKokkos : public ProgramTest {
 protected:
  WithoutKokkos() : ProgramTest(KRYSOL_WITHOUT_KOKKOS, false) {}
};

TEST_F(WithoutKokkos, SaysInOneSentenceWhatToDo) {
  const std::string matrix =
      write("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
  const Outcome o = run_exactly({matrix});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.err, "") << "Kokkos had something to say";
  const std::vector<std::string> uses = {
      "to_csr: ", "read_csr: ", "read_csr in two passes: ", "allocate: "};
  std::vector<std::string> expected;
  expected.push_back(
      "allocate: krysol: Kokkos is not initialized: create a Kokkos::ScopeGuard in main, or call "
      "krysol::solve, which does that");
  for (const auto& use : uses) {
    expected.push_back(
        use +
        "krysol: Kokkos was finalized, and cannot be initialized again in the same process: keep "
        "the Kokkos::ScopeGuard (or delay Kokkos::finalize) until the last use of Krysol");
  }
  EXPECT_EQ(lines_of(o.out), expected);
}

}  // namespace
