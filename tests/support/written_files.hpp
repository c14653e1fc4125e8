// Matrices to be written, and what is read again compared bit by bit.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <krysol/spmv/matrix/triplets.hpp>

#include "files.hpp"

namespace krysol_tests {

namespace fs = std::filesystem;
using Complex = std::complex<double>;

/// The what() of an exception of this type.
template <class Error, class Body>
std::string what_of(const Body& body) {
  try {
    body();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

inline std::vector<double> all_sorts_of_numbers() {
  using Limits = std::numeric_limits<double>;
  std::vector<double> all{0,
                          1,
                          0.1,
                          0.3,
                          1.0 / 3,
                          99999,
                          100000,
                          123456,
                          1e15,
                          1e16,
                          1e22,
                          1e23,
                          0x1p53 - 1,
                          0x1p53,
                          0x1p53 + 2,
                          0x1p60,
                          1e-4,
                          1e-5,
                          0.00123,
                          5e-7,
                          Limits::max(),
                          Limits::min(),
                          Limits::denorm_min(),
                          Limits::epsilon(),
                          std::nextafter(Limits::min(), 0),
                          9.5e-320};
  for (std::size_t k = all.size(); k-- > 0;) all.push_back(-all[k]);
  return all;
}

inline void set(double& v, double re, double) { v = re; }
inline void set(Complex& v, double re, double im) { v = Complex(re, im); }

/// Entries that may stand in a matrix of this symmetry, in no order, some of them in one place.
template <class T>
krysol::Triplets<T> random_matrix(std::size_t entries, krysol::Symmetry symmetry) {
  using krysol::Index;
  using krysol::Symmetry;
  const auto numbers = all_sorts_of_numbers();
  std::mt19937_64 random(entries + static_cast<std::size_t>(symmetry));
  const auto number = [&] {
    if (random() % 4 == 0) return numbers[random() % numbers.size()];
    for (;;) {
      const auto v = std::bit_cast<double>(random());
      if (std::isfinite(v)) return v;
    }
  };
  krysol::Triplets<T> a{1500000000, 1500000000, symmetry, {}, {}, {}};
  if (symmetry == Symmetry::general) a.cols = 40;
  while (a.values.size() < entries) {
    auto row = static_cast<Index>(random() % static_cast<std::uint64_t>(a.rows));
    auto col = static_cast<Index>(random() % static_cast<std::uint64_t>(a.cols));
    if (random() % 2 == 0) row = static_cast<Index>(random() % 1000);
    if (symmetry != Symmetry::general && row < col) std::swap(row, col);
    if (symmetry != Symmetry::general && random() % 3 == 0) col = row;
    if (symmetry == Symmetry::skew_symmetric && row == col) continue;
    T v{};
    const double re = number();
    set(v, re, symmetry == Symmetry::hermitian && row == col ? 0.0 : number());
    a.add(row, col, v);
  }
  return a;
}

inline std::vector<std::uint64_t> bits_of(const krysol::Array<double>& values) {
  std::vector<std::uint64_t> bits;
  for (const double v : values) bits.push_back(std::bit_cast<std::uint64_t>(v));
  return bits;
}
inline std::vector<std::uint64_t> bits_of(const krysol::Array<Complex>& values) {
  std::vector<std::uint64_t> bits;
  for (const Complex v : values) {
    bits.push_back(std::bit_cast<std::uint64_t>(v.real()));
    bits.push_back(std::bit_cast<std::uint64_t>(v.imag()));
  }
  return bits;
}

template <class T>
void expect_same_bits(const krysol::Triplets<T>& a, const krysol::Triplets<T>& b) {
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.cols, b.cols);
  EXPECT_EQ(a.symmetry, b.symmetry);
  EXPECT_TRUE(a.row_idx == b.row_idx);
  EXPECT_TRUE(a.col_idx == b.col_idx);
  EXPECT_TRUE(bits_of(a.values) == bits_of(b.values));
}

}  // namespace krysol_tests
