// One const operator and one const preconditioner, used by several host threads at the same time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <array>
#include <deque>
#include <memory>
#include <thread>

#include <krysol/spmv/base/scratch_pool.hpp>
#include "solving.hpp"

namespace {

using namespace krysol_tests;
using krysol::ConstVector;
using krysol::MultiVector;
using krysol::Operator;
using krysol::ReductionWorkspace;
using krysol::Vector;

constexpr std::size_t threads = 4;

template <class C>
class SharedByThreads : public testing::Test {};
TYPED_TEST_SUITE(SharedByThreads, ForGtest<Spaces>::type, SpaceName);

/// An instance that no other thread has. Kokkos runs one kernel after the other on an instance, so
/// only threads with instances of their own are in the middle of a kernel at the same time.
template <class Exec>
Exec own_instance() {
#ifdef KOKKOS_ENABLE_OPENMP
  if constexpr (std::is_same_v<Exec, Kokkos::OpenMP>) return Kokkos::OpenMP(1);
#endif
  return Kokkos::Experimental::partition_space(Exec{}, 1)[0];
}

/// Who works with what: two threads share the default instance, two have their own.
template <class Exec>
struct Users {
  std::array<Exec, threads> exec{Exec{}, Exec{}, own_instance<Exec>(), own_instance<Exec>()};

  /// How often thread t repeats its work. Teams of OpenMP threads that several host threads start
  /// are more threads than processors, and take long to wake each other.
  static int times(std::size_t t) {
    if (t < 2 && std::string(Exec::name()) == "OpenMP") return 2;
#ifdef __SANITIZE_THREAD__
    return 10;  // the sanitizer sees races also where they do no harm
#else
    return 25;
#endif
  }
  template <class Work>
  static void at_once(const Work& work) {
    std::vector<std::thread> team;
    for (std::size_t t = 0; t < threads; ++t) team.emplace_back([&work, t] { work(t); });
    for (std::thread& thread : team) thread.join();
  }
};

/// Rows that are alike, with entries up to half_band blocks from the diagonal: each format that
/// cuts a matrix cuts this one, and each takes one of these with blocks of one or of two rows. Its
/// eigenvalues are between 1/2 and 3/2.
Triplets<double> band(Index rows, Index block, Index half_band) {
  auto t = no_entries<double>(rows, rows);
  const double off = -0.5 / static_cast<double>(block * (2 * half_band + 1));
  for (Index i = 0; i < rows; ++i) {
    const Index first = std::max<Index>(0, (i / block - half_band) * block);
    const Index last = std::min(rows, (i / block + half_band + 1) * block);
    for (Index j = first; j < last; ++j) t.add(i, j, i == j ? 1 : off);
  }
  return t;
}

std::vector<krysol::HostCsr<double>> systems() {
  return {to_csr(band(1100, 1, 15)).matrix, to_csr(band(1100, 2, 8)).matrix};
}

/// The first of the systems that the format takes, and its operator.
template <class Exec>
std::unique_ptr<const Operator<double, Exec>> operator_for(
    std::string_view format, const std::vector<krysol::HostCsr<double>>& all, std::size_t& system) {
  for (system = 0; system < all.size(); ++system) {
    try {
      return krysol::make_operator<double, Exec>(format, all[system]);
    } catch (const krysol::FormatRefusal&) {
    }
  }
  return nullptr;
}

/// What a thread got, beside what it gets alone.
struct Outcome {
  std::vector<double> x;
  std::int64_t iterations = 0;
  Status status = Status::max_iterations;

  bool operator==(const Outcome& other) const {
    return x == other.x && iterations == other.iterations && status == other.status;
  }
};

template <class Exec>
Outcome solve_once(const Exec& exec, const Operator<double, Exec>& a,
                   const krysol::AnyPreconditioner<double, Exec>& m,
                   const ConstVector<double, Exec>& b) {
  const auto x = to_device<Exec>(std::vector<double>(static_cast<std::size_t>(a.rows)));
  const auto r = krysol::solve("cg", exec, a, b, x, m);
  exec.fence();
  return {to_host(x), r.iterations, r.status};
}

TYPED_TEST(SharedByThreads, EveryFormatWithEveryPreconditionerSolvesAsAlone) {
  using Exec = TypeParam;
  if (launched_by_one_thread<Exec>) GTEST_SKIP() << "kernels of this space are one host thread's";
  const auto matrices = systems();
  std::vector<std::vector<krysol::MadePreconditioner<double, Exec>>> made(matrices.size());
  const auto preconditioners = krysol::list_preconditioners();
  for (std::size_t s = 0; s < matrices.size(); ++s) {
    for (const auto& p : preconditioners) {
      made[s].push_back(krysol::make_preconditioner<double, Exec>(
          p.name == "amg" ? "amg:coarsest=20" : p.name, matrices[s]));  // with levels
      EXPECT_EQ(made[s].back().refusal, "");
    }
  }
  const Users<Exec> users;
  std::array<ConstVector<double, Exec>, threads> b;
  for (std::size_t t = 0; t < threads; ++t) {
    b[t] = to_device<Exec>(random_vector<double>(1100, 50 + t));
  }
  for (const auto& format : krysol::list_formats()) {
    std::size_t system = 0;
    const auto a = operator_for<Exec>(format.name, matrices, system);
    if (a == nullptr) {
      EXPECT_FALSE(krysol::on_host<Exec>) << format.name << " refuses both systems";
      continue;
    }
    for (std::size_t p = 0; p < preconditioners.size(); ++p) {
      const krysol::AnyPreconditioner<double, Exec>& m = *made[system][p].m;
      std::array<Outcome, threads> alone;
      for (std::size_t t = 0; t < threads; ++t) {
        alone[t] = solve_once(Exec{}, *a, m, b[t]);
        EXPECT_EQ(alone[t].status, Status::converged);
      }
      std::array<int, threads> wrong{};
      Users<Exec>::at_once([&](std::size_t t) {
        for (int k = 0; k < Users<Exec>::times(t); ++k) {
          wrong[t] += solve_once(users.exec[t], *a, m, b[t]) == alone[t] ? 0 : 1;
        }
      });
      EXPECT_EQ(wrong, (std::array<int, threads>{}))
          << format.name << ", " << preconditioners[p].name;
    }
  }
}

template <class Exec>
struct Products {
  std::vector<double> y;        // alpha A x + beta y
  std::vector<double> y_dot;    // A x
  double dot = 0;               // x'A x
  std::vector<double> several;  // A X, ten columns

