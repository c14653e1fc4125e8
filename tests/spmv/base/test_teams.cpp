// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/base/reduction.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "spaces.hpp"

namespace {

using krysol_tests::ForGtest;
using krysol_tests::SpaceName;
using krysol_tests::Spaces;
using krysol_tests::to_host;

template <class Exec>
class Teams : public ::testing::Test {};
TYPED_TEST_SUITE(Teams, typename ForGtest<Spaces>::type, SpaceName);

constexpr int leagues = 3;
constexpr int places = 1024;

/// Each thread counts itself, and at the place of its rank.
template <class Exec>
struct CountThreads {
  int* present;   // [leagues]
  int* at_rank;   // [leagues places]
  int* believed;  // [leagues] what threads_of_team says

  KOKKOS_INLINE_FUNCTION void operator()(const krysol::TeamMember<Exec>& member) const {
    const int l = member.league_rank();
    Kokkos::atomic_inc(&present[l]);
    Kokkos::atomic_inc(&at_rank[l * places + member.team_rank()]);
    if (member.team_rank() == 0) believed[l] = krysol::threads_of_team(member);
  }
};

/// Kernels that share out places by rank would leave some out in a team that is not as large as
/// it seems.
TYPED_TEST(Teams, HaveAsManyThreadsAsThreadsOfTeamSays) {
  using Exec = TypeParam;
  for (const int wanted : {32, 64, 256}) {
    const int asked = krysol::on_host<Exec> ? 1 : wanted;
    ASSERT_GE(asked, krysol::on_host<Exec> ? 1 : krysol::least_team<Exec>());
    const auto present = krysol::zeros<int>(Exec(), "present", leagues);
    const auto at_rank = krysol::zeros<int>(Exec(), "at_rank", leagues * places);
    const auto believed = krysol::zeros<int>(Exec(), "believed", leagues);
    Kokkos::parallel_for("count", Kokkos::TeamPolicy<Exec>(Exec(), leagues, asked),
                         CountThreads<Exec>{present.data(), at_rank.data(), believed.data()});
    const std::vector<int> n = to_host(present);
    const std::vector<int> ranks = to_host(at_rank);
    EXPECT_EQ(n, to_host(believed)) << "asked for " << asked;
    for (int l = 0; l < leagues; ++l) {
      ASSERT_LE(n[static_cast<std::size_t>(l)], asked);
      for (int r = 0; r < places; ++r) {
        EXPECT_EQ(ranks[static_cast<std::size_t>(l * places + r)],
                  r < n[static_cast<std::size_t>(l)] ? 1 : 0)
            << "team " << l << ", rank " << r << " of " << asked;
      }
    }
  }
}

TYPED_TEST(Teams, AddPartialSumsHoweverManyThereAre) {
  using Exec = TypeParam;
  const Exec exec;
  for (const std::int64_t blocks : {1, 5000, 16384, 16385, 20001, 40000}) {
    krysol::ReductionWorkspace<Exec> sums;
    sums.reserve(exec, blocks, 3);
    const auto partial = Kokkos::create_mirror_view(sums.partial);
    std::array<double, 3> want{};
    for (std::int64_t k = 0; k < 3; ++k) {
      for (std::int64_t b = 0; b < blocks; ++b) {
        const auto value = static_cast<double>((b % 7 + 1) * (k + 1));
        partial(static_cast<std::size_t>(k * blocks + b)) = value;
        want[static_cast<std::size_t>(k)] += value;
      }
    }
    Kokkos::deep_copy(sums.partial, partial);
    EXPECT_EQ(krysol::finish<3>(exec, sums, blocks), want) << blocks;
  }
}

/// On a host too, where no kernel of the library needs them.
TEST(Terms, AreAddedUpEachForItself) {
  krysol::Terms<3> sum;
  krysol::Terms<3> more;
  for (int k = 0; k < 3; ++k) more.value[k] = k + 1;
  sum += more;
  sum += more;
  for (int k = 0; k < 3; ++k) EXPECT_EQ(sum.value[k], 2 * (k + 1)) << k;
}

}  // namespace
