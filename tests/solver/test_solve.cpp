// krysol::solve: the same system through every kind of input, and what a Solver keeps between
// solves. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <complex>
#include <functional>
#include <map>
#include <vector>

#include <Eigen/SparseCore>

#include <krysol/krysol.hpp>
#include <krysol/solver/interface/eigen.hpp>
#include "messages.hpp"
#include "problems.hpp"
#include "solving.hpp"

namespace {

using krysol::HostCsr;
using krysol::Index;
using krysol::Offset;
using krysol::SolveOptions;
using krysol::SolveReport;
using krysol::SolveResult;
using krysol::Status;
using krysol_tests::grid;
using krysol_tests::holds;
using krysol_tests::poisson1d;
using krysol_tests::poisson2d;
using krysol_tests::random_vector;
using Complex = std::complex<double>;

/// How a caller holds a matrix, and what it is asked to be solved for.
template <class T>
using SolveThrough = std::function<SolveResult(const std::vector<T>& b, std::vector<T>& x,
                                               const SolveOptions& options)>;

template <class T, class I>
std::vector<T> from(const I& view, T shift = 0) {
  std::vector<T> out;
  for (std::size_t k = 0; k < view.extent(0); ++k) out.push_back(static_cast<T>(view(k)) + shift);
  return out;
}

template <class S, class T>
std::vector<S> values_of(const HostCsr<T>& a) {
  std::vector<S> out;
  for (std::size_t k = 0; k < a.values.extent(0); ++k) {
    if constexpr (krysol::is_complex<T>) {
      out.emplace_back(a.values(k).real(), a.values(k).imag());
    } else {
      out.push_back(static_cast<S>(a.values(k)));
    }
  }
  return out;
}

template <class S, int options, class I, class T>
Eigen::SparseMatrix<S, options, I> eigen_of(const HostCsr<T>& a) {
  std::vector<Eigen::Triplet<S, I>> entries;
  const auto values = values_of<S>(a);
  for (Index i = 0; i < a.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (auto k = a.row_ptr(row); k < a.row_ptr(row + 1); ++k) {
      const auto at = static_cast<std::size_t>(k);
      entries.emplace_back(i, a.col_idx(at), values[at]);
    }
  }
  Eigen::SparseMatrix<S, options, I> out(a.rows, a.cols);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

template <class S, class P, class I, class T>
SolveThrough<S> through_pointers(const HostCsr<T>& a, int base) {
  const auto row_ptr = from<P>(a.row_ptr, base);
  const auto col_idx = from<I>(a.col_idx, base);
  const auto values = values_of<S>(a);
  return [=](const std::vector<S>& b, std::vector<S>& x, const SolveOptions& o) {
    const auto n = static_cast<std::int64_t>(b.size());
    return krysol::solve(krysol::csr_view(n, row_ptr.data(), col_idx.data(), values.data(), base),
                         b, x, o);
  };
}

template <class S, int options, class I, class T>
SolveThrough<S> through_eigen(const HostCsr<T>& a, bool compressed = true) {
  auto matrix = eigen_of<S, options, I>(a);
  if (!compressed) matrix.uncompress();
  if (!compressed) matrix.reserve(Eigen::VectorXi::Constant(a.rows, 3));
  return [matrix](const std::vector<S>& b, std::vector<S>& x, const SolveOptions& o) {
    return krysol::solve(matrix, b, x, o);
  };
}

/// Every kind of matrix input, by name.
template <class S, class T>
std::map<std::string, SolveThrough<S>> matrix_inputs(const HostCsr<T>& a) {
  std::map<std::string, SolveThrough<S>> table;
  table["HostCsr"] = [a](const auto& b, auto& x, const SolveOptions& o) {
    return krysol::solve(a, b, x, o);
  };
  table["pointers, int32"] = through_pointers<S, int, int>(a, 0);
  table["pointers, int64"] = through_pointers<S, std::int64_t, std::int64_t>(a, 0);
  table["pointers, int64 and int32"] = through_pointers<S, std::int64_t, int>(a, 0);
  table["pointers, int32, one-based"] = through_pointers<S, int, int>(a, 1);
  table["pointers, int64, one-based"] = through_pointers<S, long, long>(a, 1);
  table["vectors"] = [row_ptr = from<int>(a.row_ptr), col_idx = from<int>(a.col_idx),
                      values = values_of<S>(a)](const auto& b, auto& x, const SolveOptions& o) {
    return krysol::solve(
        krysol::csr_view(static_cast<std::int64_t>(b.size()), row_ptr, col_idx, values), b, x, o);
  };
  table["Views"] = [a](const auto& b, auto& x, const SolveOptions& o) {
    using Space = Kokkos::DefaultExecutionSpace;
    const Kokkos::View<int*, Space> row_ptr("row_ptr", a.row_ptr.extent(0));
    const auto host = Kokkos::create_mirror_view(row_ptr);
    for (std::size_t i = 0; i < host.extent(0); ++i) host(i) = static_cast<int>(a.row_ptr(i));
    Kokkos::deep_copy(row_ptr, host);
    const Kokkos::View<Index*, Space> col_idx("col_idx", a.col_idx.extent(0));
    Kokkos::deep_copy(col_idx, a.col_idx);
    const Kokkos::View<T*, Space> values("values", a.values.extent(0));
    Kokkos::deep_copy(values, a.values);
    return krysol::solve(krysol::csr_view(a.rows, a.cols, row_ptr, col_idx, values), b, x, o);
  };
  table["Eigen, by columns"] = through_eigen<S, Eigen::ColMajor, int>(a);
  table["Eigen, by rows"] = through_eigen<S, Eigen::RowMajor, int>(a);
  table["Eigen, by columns, int64"] = through_eigen<S, Eigen::ColMajor, std::int64_t>(a);
  table["Eigen, by rows, int64"] = through_eigen<S, Eigen::RowMajor, std::int64_t>(a);
  table["Eigen, by columns, with gaps"] = through_eigen<S, Eigen::ColMajor, int>(a, false);
  table["Eigen, by rows, with gaps"] = through_eigen<S, Eigen::RowMajor, int>(a, false);
  table["Eigen::Map"] = [matrix = eigen_of<S, Eigen::RowMajor, int>(a)](const auto& b, auto& x,
                                                                        const SolveOptions& o) {
    const Eigen::Map<const Eigen::SparseMatrix<S, Eigen::RowMajor, int>> map(
        matrix.rows(), matrix.cols(), matrix.nonZeros(), matrix.outerIndexPtr(),
        matrix.innerIndexPtr(), matrix.valuePtr());
    return krysol::solve(map, b, x, o);
  };
  return table;
}

/// The grid's matrix between two unitary diagonals: Hermitian, with the same spectrum.
HostCsr<Kokkos::complex<double>> hermitian_grid() {
  const auto real = poisson2d(17, 13);
  krysol::Triplets<Complex> t{real.rows, real.cols, krysol::Symmetry::general, {}, {}, {}};
  for (std::size_t k = 0; k < real.values.size(); ++k) {
    const Index i = real.row_idx[k];
    const Index j = real.col_idx[k];
    // Powers of i are exact, so A is Hermitian to the last bit.
    const Complex turn[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    t.add(i, j, real.values[k] * turn[(i - j + 4 * real.rows) % 4]);
  }
  return krysol::to_csr(t).matrix;
}

template <class S, class T>
void expect_the_same_through_every_input(const HostCsr<T>& a) {
  const auto b = random_vector<T>(static_cast<std::size_t>(a.rows), 3);
  std::vector<S> rhs;
  for (const T& v : b) {
    if constexpr (krysol::is_complex<T>) {
      rhs.emplace_back(v.real(), v.imag());
    } else {
      rhs.push_back(v);
    }
  }
  for (const char* precond : {"jacobi", "ic0"}) {
    for (const char* order : {"none", "rcm"}) {
      SolveOptions o;
      o.preconditioner = precond;
      o.order = order;
      o.stop.rtol = 1e-10;
      std::vector<S> expected(rhs.size());
      const SolveResult alone = krysol::solve(a, rhs, expected, o);
      ASSERT_EQ(alone.status, Status::converged) << alone.advice;
      for (const auto& [name, through] : matrix_inputs<S>(a)) {
        SCOPED_TRACE(name + ", " + precond + ", " + order);
        std::vector<S> x(rhs.size());
        const SolveResult r = through(rhs, x, o);
        EXPECT_EQ(r.status, Status::converged) << r.advice;
        EXPECT_EQ(r.iterations, alone.iterations);
        EXPECT_EQ(r.residual, alone.residual);
        EXPECT_EQ(x, expected);
      }
    }
  }
}

TEST(Solve, GivesTheSameThroughEveryMatrix) {
  expect_the_same_through_every_input<double>(grid());
  expect_the_same_through_every_input<Complex>(hermitian_grid());
}

TEST(Solve, SaysTheSameOfAnUnsymmetricMatrixThroughEveryInput) {
  auto t = poisson2d(5, 4);
  t.add(3, 11, 0.25);
  const auto a = krysol::to_csr(t).matrix;
  for (const auto& [name, through] : matrix_inputs<double>(a)) {
    SCOPED_TRACE(name);
    SolveReport report;
    SolveOptions o;
    o.report = &report;
    std::vector<double> x(20, 7.0);
    const SolveResult r = through(std::vector<double>(20, 1.0), x, o);
    EXPECT_EQ(r.status, Status::not_symmetric);
    EXPECT_EQ(r.breakdown.row, 3);
    EXPECT_EQ(r.breakdown.col, 11);
    EXPECT_EQ(r.breakdown.value, 0.25);
    EXPECT_EQ(r.breakdown.mirrored_value, 0.0);
    EXPECT_EQ(x, std::vector<double>(20, 7.0));
    EXPECT_TRUE(report.refused);
    EXPECT_FALSE(report.solved);
    EXPECT_EQ(report.format_bytes, 0) << "no format is made for a matrix that is refused";
    EXPECT_EQ(report.setup.calls, 0);
  }
}

/// The same right-hand side in every kind of vector.
template <class Check>
void with_every_vector(const HostCsr<double>& a, const std::vector<double>& b, const Check& check) {
  const krysol::Solver solver(a);
  const std::size_t n = b.size();
  using Space = Kokkos::DefaultExecutionSpace;
  {
    std::vector<double> x(n);
    check("std::vector", solver.solve(b, x), [&](std::size_t i) { return x[i]; });
  }
  {
    std::vector<double> x(n);
    check("std::span", solver.solve(std::span<const double>(b), std::span(x)),
          [&](std::size_t i) { return x[i]; });
  }
  {
    const Kokkos::View<double*, Kokkos::HostSpace> x("x", n);
    const Kokkos::View<const double*, Kokkos::HostSpace> view(b.data(), n);
    check("View of the host", solver.solve(view, x), [&](std::size_t i) { return x(i); });
  }
  {
    const auto device_b = krysol::to_device<Space>("b", b);
    const krysol::Vector<double> x("x", n);
    const SolveResult r = solver.solve(device_b, x);
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, x);
    check("View of the device", r, [&](std::size_t i) { return host(i); });
  }
  {
    const Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> two("x", n, 2);
    const auto x = Kokkos::subview(two, Kokkos::ALL, 1);
    check("column of rows", solver.solve(b, x), [&](std::size_t i) { return two(i, 1); });
    EXPECT_EQ(two(0, 0), 0) << "the other column is not touched";
  }
  {
    const Eigen::VectorXd rhs =
        Eigen::Map<const Eigen::VectorXd>(b.data(), static_cast<Eigen::Index>(n));
    Eigen::VectorXd x = Eigen::VectorXd::Zero(rhs.size());
    check("Eigen::VectorXd", solver.solve(rhs, x),
          [&](std::size_t i) { return x[static_cast<Eigen::Index>(i)]; });
    Eigen::MatrixXd columns = Eigen::MatrixXd::Zero(rhs.size(), 3);
    check("column of Eigen::MatrixXd", solver.solve(rhs, columns.col(1)),
          [&](std::size_t i) { return columns(static_cast<Eigen::Index>(i), 1); });
    const Eigen::RowVectorXd row = rhs.transpose();
    Eigen::Map<Eigen::VectorXd, 0, Eigen::InnerStride<2>> strided(columns.data(), rhs.size());
    columns.setZero();
    check("strided Map", solver.solve(row, strided),
          [&](std::size_t i) { return strided[static_cast<Eigen::Index>(i)]; });
  }
}

TEST(Solve, GivesTheSameThroughEveryVector) {
  const auto a = grid();
  const auto b = random_vector<double>(static_cast<std::size_t>(a.rows), 5);
  std::vector<double> expected(b.size());
  const SolveResult alone = krysol::solve(a, b, expected);
  ASSERT_TRUE(alone.converged());
  with_every_vector(a, b, [&](const char* name, const SolveResult& r, const auto& entry) {
    SCOPED_TRACE(name);
    EXPECT_EQ(r.status, Status::converged);
    EXPECT_EQ(r.iterations, alone.iterations);
    for (std::size_t i = 0; i < b.size(); ++i) ASSERT_EQ(entry(i), expected[i]) << i;
  });
}

TEST(Solve, SolvesForSeveralRightHandSides) {
  const auto a = grid();
  const auto n = static_cast<std::size_t>(a.rows);
  const std::size_t k = 3;
  const krysol::Solver solver(a);
  Eigen::MatrixXd b(a.rows, 3);
  std::vector<std::vector<double>> expected;
  for (std::size_t c = 0; c < k; ++c) {
    const auto column = random_vector<double>(n, c);
    b.col(static_cast<Eigen::Index>(c)) = Eigen::Map<const Eigen::VectorXd>(column.data(), a.rows);
    expected.emplace_back(n);
    EXPECT_TRUE(solver.solve(column, expected.back()).converged());
  }
  const auto check = [&](const std::vector<SolveResult>& results, const auto& entry) {
    ASSERT_EQ(results.size(), k);
    for (std::size_t c = 0; c < k; ++c) {
      EXPECT_TRUE(results[c].converged());
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(entry(i, c), expected[c][i]) << i << ' ' << c;
    }
  };
  const auto at = [](std::size_t i) { return static_cast<Eigen::Index>(i); };
  Eigen::MatrixXd x = Eigen::MatrixXd::Zero(a.rows, 3);
  check(solver.solve(b, x), [&](std::size_t i, std::size_t c) { return x(at(i), at(c)); });
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  RowMajor rows = RowMajor::Zero(a.rows, 3);
  check(solver.solve(b, rows), [&](std::size_t i, std::size_t c) { return rows(at(i), at(c)); });
  const Kokkos::View<double**, Kokkos::HostSpace> view("x", n, k);
  check(solver.solve(b, view), [&](std::size_t i, std::size_t c) { return view(i, c); });

  const Kokkos::DefaultExecutionSpace exec{};
  const Kokkos::View<double**, Kokkos::LayoutLeft> device("b", n, k);
  const auto host = Kokkos::create_mirror_view(device);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t c = 0; c < k; ++c) host(i, c) = b(at(i), at(c));
  }
  Kokkos::deep_copy(device, host);
  const auto from_columns = krysol::zero_multivector<double>(exec, "B", a.rows, 3);
  const auto to_columns = krysol::zero_multivector<double>(exec, "X", a.rows, 3);
  krysol::copy_columns(exec, device, from_columns);
  const auto results = solver.solve(from_columns, to_columns);
  krysol::copy_columns(exec, to_columns, device);
  Kokkos::deep_copy(host, device);
  check(results, [&](std::size_t i, std::size_t c) { return host(i, c); });
  EXPECT_EQ(solver.report().result.iterations, results.back().iterations);
}

