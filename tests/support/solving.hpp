// Solving by name from host to host, what must hold of every result, and types of a user's own.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <krysol/solver/krylov/cg.hpp>
#include <krysol/solver/precond/jacobi.hpp>
#include <krysol/solver/registry.hpp>
#include <krysol/spmv/select/formats.hpp>
#include "messages.hpp"
#include "problems.hpp"
#include "spaces.hpp"

namespace users_own {

/// tridiag(-1, 2, -1) without a matrix.
struct Laplacian {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};

template <class T>
struct LaplacianRow {
  std::int64_t n;
  T alpha;
  const T* x;
  T beta;
  T* y;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const T left = i > 0 ? x[i - 1] : T(0);
    const T right = i + 1 < n ? x[i + 1] : T(0);
    const T sum = alpha * (T(2) * x[i] - left - right);
    y[i] = beta == T(0) ? sum : sum + beta * y[i];
  }
};

template <class T, class Exec>
void apply(const Exec& exec, T alpha, const Laplacian& a, const krysol::ConstVector<T, Exec>& x,
           T beta, const krysol::Vector<T, Exec>& y) {
  Kokkos::parallel_for("users_own",
                       Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, a.rows),
                       LaplacianRow<T>{a.rows, alpha, x.data(), beta, y.data()});
}

template <class T>
struct ScaleRow {
  krysol::Real<T> factor;
  const T* r;
  T* z;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { z[i] = factor * r[i]; }
};

/// z := factor r; a preconditioner that offers no more than `apply`.
struct Multiple {
  double factor = 1;

  template <class T, class Exec>
  void apply(const Exec& exec, const krysol::ConstVector<T, Exec>& r,
             const krysol::Vector<T, Exec>& z) const {
    krysol::for_each("users_own", exec, static_cast<std::int64_t>(z.extent(0)),
                     ScaleRow<T>{static_cast<krysol::Real<T>>(factor), r.data(), z.data()});
  }
};

/// Jacobi, but not known to be diagonal.
template <class T, class Exec>
struct Wrapped {
  krysol::Jacobi<T, Exec> inner;

  void apply(const Exec& exec, const krysol::ConstVector<T, Exec>& r,
             const krysol::Vector<T, Exec>& z) const {
    inner.apply(exec, r, z);
  }
};

}  // namespace users_own

namespace krysol_tests {

using krysol::Real;
using krysol::SolveResult;
using krysol::Status;
using krysol::StoppingCriteria;
using krysol::to_csr;

template <class T>
struct Solved {
  SolveResult result;
  std::vector<T> x;
};

/// Everything by name, as the programs do it.
template <class T, class Exec>
struct NamedSolve {
  Triplets<FileScalar<T>> entries;
  std::vector<T> b;
  std::string precond = "none";
  std::string format = "csr";
  std::string method = "cg";
  StoppingCriteria stop{};
  std::vector<T> x0{};  // empty: zeros
  krysol::Observer observer{};
  double lambda_min = 0;  // of cg
  double confirm = 0;     // likewise

  Solved<T> run() const {
    const auto host = to_csr(entries).matrix;
    const auto a = krysol::make_operator<T, Exec>(format, host);
    const auto m = krysol::make_preconditioner<T, Exec>(precond, host).m;
    const auto x = to_device<Exec>(x0.empty() ? std::vector<T>(b.size()) : x0);
    const krysol::ConstVector<T, Exec> device_b = to_device<Exec>(b);
    krysol::NamedOptions options;
    if (lambda_min != 0) options["lambda_min"] = fmt::format("{}", lambda_min);
    if (confirm != 0) options["confirm"] = fmt::format("{}", confirm);
    auto result = krysol::solve(method, Exec{}, *a, device_b, x, *m, stop, observer, options);
    Kokkos::fence();
    return {std::move(result), to_host(x)};
  }
};

/// A x = (1, ..., 1) by cg on the host, from 0.
inline SolveResult solved_for_ones(const krysol::HostCsr<double>& a,
                                   const krysol::AnyPreconditioner<double, krysol::Host>& m) {
  const auto n = static_cast<std::size_t>(a.rows);
  const auto op = krysol::make_operator<double, krysol::Host>("csr", a);
  const krysol::ConstVector<double, krysol::Host> b =
      to_device<krysol::Host>(std::vector<double>(n, 1.0));
  const auto x = to_device<krysol::Host>(std::vector<double>(n));
  return krysol::solve("cg", krysol::Host{}, *op, b, x, m);
}

/// Eigenvalue i of n, from 1, of the 3-point star; those of a grid are their sums.
inline double grid_eigenvalue(int n, int i) {
  return 2 - 2 * std::cos(i * std::numbers::pi / static_cast<double>(n + 1));
}

/// The 5-point star on 17 x 13 points.
inline krysol::HostCsr<double> grid() { return to_csr(poisson2d(17, 13)).matrix; }

/// |b - A x| in long double.
template <class T, class V>
long double true_residual(const Triplets<V>& a, const std::vector<T>& b, const std::vector<T>& x) {
  return norm(widen(b) - a * widen(x));
}

/// The nearest number that a vector can hold.
template <class T>
T narrow(const Wide<T>& v) {
  if constexpr (krysol::is_complex<T>) {
    return T(static_cast<Real<T>>(v.real()), static_cast<Real<T>>(v.imag()));
  } else {
    return static_cast<T>(v);
  }
}

/// What must hold of every result, however the solve ended. `longest` is that of the rows.
template <class T, class V>
void expect_honest(const Triplets<V>& a, const std::vector<T>& b, const Solved<T>& s,
                   const StoppingCriteria& stop) {
  const SolveResult& r = s.result;
  const auto eps = static_cast<long double>(std::numeric_limits<Real<T>>::epsilon());
  const long double exact = true_residual(a, b, s.x);
  const long double rounding = 40 * eps * residual_scale(a, widen(s.x), widen(b));
  EXPECT_LE(std::abs(exact - r.residual), rounding) << to_string(r.status);
  ASSERT_EQ(r.history.size(), static_cast<std::size_t>(r.iterations) + 1) << to_string(r.status);
  EXPECT_EQ(r.history[0], r.initial_residual);
  EXPECT_NEAR(r.b_norm, static_cast<double>(norm(widen(b))), 1e-13 * r.b_norm);
  EXPECT_EQ(r.target, std::max(stop.atol, stop.rtol * r.b_norm));
  if (r.status == Status::converged) {
    EXPECT_LE(r.residual, r.target);
    EXPECT_LE(exact, r.target + rounding);
  } else {
    EXPECT_GT(r.residual, r.target) << to_string(r.status);
  }
  EXPECT_FALSE(r.advice.empty());
}

/// D^H b for the D of `as`: a real b where T is real.
template <class T>
std::vector<T> turned(const std::vector<double>& b) {
  std::vector<T> out;
  for (std::size_t i = 0; i < b.size(); ++i) {
    if constexpr (krysol::is_complex<T>) {
      const auto angle = static_cast<double>(i);
      out.push_back(T(static_cast<Real<T>>(b[i] * std::cos(angle)),
                      static_cast<Real<T>>(-b[i] * std::sin(angle))));
    } else {
      out.push_back(static_cast<T>(b[i]));
    }
  }
  return out;
}

}  // namespace krysol_tests
