// Matrices that a format can hold: symmetric ones for those that hold no other.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <complex>
#include <string>
#include <string_view>
#include <vector>

#include <krysol/spmv/select/format_list.hpp>
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

/// The matrix itself, or one like it that format F can hold.
template <class F, class V>
Triplets<V> fitting(const Triplets<V>& t) {
  if constexpr (krysol::is_symmetric_only<F>) {
    return symmetrised(t);
  } else {
    return t;
  }
}
template <class V>
Triplets<V> fitting(std::string_view format, const Triplets<V>& t) {
  for (const auto& f : krysol::list_formats()) {
    if (f.name == format.substr(0, format.find(':')) && f.symmetric_only) return symmetrised(t);
  }
  return t;
}

/// All formats, and all their variants but those that add in no fixed order.
inline std::vector<std::string> names_of_formats() {
  std::vector<std::string> names = {"csr:thread",     "csr:lanes",       "csr:balanced",
                                    "sell_c_sigma:1", "sell_c_sigma:64", "coo:segments"};
  for (const auto& f : krysol::list_formats()) names.emplace_back(f.name);
  return names;
}

}  // namespace krysol_tests
