// The check of x that regress makes: exact where double is not, and how much rounding it allows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <krysol/analysis/host_rows.hpp>
#include <krysol/gallery/rhs.hpp>
#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/matrix_market/matrix_market.hpp>
#include <krysol/report/html/spy_cells.hpp>
#include <krysol/report/spy.hpp>
#include <krysol/spmv/matrix/host_csr.hpp>
#include "apps/regress/matrix_list.hpp"
#include "apps/regress/residual_check.hpp"

namespace krysol {
namespace {

namespace fs = std::filesystem;
using apps::check_solution;
using apps::CheckResult;
using apps::CheckTask;

/// [4 -1 0; -1 4 -1; 0 -1 4]
Triplets<double> three_in_a_row() {
  Triplets<double> a{3, 3, Symmetry::symmetric};
  a.add(0, 0, 4);
  a.add(1, 0, -1);
  a.add(1, 1, 4);
  a.add(2, 1, -1);
  a.add(2, 2, 4);
  return a;
}

class ResidualCheck : public testing::Test {
 protected:
  ResidualCheck()
      : folder_(fs::temp_directory_path() /
                ("krysol_check_" + std::to_string(::getpid()) +
                 testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::create_directory(folder_);
  }
  ~ResidualCheck() override { fs::remove_all(folder_); }

  CheckResult check(const Triplets<double>& a, const std::vector<double>& x,
                    const std::string& rhs) const {
    write_matrix(folder_ / "a.mtx", a);
    write_dense(folder_ / "x.mtx", static_cast<Index>(x.size()), 1, x);
    return check_solution({(folder_ / "a.mtx").string(), {}, rhs, folder_ / "x.mtx"});
  }

  fs::path folder_;
};

TEST_F(ResidualCheck, SumsWhatDoubleLoses) {
  // b - A x = 1 - (1e17 + 1 - 1e17) = 0; in double the 1 of A x is lost.
  Triplets<double> a{1, 1, Symmetry::general};
  a.add(0, 0, 1e17);
  a.add(0, 0, 1);
  a.add(0, 0, -1e17);
  EXPECT_EQ(check(a, {1}, "ones").residual, 0);
  EXPECT_DOUBLE_EQ(*check(a, {1 + 1e-10}, "ones").residual, (1 + 1e-10) - 1);
}

TEST_F(ResidualCheck, KnowsTheErrorOfAProduct) {
  // x = 1/3 rounded: 1 - 3 x is exactly 3 * 2^-54 - ..., which a product in double makes 0.
  Triplets<double> a{1, 1, Symmetry::general};
  a.add(0, 0, 3);
  const double third = 1.0 / 3;
  const double exact = -std::fma(3.0, third, -1.0);
  ASSERT_NE(exact, 0);
  EXPECT_EQ(*check(a, {third}, "ones").residual, std::abs(exact));
}

/// The picture is that of the page of a solve, which counts the entries of compressed rows.
TEST_F(ResidualCheck, DrawsEntriesWhereTheyAre) {
  Triplets<double> diagonal{3, 3, Symmetry::general};
  for (Index i = 0; i < 3; ++i) diagonal.add(i, i, 1);
  EXPECT_EQ(check(diagonal, {1, 1, 1}, "ones").matrix.spy, "3x3:9/09/009");
  for (const Index n : {5, 56, 60, 200}) {  // a cell for each place, and for several
    SCOPED_TRACE(n);
    Triplets<double> a{n, n, Symmetry::general};
    for (Index i = 0; i < n; ++i) {
      a.add(i, i, 2);
      if (i != n - 1 - i) a.add(i, n - 1 - i, 1);
      if (i > 0 && i < n / 2) a.add(i, n - 1, 1);
    }
    const auto csr = to_csr(a).matrix;
    const report::SpyLayout layout = report::spy_layout(n, n, 56);
    const report::SpyGrid grid =
        report::spy_density(analysis::pattern_of(csr), layout.height, layout.width);
    const std::vector<double> x(static_cast<std::size_t>(n), 1.0);
    EXPECT_EQ(check(a, x, "ones").matrix.spy, report::html::encoded(report::html::cells_of(grid)));
  }
}

TEST_F(ResidualCheck, ReadsSymmetriesAndRightHandSides) {
  const auto a = three_in_a_row();
  const auto x = gallery::random_numbers(3, 5);
  const CheckResult exact = check(a, x, "A*random:5");
  EXPECT_EQ(exact.residual, 0);
  EXPECT_GT(*exact.rounding, 0);
  EXPECT_LT(*exact.rounding, 1e-14);
  EXPECT_EQ(exact.matrix.nonzeros, 7);
  EXPECT_EQ(exact.matrix.symmetry, "symmetric");
  auto off = x;
  off[1] += 1e-6;
  const double norm_b = std::hypot(4 * x[0] - x[1], 4 * x[1] - x[0] - x[2], 4 * x[2] - x[1]);
  EXPECT_NEAR(*check(a, off, "A*random:5").residual, 1e-6 * std::sqrt(18.0) / norm_b, 1e-12);
  write_dense(folder_ / "rhs.mtx", 3, 1, std::vector<double>{4, -1, 0});
  EXPECT_EQ(
      check(a, {1, 0, 0}, (folder_ / "rhs.mtx").string() + " (found beside the matrix)").residual,
      0);
  EXPECT_EQ(check(a, {0, 0, 0}, "ones").residual, 1);
  EXPECT_THROW(check(a, {1, 0}, "ones"), FileError);
}

/// eps (n_i + 3) (|A||x| + |b|)_i over |b|, n_i entries a row; of a b = A x* that is made,
/// (|A||x*|)_i as well.
TEST_F(ResidualCheck, AllowsTheRoundingOfEachRow) {
  constexpr double eps = std::numeric_limits<double>::epsilon();
  const auto a = three_in_a_row();
  // |A||x| = (6, 9.5, 4); |A||x*| = (5, 6, 5) and b = (3, 2, 3) where x* is of ones.
  const std::vector<double> x = {1, -2, 0.5};
  const double given = eps * std::hypot(5 * (6 + 1.0), 6 * (9.5 + 1), 5 * (4 + 1.0));
  const CheckResult ones = check(a, x, "ones");
  ASSERT_TRUE(ones.rounding.has_value());
  EXPECT_NEAR(*ones.rounding / (given / std::sqrt(3.0)), 1, 1e-12);
  const double made = eps * std::hypot(5 * (6 + 5 + 3.0), 6 * (9.5 + 6 + 2), 5 * (4 + 5 + 3.0));
  const CheckResult product = check(a, x, "A*ones");
  ASSERT_TRUE(product.rounding.has_value());
  EXPECT_NEAR(*product.rounding / (made / std::sqrt(22.0)), 1, 1e-12);
}

TEST_F(ResidualCheck, KnowsComplexNumbers) {
  using C = std::complex<double>;
  Triplets<C> a{2, 2, Symmetry::hermitian};
  a.add(0, 0, {2, 0});
  a.add(1, 0, {0, 1});
  a.add(1, 1, {3, 0});
  write_matrix(folder_ / "a.mtx", a);
  // A x = (2 x0 - i x1, i x0 + 3 x1) = (1, 1)
  const C x1 = (C(1) - C(0, 0.5)) / 2.5;
  const C x0 = (C(1) + C(0, 1) * x1) / 2.0;
  write_dense(folder_ / "x.mtx", 2, 1, std::vector<C>{x0, x1});
  const CheckResult r =
      check_solution({(folder_ / "a.mtx").string(), {}, "ones", folder_ / "x.mtx"});
  EXPECT_LT(*r.residual, 1e-15);
  write_dense(folder_ / "x.mtx", 2, 1, std::vector<C>{x0, x1 + C(0, 1e-5)});
  EXPECT_NEAR(
      *check_solution({(folder_ / "a.mtx").string(), {}, "ones", folder_ / "x.mtx"}).residual,
      1e-5 * std::sqrt(10.0 / 2), 1e-12);
}

TEST_F(ResidualCheck, ComesBackFromItsLine) {
  Triplets<double> a{1, 1, Symmetry::general};
  a.add(0, 0, 3);
  CheckResult r = check(a, {0.5}, "ones");
  CheckResult back = apps::check_result_of(apps::as_line(r));
  EXPECT_EQ(back.residual, r.residual);
  EXPECT_EQ(back.rounding, r.rounding);
  EXPECT_EQ(back.matrix.spy, r.matrix.spy);
  r.residual = std::numeric_limits<double>::infinity();
  EXPECT_EQ(apps::check_result_of(apps::as_line(r)).residual, r.residual);
  r = check_solution({(folder_ / "a.mtx").string(), {}, "ones", {}});
  EXPECT_FALSE(apps::check_result_of(apps::as_line(r)).residual.has_value());
  EXPECT_EQ(r.problem, "no x was written");
}

TEST_F(ResidualCheck, FindsSizesInTheFirstLines) {
  const auto sizes = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    apps::ListedMatrix m;
    m.file = (folder_ / name).string();
    const bool found = apps::read_sizes(m);
    return found ? std::to_string(m.rows) + " " + std::to_string(m.cols) + " " +
                       std::to_string(m.nonzeros) + " " + m.field
                 : "none";
  };
  EXPECT_EQ(
      sizes("a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n% c\n\n5 5 9\n1 1 2\n"),
      "5 5 13 real");
  EXPECT_EQ(sizes("b.mtx", "%%MatrixMarket matrix array complex general\n3 2\n1 0\n"),
            "3 2 6 complex");
  EXPECT_EQ(
      sizes("c.rsa",
            "title\n 1 1 1 1\nRSA            10            10            28             0\n(f)\n"),
      "10 10 46 real");
  EXPECT_EQ(sizes("d.rua", "title\n 1 1 1 1\nRUA   10   12   28   0\n(f)\n"), "10 12 28 real");
  EXPECT_EQ(sizes("e.mtx", "what is this\nno\nmatrix at all\n"), "none");
  EXPECT_EQ(sizes("f.mtx", ""), "none");
  EXPECT_EQ(sizes("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n% only comments\n"),
            "none");
  // A line of sizes that lacks one, or a type of two letters.
  EXPECT_EQ(sizes("h.mtx", "%%MatrixMarket matrix coordinate real general\n5 5\n1 1 2\n"), "none");
  EXPECT_EQ(sizes("i.mtx", "%%MatrixMarket matrix array real general\n5\n1\n"), "none");
  EXPECT_EQ(sizes("j.rsa", "title\n 1 1 1 1\nRSA   10   10\n(f)\n"), "none");
  EXPECT_EQ(sizes("k.rsa", "title\n 1 1 1 1\nRS   10   10   28   0\n(f)\n"), "none");
  // Cut anywhere before the end of that line.
  for (const std::string text : {"%%MatrixMarket matrix coordinate real symmetric\n% c\n\n5 5 9\n",
                                 "%%MatrixMarket matrix array real general\n50 20\n"}) {
    EXPECT_NE(sizes("l.mtx", text), "none");
    for (std::size_t n = 0; n < text.size(); ++n) {
      EXPECT_EQ(sizes("l.mtx", text.substr(0, n)), "none") << text.substr(0, n);
    }
  }
}

}  // namespace
}  // namespace krysol
