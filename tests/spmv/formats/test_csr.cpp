// From triplets to Csr, its checks and its schedules; and the formats by name.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <krysol/solver/krylov/cg.hpp>
#include <krysol/spmv/select/format_list.hpp>
#include <krysol/spmv/select/formats.hpp>
#include "fitting.hpp"
#include "messages.hpp"
#include "problems.hpp"
#include "spaces.hpp"

namespace {

using namespace krysol_tests;
using krysol::HostCsr;
using krysol::Offset;
using krysol::Symmetry;
using krysol::to_csr;
using Complex = std::complex<double>;
using DeviceComplex = Kokkos::complex<double>;

// ---- to_csr

TEST(ToCsr, SortsRowsAndColumns) {
  auto t = no_entries<double>(3, 4);
  t.add(2, 3, 23);
  t.add(0, 2, 2);
  t.add(2, 0, 20);
  t.add(0, 1, 1);
  t.add(2, 1, 21);
  const auto made = to_csr(t);
  EXPECT_EQ(to_host(made.matrix.row_ptr), (std::vector<Offset>{0, 2, 2, 5}));
  EXPECT_EQ(to_host(made.matrix.col_idx), (std::vector<Index>{1, 2, 0, 1, 3}));
  EXPECT_EQ(to_host(made.matrix.values), (std::vector<double>{1, 2, 20, 21, 23}));
  EXPECT_EQ(made.duplicates, 0);
  EXPECT_EQ(made.explicit_zeros, 0);
  krysol::check(made.matrix);
}

TEST(ToCsr, MirrorsTheTriangleOfASymmetricMatrix) {
  auto t = no_entries<double>(3, 3, Symmetry::symmetric);
  t.add(0, 0, 1);
  t.add(2, 0, 5);
  t.add(1, 1, 2);
  const auto made = to_csr(t);
  EXPECT_EQ(to_host(made.matrix.row_ptr), (std::vector<Offset>{0, 2, 3, 4}));
  EXPECT_EQ(to_host(made.matrix.col_idx), (std::vector<Index>{0, 2, 1, 0}));
  EXPECT_EQ(to_host(made.matrix.values), (std::vector<double>{1, 5, 2, 5}));
}

TEST(ToCsr, MirrorsWithTheOtherSignIfSkewSymmetric) {
  auto t = no_entries<double>(2, 2, Symmetry::skew_symmetric);
  t.add(1, 0, 5);
  EXPECT_EQ(to_host(to_csr(t).matrix.values), (std::vector<double>{-5, 5}));
}

TEST(ToCsr, MirrorsTheConjugateIfHermitian) {
  auto t = no_entries<Complex>(2, 2, Symmetry::hermitian);
  t.add(0, 0, 3);
  t.add(1, 0, {1, 2});
  EXPECT_EQ(to_host(to_csr(t).matrix.values),
            (std::vector<DeviceComplex>{{3, 0}, {1, -2}, {1, 2}}));
  t.symmetry = Symmetry::symmetric;  // which does not conjugate
  EXPECT_EQ(to_host(to_csr(t).matrix.values), (std::vector<DeviceComplex>{{3, 0}, {1, 2}, {1, 2}}));
}

TEST(ToCsr, EqualsTheDenseMatrixForEverySymmetry) {
  for (const Symmetry symmetry :
       {Symmetry::general, Symmetry::symmetric, Symmetry::skew_symmetric, Symmetry::hermitian}) {
    const auto random = random_sparse<Complex>(40, 40, 8, 1);
    auto t = no_entries<Complex>(40, 40, symmetry);
    for (std::size_t k = 0; k < random.values.size(); ++k) {
      const Index i = random.row_idx[k];
      const Index j = random.col_idx[k];
      if (symmetry != Symmetry::general && i < j) continue;
      if (symmetry == Symmetry::skew_symmetric && i == j) continue;
      t.add(i, j, std::round(1000 * random.values[k].real()));  // sums are exact
    }
    EXPECT_EQ(dense(to_csr(t).matrix).entries, dense(t).entries) << to_string(symmetry);
  }
}

TEST(ToCsr, TakesTheUpperTriangleAsWellAsTheLower) {
  auto lower = no_entries<Complex>(3, 3, Symmetry::hermitian);
  lower.add(0, 0, 3);
  lower.add(2, 0, {1, 2});
  auto upper = no_entries<Complex>(3, 3, Symmetry::hermitian);
  upper.add(0, 0, 3);
  upper.add(0, 2, {1, -2});
  EXPECT_EQ(dense(to_csr(lower).matrix).entries, dense(to_csr(upper).matrix).entries);
}

/// As a loop over the bars of a chain adds their 2 x 2 matrices.
template <class T>
Triplets<T> both_triangles_of_a_chain(Index n, Symmetry symmetry, T coupling) {
  auto t = no_entries<T>(n, n, symmetry);
  for (Index i = 0; i + 1 < n; ++i) {
    t.add(i, i, T(1));
    t.add(i, i + 1, coupling);
    t.add(i + 1, i, krysol::mirrored(coupling, symmetry));
    t.add(i + 1, i + 1, T(1));
  }
  return t;
}

TEST(ToCsr, AsksForADecisionWhereBothTrianglesAreGiven) {
  const auto t = both_triangles_of_a_chain<double>(4, Symmetry::symmetric, -1);
  EXPECT_EQ(
      message_of([&] { to_csr(t); }),
      "krysol::to_csr: entry 2 at row 1, column 0 lies below the diagonal, and entry 1 at row "
      "0, column 1 above it (all counted from 0); a symmetric list gives one triangle, which "
      "is mirrored. If it gives both, pass Triangles::both, or declare it general");
  auto other = no_entries<float>(3, 3, Symmetry::skew_symmetric);
  other.add(2, 0, 1);
  other.add(1, 0, 1);
  other.add(1, 2, 1);
  const std::string message = message_of([&] { to_csr(other); });
  EXPECT_TRUE(holds(message,
                    "entry 2 at row 1, column 2 lies above the diagonal, and entry 0 at "
                    "row 2, column 0 below it"))
      << message;
  EXPECT_TRUE(holds(message, "a skew-symmetric list")) << message;
}

TEST(ToCsr, MirrorsNothingWhereBothTrianglesAreMeant) {
  const auto expect_general = [](const auto& t) {
    auto general = t;
    general.symmetry = Symmetry::general;
    const auto both = to_csr(t, krysol::Triangles::both);
    EXPECT_EQ(dense(both.matrix).entries, dense(to_csr(general).matrix).entries);
    EXPECT_EQ(both.duplicates, to_csr(general).duplicates);
  };
  expect_general(both_triangles_of_a_chain<double>(5, Symmetry::symmetric, -1));
  expect_general(both_triangles_of_a_chain<Complex>(5, Symmetry::hermitian, {0.5, 0.25}));
  const auto a =
      to_csr(both_triangles_of_a_chain<double>(3, Symmetry::symmetric, -1), krysol::Triangles::both)
          .matrix;
  EXPECT_EQ(to_host(a.values), (std::vector<double>{1, -1, -1, 2, -1, -1, 1}));
}

TEST(ToCsr, RefusesADiagonalThatTheSymmetryForbids) {
  auto h = no_entries<Complex>(2, 2, Symmetry::hermitian);
  h.add(1, 0, {1, 2});
  h.add(1, 1, {3, 0.5});
  for (const auto given : {krysol::Triangles::one, krysol::Triangles::both}) {
    EXPECT_EQ(
        message_of([&] { to_csr(h, given); }),
        "krysol::to_csr: the diagonal of a hermitian matrix is real, entry 1 at row 1, column "
        "1 (all counted from 0) has the imaginary part 0.5");
  }
  h.symmetry = Symmetry::symmetric;  // of which a diagonal may be complex
  EXPECT_EQ(to_csr(h).matrix.nnz(), 3);

  auto skew = no_entries<double>(3, 3, Symmetry::skew_symmetric);
  skew.add(0, 0, 0);
  skew.add(2, 1, 4);
  EXPECT_EQ(to_csr(skew).matrix.nnz(), 3);
  skew.add(2, 2, 1);
  EXPECT_EQ(message_of([&] { to_csr(skew); }),
            "krysol::to_csr: the diagonal of a skew-symmetric matrix is zero, entry 2 at row 2, "
            "column 2 (all counted from 0) is not");
}

TEST(ToCsr, SumsDuplicatesInTheOrderInWhichTheyStand) {
  auto t = no_entries<double>(1, 2);
  t.add(0, 1, 1e20);
  t.add(0, 0, 7);
  t.add(0, 1, 3);  // lost in 1e20, and that is what the order says
  t.add(0, 1, -1e20);
  t.add(0, 1, 4);
  const auto made = to_csr(t);
  EXPECT_EQ(to_host(made.matrix.values), (std::vector<double>{7, 4}));
  EXPECT_EQ(made.duplicates, 3);
}

TEST(ToCsr, CountsDuplicatesOfTheStoredTriangleOnly) {
  auto t = no_entries<double>(3, 3, Symmetry::symmetric);
  t.add(1, 0, 1);
  t.add(1, 0, 2);
  t.add(2, 2, 3);
  t.add(2, 2, 4);
  t.add(2, 2, 5);
  const auto made = to_csr(t);
  EXPECT_EQ(made.duplicates, 3);
  EXPECT_EQ(to_host(made.matrix.values), (std::vector<double>{3, 3, 12}));
}

TEST(ToCsr, KeepsAndCountsExplicitZeros) {
  auto t = no_entries<double>(2, 2);
  t.add(0, 0, 0.0);
  t.add(1, 0, -0.0);
  t.add(1, 1, 1);
  t.add(0, 1, 2);
  t.add(0, 1, -2);  // a sum of zero is no stored zero
  const auto made = to_csr(t);
  EXPECT_EQ(made.explicit_zeros, 2);
  EXPECT_EQ(made.matrix.nnz(), 4);
}

TEST(ToCsr, TakesAMatrixWithoutRowsOrColumns) {
  for (const auto& [rows, cols] : {std::pair<Index, Index>{0, 0}, {0, 3}, {3, 0}}) {
    const auto a = to_csr(no_entries<float>(rows, cols)).matrix;
    EXPECT_EQ(a.nnz(), 0);
    EXPECT_EQ(a.row_ptr.extent(0), static_cast<std::size_t>(rows) + 1);
    krysol::check(a);
  }
}

TEST(HostCsr, KnowsTheSamePattern) {
  constexpr Index n = 300;  // more entries than are compared at once
  auto t = no_entries<double>(n, n + 1);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) t.add(i, j, 1);
  }
  const auto a = to_csr(t).matrix;
  for (double& v : t.values) v = 2;
  EXPECT_TRUE(same_pattern(a, to_csr(t).matrix));
  EXPECT_TRUE(same_pattern(a, a));
  for (const std::size_t k : {std::size_t{0}, t.values.size() / 2, t.values.size() - 1}) {
    const Index column = std::exchange(t.col_idx[k], n);
    EXPECT_FALSE(same_pattern(a, to_csr(t).matrix)) << k;
    t.col_idx[k] = column;
  }
  t.cols = n;
  EXPECT_FALSE(same_pattern(a, to_csr(t).matrix));
  t.add(0, 0, 1);  // a duplicate: no other pattern
  t.cols = n + 1;
  EXPECT_TRUE(same_pattern(a, to_csr(t).matrix));
  t.row_idx.back() = n - 1;
  t.col_idx.back() = n;
  EXPECT_FALSE(same_pattern(a, to_csr(t).matrix));
}