TEST(Solve, TakesFloatThroughDouble) {
  const auto a = grid();
  const auto values = values_of<float>(a);
  const auto n = static_cast<std::size_t>(a.rows);
  const std::vector<float> b(n, 1.0F);
  std::vector<float> x(n);
  SolveReport report;
  SolveOptions o;
  o.report = &report;
  const SolveResult r = krysol::solve(
      krysol::csr_view(a.rows, a.row_ptr.data(), a.col_idx.data(), values.data()), b, x, o);
  EXPECT_TRUE(r.converged());
  EXPECT_EQ(report.passes, std::vector<std::string>{"values copied: of another type"});
  std::vector<double> expected(n);
  EXPECT_TRUE(krysol::solve(a, std::vector<double>(n, 1.0), expected).converged());
  for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(x[i], static_cast<float>(expected[i]));
}

TEST(Solve, SharesWhatAgreesAndSaysWhatItCopies) {
  const auto a = grid();
  const auto passes = [](auto&& matrix) { return krysol::Solver(matrix).report().passes; };
  EXPECT_TRUE(passes(a).empty());
  EXPECT_TRUE(passes(krysol::csr_view(a.rows, a.row_ptr.data(), a.col_idx.data(), a.values.data()))
                  .empty());
  const auto rows = eigen_of<double, Eigen::RowMajor, int>(a);
  EXPECT_EQ(passes(rows), std::vector<std::string>{"row pointers converted: 32 bits"});
  const auto columns = eigen_of<double, Eigen::ColMajor, int>(a);
  EXPECT_EQ(passes(columns), std::vector<std::string>{"column pointers converted: 32 bits"});
  const auto hermitian = eigen_of<Complex, Eigen::ColMajor, int>(hermitian_grid());
  EXPECT_EQ(passes(hermitian),
            (std::vector<std::string>{"column pointers converted: 32 bits",
                                      "values copied: conjugated, they stand by columns"}));
  const auto one_based = from<Offset>(a.row_ptr, 1);
  const auto columns_from_one = from<Index>(a.col_idx, 1);
  EXPECT_EQ(passes(krysol::csr_view(a.rows, one_based.data(), columns_from_one.data(),
                                    a.values.data(), 1)),
            (std::vector<std::string>{"row pointers converted: they count from 1",
                                      "column indices copied: they count from 1"}));
}

