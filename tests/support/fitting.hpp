// Matrices that a format can hold: symmetric ones for those that hold no other.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <complex>
#include <string>
#include <string_view>
#include <vector>

#include <krysol/spmv/kernels/padding.hpp>
#include <krysol/spmv/select/formats.hpp>
#include "problems.hpp"

namespace krysol_tests {

/// A square matrix of as many rows: A + A^H, with columns taken modulo the rows. Equal to the bit
/// on both sides of the diagonal: sums are taken in the same order there.
template <class V>
Triplets<V> symmetrised(const Triplets<V>& t) {
  auto s = no_entries<V>(t.rows, t.rows);
  for (std::size_t k = 0; k < t.values.size(); ++k) {
    const Index i = t.row_idx[k];
    const Index j = t.col_idx[k] % t.rows;
    const V v = t.values[k];
    s.add(i, j, v);
    if constexpr (krysol::is_complex<V>) {
      s.add(j, i, std::conj(v));
    } else {
      s.add(j, i, v);
    }
  }
  return s;
}

/// Formats that refuse a matrix whose entries are on many diagonals, unless it is small.
inline const std::vector<std::string_view> formats_of_few_diagonals = {"dia"};

inline bool needs_few_diagonals(std::string_view format) {
  const auto& all = formats_of_few_diagonals;
  return std::find(all.begin(), all.end(), format.substr(0, format.find(':'))) != all.end();
}

/// The matrix itself where it is small; else its entries moved along their rows, to at most nine
/// columns, a fixed number of places from the diagonal modulo the columns.
template <class V>
Triplets<V> on_few_diagonals(const Triplets<V>& t) {
  const std::int64_t rows = t.rows;
  if (17 * rows * (rows + t.cols) <= krysol::always_allowed_bytes) return t;
  const auto most = static_cast<Index>(48 / (rows / t.cols + 1));
  const Index each = std::min<Index>(9, std::max<Index>(1, most));
  Triplets<V> moved = t;
  for (std::size_t k = 0; k < moved.values.size(); ++k) {
    moved.col_idx[k] = (t.row_idx[k] + 7 * (t.col_idx[k] % each)) % t.cols;
  }
  return moved;
}

/// The matrix itself, or one like it that the format can hold.
template <class V>
Triplets<V> fitting(std::string_view format, const Triplets<V>& t) {
  if (needs_few_diagonals(format)) return on_few_diagonals(t);
  for (const auto& f : krysol::list_formats()) {
    if (f.name == format.substr(0, format.find(':')) && f.symmetric_only) return symmetrised(t);
  }
  return t;
}
template <class F, class V>
Triplets<V> fitting(const Triplets<V>& t) {
  return fitting(F::name, t);
}

/// All formats, and all their variants but those that add in no fixed order.
inline std::vector<std::string> names_of_formats() {
  std::vector<std::string> names = {"csr:thread",     "csr:lanes",       "csr:balanced",
                                    "sell_c_sigma:1", "sell_c_sigma:64", "coo:segments"};
  for (const auto& f : krysol::list_formats()) names.emplace_back(f.name);
  return names;
}

}  // namespace krysol_tests