  bool operator==(const Products& other) const {
    return y == other.y && y_dot == other.y_dot && dot == other.dot && several == other.several;
  }
};

template <class Exec>
Products<Exec> multiply_once(const Exec& exec, const Operator<double, Exec>& a,
                             const std::vector<double>& x) {
  constexpr int columns = 10;
  Products<Exec> got;
  const ConstVector<double, Exec> from = to_device<Exec>(x);
  const Vector<double, Exec> to = to_device<Exec>(x);
  apply(exec, -0.7, a, from, 0.3, to);
  exec.fence();
  got.y = to_host(to);
  ReductionWorkspace<Exec> sums;
  got.dot = apply_dot(exec, a, from, to, sums);
  got.y_dot = to_host(to);
  const auto many = krysol::zero_multivector<double>(exec, "X", a.cols, columns);
  const auto result = krysol::zero_multivector<double>(exec, "Y", a.rows, columns);
  for (int c = 0; c < columns; ++c) copy_column(exec, to, many, c);
  apply(exec, 1.0, a, many, 0.0, result);
  copy_column(exec, result, columns - 1, to);
  exec.fence();
  got.several = to_host(to);
  return got;
}

TYPED_TEST(SharedByThreads, EveryFormatMultipliesAsAlone) {
  using Exec = TypeParam;
  if (launched_by_one_thread<Exec>) GTEST_SKIP() << "kernels of this space are one host thread's";
  const auto matrices = systems();
  const Users<Exec> users;
  for (const auto& format : krysol::list_formats()) {
    std::size_t system = 0;
    const auto a = operator_for<Exec>(format.name, matrices, system);
    if (a == nullptr) continue;
    std::array<std::vector<double>, threads> x;
    std::array<Products<Exec>, threads> alone;
    for (std::size_t t = 0; t < threads; ++t) x[t] = random_vector<double>(1100, 60 + t);
    // An operator whose first product is one of four at the same time.
    const auto fresh = operator_for<Exec>(format.name, matrices, system);
    std::array<std::vector<Products<Exec>>, threads> got;
    Users<Exec>::at_once([&](std::size_t t) {
      for (int k = 0; k < Users<Exec>::times(t); ++k) {
        got[t].push_back(multiply_once(users.exec[t], *fresh, x[t]));
      }
    });
    for (std::size_t t = 0; t < threads; ++t) {
      alone[t] = multiply_once(Exec{}, *a, x[t]);
      for (const auto& g : got[t]) ASSERT_TRUE(g == alone[t]) << format.name << ", thread " << t;
    }
  }
}

TYPED_TEST(SharedByThreads, ScratchIsHeldByOneAtATimeAndKept) {
  using Exec = TypeParam;
  int made = 0;
  const auto make = [&made] { return ++made; };
  const Exec exec{};
  krysol::ScratchPool<int, Exec> pool;
  {
    const auto first = pool.take(exec, make);
    const auto second = pool.take(exec, make);
    EXPECT_NE(*first, *second);
  }
  const krysol::ScratchPool<int, Exec> copy = pool;
  const auto third = copy.take(exec, make);
  const auto fourth = pool.take(exec, make);
  EXPECT_NE(*third, *fourth);
  EXPECT_EQ(made, 2);
  EXPECT_THROW(pool.take(exec, []() -> int { throw std::bad_alloc(); }), std::bad_alloc);
  const auto fifth = pool.take(exec, make);
  EXPECT_EQ(*fifth, 3);
}

TYPED_TEST(SharedByThreads, ScratchGoesFromThreadToThread) {
  using Exec = TypeParam;
  krysol::ScratchPool<std::int64_t, Exec> pool;  // not atomic: each holder has it for itself
  std::array<int, threads> made{};
  const Users<Exec> users;
  Users<Exec>::at_once([&](std::size_t t) {
    for (int k = 0; k < 20000; ++k) {
      const auto mine = pool.take(users.exec[0], [&] {
        ++made[t];
        return std::int64_t{0};
      });
      *mine += 1;
    }
  });
  std::int64_t total = 0;
  int objects = 0;
  for (const int m : made) objects += m;
  EXPECT_LE(objects, static_cast<int>(threads));
  std::deque<typename krysol::ScratchPool<std::int64_t, Exec>::Lease> all;
  for (int k = 0; k < objects; ++k) {
    all.push_back(pool.take(users.exec[0], [] { return std::int64_t{-1}; }));
    total += *all.back();
  }
  EXPECT_EQ(total, std::int64_t{20000} * static_cast<std::int64_t>(threads));
}

}  // namespace