TEST(ToCsr, SaysWhatIsWrongWithTriplets) {
  const auto attempt = [](const Triplets<double>& t) { return message_of([&] { to_csr(t); }); };
  auto t = no_entries<double>(2, 3);
  t.add(0, 0, 1);
  EXPECT_EQ(attempt(t), "nothing was thrown");
  t.col_idx.push_back(1);
  EXPECT_EQ(
      attempt(t),
      "krysol::to_csr: 1 row indices, 2 column indices and 1 values; the three arrays must be "
      "of one length");
  t.col_idx.pop_back();
  t.add(1, 3, 1);
  EXPECT_EQ(attempt(t),
            "krysol::to_csr: entry 1 is at row 1, column 3 of a 2 x 3 matrix (all counted from 0)");
  t.col_idx[1] = -1;
  EXPECT_TRUE(holds(attempt(t), "entry 1 is at row 1, column -1 of a 2 x 3 matrix"));
  t.col_idx[1] = 0;
  t.row_idx[1] = 2;
  EXPECT_TRUE(holds(attempt(t), "entry 1 is at row 2, column 0 of a 2 x 3 matrix"));
  t.row_idx[1] = 1;
  t.symmetry = Symmetry::skew_symmetric;
  EXPECT_EQ(attempt(t), "krysol::to_csr: a skew-symmetric matrix must be square, not 2 x 3");
  EXPECT_EQ(attempt(no_entries<double>(-1, 3)), "krysol::to_csr: a matrix cannot be -1 x 3");
}

