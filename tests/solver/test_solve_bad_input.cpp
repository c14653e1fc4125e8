// krysol::solve with what is wrong: a sentence, and x as it was.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <krysol/krysol.hpp>
#include "messages.hpp"
#include "problems.hpp"
#include "solving.hpp"

namespace {

using krysol::SolveOptions;
using krysol::SolveResult;
using krysol::Status;
using krysol_tests::holds;
using krysol_tests::infinite;
using krysol_tests::message_of;
using krysol_tests::undefined_number;

/// tridiag(-1, 2, -1) of three rows, to be spoilt.
struct Arrays {
  std::vector<int> row_ptr{0, 2, 5, 7};
  std::vector<int> col_idx{0, 1, 0, 1, 2, 1, 2};
  std::vector<double> values{2, -1, -1, 2, -1, -1, 2};
  std::int64_t n = 3;
  int base = 0;
  std::vector<double> b{1, 2, 3};
  std::vector<double> x{4, 5, 6};

  SolveResult solve(const SolveOptions& o = {}) {
    return krysol::solve(krysol::csr_view(n, row_ptr, col_idx, values, base), b, x, o);
  }
};

/// That the message names what is wrong, and that x was not touched.
void expect_refused(Arrays a, const std::string& message, const SolveOptions& o = {}) {
  const std::vector<double> before = a.x;
  const std::string said = message_of([&] { a.solve(o); });
  EXPECT_TRUE(holds(said, message)) << said;
  EXPECT_EQ(a.x, before);
}

template <class Change>
Arrays changed(const Change& change) {
  Arrays a;
  change(a);
  return a;
}

TEST(SolveBadInput, RefusesArraysThatAreNoMatrix) {
  EXPECT_TRUE(Arrays().solve().converged());
  const auto refused = [](const auto& change, const std::string& message) {
    expect_refused(changed(change), message);
  };
  refused([](Arrays& a) { a.col_idx[4] = 3; }, "row 1 names column 3 of 3 (counted from 0)");
  refused([](Arrays& a) { a.col_idx[2] = -1; }, "row 1 names column -1 of 3 (counted from 0)");
  refused([](Arrays& a) { std::swap(a.col_idx[5], a.col_idx[6]); },
          "row 2 names column 1 after column 2 (counted from 0); they must ascend");
  refused([](Arrays& a) { a.col_idx[1] = 0; }, "row 0 names column 0 twice (counted from 0)");
  refused([](Arrays& a) { a.row_ptr[1] = 6; },
          "the row pointers fall from 6 to 5 at row 1 (counted from 0)");
  refused([](Arrays& a) { a.row_ptr[0] = 1; },
          "the row pointers begin with 1; indices that count from 0");
  refused([](Arrays& a) { a.base = 1; },
          "the row pointers begin with 0; indices that count from 1");
  refused([](Arrays& a) { a.base = 2; }, "indices that count from 2");
  refused([](Arrays& a) { a.row_ptr[3] = 6; }, "7 column indices where the row pointers end at 6");
  refused([](Arrays& a) { a.values.pop_back(); }, "6 values where the row pointers end at 7");
  refused([](Arrays& a) { a.n = 4; }, "4 row pointers of a matrix with 4 rows");
  refused([](Arrays& a) { a.n = -1; }, "a matrix of -1 x -1");
  refused([](Arrays& a) { a.n = std::int64_t{1} << 31; }, "a matrix of 2147483648 x 2147483648");
}

/// Either of them, and at both ends.
TEST(SolveBadInput, RefusesNumbersOfRowsAndColumnsThatNoMatrixHas) {
  constexpr std::int64_t beyond = std::int64_t{1} << 31;
  const std::vector<std::pair<std::int64_t, std::int64_t>> sizes = {
      {-1, 3}, {3, -1}, {-1, -1}, {-1, 0}, {0, -1}, {beyond, 3}, {3, beyond}, {-1, beyond}};
  for (const auto& size : sizes) {
    Arrays a;
    const std::vector<double> before = a.x;
    auto view = krysol::csr_view(a.n, a.row_ptr, a.col_idx, a.values);
    view.arrays.rows = size.first;
    view.arrays.cols = size.second;
    const std::string said = message_of([&] { krysol::solve(view, a.b, a.x); });
    EXPECT_TRUE(holds(said, "a matrix of " + std::to_string(size.first) + " x " +
                                std::to_string(size.second) +
                                "; 0 to 2147483647 rows and columns are possible"))
        << said;
    EXPECT_EQ(a.x, before);
  }
}

TEST(SolveBadInput, RefusesNullPointers) {
  Arrays a;
  const int* none = nullptr;
  const double* nothing = nullptr;
  EXPECT_TRUE(
      holds(message_of([&] { krysol::solve(krysol::csr_view(3, none, none, nothing), a.b, a.x); }),
            "the row pointers of a matrix with 3 rows are null"));
  EXPECT_TRUE(holds(
      message_of([&] {
        krysol::solve(krysol::csr_view(3, a.row_ptr.data(), a.col_idx.data(), nothing), a.b, a.x);
      }),
      "the values of 7 entries are null"));
}

TEST(SolveBadInput, RefusesSizesThatDiffer) {
  expect_refused(changed([](Arrays& a) { a.b.push_back(1); }), "A has 3 rows, b 4 and x 3");
  expect_refused(changed([](Arrays& a) { a.x.clear(); }), "A has 3 rows, b 3 and x 0");
  const Kokkos::View<double**, Kokkos::HostSpace> two("two", 3, 2);
  const Kokkos::View<double**, Kokkos::HostSpace> one("one", 3, 1);
  const Arrays a;
  const auto view = krysol::csr_view(a.n, a.row_ptr, a.col_idx, a.values);
  EXPECT_TRUE(holds(message_of([&] { krysol::solve(view, two, one); }), "b has 2 columns, x 1"));
}

TEST(SolveBadInput, RefusesARectangularMatrix) {
  krysol::Triplets<double> t{2, 3, krysol::Symmetry::general, {}, {}, {}};
  t.add(0, 0, 1);
  const auto a = krysol::to_csr(t).matrix;
  std::vector<double> x(2);
  EXPECT_TRUE(holds(message_of([&] { krysol::solve(a, std::vector<double>(2), x); }),
                    "A x = b needs a square matrix, this one is 2 x 3"));
}

TEST(SolveBadInput, RefusesVectorsThatOverlap) {
  const Arrays a;
  const auto view = krysol::csr_view(a.n, a.row_ptr, a.col_idx, a.values);
  std::vector<double> both(5, 1.0);
  const auto refused = [&](auto b, auto x) {
    return holds(message_of([&] { krysol::solve(view, b, x); }), "b and x overlap in memory");
  };
  EXPECT_TRUE(refused(std::span(both).first(3), std::span(both).first(3)));
  EXPECT_TRUE(refused(std::span(both).first(3), std::span(both).last(3)));
  EXPECT_EQ(both, std::vector<double>(5, 1.0));
  // Side by side they share nothing.
  std::vector<double> six(6, 1.0);
  EXPECT_FALSE(refused(std::span(six).first(3), std::span(six).last(3)));
  EXPECT_FALSE(refused(std::span(six).last(3), std::span(six).first(3)));
}

/// So do several columns, and columns with other strides than each other's.
TEST(SolveBadInput, RefusesColumnsThatOverlap) {
  using Columns = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
  using Strided = Kokkos::View<double*, Kokkos::LayoutStride, Kokkos::HostSpace>;
  const Arrays a;
  const auto view = krysol::csr_view(a.n, a.row_ptr, a.col_idx, a.values);
  std::vector<double> all(12, 1.0);
  const auto two_from = [&](std::size_t column) { return Columns(all.data() + 3 * column, 3, 2); };
  const auto every = [&](std::size_t stride, std::size_t first) {
    return Strided(all.data() + first, Kokkos::LayoutStride(3, stride));
  };
  const auto refused = [&](const auto& b, const auto& x) {
    return holds(message_of([&] { krysol::solve(view, b, x); }), "b and x overlap in memory");
  };
  EXPECT_TRUE(refused(two_from(0), two_from(1)));
  EXPECT_TRUE(refused(two_from(1), two_from(0)));
  EXPECT_TRUE(refused(every(2, 0), every(1, 2)));  // places 0 2 4 and 2 3 4
  EXPECT_TRUE(refused(every(1, 2), every(2, 0)));
  EXPECT_TRUE(refused(every(2, 0), every(2, 2)));
  EXPECT_EQ(all, std::vector<double>(12, 1.0));
  // Side by side, or each between the other's, they share nothing.
  EXPECT_FALSE(refused(two_from(0), two_from(2)));
  EXPECT_FALSE(refused(every(2, 0), every(2, 1)));
}

TEST(SolveBadInput, RefusesOptionsThatAreNoNumbers) {
  const auto refused = [](const auto& change, const std::string& message) {
    SolveOptions o;
    change(o);
    expect_refused({}, message, o);
  };
  refused([](SolveOptions& o) { o.stop.rtol = undefined_number; }, "stop.rtol is nan");
  refused([](SolveOptions& o) { o.stop.rtol = -1e-8; }, "stop.rtol is -1e-08");
  refused([](SolveOptions& o) { o.stop.atol = infinite; }, "stop.atol is inf");
  refused([](SolveOptions& o) { o.stop.max_iterations = -3; }, "stop.max_iterations is -3");
  refused([](SolveOptions& o) { o.stop.time_limit_s = -1; }, "stop.time_limit_s is -1");
  refused([](SolveOptions& o) { o.solver_options["lambda_min"] = "nan"; }, "lambda_min");
  refused([](SolveOptions& o) { o.expected_products = undefined_number; },
          "expected_products is nan");
  refused([](SolveOptions& o) { o.solver = "cgg"; }, "unknown solver 'cgg'; known: cg");
  refused([](SolveOptions& o) { o.preconditioner = "ilu"; },
          "unknown preconditioner 'ilu'; known: none");
  refused([](SolveOptions& o) { o.format = "elk"; }, "unknown format 'elk'; known: csr");
  refused([](SolveOptions& o) { o.order = "random"; }, "unknown order 'random'; known: none");
}

TEST(SolveBadInput, SaysWhereNumbersAreNotFinite) {
  for (const double bad : {undefined_number, infinite, -infinite}) {
    for (const char* order : {"none", "rcm"}) {
      SolveOptions o;
      o.order = order;
      Arrays a;
      a.b[1] = bad;
      const auto before = a.x;
      SolveResult r = a.solve(o);
      EXPECT_EQ(r.status, Status::not_finite);
      EXPECT_EQ(r.breakdown.row, 1);
      EXPECT_TRUE(holds(r.advice, "b is not finite at row 2")) << r.advice;
      EXPECT_EQ(a.x, before);

      a = {};
      a.x[2] = bad;
      r = a.solve(o);
      EXPECT_EQ(r.status, Status::not_finite);
      EXPECT_EQ(r.breakdown.row, 2);
      EXPECT_TRUE(holds(r.advice, "the starting guess")) << r.advice;
      EXPECT_EQ(a.x[0], 4);

      a = {};
      a.values[6] = bad;
      r = a.solve(o);
      EXPECT_EQ(r.status, Status::not_finite);
      EXPECT_TRUE(holds(r.advice, "A(3, 3) is not a finite number")) << r.advice;
      EXPECT_EQ(a.x, before);
    }
  }
}

/// -1: no row, no column; what a certificate does not name it does not name in part.
TEST(SolveBadInput, NamesNoColumnOfAVector) {
  const krysol::BreakdownCertificate none;
  EXPECT_EQ(none.row, -1);
  EXPECT_EQ(none.col, -1);
  Arrays a;
  SolveResult r = a.solve();
  EXPECT_TRUE(r.converged());
  EXPECT_EQ(r.breakdown.row, -1);
  EXPECT_EQ(r.breakdown.col, -1);
  a = {};
  a.b[1] = undefined_number;
  r = a.solve();
  EXPECT_EQ(r.breakdown.row, 1);
  EXPECT_EQ(r.breakdown.col, -1);
  a = {};
  a.x[2] = undefined_number;
  r = a.solve();
  EXPECT_EQ(r.breakdown.row, 2);
  EXPECT_EQ(r.breakdown.col, -1);
}

TEST(SolveBadInput, LeavesXWhereTheCallbackThrows) {
  Arrays a;
  const auto before = a.x;
  SolveOptions o;
  o.observer = [](const krysol::Progress&) -> bool { throw std::runtime_error("enough"); };
  EXPECT_THROW(a.solve(o), std::runtime_error);
  EXPECT_EQ(a.x, before);
  o.observer = {};
  EXPECT_TRUE(a.solve(o).converged()) << "and can be asked again";
}

TEST(SolveBadInput, RefusesAPreconditionerThatCannotBeBuiltWhereThatIsAskedFor) {
  Arrays a;
  a.values = {2, -10, -10, 2, -1, -1, 2};
  SolveOptions o;
  o.preconditioner = "ic0";
  krysol::SolveReport report;
  o.report = &report;
  EXPECT_EQ(a.solve(o).status, Status::indefinite_matrix);
  EXPECT_EQ(report.preconditioner, "jacobi");
  EXPECT_TRUE(holds(report.refusal, "ic0: row 2 has no positive pivot")) << report.refusal;
  o.strict = true;
  a.x = {0, 0, 0};
  expect_refused(a, "strict takes nothing in its place", o);
}

TEST(SolveBadInput, EmptySystemsAreSolved) {
  const krysol::HostCsr<double> a =
      krysol::to_csr(krysol::Triplets<double>{0, 0, krysol::Symmetry::general, {}, {}, {}}).matrix;
  std::vector<double> x;
  EXPECT_TRUE(krysol::solve(a, std::vector<double>{}, x).converged());
}

TEST(SolveBadInput, SaysThatKokkosWasFinalized) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        Kokkos::finalize();
        int code = 1;
        try {
          Arrays().solve();
        } catch (const std::logic_error& e) {
          if (holds(e.what(), "Kokkos was finalized")) code = 0;
        }
        std::_Exit(code);
      },
      testing::ExitedWithCode(0), "");
}

