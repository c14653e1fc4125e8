// Rows spread over two owners: each has half of the vectors, and an all-reduce joins their sums.
// Two threads stand in for two processes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <cmath>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <krysol/solver/krylov/minres.hpp>
#include "solving.hpp"

namespace users_own {

/// What two owners share: a place for each, and a barrier. An owner writes its place, waits, reads
/// both, and waits again before either may write.
class Meeting {
 public:
  /// values[0..count) of both, joined in the same order for either.
  template <class Join>
  void join(int owner, double* values, int count, const Join& op) {
    auto& mine = place_[static_cast<std::size_t>(owner)];
    std::copy(values, values + count, mine.begin());
    barrier_.arrive_and_wait();
    for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
      values[k] = op(place_[0][k], place_[1][k]);
    }
    barrier_.arrive_and_wait();
  }
  /// What the other one gives.
  double exchange(int owner, double value) {
    double both[2] = {owner == 0 ? value : 0, owner == 1 ? value : 0};
    join(owner, both, 2, [](double u, double v) { return u + v; });
    return both[1 - owner];
  }

 private:
  std::array<std::array<double, 8>, 2> place_{};
  std::barrier<> barrier_{2};
};

/// tridiag(-1, d(i), -1) with d(i) = shift + 2 + (i mod 7) / 10: all rows, or those of one half.
struct Chain {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t first = 0;  // row of the whole system
  double shift = 0;
  int owner = -1;  // of a half: 0 or 1
  Meeting* meeting = nullptr;
};

struct ChainRow {
  std::int64_t n;
  std::int64_t first;
  double shift;
  double left;  // x before the first row, and after the last one
  double right;
  double alpha;
  const double* x;
  double beta;
  double* y;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const double before = i > 0 ? x[i - 1] : left;
    const double after = i + 1 < n ? x[i + 1] : right;
    const double d = shift + 2 + 0.1 * static_cast<double>((first + i) % 7);
    const double sum = alpha * (d * x[i] - before - after);
    y[i] = beta == 0 ? sum : sum + beta * y[i];
  }
};

template <class Exec>
void apply(const Exec& exec, double alpha, const Chain& a,
           const krysol::ConstVector<double, Exec>& x, double beta,
           const krysol::Vector<double, Exec>& y) {
  double left = 0;
  double right = 0;
  if (a.meeting != nullptr) {
    exec.fence();
    const auto at = static_cast<std::size_t>(a.owner == 0 ? a.rows - 1 : 0);
    double edge = 0;
    Kokkos::deep_copy(edge, Kokkos::subview(x, at));
    (a.owner == 0 ? right : left) = a.meeting->exchange(a.owner, edge);
  }
  krysol::for_each(
      "users_own::chain", exec, a.rows,
      ChainRow{a.rows, a.first, a.shift, left, right, alpha, x.data(), beta, y.data()});
}

/// 1 / |d|, as a diagonal that solvers fuse.
template <class Exec>
krysol::Jacobi<double, Exec> jacobi_of(const Chain& a) {
  std::vector<double> inverse;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const double d = a.shift + 2 + 0.1 * static_cast<double>((a.first + i) % 7);
    inverse.push_back(1 / std::abs(d));
  }
  krysol::Jacobi<double, Exec> m;
  m.inverse = krysol_tests::to_device<Exec>(inverse);
  return m;
}

}  // namespace users_own

