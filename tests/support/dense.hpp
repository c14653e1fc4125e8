// The oracle: dense matrices in long double, written so that a look shows they are right.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <utility>
#include <vector>

#include <krysol/spmv/formats/csr.hpp>
#include "dense_matrix.hpp"

namespace krysol_tests {

/// What the oracle computes in: long double, or complex of it.
template <class T>
using Wide = std::conditional_t<krysol::is_complex<T>, std::complex<long double>, long double>;

/// What lists of triplets hold for entries that kernels know as S.
template <class S>
using FileScalar = std::conditional_t<krysol::is_complex<S>, std::complex<krysol::Real<S>>, S>;

template <class T>
Wide<T> widen(const T& v) {
  if constexpr (krysol::is_complex<T>) {
    return {v.real(), v.imag()};
  } else {
    return v;
  }
}
template <class T>
std::vector<Wide<T>> widen(const std::vector<T>& v) {
  std::vector<Wide<T>> wide;
  for (const T& vi : v) wide.push_back(widen(vi));
  return wide;
}

inline double conjugate(double v) { return v; }
inline long double conjugate(long double v) { return v; }
inline std::complex<long double> conjugate(std::complex<long double> v) { return std::conj(v); }

template <class S>
Dense<Wide<S>> dense(const krysol::HostCsr<S>& a) {
  Dense<Wide<S>> d(static_cast<std::size_t>(a.rows), static_cast<std::size_t>(a.cols));
  for (std::size_t i = 0; i < d.rows; ++i) {
    for (auto k = static_cast<std::size_t>(a.row_ptr(i));
         k < static_cast<std::size_t>(a.row_ptr(i + 1)); ++k) {
      d(i, static_cast<std::size_t>(a.col_idx(k))) += widen(a.values(k));
    }
  }
  return d;
}

template <class T>
Dense<Wide<T>> dense(const krysol::Triplets<T>& t) {
  using krysol::Symmetry;
  Dense<Wide<T>> d(static_cast<std::size_t>(t.rows), static_cast<std::size_t>(t.cols));
  for (std::size_t k = 0; k < t.values.size(); ++k) {
    const auto i = static_cast<std::size_t>(t.row_idx[k]);
    const auto j = static_cast<std::size_t>(t.col_idx[k]);
    const Wide<T> v = widen(t.values[k]);
    d(i, j) += v;
    if (i == j) continue;
    if (t.symmetry == Symmetry::symmetric) d(j, i) += v;
    if (t.symmetry == Symmetry::skew_symmetric) d(j, i) -= v;
    if (t.symmetry == Symmetry::hermitian) d(j, i) += conjugate(v);
  }
  return d;
}

template <class W>
std::vector<W> operator*(const Dense<W>& a, const std::vector<W>& x) {
  std::vector<W> y(a.rows);
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < a.cols; ++j) y[i] += a(i, j) * x[j];
  }
  return y;
}

/// x'y, x conjugated.
template <class W>
W dot(const std::vector<W>& x, const std::vector<W>& y) {
  W sum{};
  for (std::size_t i = 0; i < x.size(); ++i) sum += conjugate(x[i]) * y[i];
  return sum;
}

template <class W>
long double norm(const std::vector<W>& v) {
  return std::sqrt(std::real(dot(v, v)));
}

template <class W>
std::vector<W> operator-(std::vector<W> x, const std::vector<W>& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] -= y[i];
  return x;
}

/// x with L L^H x = b.
template <class W>
std::vector<W> solve_factor(const Dense<W>& l, std::vector<W> x) {
  const std::size_t n = l.rows;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) x[i] -= l(i, k) * x[k];
    x[i] /= l(i, i);
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) x[i] -= conjugate(l(k, i)) * x[k];
    x[i] /= l(i, i);
  }
  return x;
}

/// L with A = L L^H, in the lower triangle; A Hermitian positive definite.
template <class W>
Dense<W> cholesky(Dense<W> l) {
  const std::size_t n = l.rows;
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) {
      for (std::size_t k = 0; k < j; ++k) l(i, j) -= l(i, k) * conjugate(l(j, k));
      l(i, j) /= i == j ? std::sqrt(l(j, j)) : l(j, j);  // l(j, j) is a root from i = j on
    }
  }
  return l;
}

template <class W>
std::vector<W> cholesky_solve(const Dense<W>& a, const std::vector<W>& b) {
  return solve_factor(cholesky(a), b);
}

/// A x from rows, by no kernel of the library. W: Wide<T>, or its complex number.
template <class T, class W>
std::vector<W> operator*(const krysol::HostCsr<T>& a, const std::vector<W>& x) {
  std::vector<W> y(static_cast<std::size_t>(a.rows));
  for (std::size_t i = 0; i < y.size(); ++i) {
    for (krysol::Offset k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
      const auto at = static_cast<std::size_t>(k);
      y[i] += widen(a.values(at)) * x[static_cast<std::size_t>(a.col_idx(at))];
    }
  }
  return y;
}