/// What shows that a matrix is indefinite is told in the caller's order, whatever the solve's was.
TEST(SolveSays, EvidenceInTheOrderOfTheCaller) {
  // A grid whose rows are shuffled, and whose smallest eigenvalues are below 1.
  auto t = krysol_tests::poisson2d(20, 15);
  const auto moved = [](krysol::Index i) { return i * 77 % 300; };
  for (std::size_t k = 0; k < t.values.size(); ++k) {
    if (t.row_idx[k] == t.col_idx[k]) t.values[k] -= 1;
    t.row_idx[k] = moved(t.row_idx[k]);
    t.col_idx[k] = moved(t.col_idx[k]);
  }
  const auto a = krysol::to_csr(t).matrix;
  for (const char* order : {"none", "rcm"}) {
    krysol::SolveReport report;
    SolveOptions o;
    o.order = order;
    o.format = "csr";
    o.report = &report;
    std::vector<double> x(300);
    const SolveResult r = krysol::solve(a, krysol_tests::random_vector<double>(300, 5), x, o);
    ASSERT_EQ(r.status, Status::indefinite_matrix) << order;
    EXPECT_EQ(report.order.name, order);
    const krysol::BreakdownCertificate& e = r.breakdown;
    ASSERT_EQ(e.direction.size(), 300U);
    double curvature = 0;
    for (std::size_t k = 0; k < t.values.size(); ++k) {
      curvature += e.direction[static_cast<std::size_t>(t.row_idx[k])].real() * t.values[k] *
                   e.direction[static_cast<std::size_t>(t.col_idx[k])].real();
    }
    EXPECT_LT(curvature, 0) << order;
    EXPECT_NEAR(curvature, e.curvature, 1e-10) << order;
    ASSERT_FALSE(e.largest.empty());
    for (const krysol::RowShare& share : e.largest) {
      EXPECT_NEAR(std::norm(e.direction[static_cast<std::size_t>(share.row)]), share.share, 1e-12)
          << order;
    }
  }
}

TEST(SolveSays, TheBytesOfTheFormatThatWasMade) {
  using Space = Kokkos::DefaultExecutionSpace;
  const auto a = krysol_tests::grid();
  std::vector<const char*> formats = {"csr", "ell", "coo"};
  if constexpr (krysol::on_host<Space>) formats.push_back("symmetric");  // which refuses devices
  for (const char* format : formats) {
    krysol::SolveReport report;
    SolveOptions o;
    o.order = "none";
    o.format = format;
    o.report = &report;
    std::vector<double> x(static_cast<std::size_t>(a.rows));
    EXPECT_TRUE(krysol::solve(a, std::vector<double>(x.size(), 1.0), x, o).converged());
    EXPECT_EQ(report.format_bytes, (krysol::make_operator<double, Space>(format, a)->bytes()))
        << format;
  }
}

}  // namespace
