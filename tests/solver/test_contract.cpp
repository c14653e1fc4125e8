// What every method and preconditioner owes its caller: traits, options, limits, work vectors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <krysol/solver/outcome/breakdown.hpp>
#include <krysol/solver/precond/smooth.hpp>
#include <krysol/solver/precond/ssor.hpp>
#include <krysol/spmv/matrix/properties.hpp>
#include "solving.hpp"

namespace {

using namespace krysol_tests;
using krysol::list_solvers;

template <class Exec>
class Contract : public testing::Test {};
using ContractCases = ForGtest<Spaces>::type;
TYPED_TEST_SUITE(Contract, ContractCases, SpaceName);

// ---- methods

TYPED_TEST(Contract, StatesWhatEachMethodNeeds) {
  for (const auto& method : list_solvers()) {
    EXPECT_EQ(method.name, method.traits.name);
    EXPECT_FALSE(method.traits.title.empty());
    EXPECT_EQ(krysol::method_traits(method.name).title, method.traits.title);
    EXPECT_TRUE(method.traits.needs_symmetry || !method.traits.needs_definiteness) << method.name;
  }
  const auto cg = krysol::method_traits("cg");
  EXPECT_TRUE(cg.needs_symmetry && cg.needs_definiteness);
  EXPECT_TRUE(cg.admits_changing_preconditioner);
  EXPECT_FALSE(cg.takes_parameters);
  EXPECT_TRUE(holds(message_of([] { krysol::method_traits("cg:2"); }), "unknown solver 'cg:2'"));
}

TYPED_TEST(Contract, RefusesStoppingCriteriaThatMakeNoSense) {
  for (const auto& method : list_solvers()) {
    NamedSolve<double, TypeParam> solver{poisson1d(20), random_vector<double>(20, 1)};
    solver.method = method.name;
    const std::string start = "krysol::" + solver.method + ": ";
    const auto refused = [&](auto field, auto value) {
      NamedSolve<double, TypeParam> other = solver;
      other.stop.*field = value;
      return message_of([&] { other.run(); });
    };
    for (const double bad : {undefined_number, infinite, -1e-3}) {
      EXPECT_TRUE(refused(&StoppingCriteria::rtol, bad)
                      .starts_with(start + "rtol must be a finite number from 0 on; it is "));
      EXPECT_TRUE(refused(&StoppingCriteria::atol, bad)
                      .starts_with(start + "atol must be a finite number from 0 on; it is "));
      EXPECT_TRUE(refused(&StoppingCriteria::time_limit_s, bad)
                      .starts_with(start + "time_limit_s must be seconds, or 0 for no limit; it "));
    }
    EXPECT_EQ(refused(&StoppingCriteria::max_iterations, std::int64_t{-3}),
              start + "max_iterations must be positive, or 0 for ten times the rows; it is -3");
    EXPECT_EQ(refused(&StoppingCriteria::rtol, 0.0), "nothing was thrown");
  }
}

TYPED_TEST(Contract, RefusesOptionsThatAMethodDoesNotHave) {
  const auto host = to_csr(poisson1d(20)).matrix;
  const auto a = krysol::make_operator<double, TypeParam>("csr", host);
  const auto m = krysol::make_preconditioner<double, TypeParam>("none", host).m;
  const auto b = to_device<TypeParam>(random_vector<double>(20, 1));
  const auto x = to_device<TypeParam>(std::vector<double>(20));
  const auto refused = [&](const std::string& method, const krysol::NamedOptions& options) {
    return message_of([&] {
      krysol::solve<double, TypeParam>(method, TypeParam{}, *a, b, x, *m, {}, {}, options);
    });
  };
  EXPECT_EQ(refused("cg", {{"lambda_max", "2"}}),
            "solver 'cg': unknown option 'lambda_max'; known: lambda_min confirm");
  EXPECT_EQ(refused("cg", {{"lambda_min", "two"}}),
            "solver 'cg': option 'lambda_min' must be a finite number, not 'two'");
  EXPECT_EQ(refused("cg", {{"lambda_min", "1e-9"}}), "nothing was thrown");
}

TYPED_TEST(Contract, RefusesAnXThatOverlapsB) {
  krysol::Csr<double, TypeParam> a;
  from_csr(to_csr(poisson1d(20)).matrix, a);
  const auto both = to_device<TypeParam>(random_vector<double>(30, 1));
  const auto part = [&](std::size_t first) {
    return Kokkos::subview(both, std::make_pair(first, first + 20));
  };
  for (const std::size_t first : {0, 1, 10}) {
    const krysol::Vector<double, TypeParam> x = part(first);
    EXPECT_TRUE(holds(message_of([&] { krysol::cg(a, part(0), x, krysol::Identity{}); }),
                      "krysol::cg: b and x overlap in memory"));
  }
}

TYPED_TEST(Contract, NeedsNoAllocationWithAWorkspace) {
  const auto host = to_csr(poisson2d(20, 15)).matrix;
  const auto a = krysol::make_operator<double, TypeParam>("csr", host);
  const auto b = to_device<TypeParam>(random_vector<double>(300, 1));
  for (const auto& method : list_solvers()) {
    for (const std::string precond : {"none", "jacobi", "ic0"}) {
      const auto m = krysol::make_preconditioner<double, TypeParam>(precond, host).m;
      krysol::Workspace<double, TypeParam> work;
      const auto run = [&](krysol::Workspace<double, TypeParam>* w) {
        const auto x = to_device<TypeParam>(std::vector<double>(300));
        Solved<double> s{
            krysol::solve<double, TypeParam>(method.name, TypeParam{}, *a, b, x, *m, {}, {}, {}, w),
            {}};
        s.x = to_host(x);
        return s;
      };
      const auto alone = run(nullptr);
      EXPECT_EQ(alone.result.status, Status::converged);
      const auto first = run(&work);
      std::vector<const double*> places;
      for (const auto& v : work.vectors) places.push_back(v.data());
      const double* partial = work.sums.partial.data();
      const auto second = run(&work);
      EXPECT_EQ(first.x, alone.x) << method.name << precond;
      EXPECT_EQ(second.x, alone.x) << method.name << precond;
      EXPECT_EQ(second.result.history, alone.result.history);
      ASSERT_EQ(work.vectors.size(), places.size());
      for (std::size_t k = 0; k < places.size(); ++k) {
        EXPECT_EQ(work.vectors[k].data(), places[k]) << k;
      }
      EXPECT_EQ(work.sums.partial.data(), partial);
    }
  }
}

TYPED_TEST(Contract, TakesOneWorkspaceForSystemsOfAnySize) {
  krysol::Workspace<double, TypeParam> work;
  for (const Index n : {30, 7, 0, 1, 200}) {
    krysol::Csr<double, TypeParam> a;
    from_csr(to_csr(poisson1d(n)).matrix, a);
    const auto b = random_vector<double>(static_cast<std::size_t>(n), 1);
    const auto x = to_device<TypeParam>(std::vector<double>(b.size()));
    const auto r = krysol::cg(TypeParam{}, a, to_device<TypeParam>(b), x, krysol::Identity{}, {},
                              {}, {}, &work);
    EXPECT_EQ(r.status, Status::converged) << n << r.advice;
  }
}

TYPED_TEST(Contract, LeavesAValidXWhereTheObserverThrows) {
  for (const auto& method : list_solvers()) {
    NamedSolve<double, TypeParam> solver{poisson2d(20, 15), random_vector<double>(300, 1)};
    solver.method = method.name;
    solver.observer = [](const krysol::Progress& p) -> bool {
      if (p.iteration == 3) throw std::invalid_argument("the caller's own");
      return true;
    };
    EXPECT_EQ(message_of([&] { solver.run(); }), "the caller's own");
  }
}

// ---- what is said of a matrix that a method is not for

/// -u'' + 40 u' on a line: unsymmetric, with a positive diagonal.
Triplets<double> convection(Index n) { return tridiagonal(n, -1.8, 2, -0.2); }

TYPED_TEST(Contract, NamesAnUnsymmetricMatrixAsTheCause) {
  for (const auto& method : list_solvers()) {
    if (!method.traits.needs_symmetry) continue;
    for (const Index n : {40, 400}) {
      NamedSolve<double, TypeParam> solver{convection(n),
                                           random_vector<double>(static_cast<std::size_t>(n), 1)};
      solver.method = method.name;
      const auto s = solver.run();
      ASSERT_EQ(s.result.status, Status::not_symmetric) << method.name << s.result.advice;
      EXPECT_TRUE(holds(s.result.advice, "A is not symmetric, and that is why")) << s.result.advice;
      EXPECT_TRUE(holds(s.result.advice, "GMRES")) << s.result.advice;
      EXPECT_FALSE(holds(s.result.advice, "boundary")) << s.result.advice;
      EXPECT_GT(s.result.breakdown.asymmetry, 1e-4);
      expect_honest(solver.entries, solver.b, s, solver.stop);
    }
  }
}

TYPED_TEST(Contract, NamesAnUnsymmetricMatrixWherePApIsNegative) {
  const auto t = tridiagonal(40, -3.5, 2, -0.5);
  // The sum of all entries is -76: p'Ap of the first direction, which is b.
  NamedSolve<double, TypeParam> solver{t, std::vector<double>(40, 1.0)};
  const auto s = solver.run();
  EXPECT_EQ(s.result.status, Status::not_symmetric) << s.result.advice;
  EXPECT_GT(s.result.breakdown.asymmetry, 0);
  EXPECT_TRUE(holds(s.result.advice, "A is not symmetric, and that is why")) << s.result.advice;
}

/// What symmetry is missing does not matter where x was found all the same.
TYPED_TEST(Contract, SaysNothingOfSymmetryWhereTheSolveConverged) {
  const auto t = tridiagonal(40, -1.00001, 4, -1);
  for (const auto& method : list_solvers()) {
    if (!method.traits.needs_symmetry) continue;
    NamedSolve<double, TypeParam> solver{t, random_vector<double>(40, 1)};
    solver.method = method.name;
    solver.stop.rtol = 1e-3;
    const auto s = solver.run();
    EXPECT_EQ(s.result.status, Status::converged) << method.name << s.result.advice;
  }
}

TYPED_TEST(Contract, TellsComplexSymmetricFromHermitian) {
  using T = Kokkos::complex<double>;
  auto t = no_entries<std::complex<double>>(3, 3);
  for (Index i = 0; i < 3; ++i) t.add(i, i, 4);
  t.add(0, 1, {1, 2});
  t.add(1, 0, {1, 2});
  const auto refused = krysol::find_breakdown(krysol::analyze(to_csr(t).matrix));
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->status, Status::not_symmetric);
  EXPECT_TRUE(holds(refused->advice, "A is not Hermitian: A(1, 2) = 1+2i, A(2, 1) = 1+2i"))
      << refused->advice;
  EXPECT_TRUE(holds(refused->advice, "a complex symmetric matrix is not Hermitian"));
  // The same seen by products alone.
  auto large = no_entries<std::complex<double>>(50, 50);
  for (Index i = 0; i < 50; ++i) {
    large.add(i, i, {2, 1});
    if (i > 0) large.add(i, i - 1, {-1, 0.5});
    if (i > 0) large.add(i - 1, i, {-1, 0.5});
  }
  NamedSolve<T, TypeParam> solver{large, random_vector<T>(50, 1)};
  const auto s = solver.run();
  EXPECT_EQ(s.result.status, Status::not_symmetric) << s.result.advice;
  EXPECT_TRUE(holds(s.result.advice, "A is not Hermitian")) << s.result.advice;
}