TEST(Solve, TakesAnOperatorWithoutAMatrix) {
  const users_own::Laplacian a{50, 50};
  const std::vector<double> b(50, 1.0);
  std::vector<double> x(50);
  SolveReport report;
  SolveOptions o;
  o.report = &report;
  const SolveResult r = krysol::solve(a, b, x, o);
  EXPECT_EQ(r.status, Status::converged) << r.advice;
  EXPECT_FALSE(report.screened);
  EXPECT_EQ(report.format, "matrix-free");
  EXPECT_EQ(report.preconditioner, "none");
  ASSERT_EQ(report.notes.size(), 2U);
  EXPECT_TRUE(holds(report.notes[0], "cannot be looked at before the solve"));
  EXPECT_EQ(report.notes[1], "auto needs a matrix: none is used");
  std::vector<double> expected(50);
  const SolveResult assembled = krysol::solve(krysol::to_csr(poisson1d(50)).matrix, b, expected);
  EXPECT_EQ(r.iterations, assembled.iterations);
  for (std::size_t i = 0; i < 50; ++i) EXPECT_NEAR(x[i], expected[i], 1e-6 * expected[i]);

  const auto matrix = krysol::make_operator("ell", krysol::to_csr(poisson1d(50)).matrix);
  std::vector<double> y(50);
  EXPECT_EQ(krysol::solve(*matrix, b, y, o).iterations, r.iterations);
  EXPECT_EQ(report.format, "ell");
  o.preconditioner = "ic0";
  EXPECT_TRUE(holds(krysol_tests::message_of([&] { krysol::solve(a, b, y, o); }),
                    "preconditioner 'ic0' is made from the entries of A"));
}

