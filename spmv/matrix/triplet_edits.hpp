// Edits of a list of entries: sorting, another symmetry, one triangle (for matrix_convert).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/matrix/triplets.hpp>

namespace krysol {

/// Makes a matrix with a symmetry a general one: each entry is followed by its mirror image. T is
/// double or std::complex<double>, here and below.
template <class T>
void expand(Triplets<T>& a);

/// Drops entries that are 0; says how many.
template <class T>
Offset drop_zeros(Triplets<T>& a);

/// Column by column, the rows of each ascending; entries of one place keep their order.
template <class T>
void sort(Triplets<T>& a);

/// The same, and entries of one place become their sum; says how many were added to others.
template <class T>
Offset sum_duplicates(Triplets<T>& a);

/// Makes a general matrix one with `symmetry`: the lower triangle is kept, column by column, and
/// entries of one place are summed. An entry whose twin is not stored must be 0. Throws
/// std::invalid_argument with the first pair, counted from 1, that the symmetry does not have.
template <class T>
void keep_lower_triangle(Triplets<T>& a, Symmetry symmetry);

}  // namespace krysol