TYPED_TEST(Contract, SaysNothingOfSymmetryWhereAIsSymmetric) {
  using T = Kokkos::complex<double>;
  const auto indefinite = random_spd({-3, -1, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 3);
  NamedSolve<double, TypeParam> real{indefinite, random_vector<double>(11, 1)};
  EXPECT_EQ(real.run().result.status, Status::indefinite_matrix);
  NamedSolve<T, TypeParam> complex{as<std::complex<double>>(indefinite), random_vector<T>(11, 1)};
  EXPECT_EQ(complex.run().result.status, Status::indefinite_matrix);
#ifdef KRYSOL_HAVE_FLOAT
  NamedSolve<float, TypeParam> single{as<float>(indefinite), random_vector<float>(11, 1)};
  EXPECT_EQ(single.run().result.status, Status::indefinite_matrix);
#endif
  for (const double jump : {1e3, 1e6, 1e12}) {
    NamedSolve<double, TypeParam> jumps{jump_coefficients2d(16, jump),
                                        random_vector<double>(256, 1)};
    jumps.stop.max_iterations = 5;
    EXPECT_EQ(jumps.run().result.status, Status::max_iterations) << jump;
  }
}

TYPED_TEST(Contract, RefusesOnlyWhatTheMethodCannotSolve) {
  auto t = poisson1d(6);
  for (std::size_t k = 0; k < t.values.size(); ++k) {
    if (t.row_idx[k] == 3 && t.col_idx[k] == 3) t.values[k] = -2;
  }
  const auto indefinite = krysol::analyze(to_csr(t).matrix);
  const auto unsymmetric = krysol::analyze(to_csr(convection(6)).matrix);
  constexpr krysol::MethodTraits symmetric_only{
      .name = "any", .title = "ANY", .needs_symmetry = true};
  constexpr krysol::MethodTraits everything{.name = "every"};
  EXPECT_EQ(krysol::find_breakdown(indefinite)->status, Status::indefinite_matrix);
  EXPECT_FALSE(krysol::find_breakdown(indefinite, symmetric_only).has_value());
  EXPECT_FALSE(krysol::find_breakdown(indefinite, everything).has_value());
  const auto refused = krysol::find_breakdown(unsymmetric, symmetric_only);
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->status, Status::not_symmetric);
  EXPECT_TRUE(holds(refused->advice, "ANY needs a symmetric (Hermitian) matrix"));
  EXPECT_FALSE(krysol::find_breakdown(unsymmetric, everything).has_value());
}

