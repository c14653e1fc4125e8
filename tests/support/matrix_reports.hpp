// Matrices of all shapes and symmetries, as full arrays and as matrix_info sees them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "analysis/analysis.hpp"
#include "problems.hpp"

namespace krysol_tests {

using krysol::Symmetry;
using krysol::to_csr;
using krysol::analysis::matrix_report_of;
using krysol::analysis::MatrixReport;
using Complex = std::complex<double>;

/// The matrix as full arrays, and which places are stored.
struct Full {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::vector<std::vector<Complex>> value;
  std::vector<std::vector<bool>> stored;
  std::int64_t nnz = 0;

  template <class S>
  explicit Full(const krysol::HostCsr<S>& a)
      : rows(static_cast<std::size_t>(a.rows)),
        cols(static_cast<std::size_t>(a.cols)),
        value(rows, std::vector<Complex>(cols)),
        stored(rows, std::vector<bool>(cols)),
        nnz(a.nnz()) {
    for (std::size_t i = 0; i < rows; ++i) {
      for (auto k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
        const auto at = static_cast<std::size_t>(k);
        const auto j = static_cast<std::size_t>(a.col_idx(at));
        value[i][j] = {krysol::real_part(a.values(at)), krysol::imaginary_part(a.values(at))};
        stored[i][j] = true;
      }
    }
  }
  double size(std::size_t i, std::size_t j) const { return std::abs(value[i][j]); }
};

/// Entries that repeat, small whole numbers and zeros among them, so that ties and cancellation
/// happen.
template <class T>
Triplets<T> random_matrix(Index rows, Index cols, Symmetry symmetry, std::uint64_t seed) {
  Random random(seed);
  auto t = no_entries<T>(rows, cols, symmetry);
  if (rows == 0 || cols == 0) return t;
  const auto number = [&] {
    const auto whole = static_cast<double>(random.below(7) - 3);
    return seed % 2 == 0 ? whole : random.number();
  };
  const std::int64_t entries = std::int64_t{rows} * cols / (1 + random.below(6));
  for (std::int64_t k = 0; k < entries; ++k) {
    Index i = random.below(rows);
    Index j = random.below(cols);
    if (symmetry != Symmetry::general && i < j) std::swap(i, j);
    if (symmetry == Symmetry::skew_symmetric && i == j) continue;
    T v(number());
    if constexpr (krysol::is_complex<T>) {
      v = T(number(), symmetry == Symmetry::hermitian && i == j ? 0.0 : number());
    }
    t.add(i, j, v);
  }
  return t;
}

template <class T>
std::vector<Triplets<T>> many_matrices() {
  std::vector<Triplets<T>> list;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    Random random(1000 + seed);
    const Index n = 1 + random.below(21);
    const Index m = 1 + random.below(21);
    list.push_back(random_matrix<T>(n, m, Symmetry::general, seed));
    for (const Symmetry s :
         {Symmetry::general, Symmetry::symmetric, Symmetry::skew_symmetric, Symmetry::hermitian}) {
      if (s == Symmetry::hermitian && !krysol::is_complex<T>) continue;
      list.push_back(random_matrix<T>(n, n, s, seed));
    }
  }
  for (const auto& [rows, cols] : {std::pair<Index, Index>{0, 0}, {0, 3}, {4, 0}, {5, 5}, {1, 1}}) {
    list.push_back(no_entries<T>(rows, cols));
  }
  auto one = no_entries<T>(1, 1);
  one.add(0, 0, T(-2));
  list.push_back(one);
  return list;
}

struct MatrixReportCase {
  std::string name;
  Full full;
  MatrixReport matrix_report;
};

/// Random real and complex matrices of all shapes and symmetries, looked at once for all tests.
inline const std::vector<MatrixReportCase>& cases() {
  static const std::vector<MatrixReportCase> list = [] {
    std::vector<MatrixReportCase> out;
    const auto add = [&](const auto& matrices) {
      for (std::size_t k = 0; k < matrices.size(); ++k) {
        const auto a = to_csr(matrices[k]).matrix;
        out.push_back(
            {fmt::format("matrix {}, {} x {}", k, a.rows, a.cols), Full(a), matrix_report_of(a)});
      }
    };
    add(many_matrices<double>());
    add(many_matrices<Complex>());
    return out;
  }();
  return list;
}

/// Runs check(full, matrix_report) for each of them.
template <class Check>
void for_many(const Check& check) {
  for (const MatrixReportCase& c : cases()) {
    SCOPED_TRACE(c.name);
    check(c.full, c.matrix_report);
  }
}

}  // namespace krysol_tests
