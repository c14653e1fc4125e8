// Matrices and vectors for the tests, made from their definitions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include <krysol/spmv/base/scalar.hpp>
#include <krysol/spmv/matrix/host_csr.hpp>
#include <krysol/spmv/matrix/triplets.hpp>

namespace krysol_tests {

inline constexpr double undefined_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinite = std::numeric_limits<double>::infinity();

using krysol::Index;
using krysol::Triplets;

/// Numbers that are the same on every machine; the distributions of <random> are not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL + 1) {}
  std::uint64_t bits() {  // splitmix64
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  /// In [-1, 1), and never 0.
  double number() {
    return (static_cast<double>(bits() >> 12) + 0.5) / static_cast<double>(std::uint64_t{1} << 51) -
           1;
  }
  Index below(Index n) { return static_cast<Index>(bits() % static_cast<std::uint64_t>(n)); }
  /// Of any of our entry types; both parts of a complex number are random.
  template <class T>
  T entry() {
    using R = krysol::Real<T>;
    const auto re = static_cast<R>(number());
    if constexpr (krysol::is_complex<T>) {
      return T(re, static_cast<R>(number()));
    } else {
      return re;
    }
  }

 private:
  std::uint64_t state_;
};

template <class T>
std::vector<T> random_vector(std::size_t n, std::uint64_t seed) {
  Random random(seed);
  std::vector<T> v;
  for (std::size_t i = 0; i < n; ++i) v.push_back(random.entry<T>());
  return v;
}

template <class T>
Triplets<T> no_entries(Index rows, Index cols,
                       krysol::Symmetry symmetry = krysol::Symmetry::general) {
  Triplets<T> t;
  t.rows = rows;
  t.cols = cols;
  t.symmetry = symmetry;
  return t;
}

/// Row by row, each from left to right.
inline Triplets<double> tridiagonal(Index n, double below, double diagonal, double above) {
  Triplets<double> t = no_entries<double>(n, n);
  for (Index i = 0; i < n; ++i) {
    if (i > 0) t.add(i, i - 1, below);
    t.add(i, i, diagonal);
    if (i + 1 < n) t.add(i, i + 1, above);
  }
  return t;
}

/// tridiag(-1, 2, -1)
inline Triplets<double> poisson1d(Index n) { return tridiagonal(n, -1, 2, -1); }

/// tridiag(-1, 2, -1) with 1 at both ends: constants are in its null space.
inline Triplets<double> free_ends(Index n) {
  auto t = poisson1d(n);
  t.values.front() = t.values.back() = 1;
  return t;
}

/// -u_xx - u_yy on an nx x ny grid without boundary values: constants are its null space.
inline Triplets<double> neumann2d(Index nx, Index ny) {
  Triplets<double> t = no_entries<double>(nx * ny, nx * ny);
  const auto edge = [&t](Index i, Index j) {
    t.add(i, i, 1);
    t.add(j, j, 1);
    t.add(i, j, -1);
    t.add(j, i, -1);
  };
  for (Index j = 0; j < ny; ++j) {
    for (Index i = 0; i < nx; ++i) {
      if (i + 1 < nx) edge(j * nx + i, j * nx + i + 1);
      if (j + 1 < ny) edge(j * nx + i, (j + 1) * nx + i);
    }
  }
  return t;
}

/// -epsilon u_xx - u_yy on an nx x ny grid with zero boundary values, x fastest.
inline Triplets<double> poisson2d(Index nx, Index ny, double epsilon = 1) {
  Triplets<double> t = no_entries<double>(nx * ny, nx * ny);
  for (Index j = 0; j < ny; ++j) {
    for (Index i = 0; i < nx; ++i) {
      const Index row = j * nx + i;
      if (j > 0) t.add(row, row - nx, -1);
      if (i > 0) t.add(row, row - 1, -epsilon);
      t.add(row, row, 2 + 2 * epsilon);
      if (i + 1 < nx) t.add(row, row + 1, -epsilon);
      if (j + 1 < ny) t.add(row, row + nx, -1);
    }
  }
  return t;
}

/// The 7-point star on an n x n x n grid.
inline Triplets<double> poisson3d(Index n) {
  Triplets<double> t = no_entries<double>(n * n * n, n * n * n);
  const Index step[] = {n * n, n, 1};
  for (Index row = 0; row < t.rows; ++row) {
    t.add(row, row, 6);
    for (const Index s : step) {
      const Index at = row / s % n;
      if (at > 0) t.add(row, row - s, -1);
      if (at + 1 < n) t.add(row, row + s, -1);
    }
  }
  return t;
}

/// -div(k grad u) on an n x n grid of cells whose k is 1 or `contrast` at random; the flow between
/// two cells has the harmonic mean of theirs.
inline Triplets<double> jump_coefficients2d(Index n, double contrast) {
  Random random(7);
  std::vector<double> k;
  for (Index c = 0; c < n * n; ++c) k.push_back(random.bits() % 2 == 0 ? 1 : contrast);
  Triplets<double> t = no_entries<double>(n * n, n * n);
  for (Index row = 0; row < n * n; ++row) {
    const double own = k[static_cast<std::size_t>(row)];
    double diagonal = 0;
    for (const Index s : {n, Index{1}}) {
      for (const Index side : {-s, s}) {
        const Index at = row / s % n;
        const bool boundary = side < 0 ? at == 0 : at + 1 == n;
        const double other = boundary ? own : k[static_cast<std::size_t>(row + side)];
        const double flow = 2 * own * other / (own + other);
        diagonal += flow;
        if (!boundary) t.add(row, row + side, -flow);
      }
    }
    t.add(row, row, diagonal);
  }
  return t;
}

/// The square of tridiag(-1, 2, -1), whose condition number grows like (2 n / pi)^4.
inline Triplets<double> biharmonic1d(Index n) {
  Triplets<double> t = no_entries<double>(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = i - 2; j <= i + 2; ++j) {
      if (j < 0 || j >= n) continue;
      const bool edge = i == 0 || i == n - 1;
      t.add(i, j, i == j ? (edge ? 5 : 6) : std::abs(i - j) == 1 ? -4 : 1);
    }
  }
  return t;
}

