// Solves in complex float: as those in complex double, up to rounding.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "solving.hpp"

namespace {

using namespace krysol_tests;

template <class Exec>
class ComplexFloat : public testing::Test {};
using ComplexFloatCases = ForGtest<Spaces>::type;
TYPED_TEST_SUITE(ComplexFloat, ComplexFloatCases, SpaceName);

template <class R, class Exec>
Solved<Kokkos::complex<R>> solve_hermitian(const std::string& precond, const std::string& format) {
  using T = Kokkos::complex<R>;
  NamedSolve<T, Exec> solver{as<std::complex<R>>(poisson2d(20, 19, 0.3)), random_vector<T>(380, 5)};
  solver.precond = precond;
  solver.format = format;
  solver.stop.rtol = 1e-4;
  const auto s = solver.run();
  EXPECT_EQ(s.result.status, Status::converged) << precond << ": " << s.result.advice;
  expect_honest(solver.entries, solver.b, s, solver.stop);
  return s;
}

TYPED_TEST(ComplexFloat, SolvesHermitianSystemsWithEveryPreconditioner) {
  for (const auto& m : krysol::list_preconditioners()) {
    const std::string precond(m.name);
    const auto s = solve_hermitian<float, TypeParam>(precond, "csr");
    const auto exact = solve_hermitian<double, TypeParam>(precond, "csr");
    EXPECT_NEAR(static_cast<double>(s.result.iterations),
                static_cast<double>(exact.result.iterations), 2)
        << precond;
  }
}

TYPED_TEST(ComplexFloat, SolvesHermitianSystemsInEveryFormat) {
  const auto csr = solve_hermitian<float, TypeParam>("jacobi", "csr");
  for (const auto& f : krysol::list_formats()) {
    const auto s = solve_hermitian<float, TypeParam>("jacobi", std::string(f.name));
    EXPECT_NEAR(static_cast<double>(s.result.iterations),
                static_cast<double>(csr.result.iterations), 1)
        << f.name;
  }
}

}  // namespace
