// A format that is chosen once enough multiplications are known to be ahead.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <krysol/spmv/select/late_format.hpp>
#include "messages.hpp"
#include "products.hpp"

namespace {

using namespace krysol_tests;
using krysol::LateFormat;
using krysol::SelectOptions;
using Space = Kokkos::DefaultExecutionSpace;

/// ell is the fastest by a clock that is told so. Slow, so that choosing may take as long as it
/// does. calls: of the clock.
SelectOptions ell_is_fastest(const std::shared_ptr<int>& calls) {
  SelectOptions options;
  options.clock = [calls](std::string_view name) {
    ++*calls;
    return name == "ell" ? 0.5 : 1;
  };
  return options;
}

TEST(LateFormat, ChoosesOnceEnoughMultiplicationsAreAhead) {
  const auto t = poisson2d(90, 90);
  const auto calls = std::make_shared<int>(0);
  LateFormat<double> a(to_csr(t).matrix, ell_is_fastest(calls), {});
  const std::vector<double> factors = {0.0, 1.0, -2.7};
  EXPECT_EQ(a.name(), "csr");
  EXPECT_EQ(a.choice().name, "csr");
  EXPECT_EQ(a.choice().reason,
            "fewer than 250 multiplications are known to be ahead, too few to measure for");
  expect_product<krysol::Operator<double, Space>, double>(a, t, "csr", factors);
  a.expect(249);
  EXPECT_FALSE(a.chosen());
  EXPECT_EQ(*calls, 0);
  const std::int64_t before = a.bytes();
  a.expect(250);
  EXPECT_TRUE(a.chosen());
  EXPECT_EQ(a.name(), "ell");
  EXPECT_EQ(a.choice().name, "ell");
  EXPECT_NE(a.bytes(), before);
  EXPECT_EQ(a.bytes(), (krysol::make_operator<double, Space>("ell", to_csr(t).matrix)->bytes()));
  expect_product<krysol::Operator<double, Space>, double>(a, t, "ell", factors);
  // That was it.
  const int made = *calls;
  EXPECT_GT(made, 0);
  a.expect(100000);
  EXPECT_EQ(*calls, made);
}

TEST(LateFormat, TakesWhatWasMadeForWhatIsAhead) {
  const auto t = poisson2d(90, 90);
  const auto calls = std::make_shared<int>(0);
  LateFormat<double> a(to_csr(t).matrix, ell_is_fastest(calls), {}, 248);
  const auto x = to_device<Space>(random_vector<double>(static_cast<std::size_t>(t.cols), 1));
  const auto y = krysol::zeros<double>(Space{}, "y", t.rows);
  krysol::ReductionWorkspace<Space> sums;
  apply_dot(Space{}, a, krysol::ConstVector<double, Space>(x), y, sums);
  a.expect_as_many_again();
  EXPECT_FALSE(a.chosen());
  apply(Space{}, 1.0, a, krysol::ConstVector<double, Space>(x), 0.0, y);
  EXPECT_EQ(a.products_done(), 250);
  a.expect_as_many_again();
  EXPECT_TRUE(a.chosen());
}

TEST(LateFormat, LeavesASmallMatrixInCsr) {
  const auto calls = std::make_shared<int>(0);
  LateFormat<double> a(to_csr(poisson2d(20, 20)).matrix, ell_is_fastest(calls), {});
  a.expect(1e9);
  EXPECT_FALSE(a.chosen());
  EXPECT_EQ(a.choice().reason, "1920 nonzeros are too few to measure for");
}

/// One of them chooses; all multiply by the same matrix, before and after.
TEST(LateFormat, IsSharedByThreads) {
  if (launched_by_one_thread<Space>) GTEST_SKIP() << "kernels of this space are one host thread's";
  const auto t = poisson2d(90, 90);
  const auto calls = std::make_shared<int>(0);
  LateFormat<double> a(to_csr(t).matrix, ell_is_fastest(calls), {});
  const auto x = to_device<Space>(std::vector<double>(static_cast<std::size_t>(t.cols), 1));
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < wrong.size(); ++k) {
    threads.emplace_back([&, k] {
      const auto y = krysol::zeros<double>(Space{}, "y", t.rows);
      for (int turn = 0; turn < 20; ++turn) {
        if (turn == 5) a.expect(300);
        apply(Space{}, 1.0, a, krysol::ConstVector<double, Space>(x), 0.0, y);
        Space{}.fence();
        const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, y);
        if (host(0) != 2 || host(1) != 1 || host(91 * 45) != 0) ++wrong[k];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
  EXPECT_TRUE(a.chosen());
  EXPECT_EQ(a.products_done(), 80);
}

}  // namespace
