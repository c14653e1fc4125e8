// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/analysis/spectra.hpp>

#include <limits>
#include <utility>

#include <Eigen/Eigenvalues>

namespace krysol::analysis {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

/// What is left of a new vector, relative to the matrix, that is called nothing: the subspace then
/// holds all that the start contains.
constexpr double exhausted = 1e-13;

template <class S>
using Numbers = std::vector<S>;

/// A power of two near the largest entry: dividing by it costs no digits, and squares stay in the
/// range of double.
double unit_of(double largest_magnitude) {
  return std::ldexp(1.0, std::max(-1000, std::ilogb(largest_magnitude)));
}

/// y := A x / unit
template <class S>
void multiply(const HostCsr<S>& a, double unit, const Numbers<S>& x, Numbers<S>& y) {
  constexpr std::int64_t block = 512;
  const std::int64_t rows = a.rows;
  const double factor = 1 / unit;
  host_for_much("krysol::multiply", (rows + block - 1) / block, rows, [&](std::int64_t b) {
    const std::int64_t last = std::min(rows, (b + 1) * block);
    for (std::int64_t i = b * block; i < last; ++i) {
      const auto row = static_cast<std::size_t>(i);
      S sum(0);
      for (Offset k = a.row_ptr(row); k < a.row_ptr(row + 1); ++k) {
        const auto at = static_cast<std::size_t>(k);
        sum += a.values(at) * factor * x[static_cast<std::size_t>(a.col_idx(at))];
      }
      y[row] = sum;
    }
  });
}

/// The real part of x'y.
template <class S>
double dot(const Numbers<S>& x, const Numbers<S>& y) {
  return over_rows<double>("krysol::dot", static_cast<std::int64_t>(x.size()),
                           [&](std::int64_t i, double& sum) {
                             const auto at = static_cast<std::size_t>(i);
                             sum += real_product(x[at], y[at]);
                           });
}

/// y := y + alpha x
template <class S>
void add(double alpha, const Numbers<S>& x, Numbers<S>& y) {
  const auto n = static_cast<std::int64_t>(y.size());
  host_for_much("krysol::add", n, n, [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    y[at] += alpha * x[at];
  });
}
template <class S>
void scale(double alpha, Numbers<S>& y) {
  const auto n = static_cast<std::int64_t>(y.size());
  host_for_much("krysol::scale", n, n,
                [&](std::int64_t i) { y[static_cast<std::size_t>(i)] *= alpha; });
}

/// Length 1; numbers between -1 and 1 before, none of them 0.
template <class S>
Numbers<S> start(Index n) {
  Numbers<S> v(static_cast<std::size_t>(n));
  std::uint64_t state = 0x9E3779B97F4A7C15U;
  for (S& number : v) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    number = S((static_cast<double>(state >> 12U) + 0.5) / 2251799813685248.0 - 1);
  }
  scale(1 / std::sqrt(dot(v, v)), v);
  return v;
}

/// A symmetric tridiagonal matrix: T(j,j) = diagonal[j], T(j,j+1) = beside[j].
struct Tridiagonal {
  std::vector<double> diagonal;
  std::vector<double> beside;  // one longer than it needs: the last is what the next would be
};

Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen_of(const Tridiagonal& t, bool vectors) {
  const auto n = static_cast<Eigen::Index>(t.diagonal.size());
  const Eigen::VectorXd diagonal = Eigen::Map<const Eigen::VectorXd>(t.diagonal.data(), n);
  const Eigen::VectorXd beside = Eigen::Map<const Eigen::VectorXd>(t.beside.data(), n - 1);
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
  solver.computeFromTridiagonal(diagonal, beside,
                                vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
  return solver;
}

/// Runs up to `steps` steps of Lanczos for A / unit; see(j, v_j) for each vector.
template <class S, class See>
Tridiagonal lanczos(const HostCsr<S>& a, double unit, int steps, const See& see) {
  Tridiagonal t;
  Numbers<S> v = start<S>(a.rows);
  Numbers<S> before(v.size(), S(0));
  Numbers<S> w(v.size());
  double size = 0;  // of T's rows
  for (int j = 0; j < steps; ++j) {
    see(j, v);
    multiply(a, unit, v, w);
    // w := A v - beta v_before - alpha v
    if (j > 0) add(-t.beside.back(), before, w);
    const double alpha = dot(v, w);
    add(-alpha, v, w);
    const double beta = std::sqrt(dot(w, w));
    size = std::max(size, std::abs(alpha) + beta);
    t.diagonal.push_back(alpha);
    t.beside.push_back(beta);
    if (!(beta > exhausted * size)) break;
    scale(1 / beta, w);
    std::swap(before, v);
    std::swap(v, w);
  }
  return t;
}

/// x'Ax / unit for the x = V s of a Ritz value. What rounding did to it is at most
/// (longest row + 512 + n / 512) eps |x|'|A||x|, from the lengths of the sums.
template <class S>
Curvature curvature_of(const HostCsr<S>& a, double unit, int steps, const Eigen::VectorXd& s) {
  Numbers<S> x(static_cast<std::size_t>(a.rows), S(0));
  lanczos(a, unit, steps, [&](int j, const Numbers<S>& v) { add(s[j], v, x); });
  Curvature out;
  scale(1 / std::sqrt(dot(x, x)), x);
  Numbers<S> y(x.size());
  multiply(a, unit, x, y);
  double longest = 0;
  double absolute = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    double sum = 0;
    for (Offset k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
      const auto at = static_cast<std::size_t>(k);
      sum += magnitude(a.values(at)) / unit * magnitude(x[static_cast<std::size_t>(a.col_idx(at))]);
    }
    absolute += magnitude(x[i]) * sum;
    longest = std::max(longest, static_cast<double>(a.row_ptr(i + 1) - a.row_ptr(i)));
    if (out.row < 0 || magnitude(x[i]) > magnitude(x[static_cast<std::size_t>(out.row)])) {
      out.row = static_cast<std::int64_t>(i);
    }
  }
  out.value = unit * dot(x, y);
  out.rounding = unit * absolute * (longest + 520 + static_cast<double>(x.size()) / 512) * 2 * eps;
  return out;
}

