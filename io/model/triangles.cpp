// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/model/triangles.hpp>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <utility>
#include <vector>

namespace krysol {
namespace {

/// An entry off the diagonal, to be sorted by its position in the lower triangle.
struct Mirrored {
  std::uint64_t key;  // row and column of the position below the diagonal
  std::size_t entry;
};

constexpr std::uint64_t none = ~std::uint64_t{0};

TrianglesFound::Position position_of(std::uint64_t key) {
  return {static_cast<Index>(key >> 32), static_cast<Index>(key & 0xffffffff)};
}

/// The sum of the entries of position `key`, which stand side by side from number k on.
template <class T>
T sum_from(const Triplets<T>& a, const std::vector<Mirrored>& entries, std::size_t& k,
           std::uint64_t key) {
  T sum = 0;
  for (; k < entries.size() && entries[k].key == key; ++k) sum += a.values[entries[k].entry];
  return sum;
}

}  // namespace

template <class T>
TrianglesFound compare_triangles(const Triplets<T>& a) {
  std::vector<Mirrored> below;
  std::vector<Mirrored> above;
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    const auto row = static_cast<std::uint64_t>(a.row_idx[k]);
    const auto col = static_cast<std::uint64_t>(a.col_idx[k]);
    if (row > col) below.push_back({row << 32 | col, k});
    if (row < col) above.push_back({col << 32 | row, k});
  }
  const auto by_position = [](const Mirrored& x, const Mirrored& y) {
    return x.key != y.key ? x.key < y.key : x.entry < y.entry;
  };
  std::sort(below.begin(), below.end(), by_position);
  std::sort(above.begin(), above.end(), by_position);

  TrianglesFound found;
  found.above = static_cast<std::int64_t>(above.size());
  for (std::size_t i = 0, j = 0; i < below.size() || j < above.size();) {
    const std::uint64_t below_key = i < below.size() ? below[i].key : none;
    const std::uint64_t above_key = j < above.size() ? above[j].key : none;
    const std::uint64_t key = std::min(below_key, above_key);
    const T lower = sum_from(a, below, i, key);
    const T upper = mirrored(sum_from(a, above, j, key), a.symmetry);
    if (below_key == above_key) {
      ++found.twins;
      if (lower != upper && found.unequal++ == 0) found.first_unequal = position_of(key);
    } else if (lower != upper && !found.has_alone) {  // a stored zero needs no twin
      found.has_alone = true;
      found.alone = position_of(key);
      if (above_key == key) std::swap(found.alone.row, found.alone.col);
    }
  }
  return found;
}

template <class T>
void mirror_upper_triangle(Triplets<T>& a) {
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    if (a.row_idx[k] >= a.col_idx[k]) continue;
    std::swap(a.row_idx[k], a.col_idx[k]);
    a.values[k] = mirrored(a.values[k], a.symmetry);
  }
}

template <class T>
void drop_upper_triangle(Triplets<T>& a) {
  std::size_t kept = 0;
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    if (a.row_idx[k] < a.col_idx[k]) continue;
    a.row_idx[kept] = a.row_idx[k];
    a.col_idx[kept] = a.col_idx[k];
    a.values[kept] = a.values[k];
    ++kept;
  }
  a.row_idx.resize(kept);
  a.col_idx.resize(kept);
  a.values.resize(kept);
}

template TrianglesFound compare_triangles(const Triplets<double>&);
template TrianglesFound compare_triangles(const Triplets<std::complex<double>>&);
template void mirror_upper_triangle(Triplets<double>&);
template void mirror_upper_triangle(Triplets<std::complex<double>>&);
template void drop_upper_triangle(Triplets<double>&);
template void drop_upper_triangle(Triplets<std::complex<double>>&);

}  // namespace krysol