// ---- check

HostCsr<double> two_by_three() {
  auto t = no_entries<double>(2, 3);
  t.add(0, 0, 1);
  t.add(0, 2, 2);
  t.add(1, 1, 3);
  return to_csr(t).matrix;
}

TEST(CheckCsr, SaysWhatIsWrong) {
  const auto attempt = [](const HostCsr<double>& a) {
    return message_of([&] { krysol::check(a); });
  };
  EXPECT_EQ(attempt(two_by_three()), "nothing was thrown");
  auto a = two_by_three();
  a.rows = 3;
  EXPECT_EQ(
      attempt(a),
      "krysol::check(csr): a 3 x 3 matrix with 3 row pointers (needs rows + 1), 3 columns and "
      "3 values");
  a = two_by_three();
  a.values = Kokkos::View<double*, krysol::Host>("values", 2);
  EXPECT_TRUE(holds(attempt(a), "3 columns and 2 values"));
  a = two_by_three();
  a.row_ptr(2) = 4;
  EXPECT_EQ(attempt(a),
            "krysol::check(csr): row_ptr runs from 0 to 4; it must run from 0 to the number of "
            "entries, 3");
  a = two_by_three();
  a.row_ptr(0) = 1;
  EXPECT_TRUE(holds(attempt(a), "row_ptr runs from 1 to 3"));
  a = two_by_three();
  a.row_ptr(1) = 5;
  EXPECT_EQ(attempt(a), "krysol::check(csr): row_ptr falls from 5 to 3 at row 1 (counted from 0)");
  a = two_by_three();
  a.col_idx(2) = 3;
  EXPECT_EQ(attempt(a), "krysol::check(csr): row 1 names column 3 of 3 (counted from 0)");
  a.col_idx(2) = -7;
  EXPECT_TRUE(holds(attempt(a), "row 1 names column -7 of 3"));
}