namespace {

using namespace krysol_tests;
using users_own::Chain;
using users_own::Meeting;

#ifdef KOKKOS_ENABLE_SERIAL
using Exec = Kokkos::Serial;
#else
using Exec = Kokkos::DefaultExecutionSpace;
#endif

struct Case {
  std::string name;
  double shift;  // below 0: indefinite
  std::function<SolveResult(const Chain&, const krysol::Vector<double, Exec>&,
                            const krysol::Vector<double, Exec>&, const StoppingCriteria&,
                            const krysol::Observer&, krysol::Workspace<double, Exec>*)>
      solve;
};

#define KRYSOL_SPREAD_CASE(name, shift, method, preconditioner)                             \
  Case {                                                                                    \
    name, shift,                                                                            \
        [](const Chain& a, const krysol::Vector<double, Exec>& b,                           \
           const krysol::Vector<double, Exec>& x, const StoppingCriteria& stop,             \
           const krysol::Observer& observer, krysol::Workspace<double, Exec>* work) {       \
          return krysol::method(Exec{}, a, b, x, preconditioner, stop, observer, {}, work); \
        }                                                                                   \
  }

/// To add a method, add its lines here.
std::vector<Case> cases() {
  using Wrapped = users_own::Wrapped<double, Exec>;
  return {
      KRYSOL_SPREAD_CASE("cg", 0, cg, krysol::Identity{}),
      KRYSOL_SPREAD_CASE("cg, jacobi", 0, cg, users_own::jacobi_of<Exec>(a)),
      KRYSOL_SPREAD_CASE("cg, jacobi not fused", 0, cg, Wrapped{users_own::jacobi_of<Exec>(a)}),
      KRYSOL_SPREAD_CASE("minres", 0, minres, krysol::Identity{}),
      KRYSOL_SPREAD_CASE("minres, indefinite", -0.7, minres, krysol::Identity{}),
      KRYSOL_SPREAD_CASE("minres, jacobi", -0.7, minres, users_own::jacobi_of<Exec>(a)),
      KRYSOL_SPREAD_CASE("minres, jacobi not fused", -0.7, minres,
                         Wrapped{users_own::jacobi_of<Exec>(a)}),
  };
}

struct Halves {
  std::array<SolveResult, 2> result;
  std::vector<double> x;
};

/// Solves by two threads, each for its rows: [0, cut) and [cut, n).
Halves solve_in_halves(const Case& c, const std::vector<double>& b, std::size_t cut,
                       const StoppingCriteria& stop, const krysol::Observer& first_observer = {}) {
  Meeting meeting;
  Halves out;
  std::array<std::vector<double>, 2> parts;
  const auto work = [&](int owner) {
    const std::size_t first = owner == 0 ? 0 : cut;
    const std::size_t last = owner == 0 ? cut : b.size();
    const auto rows = static_cast<std::int64_t>(last - first);
    const Chain a{rows, rows, static_cast<std::int64_t>(first), c.shift, owner, &meeting};
    krysol::Workspace<double, Exec> workspace;
    workspace.sums.all_reduce.sum = [&meeting, owner](double* v, int n) {
      meeting.join(owner, v, n, [](double s, double t) { return s + t; });
    };
    workspace.sums.all_reduce.max = [&meeting, owner](double* v, int n) {
      meeting.join(owner, v, n, [](double s, double t) { return std::max(s, t); });
    };
    const std::vector<double> mine(b.begin() + static_cast<std::ptrdiff_t>(first),
                                   b.begin() + static_cast<std::ptrdiff_t>(last));
    const auto x = to_device<Exec>(std::vector<double>(mine.size()));
    const auto own = static_cast<std::size_t>(owner);
    out.result[own] = c.solve(a, to_device<Exec>(mine), x, stop,
                              owner == 0 ? first_observer : krysol::Observer{}, &workspace);
    Kokkos::fence();
    parts[own] = to_host(x);
  };
  std::thread other([&] { work(1); });
  work(0);
  other.join();
  out.x = parts[0];
  out.x.insert(out.x.end(), parts[1].begin(), parts[1].end());
  return out;
}

TEST(SpreadRows, GiveTheSolutionOfTheWholeSystem) {
  for (const Case& c : cases()) {
    for (const auto& [rows, cut] :
         {std::pair<std::size_t, std::size_t>{1000, 500}, {1030, 3}, {2049, 1024}}) {
      SCOPED_TRACE(c.name + ", cut at " + std::to_string(cut));
      const auto b = random_vector<double>(rows, 1);
      const auto n = static_cast<std::int64_t>(rows);
      StoppingCriteria stop;
      stop.rtol = 1e-10;
      const auto x = to_device<Exec>(std::vector<double>(rows));
      const SolveResult whole =
          c.solve(Chain{n, n, 0, c.shift}, to_device<Exec>(b), x, stop, {}, nullptr);
      Kokkos::fence();
      ASSERT_EQ(whole.status, Status::converged) << whole.advice;
      EXPECT_GT(whole.iterations, 5);
      const Halves halves = solve_in_halves(c, b, cut, stop);
      const auto exact = widen(to_host(x));
      EXPECT_LE(norm(widen(halves.x) - exact), 1e-7L * norm(exact));
      for (const SolveResult& r : halves.result) {
        EXPECT_EQ(r.status, Status::converged) << r.advice;
        EXPECT_NEAR(static_cast<double>(r.iterations), static_cast<double>(whole.iterations),
                    c.shift < 0 ? 1 + static_cast<double>(whole.iterations) / 50 : 0);
        EXPECT_NEAR(r.b_norm, whole.b_norm, 1e-13 * whole.b_norm);
        EXPECT_LE(r.residual, r.target);
      }
      EXPECT_EQ(halves.result[0].history, halves.result[1].history);
      EXPECT_EQ(halves.result[0].residual, halves.result[1].residual);
    }
  }
}

TEST(SpreadRows, EndTogether) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const auto b = random_vector<double>(600, 2);
    StoppingCriteria stop;
    stop.max_iterations = 7;
    for (const SolveResult& r : solve_in_halves(c, b, 300, stop).result) {
      EXPECT_EQ(r.status, Status::max_iterations);
      EXPECT_EQ(r.iterations, 7);
    }
    stop = {};
    stop.time_limit_s = 1e-9;
    for (const SolveResult& r : solve_in_halves(c, b, 300, stop).result) {
      EXPECT_EQ(r.status, Status::time_limit);
      EXPECT_EQ(r.iterations, 1);
    }
    // One of them has an observer.
    const auto interrupt = [](const krysol::Progress& p) { return p.iteration < 4; };
    for (const SolveResult& r : solve_in_halves(c, b, 300, {}, interrupt).result) {
      EXPECT_EQ(r.status, Status::interrupted);
      EXPECT_EQ(r.iterations, 4);
    }
  }
}

TEST(SpreadRows, NeedBothKindsOfReduction) {
  krysol::Workspace<double, Exec> work;
  work.sums.all_reduce.sum = [](double*, int) {};
  const Chain a{5, 5, 0, 0};
  const auto b = to_device<Exec>(std::vector<double>(5, 1.0));
  const auto x = to_device<Exec>(std::vector<double>(5));
  EXPECT_EQ(message_of([&] { krysol::cg(Exec{}, a, b, x, krysol::Identity{}, {}, {}, {}, &work); }),
            "krysol::cg: an all-reduce needs both its sum and its max");
}

}  // namespace
