// Entries of a list that name the same place.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include <krysol/io/model/matrix_file.hpp>

namespace krysol {

/// What was found among the entries of a list.
struct DuplicatesFound {
  std::int64_t count = 0;  // entries that name a place again
  Index row = 0;           // of the first of them, 0-based
  Index col = 0;
};

/// Treats entries that name the place of an earlier one: `sum` adds their values to that, in the
/// order of the list, and removes them; `first` removes them; `keep` and `reject` leave the list as
/// it is. The others keep their order. Memory: 8 bytes a row and 8 an entry, 24 where some repeat;
/// time: O(nnz log of the longest row). T is double or std::complex<double>.
template <class T>
DuplicatesFound treat_duplicates(Triplets<T>& a, Duplicates how);

}  // namespace krysol