/// Wherever the column is: at the ends of what a thread looks at, too.
TEST(CheckCsr, FindsEveryBadColumn) {
  constexpr Index n = 20000;
  HostCsr<double> a;
  a.rows = 1;
  a.cols = n;
  a.row_ptr = Kokkos::View<Offset*, krysol::Host>("row_ptr", 2);
  a.row_ptr(1) = n;
  a.col_idx = Kokkos::View<Index*, krysol::Host>("col_idx", n);
  a.values = Kokkos::View<double*, krysol::Host>("values", n);
  for (Index k = 0; k < n; ++k) a.col_idx(k) = k;
  for (Index k = 0; k < n; k += k % 1024 < 2 ? 1 : 1021) {
    a.col_idx(k) = n;
    EXPECT_TRUE(holds(message_of([&] { krysol::check(a); }), "row 0 names column 20000 of 20000"))
        << k;
    a.col_idx(k) = k;
  }
  for (Index k = 1023; k < n; k += 1024) {
    a.col_idx(k) = -1;
    EXPECT_TRUE(holds(message_of([&] { krysol::check(a); }), "row 0 names column -1 of 20000"))
        << k;
    a.col_idx(k) = k;
  }
  krysol::check(a);
}

// ---- hyb and ell

Index width_for(const std::vector<Offset>& row_lengths) {
  std::vector<Offset> row_ptr = {0};
  for (const Offset n : row_lengths) row_ptr.push_back(row_ptr.back() + n);
  return krysol::hyb_width(row_ptr.data(), static_cast<Index>(row_lengths.size()));
}

