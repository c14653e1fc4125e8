// What the positions of the entries say of a matrix: profile, components, blocks.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <numeric>
#include <vector>

#include <krysol/analysis/host_rows.hpp>
#include <krysol/analysis/matrix_report.hpp>

namespace krysol::analysis {

/// The columns that a matrix without its empty columns has, of `cols`. Nothing in `kept`: all.
struct Columns {
  Index cols = 0;
  std::vector<Index> kept;  // ascending

  bool all() const { return kept.empty(); }
  std::int64_t number(std::int64_t q) const {
    return all() ? q : kept[static_cast<std::size_t>(q)];
  }
};

/// Of rows 0 .. n-1 with places row_ptr[i] .. row_ptr[i+1]. O(n), and n numbers of 8 bytes.
Lengths lengths_of(const Offset* row_ptr, Index n);

/// Of columns, from the rows of the transposed matrix.
Lengths lengths_of(const Offset* row_ptr, Index n, const Columns& columns);

/// Both profiles are sums over non-empty rows or columns. `transposed` has the rows that `columns`
/// has. O(rows + cols + nnz).
Band band_of(const Pattern& a, const Pattern& transposed, const Columns& columns);

/// square: rows and columns are the same vertices. Explicit zeros count as edges.
/// O(rows + cols + nnz), almost.
Components components_of(const Pattern& a, bool square);

/// For b = 2 to 8, each O(nnz), with cols / b numbers a thread; where those would be more than the
/// nonzeros, O(nnz log nnz) without them.
Blocks blocks_of(const Pattern& a);

/// Sets of the numbers 0 .. n-1, each alone at first. Tarjan, J. ACM 22(2), 1975.
class DisjointSets {
 public:
  explicit DisjointSets(std::int64_t n) : parent_(static_cast<std::size_t>(n)) {
    std::iota(parent_.begin(), parent_.end(), std::int64_t{0});
  }
  /// The smallest number of the set that v belongs to.
  std::int64_t find(std::int64_t v) {
    while (parent(v) != v) {
      parent(v) = parent(parent(v));
      v = parent(v);
    }
    return v;
  }
  void join(std::int64_t u, std::int64_t v) {
    u = find(u);
    v = find(v);
    if (u != v) parent(std::max(u, v)) = std::min(u, v);
  }

 private:
  std::int64_t& parent(std::int64_t v) { return parent_[static_cast<std::size_t>(v)]; }

  std::vector<std::int64_t> parent_;
};

}  // namespace krysol::analysis
