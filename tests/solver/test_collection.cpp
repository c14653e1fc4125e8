// cg_solve's parts over every matrix of a local copy of the collection: right answers, true words.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_paths.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <krysol/io/read.hpp>
#include <krysol/solver/outcome/breakdown.hpp>
#include <krysol/solver/registry.hpp>
#include <krysol/spmv/matrix/properties.hpp>
#include <krysol/spmv/select/formats.hpp>
#include "dense.hpp"

namespace krysol {
namespace {

namespace fs = std::filesystem;
using WideComplex = std::complex<long double>;

const fs::path shared = KRYSOL_SHARED_DIR;

std::vector<std::string> split(const std::string& line, char separator) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, separator);) fields.push_back(field);
  return fields;
}

/// Rows of a table by the name of the matrix; lines that start with # are comments.
std::vector<std::vector<std::string>> table(const fs::path& path, char separator) {
  std::vector<std::vector<std::string>> rows;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line[0] != '#') rows.push_back(split(line, separator));
  }
  return rows;
}

template <class S>
WideComplex wide(const S& v) {
  return {static_cast<long double>(real_part(v)), static_cast<long double>(imaginary_part(v))};
}

double norm(const std::vector<WideComplex>& v) {
  long double sum = 0;
  for (const WideComplex& e : v) sum += std::norm(e);
  return static_cast<double>(std::sqrt(sum));
}

/// | |A| |x| + |b| |_2, of absolute values entry by entry: no larger than with any norm of |A|.
template <class S>
double residual_scale(const HostCsr<S>& a, const std::vector<WideComplex>& x,
                      const std::vector<WideComplex>& b) {
  long double sum = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    long double row = std::abs(b[i]);
    for (Offset k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
      const auto at = static_cast<std::size_t>(k);
      row += std::abs(wide(a.values(at))) * std::abs(x[static_cast<std::size_t>(a.col_idx(at))]);
    }
    sum += row * row;
  }
  return static_cast<double>(std::sqrt(sum));
}

/// |A|_F, no smaller than |A|_2 and no larger than sqrt(n) |A|_2.
template <class S>
double frobenius(const HostCsr<S>& a) {
  long double sum = 0;
  for (std::size_t k = 0; k < a.values.extent(0); ++k) sum += std::norm(wide(a.values(k)));
  return static_cast<double>(std::sqrt(sum));
}

template <class S>
std::vector<WideComplex> host(const Vector<S>& v) {
  const auto mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, v);
  std::vector<WideComplex> out(mirror.extent(0));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = wide(mirror(i));
  return out;
}

struct CollectionCase {
  std::string name;  // GROUP/NAME
  bool spd = false;
  std::map<std::string, std::string> reference;  // of spd_reference.csv; empty where it has no row
};

/// NaN where the table has no figure (eigenvalues of large matrices).
double number(const CollectionCase& c, const std::string& key) {
  const std::string& text = c.reference.at(key);
  return text.empty() ? std::nan("") : std::stod(text);
}

/// Wrong evidence is worse than none: whatever a result says of the matrix is computed again.
template <class S>
void confirm_breakdown(const HostCsr<S>& a, const SolveResult& r) {
  const BreakdownCertificate& e = r.breakdown;
  const auto entry = [&](Index row, Index col) {
    WideComplex sum = 0;
    const auto i = static_cast<std::size_t>(row);
    for (Offset k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
      const auto at = static_cast<std::size_t>(k);
      if (a.col_idx(at) == col) sum += wide(a.values(at));
    }
    return sum;
  };
  if (r.status == Status::not_symmetric) {
    ASSERT_GE(e.row, 0);
    ASSERT_GE(e.col, 0);
    const WideComplex difference = entry(e.row, e.col) - std::conj(entry(e.col, e.row));
    EXPECT_GT(std::abs(difference), 0);
    EXPECT_EQ(WideComplex(e.value), entry(e.row, e.col));
    EXPECT_EQ(WideComplex(e.mirrored_value), entry(e.col, e.row));
    return;
  }
  ASSERT_EQ(r.status, Status::indefinite_matrix) << r.advice;
  std::vector<WideComplex> p(e.direction.begin(), e.direction.end());
  ASSERT_EQ(p.size(), static_cast<std::size_t>(a.rows));
  EXPECT_NEAR(norm(p), 1, 1e-10);
  const std::vector<WideComplex> q = krysol_tests::operator*(a, p);
  WideComplex curvature = 0;
  for (std::size_t i = 0; i < p.size(); ++i) curvature += std::conj(p[i]) * q[i];
  // Rounding of p'Ap itself; a curvature inside it is reported as singular.
  const double rounding = 1e-14 * frobenius(a);
  EXPECT_NEAR(static_cast<double>(curvature.real()), e.curvature, rounding);
  EXPECT_LE(static_cast<double>(curvature.real()), rounding);
}