TEST(HybWidth, IsTheLargestThatAThirdOfTheRowsFill) {
  EXPECT_EQ(width_for({}), 0);
  EXPECT_EQ(width_for({0, 0, 0}), 0);
  EXPECT_EQ(width_for({5, 5, 5, 5}), 5);
  EXPECT_EQ(width_for({1, 1, 1, 1, 1, 1, 10, 10, 10}), 10);  // exactly a third
  EXPECT_EQ(width_for({1, 1, 1, 1, 1, 1, 1, 10, 10}), 1);    // less
  EXPECT_EQ(width_for({0, 0, 0, 0, 0, 0, 0, 10, 10}), 0);
  EXPECT_EQ(width_for({1, 2, 3, 4, 5, 6}), 5);
  EXPECT_EQ(width_for({1000000, 3, 3, 3, 3}), 3);
}

TEST(HybWidth, LeavesTheRestOfLongRowsToTheCoordinates) {
  auto t = poisson1d(300);
  for (Index j = 0; j < 300; j += 2) {
    if (j < 98 || j > 102) t.add(100, j, 0.5);
  }
  const auto host = to_csr(t).matrix;
  krysol::Hyb<double, krysol::Host> a;
  from_csr(host, a);
  EXPECT_EQ(a.ell.width, 3);
  EXPECT_EQ(a.ell.nnz(), 2 + 2 + 298 * 3);
  EXPECT_EQ(a.nnz(), host.nnz());
  EXPECT_TRUE(a.coo.sorted_by_row);
  for (const Index row : to_host(a.coo.row_idx)) EXPECT_EQ(row, 100);
}

TEST(Ell, MarksPaddingByColumnMinusOne) {
  krysol::Ell<double, krysol::Host> a;
  from_csr(two_by_three(), a);
  EXPECT_EQ(a.width, 2);
  EXPECT_EQ(a.nnz(), 3);
  EXPECT_EQ(a.col_idx(0, 0), 0);
  EXPECT_EQ(a.col_idx(0, 1), 2);
  EXPECT_EQ(a.col_idx(1, 0), 1);
  EXPECT_EQ(a.col_idx(1, 1), -1);
  EXPECT_EQ(a.values(1, 1), 0);
}

// ---- formats by name

template <class T, class Exec>
std::vector<T> multiplied(const krysol::Operator<T, Exec>& a, const std::vector<T>& x) {
  const auto y = to_device<Exec>(std::vector<T>(static_cast<std::size_t>(a.rows)));
  apply(Exec{}, T(1), a, to_device<Exec>(x), T(0), y);
  Kokkos::fence();
  return to_host(y);
}