TEST(Solve, SolvesInAnotherOrderAndTellsRowsOfTheCaller) {
  // Indefinite through the pair of rows 2 and 19 alone, which no diagonal entry gives away.
  auto t = poisson1d(30);
  t.add(19, 2, 100);
  t.add(2, 19, 100);
  SolveOptions o;
  o.order = "rcm";
  const std::vector<double> b = random_vector<double>(30, 1);
  std::vector<double> x(30);
  const SolveResult r = krysol::solve(krysol::to_csr(t).matrix, b, x, o);
  ASSERT_EQ(r.status, Status::indefinite_matrix);
  const auto& p = r.breakdown.direction;
  for (const krysol::RowShare& share : r.breakdown.largest) {
    EXPECT_NEAR(share.share, std::norm(p[static_cast<std::size_t>(share.row)]), 1e-14);
  }
  double curvature = 0;
  for (std::size_t k = 0; k < t.values.size(); ++k) {
    curvature += t.values[k] * p[static_cast<std::size_t>(t.row_idx[k])].real() *
                 p[static_cast<std::size_t>(t.col_idx[k])].real();
  }
  EXPECT_NEAR(curvature, r.breakdown.curvature, 1e-10);

  const auto a = grid();
  const krysol::Solver solver(a, o);
  EXPECT_EQ(solver.report().order.name, "rcm");
  const auto v = random_vector<double>(static_cast<std::size_t>(a.rows), 8);
  std::vector<double> y(v.size());
  solver.multiply(v, y);
  for (std::size_t i = 0; i < v.size(); ++i) {
    double sum = 0;
    for (auto k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
      const auto at = static_cast<std::size_t>(k);
      sum += a.values(at) * v[static_cast<std::size_t>(a.col_idx(at))];
    }
    EXPECT_NEAR(y[i], sum, 1e-14) << i;
  }
}

