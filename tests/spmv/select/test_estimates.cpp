// What formats say of a matrix before it is converted, and what operators share with their caller.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <map>
#include <set>
#include <string_view>

#include <krysol/spmv/kernels/matrix_profile.hpp>
#include <krysol/spmv/kernels/padding.hpp>
#include <krysol/spmv/kernels/slices.hpp>
#include "messages.hpp"
#include "products.hpp"

namespace {

using namespace krysol_tests;
using krysol::FormatEstimate;
using krysol::MatrixProfile;

template <class C>
class Estimate : public testing::Test {};
using EstimateCases = ForGtest<EntriesAndSpaces>::type;
TYPED_TEST_SUITE(Estimate, EstimateCases, OnName);

TYPED_TEST(Estimate, IsNoMoreThanTheFormatTakes) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  int compared = 0;
  for (const auto& entries :
       {as<FileScalar<T>>(poisson2d(120, 110)), as<FileScalar<T>>(poisson3d(20)),
        symmetrised(random_sparse<FileScalar<T>>(4000, 4000, 9, 3))}) {
    const auto host = krysol::to_csr(entries).matrix;
    const MatrixProfile profile(host, krysol::on_host<Exec>);
    for (const auto& f : krysol::list_formats()) {
      const FormatEstimate estimate = f.estimate(profile);
      EXPECT_GT(estimate.bytes, 0) << f.name;
      if (!estimate.refusal.empty()) continue;
      try {
        const auto a = krysol::make_operator<T, Exec>(f.name, host);
        // Estimates count neither the ends of lists nor blocks of work.
        EXPECT_LE(static_cast<double>(estimate.bytes), 1.02 * static_cast<double>(a->bytes()) + 1e3)
            << f.name;
        ++compared;
        if (estimate.variant.empty()) continue;
        const auto same =
            krysol::make_operator<T, Exec>(std::string(f.name) + ":" + estimate.variant, host);
        EXPECT_EQ(same->bytes(), a->bytes()) << f.name << ":" << estimate.variant;
      } catch (const krysol::FormatRefusal&) {
      }
    }
  }
  EXPECT_GE(compared, 12);
}

TYPED_TEST(Estimate, IsMadeOfEveryShape) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  for (const auto& shape : shapes<T>()) {
    const auto host = krysol::to_csr(shape.entries).matrix;
    const MatrixProfile profile(host, krysol::on_host<Exec>);
    for (const auto& f : krysol::list_formats()) {
      EXPECT_GE(f.estimate(profile).bytes, 0) << f.name << ", " << shape.name;
    }
  }
}

struct Measure {
  int value = 0;
};

TEST(MatrixProfile, LooksOnce) {
  auto entries = random_sparse<double>(70, 40, 3, 5);
  for (Index j = 0; j < 40; ++j) entries.add(11, j, 1.0);
  const auto host = krysol::to_csr(entries).matrix;
  const MatrixProfile profile(host, true);
  EXPECT_EQ(profile.rows(), 70);
  EXPECT_EQ(profile.cols(), 40);
  EXPECT_EQ(profile.nnz(), host.nnz());
  EXPECT_EQ(profile.row_ptr(), host.row_ptr.data());
  EXPECT_EQ(profile.col_idx(), host.col_idx.data());
  EXPECT_EQ(profile.entry_bytes(), 8);
  EXPECT_EQ(profile.slot_bytes(), 12);
  EXPECT_EQ(profile.csr_bytes(), krysol::bytes(host));
  EXPECT_EQ(profile.vector_bytes(), 8 * 110);
  EXPECT_EQ(profile.longest_row(), 40);
  EXPECT_EQ(profile.mean_row(), static_cast<double>(host.nnz()) / 70);
  int looks = 0;
  const auto look = [&looks] { return Measure{++looks}; };
  const Measure& first = profile.once(look);
  EXPECT_EQ(&first, &profile.once(look));
  EXPECT_EQ(first.value, 1);
  EXPECT_EQ(looks, 1);
  EXPECT_EQ(&krysol::choose_window(profile), &krysol::choose_window(profile));
  EXPECT_EQ(profile.visit([](const auto& a) { return a.values.extent(0); }), host.values.extent(0));
}

