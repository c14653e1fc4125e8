// Runs of the program cg_solve, and small systems for it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "test_paths.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include <krysol/io/read.hpp>
#include "dense.hpp"
#include "programs.hpp"

#ifdef KRYSOL_CG_SOLVE
namespace krysol_tests {

/// Runs of cg_solve, each in a folder of its own.
class CgSolve : public ProgramTest {
 protected:
  CgSolve() : ProgramTest(KRYSOL_CG_SOLVE) {}

  const std::string grid_ = (fs::path(KRYSOL_DATA_DIR) / "gr_30_30.mtx").string();
};

/// tridiag(-1, 2, -1): CG needs as many iterations as there are rows.
inline Triplets<double> chain(krysol::Index n) {
  Triplets<double> t;
  t.rows = t.cols = n;
  t.symmetry = krysol::Symmetry::symmetric;
  for (krysol::Index i = 0; i < n; ++i) {
    t.add(i, i, 2);
    if (i > 0) t.add(i, i - 1, -1);
  }
  return t;
}

inline const std::string indefinite =
    "%%MatrixMarket matrix coordinate real symmetric\n"
    "3 3 5\n1 1 2\n2 1 3\n2 2 2\n3 2 -1\n3 3 2\n";
inline const std::string negative_diagonal =
    "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2\n2 1 1\n2 2 -2\n";
inline const std::string unsymmetric =
    "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 2\n1 2 1\n2 1 0.5\n2 2 2\n";
inline const std::string hermitian =
    "%%MatrixMarket matrix coordinate complex hermitian\n2 2 3\n1 1 2 0\n2 1 0 1\n2 2 3 0\n";

/// A x, entry by entry from what stands in the file.
inline std::vector<double> product(const fs::path& matrix, const std::vector<double>& x) {
  const auto file = krysol::read_matrix(matrix);
  const auto& a = std::get<Triplets<double>>(file.matrix);
  std::vector<double> y(static_cast<std::size_t>(a.rows), 0.0);
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    const auto i = static_cast<std::size_t>(a.row_idx[k]);
    const auto j = static_cast<std::size_t>(a.col_idx[k]);
    y[i] += a.values[k] * x[j];
    if (i != j && a.symmetry == krysol::Symmetry::symmetric) y[j] += a.values[k] * x[i];
  }
  return y;
}

/// The numbers of a dense file.
inline std::vector<double> vector_in(const fs::path& path) {
  return std::get<std::vector<double>>(krysol::read_dense(path).values);
}

/// |b - A x|
inline double residual(const fs::path& matrix, const std::vector<double>& x,
                       const std::vector<double>& b) {
  auto r = product(matrix, x);
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
  return std::sqrt(dot(r, r));
}
}  // namespace krysol_tests
#endif