TEST(Advice, SpeaksOfTheMethodThatWasUsed) {
  SolveResult r;
  r.rounding = 1;
  r.method = krysol::cg_traits;
  EXPECT_TRUE(holds(krysol::advice(r), "CG ends at one to ten times that"));
  EXPECT_TRUE(holds(krysol::advice(r), "energy norm"));
  r.method = {.name = "other", .title = "OTHER", .smallest = "residual so far"};
  EXPECT_TRUE(holds(krysol::advice(r), "OTHER ends at one to ten times that"));
  EXPECT_TRUE(holds(krysol::advice(r), "x has the smallest residual so far."));
  EXPECT_FALSE(holds(krysol::advice(r), "CG"));
  r.status = Status::inconsistent;
  EXPECT_TRUE(holds(krysol::advice(r), "least-squares"));
  EXPECT_EQ(krysol::to_string(r.status), "inconsistent");
}

// ---- preconditioners

TYPED_TEST(Contract, TakesNamedOptionsAsThoseInAName) {
  const auto a = to_csr(poisson2d(9, 8)).matrix;
  const auto b = random_vector<double>(72, 1);
  const auto made = [&](const std::string& name, const krysol::NamedOptions& options) {
    return krysol::make_preconditioner<double, TypeParam>(
        name, krysol::PreconditionerInput<double, TypeParam>{&a, nullptr, options});
  };
  const auto z = [&](const std::string& name, const krysol::NamedOptions& options) {
    const auto out = to_device<TypeParam>(std::vector<double>(72));
    made(name, options).m->apply(TypeParam{}, to_device<TypeParam>(b), out);
    Kokkos::fence();
    return to_host(out);
  };
  EXPECT_EQ(z("block-jacobi", {{"block", "8"}}), z("block-jacobi:8", {}));
  EXPECT_EQ(z("block-jacobi:block=8", {}), z("block-jacobi:8", {}));
  EXPECT_NE(z("block-jacobi:8", {}), z("block-jacobi", {}));
  EXPECT_EQ(z("ssor", {{"weight", "1.25"}}), z("ssor:1.25", {}));
  EXPECT_EQ(message_of([&] {
              made("ssor", {{"wait", "1"}});
            }),
            "preconditioner 'ssor': unknown option 'wait'; known: weight");
  EXPECT_EQ(message_of([&] {
              made("ssor:1", {{"weight", "1"}});
            }),
            "preconditioner 'ssor:1': option 'weight' is given twice");
  EXPECT_EQ(message_of([&] {
              made("ssor", {{"weight", "3"}});
            }),
            "preconditioner 'ssor': option 'weight' must be a number above 0 and below 2, not '3'");
  EXPECT_EQ(message_of([&] {
              made("jacobi", {{"weight", "1"}});
            }),
            "preconditioner 'jacobi': unknown option 'weight'; known: none");
  // An update keeps them.
  auto updated = made("block-jacobi", {{"block", "8"}});
  krysol::update_preconditioner(updated, a);
  EXPECT_EQ(updated.options.at("block"), "8");
}

