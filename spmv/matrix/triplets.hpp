// A matrix on the host as a list of entries in any order: what files and assembly loops deliver.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <complex>
#include <string_view>
#include <type_traits>

#include <krysol/spmv/base/array.hpp>
#include <krysol/spmv/base/types.hpp>

namespace krysol {

/// Which entries a list of triplets stands for. All but `general` store the entries of one triangle
/// only, and the diagonal; the other triangle is a(j,i) = a(i,j), -a(i,j) or conj(a(i,j)). Files
/// store the lower one; `to_csr` takes either, and both where it is told (`Triangles::both`).
enum class Symmetry { general, symmetric, skew_symmetric, hermitian };

/// What a list with a symmetry holds. `one`: the entries of one triangle, upper or lower, each of
/// which stands for its mirror image too. `both`: all entries, as a finite-element loop adds them;
/// nothing is mirrored. No difference for a general matrix.
enum class Triangles { one, both };

/// "general", "symmetric", "skew-symmetric" or "hermitian", as Matrix Market spells them.
std::string_view to_string(Symmetry symmetry);

/// a(j,i) of a matrix with that symmetry where a(i,j) = v. T as of Triplets, or Kokkos::complex.
template <class T>
T mirrored(const T& v, Symmetry symmetry) {
  if (symmetry == Symmetry::skew_symmetric) return -v;
  if constexpr (!std::is_floating_point_v<T>) {
    using std::conj;
    if (symmetry == Symmetry::hermitian) return conj(v);
  }
  return v;
}

/// A = sum over k of values[k] e(row_idx[k]) e(col_idx[k])', plus the mirrored entries where
/// `symmetry` says so. Entries stand in any order; those that name the same place are summed by
/// `to_csr`. T is float, double, std::complex<float> or std::complex<double>.
template <class T>
struct Triplets {
  Index rows = 0;
  Index cols = 0;
  Symmetry symmetry = Symmetry::general;
  Array<Index> row_idx{};  // [stored entries] 0-based row
  Array<Index> col_idx{};  // [stored entries] 0-based column
  Array<T> values{};       // [stored entries]

  void reserve(std::size_t entries) {
    row_idx.reserve(entries);
    col_idx.reserve(entries);
    values.reserve(entries);
  }

  void add(Index row, Index col, T value) {
    row_idx.push_back(row);
    col_idx.push_back(col);
    values.push_back(value);
  }
};

}  // namespace krysol
