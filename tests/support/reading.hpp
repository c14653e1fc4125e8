// What tests of readers share: what is thrown, what a list of entries stands for, files that go.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <complex>
#include <string>
#include <variant>
#include <vector>

#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/model/matrix_file.hpp>

#include "files.hpp"

namespace krysol_tests {

/// What a file that cannot be read throws.
template <class Body>
std::string error_of(const Body& body) {
  try {
    body();
  } catch (const krysol::FileError& e) {
    return e.what();
  }
  return "nothing was thrown";
}

/// Row by row, with symmetry expanded and duplicates summed.
template <class T>
std::vector<std::complex<double>> expanded(const krysol::Triplets<T>& a) {
  using Complex = std::complex<double>;
  const auto cols = static_cast<std::size_t>(a.cols);
  std::vector<Complex> dense(static_cast<std::size_t>(a.rows) * cols);
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    const auto i = static_cast<std::size_t>(a.row_idx[k]);
    const auto j = static_cast<std::size_t>(a.col_idx[k]);
    const Complex v = a.values[k];
    dense[i * cols + j] += v;
    if (a.symmetry == krysol::Symmetry::general || i == j) continue;
    dense[j * cols + i] += a.symmetry == krysol::Symmetry::symmetric        ? v
                           : a.symmetry == krysol::Symmetry::skew_symmetric ? -v
                                                                            : std::conj(v);
  }
  return dense;
}

inline std::vector<std::complex<double>> expanded(const krysol::MatrixFile& file) {
  return std::visit([](const auto& a) { return expanded(a); }, file.matrix);
}

}  // namespace krysol_tests