template <class C>
class MakeOperator : public testing::Test {};
using MakeOperatorCases = ForGtest<EntriesAndSpaces>::type;
TYPED_TEST_SUITE(MakeOperator, MakeOperatorCases, OnName);

TYPED_TEST(MakeOperator, KnowsEveryNameAndVariant) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto general = random_sparse<FileScalar<T>>(200, 100, 5, 81);
  EXPECT_GE(names_of_formats().size(), 7U);
  for (const std::string& name : names_of_formats()) {
    const auto t = fitting(name, general);
    const auto host = to_csr(t).matrix;
    const auto x = random_vector<T>(static_cast<std::size_t>(t.cols), 82);
    const auto exact = dense(t) * widen(x);
    const auto a = krysol::make_operator<T, Exec>(name, host);
    EXPECT_EQ(a->name(), name.substr(0, name.find(':')));
    EXPECT_EQ(a->rows, 200);
    EXPECT_EQ(a->cols, t.cols);
    EXPECT_EQ(a->nnz(), host.nnz());
    const bool one_triangle = t.cols != general.cols;
    EXPECT_GT(a->bytes(),
              host.nnz() / (one_triangle ? 2 : 1) * static_cast<std::int64_t>(sizeof(T)));
    const auto got = multiplied(*a, x);
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_LE(std::abs(widen(got[i]) - exact[i]),
                500 * std::numeric_limits<krysol::Real<T>>::epsilon())
          << name << ", row " << i;
    }
  }
}

TYPED_TEST(MakeOperator, AnswersAnUnknownNameWithTheTable) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  std::string known;
  for (const auto& f : krysol::list_formats()) {
    known += " " + std::string(f.name);
    if (!f.variants.empty()) known += "[:" + std::string(f.variants) + "]";
  }
  EXPECT_EQ(known.substr(0, 27), " csr[:thread|lanes|balanced");
  const auto host = to_csr(as<FileScalar<T>>(poisson1d(5))).matrix;
  for (const std::string name : {"jdz", "", "CSR", "csr ", ":thread"}) {
    EXPECT_EQ(message_of([&] { krysol::make_operator<T, Exec>(name, host); }),
              "unknown format '" + name + "'; known:" + known);
  }
  // Of a known format only its own variants are named.
  const std::string slices =
      "sell_c_sigma[:N]: " + std::string(krysol::SellCSigma<T, Exec>::good_for);
  const std::string blocks =
      "bsr[:N]: dense blocks of 2 to 8 unknowns a node; bsr:N gives their size";
  const std::string of_csr = "csr[:thread|lanes|balanced]";
  const std::pair<std::string, std::string> variants[] = {{"csr:", of_csr},
                                                          {"csr:fast", of_csr},
                                                          {"csr:lanes:8", of_csr},
                                                          {"ell:4", "ell"},
                                                          {"sell_c_sigma:0", slices},
                                                          {"sell_c_sigma:-3", slices},
                                                          {"sell_c_sigma:8x", slices},
                                                          {"coo:atomic", "coo[:segments|atomics]"},
                                                          {"bsr:9", blocks},
                                                          {"bsr:1", blocks}};
  for (const auto& variant : variants) {  // clang 14 captures no bindings
    const std::string& name = variant.first;
    EXPECT_EQ(message_of([&] { krysol::make_operator<T, Exec>(name, host); }),
              "unknown format '" + name + "'; known: " + variant.second);
  }
}

TYPED_TEST(MakeOperator, ChecksTheMatrixFirst) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  auto host = to_csr(as<FileScalar<T>>(poisson1d(5))).matrix;
  host.col_idx(0) = 5;
  for (const std::string& name : names_of_formats()) {
    EXPECT_EQ(message_of([&] { krysol::make_operator<T, Exec>(name, host); }),
              "krysol::check(csr): row 0 names column 5 of 5 (counted from 0)");
  }
}

