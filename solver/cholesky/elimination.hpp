// What a sparse Cholesky factorization will look like, from the pattern alone.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <krysol/spmv/base/types.hpp>

namespace krysol::sparse_cholesky {

/// The order in which rows are eliminated, and where L has entries. Columns of L that stand side by
/// side and have the same rows below them make a supernode; its entries are stored as a dense
/// matrix of all its rows and columns, by columns. Rows and columns are numbered in the order of
/// elimination.
struct Elimination {
  Index rows = 0;
  std::vector<Index> order;         // [rows] the row of A that is eliminated k-th
  std::vector<Index> place;         // [rows] when each row of A is eliminated
  std::vector<Index> first;         // [supernodes + 1] first column of each
  std::vector<Offset> row_begin;    // [supernodes + 1] where its rows begin in row_idx
  std::vector<Index> row_idx;       // ascending in a supernode: its own columns, then those below
  std::vector<Offset> value_begin;  // [supernodes + 1] where its entries begin among those of L
  std::vector<Index> parent;        // [supernodes] the first that it adds to, a later one; or -1
  double flops = 0;                 // multiplications with their additions
  double seconds = 0;               // that it took to find all this

  Index supernodes() const { return static_cast<Index>(parent.size()); }
  Index columns_of(Index s) const {
    return first[static_cast<std::size_t>(s) + 1] - first[static_cast<std::size_t>(s)];
  }
  Index rows_of(Index s) const {
    return static_cast<Index>(row_begin[static_cast<std::size_t>(s) + 1] -
                              row_begin[static_cast<std::size_t>(s)]);
  }
  /// Multiplications with their additions that supernode s takes.
  double flops_of(Index s) const;
  /// Entries of L as they are stored.
  double entries() const { return static_cast<double>(value_begin.back()); }
};

/// An entry (i, j) of the pattern counts where (j, i) is there as well: of a matrix that is
/// symmetric but for rounding one of the two may be missing. Nothing is returned where L would have
/// more than `most_entries` entries below its diagonal.
///
/// Order: approximate minimum degree (Eigen's; Amestoy, Davis & Duff, SIAM J. Matrix Anal. Appl.
/// 17(4), 1996, DOI 10.1137/S0895479894278952), then a postorder of the elimination tree (Liu, SIAM
/// J. Matrix Anal. Appl. 11(1), 1990, DOI 10.1137/0611010). A supernode takes in its last child
/// where few zeros are stored for it, by the limits of Chen, Davis, Hager & Rajamanickam, ACM
/// Trans. Math. Softw. 35(3), 2008, DOI 10.1145/1391989.1391995. O(nnz + row indices of the
/// supernodes). Throws std::invalid_argument for more than 8.9e8 entries in a triangle, or less
/// with many rows; OutOfMemory, with the bytes, where the order's do not fit: some 14 an entry of
/// the matrix.
std::optional<Elimination> eliminate(const Offset* row_ptr, const Index* col_idx, Index rows,
                                     double most_entries);

}  // namespace krysol::sparse_cholesky