template <class T>
void solve_and_confirm(const CollectionCase& c, const Triplets<T>& entries) {
  using S = DeviceScalar<T>;
  using Exec = Kokkos::DefaultExecutionSpace;
  const Exec exec{};
  const HostCsr<S> a = to_csr(entries).matrix;
  if (a.rows != a.cols) {
    EXPECT_FALSE(c.spd);  // exit 2 of cg_solve: a matter of shape
    return;
  }
  const MatrixProperties<S> properties = analyze(a);
  if (const auto refused = find_breakdown(properties)) {
    EXPECT_FALSE(c.spd) << refused->advice;
    confirm_breakdown(a, *refused);
    return;
  }
  const auto op = make_operator<S, Exec>("csr", a);
  const auto m = make_preconditioner<S, Exec>("jacobi", a);
  const auto ones = Vector<S>("ones", static_cast<std::size_t>(a.rows));
  const auto b = Vector<S>("b", static_cast<std::size_t>(a.rows));
  const auto x = Vector<S>("x", static_cast<std::size_t>(a.rows));
  Kokkos::deep_copy(ones, S(1));
  apply(exec, S(1), *op, ConstVector<S>(ones), S(0), b);

  StoppingCriteria stop;
  // The reference's limit; where A may be singular or indefinite, enough for CG to find out which.
  stop.max_iterations = c.spd ? 20000 : 100000;
  const SolveResult r = solve<S, Exec>("cg", exec, *op, ConstVector<S>(b), x, *m.m, stop);

  const std::vector<WideComplex> b_host = host(b);
  const std::vector<WideComplex> x_host = host(x);
  std::vector<WideComplex> residual = krysol_tests::operator*(a, x_host);
  for (std::size_t i = 0; i < residual.size(); ++i) residual[i] = b_host[i] - residual[i];
  const double true_residual = norm(residual);
  const double b_norm = norm(b_host);
  EXPECT_EQ(r.history.size(), static_cast<std::size_t>(r.iterations) + 1);

  switch (r.status) {
    case Status::converged:
      // Ours is computed in double: it may differ by its own rounding.
      EXPECT_LE(true_residual, 1e-8 * b_norm + 1e-15 * (frobenius(a) * norm(x_host) + b_norm));
      break;
    case Status::stagnated:
      EXPECT_LE(true_residual, 100 * 2.2e-16 * residual_scale(a, x_host, b_host));
      break;
    case Status::max_iterations:
      ASSERT_TRUE(c.spd) << "neither a solution nor a reason why there is none";
      ASSERT_FALSE(c.reference.empty());
      EXPECT_LT(number(c, "cg_j"), 0) << "converges elsewhere";
      break;
    default:
      EXPECT_FALSE(c.spd) << r.advice;
      confirm_breakdown(a, r);
  }
  if (c.spd && !c.reference.empty() && number(c, "cg_j") > 0 && number(c, "lambda_min_j") > 0 &&
      number(c, "lambda_max_j") < 1e6 * number(c, "lambda_min_j")) {
    EXPECT_NEAR(static_cast<double>(r.iterations), number(c, "cg_j"),
                std::max(3.0, 0.05 * number(c, "cg_j")));
  }
  std::cout << c.name << ": " << to_string(r.status) << ' ' << r.iterations << " its, "
            << (b_norm > 0 ? true_residual / b_norm : true_residual) << " |b|, " << r.restarts
            << " restarts" << (c.reference.empty() ? "" : ", reference " + c.reference.at("cg_j"))
            << '\n';
}

TEST(GoldenCollection, EveryMatrixIsSolvedOrRefusedForAReasonThatHolds) {
  if (!fs::exists(shared / "matrices" / "INDEX.tsv")) {
    GTEST_SKIP() << "no folder of matrices: set KRYSOL_SHARED_DIR";
  }
  std::map<std::string, std::map<std::string, std::string>> reference;
  const auto csv = table(shared / "matrices" / "spd_reference.csv", ',');
  for (std::size_t k = 1; k < csv.size(); ++k) {
    for (std::size_t f = 0; f < csv[0].size(); ++f) reference[csv[k][0]][csv[0][f]] = csv[k][f];
  }
  int solved = 0;
  for (const auto& row : table(shared / "matrices" / "INDEX.tsv", '\t')) {
    const std::string& file = row[0];
    if (!file.ends_with(".mtx") && !file.ends_with(".mtx.gz")) continue;
    if (row[7] == "rhs" || row[7] == "solution") continue;
    SCOPED_TRACE(file);
    CollectionCase c;
    c.name = row[1];
    c.spd = row[8] == "yes";
    if (reference.contains(c.name)) c.reference = reference[c.name];
    const MatrixFile read = read_matrix(shared / "matrices" / file);
    std::visit([&](const auto& entries) { solve_and_confirm(c, entries); }, read.matrix);
    ++solved;
  }
  EXPECT_GT(solved, 0);
}

}  // namespace
}  // namespace krysol
