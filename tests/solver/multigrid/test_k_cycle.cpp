// Preconditioners that are not the same linear map in each call: K-cycles, and flexible CG.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <krysol/gallery/problems.hpp>
#include <krysol/solver/multigrid/multigrid.hpp>
#include "solving.hpp"

namespace {

using namespace krysol_tests;

template <class Exec>
class FlexibleCg : public testing::Test {};
using FlexibleSpaces = ForGtest<Spaces>::type;
TYPED_TEST_SUITE(FlexibleCg, FlexibleSpaces, SpaceName);

/// 1 / D, times factors from 1 / range to range that are others in each row and call.
template <class Exec>
struct Wavering {
  krysol::ConstVector<double, Exec> inverse;
  double range = 1;
  bool declared = true;
  std::shared_ptr<int> calls = std::make_shared<int>(0);

  bool is_fixed() const { return !declared; }
  void apply(const Exec& exec, const krysol::ConstVector<double, Exec>& r,
             const krysol::Vector<double, Exec>& z) const {
    const auto call = static_cast<std::uint32_t>(++*calls);
    krysol::for_each("test", exec, static_cast<std::int64_t>(z.extent(0)),
                     Row{std::log(range), call, inverse.data(), r.data(), z.data()});
  }
  struct Row {
    double log_range;
    std::uint32_t call;
    const double* inverse;
    const double* r;
    double* z;
    KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
      std::uint32_t bits = static_cast<std::uint32_t>(i) * 2654435761U + call * 40503U;
      bits = (bits ^ (bits >> 16)) * 0x7feb352dU;
      const double share = static_cast<double>(bits >> 16) / 32768 - 1;  // -1 to 1
      z[i] = Kokkos::exp(share * log_range) * inverse[i] * r[i];
    }
  };
};

template <class Exec>
krysol::SolveResult solve_with(const krysol::HostCsr<double>& a, const Wavering<Exec>& m) {
  const auto op = krysol::make_operator<double, Exec>("csr", a);
  const krysol::ConstVector<double, Exec> b =
      to_device<Exec>(random_vector<double>(static_cast<std::size_t>(a.rows), 5));
  const auto x = to_device<Exec>(std::vector<double>(static_cast<std::size_t>(a.rows)));
  StoppingCriteria stop;
  stop.max_iterations = 500;
  return krysol::cg(Exec{}, *op, b, x, m, stop);
}

TYPED_TEST(FlexibleCg, IsCgWhereThePreconditionerDoesNotChange) {
  const auto a = to_csr(jump_coefficients2d(16, 100)).matrix;
  const auto inverse = krysol::make_jacobi<TypeParam>(a).inverse;
  const auto plain = solve_with<TypeParam>(a, {inverse, 1, false});
  const auto flexible = solve_with<TypeParam>(a, {inverse, 1, true});
  EXPECT_TRUE(flexible.converged());
  EXPECT_EQ(flexible.iterations, plain.iterations);
  EXPECT_TRUE(plain.cg->spectrum.known());
  EXPECT_FALSE(plain.cg->flexible);
  for (std::size_t k = 0; k < 20; ++k) {
    EXPECT_NEAR(flexible.history[k] / plain.history[k], 1, 1e-9) << k;
  }
}

TYPED_TEST(FlexibleCg, SaysNothingOfASpectrumThatThereIsNot) {
  const auto a = to_csr(poisson2d(16, 16)).matrix;
  const auto inverse = krysol::make_jacobi<TypeParam>(a).inverse;
  const auto r = solve_with<TypeParam>(a, {inverse, 1.2, true});
  EXPECT_TRUE(r.converged());
  ASSERT_TRUE(r.cg);
  EXPECT_TRUE(r.cg->flexible);
  EXPECT_FALSE(r.cg->spectrum.known());
  EXPECT_TRUE(std::isnan(r.cg->error.lower) && std::isnan(r.cg->error.upper_estimate));
  for (const double e : r.cg->error_history.lower) EXPECT_TRUE(std::isnan(e));
  EXPECT_EQ(r.cg->error_history.lower.size(), r.history.size());
}