TYPED_TEST(Contract, MakesForAnOperatorWhatNeedsNoEntries) {
  const krysol::PreconditionerInput<double, TypeParam> nothing;
  for (const auto& info : krysol::list_preconditioners()) {
    const std::string name(info.name);
    const auto message =
        message_of([&] { krysol::make_preconditioner<double, TypeParam>(name, nothing); });
    EXPECT_EQ(message, info.needs_matrix
                           ? "preconditioner '" + name +
                                 "' is made from the entries of A; for an operator without them "
                                 "there are 'none' and 'chebyshev', or your own"
                       : name == "chebyshev"
                           ? "preconditioner 'chebyshev' is made from A, and there is none"
                           : "nothing was thrown");
  }
}

TYPED_TEST(Contract, ReportsWhatAPreconditionerIsMadeOf) {
  const auto a = to_csr(poisson2d(9, 8)).matrix;
  const auto facts = [&](const std::string& name) {
    std::string out;
    for (const auto& fact : krysol::make_preconditioner<double, TypeParam>(name, a).m->report()) {
      out += fact.name + " " + fact.value + "; ";
    }
    return out;
  };
  EXPECT_EQ(facts("none") + facts("jacobi"), "");
  EXPECT_EQ(facts("block-jacobi:3"), "rows a block 3; blocks not positive definite 0; ");
  EXPECT_EQ(facts("ssor:1.3"), "weight 1.3; colours 2; ");
  EXPECT_TRUE(facts("ic0").starts_with("entries below the diagonal 127; levels ")) << facts("ic0");
}