TEST(Solve, UpdatesValuesAndKeepsWhatThePatternGave) {
  for (const char* precond :
       {"none", "jacobi", "block-jacobi", "ic0", "ssor", "amg:coarsest=20", "cholesky"}) {
    for (const char* order : {"none", "rcm"}) {
      for (const char* format : {"csr", "ell", "symmetric", "auto"}) {
        if (std::string(format) == "symmetric" && !krysol::on_host<Kokkos::DefaultExecutionSpace>) {
          continue;
        }
        SCOPED_TRACE(std::string(precond) + ", " + order + ", " + format);
        SolveOptions o;
        o.preconditioner = precond;
        o.order = order;
        o.format = format;
        auto a = grid();
        krysol::Solver solver(a, o);
        const auto b = random_vector<double>(static_cast<std::size_t>(a.rows), 2);
        // A + step I, by the values of another array, of the same arrays, and of another matrix.
        for (int step = 1; step <= 3; ++step) {
          const auto next = krysol::to_csr(poisson2d(17, 13)).matrix;
          for (std::size_t i = 0; i < b.size(); ++i) {
            for (auto k = next.row_ptr(i); k < next.row_ptr(i + 1); ++k) {
              const auto at = static_cast<std::size_t>(k);
              if (static_cast<std::size_t>(next.col_idx(at)) == i) next.values(at) += step;
            }
          }
          if (step == 1) {
            Kokkos::deep_copy(a.values, next.values);
            solver.update();
          } else if (step == 2) {
            solver.update(values_of<double>(next));
          } else {
            solver.update(next);
          }
          std::vector<double> x(b.size());
          std::vector<double> expected(b.size());
          const SolveResult r = solver.solve(b, x);
          const SolveResult fresh = krysol::solve(next, b, expected, o);
          if (std::string(precond).starts_with("amg") && step > 1) {
            // It keeps its interpolation from the first update.
            EXPECT_LE(r.iterations, fresh.iterations + 2);
            for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], expected[i], 1e-7);
            continue;
          }
          EXPECT_EQ(r.iterations, fresh.iterations);
          EXPECT_EQ(x, expected);
        }
      }
    }
  }
}