/// A with each number times [2 1; 1 3]: two unknowns a node.
inline Triplets<double> two_unknowns(const Triplets<double>& a) {
  auto t = no_entries<double>(2 * a.rows, 2 * a.cols);
  const double block[4] = {2, 1, 1, 3};
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    for (Index p = 0; p < 4; ++p) {
      t.add(2 * a.row_idx[k] + p / 2, 2 * a.col_idx[k] + p % 2,
            block[static_cast<std::size_t>(p)] * a.values[k]);
    }
  }
  return t;
}

/// 1, 2, ..., n, for eigenvalues.
inline std::vector<double> one_to(Index n) {
  std::vector<double> v;
  for (Index k = 1; k <= n; ++k) v.push_back(k);
  return v;
}

/// Q diag(eigenvalues) Q' with Q a product of three random reflections; all entries are stored, and
/// mirror images have the same bits.
inline Triplets<double> random_spd(const std::vector<double>& eigenvalues, std::uint64_t seed) {
  const std::size_t n = eigenvalues.size();
  std::vector<std::vector<double>> a(n, std::vector<double>(n, 0.0));
  for (std::size_t i = 0; i < n; ++i) a[i][i] = eigenvalues[i];
  for (std::uint64_t k = 0; k < 3; ++k) {  // A := H A H with H = I - 2 v v' / v'v
    const auto v = random_vector<double>(n, seed + k);
    double vv = 0;
    for (const double vi : v) vv += vi * vi;
    for (int side = 0; side < 2; ++side) {  // A := (H A)', twice
      std::vector<std::vector<double>> next(n, std::vector<double>(n));
      for (std::size_t j = 0; j < n; ++j) {
        double va = 0;
        for (std::size_t i = 0; i < n; ++i) va += v[i] * a[i][j];
        for (std::size_t i = 0; i < n; ++i) next[j][i] = a[i][j] - 2 * va / vv * v[i];
      }
      a = next;
    }
  }
  Triplets<double> t = no_entries<double>(static_cast<Index>(n), static_cast<Index>(n));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      t.add(static_cast<Index>(i), static_cast<Index>(j), i < j ? a[i][j] : a[j][i]);
    }
  }
  return t;
}

/// About per_row entries in each row at random places, in random order; places may repeat.
template <class T>
Triplets<T> random_sparse(Index rows, Index cols, Index per_row, std::uint64_t seed) {
  Random random(seed);
  Triplets<T> t = no_entries<T>(rows, cols);
  if (rows == 0 || cols == 0) return t;
  for (std::int64_t k = 0; k < std::int64_t{rows} * per_row; ++k) {
    const Index row = random.below(rows);
    const Index col = random.below(cols);
    t.add(row, col, random.entry<T>());
  }
  return t;
}

/// The same matrix in another entry type. A complex one is D^H A D with D(k,k) = exp(i k): complex
/// and Hermitian, with A's eigenvalues, so that CG takes as many iterations for D^H b as for b.
template <class T>
Triplets<T> as(const Triplets<double>& t) {
  Triplets<T> out = no_entries<T>(t.rows, t.cols, t.symmetry);
  for (std::size_t k = 0; k < t.values.size(); ++k) {
    const Index i = t.row_idx[k];
    const Index j = t.col_idx[k];
    if constexpr (krysol::is_complex<T>) {
      using R = krysol::Real<T>;
      const auto angle = static_cast<R>(j - i);  // exp(-x i) is exp(x i)'s conjugate, to the bit
      const auto value = static_cast<R>(t.values[k]);
      out.add(i, j, T(value * std::cos(angle), value * std::sin(angle)));
    } else {
      out.add(i, j, static_cast<T>(t.values[k]));
    }
  }
  return out;
}

/// Each value times by(row, column), which is symmetric.
inline krysol::HostCsr<double> with_factors(const krysol::HostCsr<double>& a,
                                            const std::function<double(Index, Index)>& by) {
  krysol::HostCsr<double> other{a.rows, a.cols, a.row_ptr, a.col_idx, {}};
  other.values = krysol::allocate<decltype(other.values)>("values", a.nnz());
  for (Index i = 0; i < a.rows; ++i) {
    for (auto k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
      const auto at = static_cast<std::size_t>(k);
      other.values(at) = a.values(at) * by(i, a.col_idx(at));
    }
  }
  return other;
}

}  // namespace krysol_tests