double condition_of(double smallest, double largest, int steps) {
  if (!(largest > 0)) return 0;
  return smallest > steps * eps * largest ? largest / smallest
                                          : std::numeric_limits<double>::infinity();
}

template <class S>
void find_eigenvalues(const HostCsr<S>& a, double unit, int steps, Spectra& out) {
  const Tridiagonal t = lanczos(a, unit, steps, [](int, const Numbers<S>&) {});
  const auto solver = eigen_of(t, true);
  const auto& values = solver.eigenvalues();
  const Eigen::Index last = values.size() - 1;
  const auto residual = [&](Eigen::Index k) {
    return unit * t.beside.back() * std::abs(solver.eigenvectors()(last, k));
  };
  Ends ends;
  ends.steps = static_cast<int>(values.size());
  ends.smallest = unit * values[0];
  ends.largest = unit * values[last];
  ends.smallest_residual = residual(0);
  ends.largest_residual = residual(last);
  if (values[0] > 0) ends.condition = condition_of(values[0], values[last], ends.steps);
  out.eigenvalues = ends;
  if (values[0] >= 0) return;
  out.negative = curvature_of(a, unit, ends.steps, Eigen::VectorXd(solver.eigenvectors().col(0)));
}

/// A is at least as high as wide. Upper bidiagonal: the singular values of
/// [alpha_1 beta_1; 0 alpha_2 beta_2; ...] are eigenvalues of the tridiagonal matrix with 0 on its
/// diagonal and alpha_1, beta_1, alpha_2, ... beside it, each with its negative.
template <class S>
Ends find_singular_values(const HostCsr<S>& a, const HostCsr<S>& adjoint, double unit, int steps) {
  Tridiagonal t;
  Numbers<S> v = start<S>(a.cols);
  Numbers<S> u(static_cast<std::size_t>(a.rows), S(0));
  Numbers<S> next_u(u.size());
  Numbers<S> next_v(v.size());
  double size = 0;
  for (int j = 0; j < steps; ++j) {
    // alpha u := A v - beta u_before
    multiply(a, unit, v, next_u);
    if (j > 0) add(-t.beside.back(), u, next_u);
    const double alpha = std::sqrt(dot(next_u, next_u));
    size = std::max(size, alpha);
    t.beside.push_back(alpha);
    if (!(alpha > exhausted * size)) {
      t.beside.back() = 0;
      t.beside.push_back(0);
      break;
    }
    scale(1 / alpha, next_u);
    std::swap(u, next_u);
    // beta v_next := A^H u - alpha v
    multiply(adjoint, unit, u, next_v);
    add(-alpha, v, next_v);
    const double beta = std::sqrt(dot(next_v, next_v));
    size = std::max(size, beta);
    t.beside.push_back(beta);
    if (!(beta > exhausted * size)) break;
    scale(1 / beta, next_v);
    std::swap(v, next_v);
  }
  Ends ends;
  ends.singular_values = true;
  ends.steps = static_cast<int>(t.beside.size() / 2);
  t.diagonal.assign(t.beside.size(), 0.0);
  const auto values = eigen_of(t, false).eigenvalues();
  const double smallest = std::max(0.0, values[ends.steps]);  // of 2 k, the smallest from 0 on
  const double largest = values[values.size() - 1];
  ends.smallest = unit * smallest;
  ends.largest = unit * largest;
  ends.condition = condition_of(smallest, largest, ends.steps);
  return ends;
}

/// A^H, with the arrays of A' but for complex values.
template <class S>
HostCsr<S> adjoint_of(const HostCsr<S>& transposed) {
  HostCsr<S> out = transposed;
  if constexpr (is_complex<S>) {
    out.values = allocate<decltype(out.values)>("adjoint.values", transposed.nnz());
    for (std::size_t k = 0; k < out.values.extent(0); ++k) {
      out.values(k) = conjugate(transposed.values(k));
    }
  }
  return out;
}

}  // namespace

template <class S>
Spectra spectra_of(const HostCsr<S>& a, const HostCsr<S>& transposed, double largest_magnitude,
                   const SpectraOptions& options) {
  Spectra out;
  if (a.rows == 0 || a.cols == 0 || !(largest_magnitude > 0)) return out;
  const double unit = unit_of(largest_magnitude);
  if (options.hermitian) {
    find_eigenvalues(a, unit, options.steps, out);
    if (out.eigenvalues->condition > 0) return out;
  }
  const HostCsr<S> adjoint = adjoint_of(transposed);
  out.singular_values = a.rows >= a.cols ? find_singular_values(a, adjoint, unit, options.steps)
                                         : find_singular_values(adjoint, a, unit, options.steps);
  return out;
}

template Spectra spectra_of(const HostCsr<double>&, const HostCsr<double>&, double,
                            const SpectraOptions&);
template Spectra spectra_of(const HostCsr<Kokkos::complex<double>>&,
                            const HostCsr<Kokkos::complex<double>>&, double, const SpectraOptions&);

}  // namespace krysol::analysis