TEST(MatrixProfile, RefusesMoreThan) {
  EXPECT_EQ(krysol::refuse_more_than(1500000, 1.5, 1000000, "csr"), "");
  EXPECT_EQ(krysol::refuse_more_than(1500001, 1.5, 1000000, "csr"), "1.5 MB against 1.0 MB of csr");
}

/// Up to three times the bytes of csr, and up to 1 MiB whatever csr takes.
TEST(PaddingLimit, IsThreeTimesTheBytesOfCsr) {
  const auto refusal = [](std::int64_t padded_bytes, std::int64_t csr_bytes) {
    return message_of(
        [&] { krysol::refuse_padding("f", "it is so", 40, 9, padded_bytes, csr_bytes); });
  };
  const std::string none = "nothing was thrown";
  constexpr std::int64_t always = 1 << 20;
  EXPECT_EQ(refusal(6000000, 2000000), none);
  EXPECT_TRUE(holds(refusal(6000001, 2000000),
                    "format 'f' would store 40 slots for 9 nonzeros, because it is so: 6.0 MB "
                    "where csr takes 2.0 MB; more than 3"))
      << refusal(6000001, 2000000);
  EXPECT_EQ(refusal(always, 1), none);
  EXPECT_NE(refusal(always + 1, 1), none);
}

/// Formats that pad say so where they take more than so many times the bytes of csr.
TEST(PaddedFormats, AreRefusedWherePaddingIsMost) {
  const std::map<std::string_view, double> limits = {{"ell", 1.3},      {"hyb", 1.3},
                                                     {"dia", 1.3},      {"sell_c_sigma", 1.5},
                                                     {"sell_u16", 1.5}, {"sell_windows", 1.5}};
  std::map<std::string_view, int> refused;
  std::map<std::string_view, int> seen;
  for (const Index others : {1, 4, 16, 48, 64}) {
    auto t = no_entries<double>(8, 64);
    for (Index i = 0; i < 8; ++i) {
      for (Index j = 0; j < (i == 3 ? 64 : others); ++j) t.add(i, j, 1.0 + i + 8 * j);
    }
    const auto host = krysol::to_csr(t).matrix;
    const MatrixProfile profile(host, true);
    for (const auto& f : krysol::list_formats()) {
      const auto limit = limits.find(f.name);
      if (limit == limits.end()) continue;
      const FormatEstimate e = f.estimate(profile);
      EXPECT_EQ(e.refusal,
                krysol::refuse_more_than(e.bytes, limit->second, profile.csr_bytes(), "csr"))
          << f.name << ", " << others;
      ++seen[f.name];
      refused[f.name] += e.refusal.empty() ? 0 : 1;
    }
  }
  for (const std::string_view name : {"ell", "sell_c_sigma", "sell_u16"}) {
    EXPECT_EQ(refused[name], seen[name] > 0 ? 3 : 0) << name;
  }
  EXPECT_GT(seen["sell_c_sigma"], 0);
}

TYPED_TEST(Estimate, OperatorsShareTheArraysThatTheySayTheyShare) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const std::set<std::string_view> sharing = {"csr", "csr_merge", "kokkos_kernels", "coo", "bsr"};
  const auto entries = as<FileScalar<T>>(poisson2d(13, 17));
  const std::vector<T> x(13 * 17, T(1));
  for (const auto& f : krysol::list_formats()) {
    const auto host = krysol::to_csr(entries).matrix;
    std::shared_ptr<const krysol::Operator<T, Exec>> a;
    try {
      a = krysol::make_operator<T, Exec>(f.name, host);
    } catch (const krysol::FormatRefusal&) {
      continue;
    }
    const auto before = times(*a, x);
    for (std::size_t k = 0; k < host.values.extent(0); ++k) host.values(k) *= T(2);
    const auto after = times(*a, x);
    const bool follows = krysol::on_host<Exec> && sharing.count(f.name) > 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      ASSERT_EQ(after[i], follows ? T(2) * before[i] : before[i]) << f.name << ", row " << i;
    }
  }
}

}  // namespace