TYPED_TEST(MakeOperator, RefusesToPadForOneDenseRowAndNamesTheNumbers) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  auto t = no_entries<FileScalar<T>>(2000, 2000);
  for (Index i = 0; i < 2000; ++i) {
    t.add(i, i, 2);
    if (i != 1234) t.add(1234, i, 1);
  }
  const auto host = to_csr(t).matrix;
  const std::vector<std::pair<std::string, std::string>> causes = {
      {"ell", "longest row has 2000 entries"},
      {"ellpack_r", "longest row has 2000 entries"},
      {"dia", "entries are on 2000 diagonals"},
  };
  for (const auto& [name, cause] : causes) {
    try {
      krysol::make_operator<T, Exec>(name, host);
      ADD_FAILURE() << name << " took a row of 2000 entries";
    } catch (const krysol::FormatRefusal& refusal) {
      const std::string text = refusal.what();
      const std::string quoted = "'" + name + "'";
      for (const std::string& part :
           {quoted, cause, std::string("4000000 slots"), std::string("3999 nonzeros"),
            std::string("csr"), std::string("hyb")}) {
        EXPECT_TRUE(holds(text, part)) << part << " is missing in: " << text;
      }
    }
  }
  std::vector<T> want(2000, T(2));
  want[1234] = T(2001);
  for (const std::string& name : names_of_formats()) {
    if (name.starts_with("ell") || name.starts_with("symmetric")) continue;
    if (needs_few_diagonals(name)) continue;
    // Slices of 32 rows there: for entries of 16 bytes more than three times csr.
    const bool sliced = name.starts_with("sell_") || name == "stencil_pattern";
    if (!krysol::on_host<Exec> && sliced) continue;
    EXPECT_EQ(multiplied(*krysol::make_operator<T, Exec>(name, host), std::vector<T>(2000, T(1))),
              want)
        << name;
  }
}

#ifdef KOKKOS_ENABLE_OPENMP
/// What a solve and its products return, to the bit.
template <class T>
struct Produced {
  std::vector<T> product;
  double dot = 0;
  std::vector<T> x;
  std::vector<double> history;
  bool operator==(const Produced&) const = default;
};

template <class T>
Produced<T> produced_with_threads(int threads, const std::string& format) {
  const Kokkos::OpenMP exec(threads);
  const auto t = as<FileScalar<T>>(poisson2d(70, 71, 0.3));
  const auto a = krysol::make_operator<T, Kokkos::OpenMP>(format, to_csr(t).matrix);
  const auto n = static_cast<std::size_t>(a->rows);
  const auto b = to_device<Kokkos::OpenMP>(random_vector<T>(n, 91));
  const auto y = to_device<Kokkos::OpenMP>(std::vector<T>(n));
  krysol::ReductionWorkspace<Kokkos::OpenMP> sums;
  Produced<T> out;
  out.dot = apply_dot(exec, *a, b, y, sums);
  out.product = to_host(y);
  const auto x = to_device<Kokkos::OpenMP>(std::vector<T>(n));
  krysol::StoppingCriteria stop;
  stop.rtol = 1e-3;
  const auto result = krysol::cg(exec, *a, b, x, krysol::Identity{}, stop);
  out.history = result.history;
  out.x = to_host(x);
  return out;
}

TEST(Threads, DoNotChangeABitOfProductsAndSolutions) {
  for (const std::string& name : names_of_formats()) {
    const auto one = produced_with_threads<double>(1, name);
    EXPECT_GT(one.history.size(), 20U) << name;
    const auto one_complex = produced_with_threads<DeviceComplex>(1, name);
    for (const int threads : {2, 3}) {
      EXPECT_TRUE(produced_with_threads<double>(threads, name) == one) << name << ", " << threads;
      EXPECT_TRUE(produced_with_threads<DeviceComplex>(threads, name) == one_complex)
          << name << ", " << threads;
    }
  }
}
#endif

}  // namespace
