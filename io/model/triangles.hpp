// The two triangles of a list of entries that states a symmetry: which are there, do they agree.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include <krysol/io/model/matrix_file.hpp>

namespace krysol {

/// What a list of entries holds on both sides of its diagonal. The twin of an entry at (i, j) is
/// what stands at (j, i); entries of one position are summed before they are compared.
struct TrianglesFound {
  struct Position {
    Index row = 0;  // 0-based
    Index col = 0;
  };

  std::int64_t above = 0;    // entries above the diagonal
  std::int64_t twins = 0;    // pairs of positions that both have entries
  std::int64_t unequal = 0;  // of these, pairs that are not each other's mirror image
  Position first_unequal;    // the first of them in row order, below the diagonal
  bool has_alone = false;    // some non-zero entry has no twin
  Position alone;            // the first of them in the order of the lower triangle
};

/// Compares both triangles by the symmetry that the list states. Memory: 16 bytes for each entry
/// off the diagonal; time: O(nnz log nnz). T is double or std::complex<double>.
template <class T>
TrianglesFound compare_triangles(const Triplets<T>& a);

/// Moves entries above the diagonal to their mirrored position, with the value that the symmetry
/// gives it: a(j,i) = a(i,j), -a(i,j) or conj(a(i,j)).
template <class T>
void mirror_upper_triangle(Triplets<T>& a);

/// Removes entries above the diagonal; the others keep their order.
template <class T>
void drop_upper_triangle(Triplets<T>& a);

}  // namespace krysol