TYPED_TEST(Contract, SmoothsFromAnyStart) {
  for (const auto& t : {poisson2d(9, 8), jump_coefficients2d(8, 1e3), biharmonic1d(30)}) {
    const auto host = to_csr(t).matrix;
    const auto n = static_cast<std::size_t>(host.rows);
    const auto a = krysol::make_operator<double, TypeParam>("csr", host);
    const auto b = random_vector<double>(n, 1);
    const auto exact = cholesky_solve(dense(t), widen(b));
    int smoothers = 0;
    for (const std::string name : {"none", "jacobi", "block-jacobi", "ic0", "ssor", "ssor:1.7",
                                   "amg:coarsest=9", "cholesky"}) {
      const auto m = krysol::make_preconditioner<double, TypeParam>(name, host).m;
      if (!m->can_smooth()) continue;
      ++smoothers;
      const auto device_b = to_device<TypeParam>(b);
      const auto x = to_device<TypeParam>(random_vector<double>(n, 2));
      const auto r = to_device<TypeParam>(std::vector<double>(n));
      const auto z = to_device<TypeParam>(std::vector<double>(n));
      const auto energy = [&] {
        Kokkos::fence();
        const auto error = widen(to_host(x)) - exact;
        return std::sqrt(dot(error, t * error));
      };
      long double before = energy();
      for (int k = 0; k < 20; ++k) {
        krysol::smooth(TypeParam{}, *a, *m, device_b, x, 1, r, z);
        const long double now = energy();
        EXPECT_LT(now, before * (1 + 1e-12L)) << name << k;
        before = now;
      }
    }
    EXPECT_EQ(smoothers, 2);
  }
}

/// The same numbers as by hand: each entry, in each of the steps.
TYPED_TEST(Contract, SmoothsEachEntry) {
  const auto host = to_csr(poisson2d(7, 5)).matrix;
  const auto n = static_cast<std::size_t>(host.rows);
  const auto a = krysol::make_operator<double, TypeParam>("csr", host);
  const auto m = krysol::make_preconditioner<double, TypeParam>("jacobi", host).m;
  const auto b = random_vector<double>(n, 1);
  const auto device_b = to_device<TypeParam>(b);
  const auto r = to_device<TypeParam>(std::vector<double>(n));
  const auto z = to_device<TypeParam>(std::vector<double>(n));
  for (const int steps : {0, 1, 3}) {
    std::vector<double> expected = random_vector<double>(n, 2);
    const auto x = to_device<TypeParam>(expected);
    krysol::smooth(TypeParam{}, *a, *m, device_b, x, steps, r, z);
    Kokkos::fence();
    for (int step = 0; step < steps; ++step) {
      std::vector<double> residual = b;
      for (std::size_t i = 0; i < n; ++i) {
        for (auto k = host.row_ptr(i); k < host.row_ptr(i + 1); ++k) {
          residual[i] -= host.values(k) * expected[static_cast<std::size_t>(host.col_idx(k))];
        }
      }
      for (std::size_t i = 0; i < n; ++i) expected[i] += residual[i] / 4;  // the diagonal's entry
    }
    const auto found = to_host(x);
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_NEAR(found[i], expected[i], 1e-12) << steps << ' ' << i;
    }
    EXPECT_EQ(to_host(device_b), b) << steps;
  }
}

TYPED_TEST(Contract, KeepsJacobiPositiveDefinite) {
  auto t = no_entries<double>(4, 4);
  const std::vector<double> d = {4, -2, -8, 1};
  for (Index i = 0; i < 4; ++i) t.add(i, i, d[static_cast<std::size_t>(i)]);
  const auto a = to_csr(t).matrix;
  for (const std::string name : {"jacobi", "block-jacobi:1", "block-jacobi:2"}) {
    const auto z = to_device<TypeParam>(std::vector<double>(4));
    const auto m = krysol::make_preconditioner<double, TypeParam>(name, a).m;
    m->apply(TypeParam{}, to_device<TypeParam>(std::vector<double>(4, 8.0)), z);
    Kokkos::fence();
    EXPECT_EQ(to_host(z), (std::vector<double>{2, 4, 1, 8})) << name;
  }
}

}  // namespace
