// Preconditioners as dense matrices: from their formulas, and as they are.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <string>
#include <vector>

#include <krysol/solver/precond/preconditioner.hpp>
#include "dense.hpp"
#include "eigen_oracle.hpp"
#include "problems.hpp"
#include "spaces.hpp"

namespace krysol_tests {

/// L with L L^H = A + shift diag(A) where A has nonzeros, and 0 where it has none (Saad 2003,
/// section 10.3.2). `bad_row` is the first without a positive pivot, or -1.
template <class W>
struct DenseIc0 {
  Dense<W> l;
  std::ptrdiff_t bad_row = -1;
};

template <class W>
DenseIc0<W> dense_ic0(const Dense<W>& a, long double shift = 0) {
  DenseIc0<W> f{Dense<W>(a.rows, a.rows)};
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      if (a(i, j) == W(0)) continue;
      W sum = i == j ? (1 + shift) * a(i, j) : a(i, j);
      for (std::size_t k = 0; k < j; ++k) sum -= f.l(i, k) * conjugate(f.l(j, k));
      if (i == j && !(std::real(sum) > 1e-14L * std::real(a(i, i)))) {
        f.bad_row = static_cast<std::ptrdiff_t>(i);
        return f;
      }
      f.l(i, j) = i == j ? W(std::sqrt(std::real(sum))) : sum / f.l(j, j);
    }
  }
  return f;
}

/// The smallest colour that no neighbour with a smaller number has, row by row.
template <class W>
std::vector<std::size_t> greedy_colours(const Dense<W>& a) {
  std::vector<std::size_t> colour(a.rows);
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (bool taken = true; taken;) {
      taken = false;
      for (std::size_t j = 0; j < i; ++j) {
        const bool coupled = a(i, j) != W(0) || a(j, i) != W(0);
        taken = taken || (coupled && colour[j] == colour[i]);
      }
      if (taken) ++colour[i];
    }
  }
  return colour;
}

/// P' A P for rows in the order of their colours.
inline std::vector<std::size_t> order_of(const std::vector<std::size_t>& colour) {
  std::vector<std::size_t> order(colour.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return colour[i] < colour[j]; });
  return order;
}

/// M = w / (2 - w) (D/w + L) D^-1 (D/w + L^H) with D and L of A in the order of its colours
/// (Saad 2003, section 10.2), in A's own order.
template <class W>
Dense<W> dense_ssor(const Dense<W>& a, long double w) {
  const std::size_t n = a.rows;
  const auto order = order_of(greedy_colours(a));
  Dense<W> left(n, n);  // D/w + L
  for (std::size_t p = 0; p < n; ++p) {
    for (std::size_t q = 0; q <= p; ++q) {
      left(p, q) = a(order[p], order[q]) / W(p == q ? w : 1);
    }
  }
  Dense<W> m(n, n);
  for (std::size_t p = 0; p < n; ++p) {
    for (std::size_t q = 0; q < n; ++q) {
      W sum{};
      for (std::size_t k = 0; k <= std::min(p, q); ++k) {
        sum += left(p, k) / a(order[k], order[k]) * conjugate(left(q, k));
      }
      m(order[p], order[q]) = w / (2 - w) * sum;
    }
  }
  return m;
}

/// The function r -> z with M z = r, for the preconditioners that have an oracle.
template <class W>
std::function<std::vector<W>(const std::vector<W>&)> oracle(const std::string& name,
                                                            const Dense<W>& a) {
  Dense<W> l(a.rows, a.rows);
  for (std::size_t i = 0; i < a.rows; ++i)
    l(i, i) = name == "none" ? W(1) : W(std::sqrt(std::abs(a(i, i))));
  if (name == "ic0") l = dense_ic0(a).l;
  if (name == "ssor") l = cholesky(dense_ssor(a, 1));
  return [l](const std::vector<W>& r) { return solve_factor(l, r); };
}

template <class Exec>
std::vector<double> applied(const krysol::AnyPreconditioner<double, Exec>& m,
                            const std::vector<double>& r) {
  const auto z = to_device<Exec>(std::vector<double>(r.size()));
  m.apply(Exec{}, to_device<Exec>(r), z);
  Kokkos::fence();
  return to_host(z);
}

/// The largest |1 - lambda| over the eigenvalues of M^-1 A: those of L' M^-1 L, with A = L L'.
template <class Exec>
double rate(const krysol::AnyPreconditioner<double, Exec>& m, const Triplets<double>& a) {
  const auto l = cholesky(dense(a));
  const std::size_t n = l.rows;
  Dense<std::complex<double>> product(n, n);
  for (std::size_t j = 0; j < n; ++j) {
    std::vector<double> column(n);
    for (std::size_t i = j; i < n; ++i) column[i] = static_cast<double>(l(i, j));
    const auto z = applied(m, column);
    for (std::size_t i = 0; i < n; ++i) {
      double sum = 0;
      for (std::size_t k = i; k < n; ++k) sum += static_cast<double>(l(k, i)) * z[k];
      product(i, j) = sum;
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      product(i, j) = product(j, i) = (product(i, j) + product(j, i)) / 2.0;
    }
  }
  double worst = 0;
  for (const double lambda : hermitian_eigen(product).values) {
    worst = std::max(worst, std::abs(1 - lambda));
  }
  return worst;
}

}  // namespace krysol_tests