/// A x for a list of entries of a general matrix.
template <class T>
std::vector<Wide<T>> operator*(const krysol::Triplets<T>& a, const std::vector<Wide<T>>& x) {
  std::vector<Wide<T>> y(static_cast<std::size_t>(a.rows));
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    y[static_cast<std::size_t>(a.row_idx[k])] +=
        widen(a.values[k]) * x[static_cast<std::size_t>(a.col_idx[k])];
  }
  return y;
}

/// | |A| |x| + |b| |, the size of what b - A x is the difference of.
template <class T>
long double residual_scale(const krysol::Triplets<T>& a, const std::vector<Wide<T>>& x,
                           const std::vector<Wide<T>>& b) {
  std::vector<long double> sum;
  for (const auto& bi : b) sum.push_back(std::abs(bi));
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    sum[static_cast<std::size_t>(a.row_idx[k])] +=
        std::abs(widen(a.values[k])) * std::abs(x[static_cast<std::size_t>(a.col_idx[k])]);
  }
  return norm(sum);
}

/// Conjugate gradients as Saad 2003, Alg. 9.1, prints them, with z = solve(r): how many iterations
/// there are until |r| <= rtol |b|, from x = 0.
template <class T, class Solve>
int textbook_cg_iterations(const krysol::Triplets<T>& a, const std::vector<Wide<T>>& b,
                           const Solve& solve, long double rtol) {
  using W = Wide<T>;
  const std::size_t n = b.size();
  std::vector<W> r = b;
  std::vector<W> z = solve(r);
  std::vector<W> p = z;
  int iterations = 0;
  for (; norm(r) > rtol * norm(b) && iterations < 100 * static_cast<int>(n); ++iterations) {
    const std::vector<W> q = a * p;
    const W rho = dot(r, z);
    const W alpha = rho / dot(p, q);
    for (std::size_t i = 0; i < n; ++i) r[i] -= alpha * q[i];
    z = solve(r);
    const W beta = dot(r, z) / rho;
    for (std::size_t i = 0; i < n; ++i) p[i] = z[i] + beta * p[i];
  }
  return iterations;
}

/// MINRES with z = solve(r), as solver/krylov/minres.hpp states it: how many iterations there are
/// until |r| <= rtol |b|, from x = 0, with r = b - A x computed from x.
template <class T, class Solve>
int textbook_minres_iterations(const krysol::Triplets<T>& a, const std::vector<Wide<T>>& b,
                               const Solve& solve, long double rtol) {
  using W = Wide<T>;
  const std::size_t n = b.size();
  std::vector<W> x(n);
  std::vector<W> v = b;
  std::vector<W> v_before(n);
  std::vector<W> w(n);
  std::vector<W> w_before(n);
  std::vector<W> z = solve(v);
  long double gamma = std::sqrt(std::real(dot(v, z)));
  long double gamma_before = 1;
  long double eta = gamma;
  long double c = 1;
  long double c_before = 1;
  long double s = 0;
  long double s_before = 0;
  int iterations = 0;
  while (norm(b - a * x) > rtol * norm(b) && iterations < 100 * static_cast<int>(n)) {
    const std::vector<W> q = a * z;
    const long double delta = std::real(dot(z, q)) / gamma / gamma;
    std::vector<W> next(n);
    for (std::size_t i = 0; i < n; ++i) {
      next[i] = q[i] / gamma - delta / gamma * v[i] - gamma / gamma_before * v_before[i];
    }
    const std::vector<W> z_next = solve(next);
    const long double gamma_next = std::sqrt(std::max(0.0L, std::real(dot(next, z_next))));
    const long double alpha0 = c * delta - c_before * s * gamma;
    const long double alpha1 = std::hypot(alpha0, gamma_next);
    const long double alpha2 = s * delta + c_before * c * gamma;
    const long double alpha3 = s_before * gamma;
    c_before = std::exchange(c, alpha0 / alpha1);
    s_before = std::exchange(s, gamma_next / alpha1);
    for (std::size_t i = 0; i < n; ++i) {
      const W direction = (z[i] / gamma - alpha3 * w_before[i] - alpha2 * w[i]) / alpha1;
      w_before[i] = std::exchange(w[i], direction);
      x[i] += c * eta * direction;
    }
    eta *= -s;
    v_before = std::exchange(v, next);
    z = z_next;
    gamma_before = std::exchange(gamma, gamma_next);
    ++iterations;
  }
  return iterations;
}

}  // namespace krysol_tests