TEST(Solve, RefusesAnUpdateAndRecovers) {
  const auto a = grid();
  krysol::Solver solver(a);
  const auto n = static_cast<std::size_t>(a.rows);
  const std::vector<double> b(n, 1.0);
  std::vector<double> x(n);
  std::vector<double> expected(n);
  EXPECT_TRUE(solver.solve(b, expected).converged());
  auto values = values_of<double>(a);
  const auto before = values;
  values[1] += 1;
  solver.update(values);
  EXPECT_EQ(solver.solve(b, x).status, Status::not_symmetric);
  EXPECT_EQ(x, std::vector<double>(n)) << "x is as it was";
  solver.update(before);
  EXPECT_TRUE(solver.solve(b, x).converged());
  EXPECT_EQ(x, expected);
  EXPECT_TRUE(holds(krysol_tests::message_of([&] { solver.update(std::vector<double>(5)); }),
                    "5 values for a matrix of"));
  EXPECT_TRUE(holds(
      krysol_tests::message_of([&] { solver.update(krysol::to_csr(poisson2d(13, 17)).matrix); }),
      "another pattern"));
  std::fill(x.begin(), x.end(), 0.0);
  EXPECT_TRUE(solver.solve(b, x).converged());
  EXPECT_EQ(x, expected) << "what was refused left all as it was";
}