/// Plain CG loses its directions to an M that changes, and says so by the iterations it takes.
TYPED_TEST(FlexibleCg, CopesWithAPreconditionerThatChanges) {
  const auto a = to_csr(poisson2d(24, 24)).matrix;
  const auto inverse = krysol::make_jacobi<TypeParam>(a).inverse;
  const auto flexible = solve_with<TypeParam>(a, {inverse, 1.5, true});
  const auto plain = solve_with<TypeParam>(a, {inverse, 1.5, false});
  EXPECT_TRUE(flexible.converged());
  EXPECT_LT(3 * flexible.iterations, 2 * plain.iterations);
}

// ---- K-cycles

std::int64_t iterations_of(const krysol::HostCsr<double>& a, const std::string& name) {
  const auto m = krysol::make_preconditioner<double, krysol::Host>(name, a).m;
  const auto r = solved_for_ones(a, *m);
  EXPECT_TRUE(r.converged()) << name;
  EXPECT_EQ(r.cg->flexible, name.find("cycle=k") != std::string::npos);
  return r.iterations;
}

TEST(KCycle, ConvergesAtTheRateOfTwoGridsHoweverManyThereAre) {
  const auto a = krysol::gallery::make_problem("poisson2d:150");
  const std::string levels = "amg:coarsening=aggregates,coarsest=20,degree=1";
  const auto v = iterations_of(a, levels);
  const auto w = iterations_of(a, levels + ",cycle=w");
  const auto k = iterations_of(a, levels + ",cycle=k");
  EXPECT_LE(k, w + 1);
  EXPECT_LT(k, v);
  const auto two_grids = iterations_of(a, "amg:coarsening=aggregates,coarsest=2000,degree=1");
  EXPECT_LE(k, two_grids + 2);
}

TEST(KCycle, HasTheSameBitsInEachCallAndIsNotLinear) {
  const auto a = krysol::gallery::make_problem("poisson2d:60");
  const auto m = krysol::make_preconditioner<double, krysol::Host>(
      "amg:coarsening=aggregates,coarsest=20,cycle=k,precision=double", a);
  EXPECT_FALSE(m.m->is_fixed());
  const auto apply = [&](const std::vector<double>& r) {
    const krysol::ConstVector<double, krysol::Host> from = to_device<krysol::Host>(r);
    const auto z = to_device<krysol::Host>(std::vector<double>(r.size()));
    m.m->apply(krysol::Host{}, from, z);
    return to_host(z);
  };
  const auto u = random_vector<double>(3600, 1);
  const auto v = random_vector<double>(3600, 2);
  std::vector<double> sum(3600);
  for (std::size_t i = 0; i < 3600; ++i) sum[i] = u[i] + v[i];
  const auto of_u = apply(u);
  EXPECT_EQ(apply(u), of_u);
  const auto of_v = apply(v);
  const auto of_sum = apply(sum);
  double difference = 0;
  double size = 0;
  for (std::size_t i = 0; i < 3600; ++i) {
    difference = std::max(difference, std::abs(of_u[i] + of_v[i] - of_sum[i]));
    size = std::max(size, std::abs(of_sum[i]));
  }
  EXPECT_GT(difference, 1e-9 * size);
  EXPECT_LT(difference, 0.1 * size) << "but nearly so";
}

TEST(KCycle, IsForMethodsThatTakeIt) {
  const auto a = krysol::gallery::make_problem("poisson2d:20");
  const auto op = krysol::make_operator<double, krysol::Host>("csr", a);
  const auto m = krysol::make_preconditioner<double, krysol::Host>("amg:cycle=k,coarsest=20", a).m;
  const krysol::ConstVector<double, krysol::Host> b =
      to_device<krysol::Host>(std::vector<double>(400, 1.0));
  const auto x = to_device<krysol::Host>(std::vector<double>(400));
  EXPECT_EQ(message_of([&] { krysol::solve("minres", krysol::Host{}, *op, b, x, *m); }),
            "solver 'minres' needs a preconditioner that is the same linear map in each call, and "
            "this 'amg' is not; cg takes it");
}

TEST(KCycle, MovesTheBytesOfItsInnerProducts) {
  const auto a = krysol::gallery::make_problem("poisson2d:60");
  const auto bytes = [&](const std::string& cycle) {
    return krysol::make_preconditioner<double, krysol::Host>(
               "amg:coarsening=aggregates,coarsest=20,cycle=" + cycle, a)
        .m->bytes();
  };
  EXPECT_GT(bytes("w"), bytes("v"));
  EXPECT_GT(bytes("k"), bytes("w"));
  EXPECT_LT(bytes("k"), 1.5 * bytes("w"));
}

}  // namespace