TEST(Solve, SeesThatValuesChangedUnderIt) {
  for (const char* format : {"csr", "ell"}) {
    auto a = grid();
    SolveOptions o;
    o.format = format;
    krysol::Solver solver(a, o);
    const auto n = static_cast<std::size_t>(a.rows);
    const std::vector<double> b(n, 1.0);
    std::vector<double> x(n, 0.5);
    const std::vector<double> before = x;
    a.values(7) = -1.0000001;
    EXPECT_TRUE(holds(krysol_tests::message_of([&] { solver.solve(b, x); }), "call update()"));
    EXPECT_EQ(x, before);
    a.values(7) = -1;
    EXPECT_TRUE(solver.solve(b, x).converged());
  }
}

TEST(Solve, KeepsATuningRecord) {
  const auto a = krysol::to_csr(krysol_tests::poisson3d(20)).matrix;
  SolveReport report;
  SolveOptions o;
  o.report = &report;
  o.keep_tuning = true;
  const auto n = static_cast<std::size_t>(a.rows);
  const std::vector<double> b(n, 1.0);
  std::vector<double> x(n);
  EXPECT_TRUE(krysol::solve(a, b, x, o).converged());
  ASSERT_TRUE(report.tuning);
  ASSERT_TRUE(report.choice);
  EXPECT_FALSE(report.choice->reused);
  o.tuning = report.tuning;
  std::vector<double> again(n);
  EXPECT_TRUE(krysol::solve(a, b, again, o).converged());
  EXPECT_TRUE(report.choice->reused);
  EXPECT_EQ(report.format, o.tuning->choice.name);
  EXPECT_EQ(x, again);
  const auto other = grid();
  std::vector<double> y(static_cast<std::size_t>(other.rows));
  EXPECT_TRUE(krysol::solve(other, std::vector<double>(y.size(), 1.0), y, o).converged());
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_TRUE(
      holds(report.notes[0], "the tuning record does not fit, the format was measured anew"));
}

}  // namespace
