// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/cholesky/elimination.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <fmt/core.h>
#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <krysol/spmv/base/memory.hpp>

namespace krysol::sparse_cholesky {
namespace {

using Indices = std::vector<Index>;

std::size_t index(Index i) { return static_cast<std::size_t>(i); }

/// The row of A that is eliminated k-th, by minimum degree.
Indices minimum_degree(const Offset* row_ptr, const Index* col_idx, Index rows) {
  Offset entries = rows;
  for (Index i = 0; i < rows; ++i) {
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) entries += col_idx[k] < i ? 1 : 0;
  }
  // Eigen counts in int, in an array of all entries and a fifth more.
  if (2.4 * static_cast<double>(entries) + 2.0 * rows > std::numeric_limits<int>::max()) {
    throw std::invalid_argument(fmt::format(
        "cholesky: {} entries on and below the diagonal are too many to be ordered", entries));
  }
  require_host_memory("cholesky.order", 28.0 * static_cast<double>(entries) + 60.0 * rows);
  // Row i of the lower triangle is column i of the upper one. A row without a diagonal entry would
  // be put last, as rows are that have too many. Values, which no order depends on, take no room.
  Eigen::SparseMatrix<signed char> upper(rows, rows);
  upper.resizeNonZeros(entries);
  std::fill_n(upper.valuePtr(), entries, static_cast<signed char>(1));
  int used = 0;
  for (Index i = 0; i < rows; ++i) {
    upper.outerIndexPtr()[i] = used;
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      if (col_idx[k] < i) upper.innerIndexPtr()[used++] = col_idx[k];
    }
    upper.innerIndexPtr()[used++] = i;
  }
  upper.outerIndexPtr()[rows] = used;
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> order;
  Eigen::AMDOrdering<int>()(upper.selfadjointView<Eigen::Upper>(), order);
  return {order.indices().data(), order.indices().data() + rows};
}

/// Whether rows are ascending, each column once, and each entry has its mirror.
bool is_symmetric_pattern(const Offset* row_ptr, const Index* col_idx, Index rows) {
  std::vector<Offset> next(index(rows));  // of each row: its first entry that is not yet mirrored
  for (Index i = 0; i < rows; ++i) {
    Index before = -1;
    next[index(i)] = row_ptr[i + 1];
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      const Index j = col_idx[k];
      if (j <= before) return false;
      before = j;
      if (j > i) {
        next[index(i)] = k;
        break;
      }
      if (j == i) continue;
      Offset& mirror = next[index(j)];
      if (mirror == row_ptr[j + 1] || col_idx[mirror] != i) return false;
      ++mirror;
    }
    for (Offset k = next[index(i)] + 1; k < row_ptr[i + 1]; ++k) {
      if (col_idx[k] <= col_idx[k - 1]) return false;
    }
  }
  for (Index i = 0; i < rows; ++i) {
    if (next[index(i)] != row_ptr[i + 1]) return false;
  }
  return true;
}

/// The entries of a pattern whose mirrors are in it.
struct MirroredEntries {
  std::vector<Offset> row_ptr;
  Indices col_idx;
};

MirroredEntries mirrored_entries(const Offset* row_ptr, const Index* col_idx, Index rows) {
  // Row i of the transpose: the rows that have column i.
  std::vector<Offset> begin(index(rows) + 1, 0);
  for (Offset k = 0; k < row_ptr[rows]; ++k) ++begin[index(col_idx[k]) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  Indices with(static_cast<std::size_t>(row_ptr[rows]));
  std::vector<Offset> next = begin;
  for (Index i = 0; i < rows; ++i) {
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      with[static_cast<std::size_t>(next[index(col_idx[k])]++)] = i;
    }
  }
  Indices seen(index(rows), -1);  // by which row
  MirroredEntries kept;
  kept.row_ptr.push_back(0);
  for (Index i = 0; i < rows; ++i) {
    for (Offset k = begin[index(i)]; k < begin[index(i) + 1]; ++k) {
      seen[index(with[static_cast<std::size_t>(k)])] = i;
    }
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      if (seen[index(col_idx[k])] == i) kept.col_idx.push_back(col_idx[k]);
    }
    kept.row_ptr.push_back(static_cast<Offset>(kept.col_idx.size()));
  }
  return kept;
}

/// A, with its rows in an order.
struct Ordered {
  const Offset* row_ptr;
  const Index* col_idx;
  Indices order;
  Indices place;

  Index rows() const { return static_cast<Index>(order.size()); }

  void set(Indices to) {
    order = std::move(to);
    place.resize(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) place[index(order[k])] = static_cast<Index>(k);
  }

  /// visit(j) for each j where row k has an entry.
  template <class Visit>
  void each(Index k, const Visit& visit) const {
    const Index i = order[index(k)];
    for (Offset e = row_ptr[i]; e < row_ptr[i + 1]; ++e) visit(place[index(col_idx[e])]);
  }
};

/// [rows] the first row below the diagonal of each column of L; -1 for a root.
Indices elimination_tree(const Ordered& a) {
  Indices parent(a.order.size(), -1);
  Indices ancestor(a.order.size(), -1);  // a shorter way up
  for (Index k = 0; k < a.rows(); ++k) {
    a.each(k, [&](Index j) {
      while (j >= 0 && j < k) {
        const Index up = ancestor[index(j)];
        ancestor[index(j)] = k;
        if (up < 0) parent[index(j)] = k;
        j = up;
      }
    });
  }
  return parent;
}

/// Children before their parents, each subtree in one piece: the column that comes k-th.
Indices postorder(const Indices& parent) {
  const auto rows = static_cast<Index>(parent.size());
  Indices child(parent.size(), -1);    // the first
  Indices sibling(parent.size(), -1);  // the next
  Indices roots;
  for (Index j = rows; j-- > 0;) {
    const Index p = parent[index(j)];
    if (p < 0) {
      roots.push_back(j);
    } else {
      sibling[index(j)] = child[index(p)];
      child[index(p)] = j;
    }
  }
  Indices post;
  post.reserve(parent.size());
  Indices stack(roots);  // descending, so that the smallest root comes first
  while (!stack.empty()) {
    const Index j = stack.back();
    const Index down = child[index(j)];
    if (down < 0) {
      stack.pop_back();
      post.push_back(j);
    } else {
      child[index(j)] = sibling[index(down)];
      stack.push_back(down);
    }
  }
  return post;
}

/// Moves rows and tree to the postorder.
void move_to_postorder(Ordered& a, Indices& parent) {
  const Indices post = postorder(parent);
  Indices moved(post.size());
  Indices order(post.size());
  Indices to(post.size());
  for (std::size_t k = 0; k < post.size(); ++k) to[index(post[k])] = static_cast<Index>(k);
  for (std::size_t k = 0; k < post.size(); ++k) {
    const Index up = parent[index(post[k])];
    moved[k] = up < 0 ? -1 : to[index(up)];
    order[k] = a.order[index(post[k])];
  }
  parent = std::move(moved);
  a.set(std::move(order));
}

/// [rows] entries of each column of L, with the diagonal, where the rows are in postorder.
///
/// Row i of L has entries on the ways up the tree from each j < i of row i of A: a subtree with i
/// as its root. Each of its leaves adds 1 to the counts on its way up, and where that meets the way
/// of the leaf before, 1 is taken off again: differences along the tree are kept, and summed up at
/// last. A j is a leaf of row i where none of its descendants was one. Gilbert, Ng & Peyton, SIAM
/// J. Matrix Anal. Appl. 15(4), 1994. O(nnz) but for the searches of those meetings.
Indices column_counts(const Ordered& a, const Indices& parent) {
  const Index rows = a.rows();
  Indices first(a.order.size());  // descendant of each column
  std::iota(first.begin(), first.end(), 0);
  Indices count(a.order.size(), 1);  // less what its children have counted already
  for (Index j = 0; j < rows; ++j) {
    const Index up = parent[index(j)];
    if (up < 0) continue;
    if (first[index(up)] == up) count[index(up)] = 0;  // no leaf of the tree
    first[index(up)] = std::min(first[index(up)], first[index(j)]);
    --count[index(up)];  // the row of j itself, which its parent's column does not have
  }
  Indices last_leaf(a.order.size(), -1);  // of each row so far
  Indices meets(a.order.size());          // a column further up, among those that are done
  std::iota(meets.begin(), meets.end(), 0);
  for (Index j = 0; j < rows; ++j) {
    a.each(j, [&](Index i) {
      const Index before = last_leaf[index(i)];
      if (i <= j || before >= first[index(j)]) return;
      ++count[index(j)];
      last_leaf[index(i)] = j;
      if (before < 0) return;
      Index top = before;
      while (meets[index(top)] != top) top = meets[index(top)];
      for (Index k = before; k != top;) k = std::exchange(meets[index(k)], top);
      --count[index(top)];
    });
    if (parent[index(j)] >= 0) meets[index(j)] = parent[index(j)];
  }
  for (Index j = 0; j < rows; ++j) {
    if (parent[index(j)] >= 0) count[index(parent[index(j)])] += count[index(j)];
  }
  return count;
}

/// Neighbouring columns that are stored as one dense matrix.
struct Columns {
  Index first = 0;
  Index columns = 0;
  Index rows = 0;    // of the first column, with the diagonal
  double zeros = 0;  // entries that are stored, and 0
  double stored() const {
    const double n = columns;
    return n * (n + 1) / 2 + n * (rows - n);
  }
};

bool worth_merging(const Columns& c) {
  const double share = c.zeros / c.stored();
  return c.columns <= 4 || (c.columns <= 16 && share < 0.8) || (c.columns <= 48 && share < 0.1) ||
         share < 0.05;
}

/// Supernodes, in order. A column follows the one before it where that has no other rows.
std::vector<Columns> merged_columns(const Indices& parent, const Indices& count) {
  std::vector<Columns> exact;
  for (std::size_t j = 0; j < count.size(); ++j) {
    if (j > 0 && parent[j - 1] == static_cast<Index>(j) && count[j - 1] == count[j] + 1) {
      ++exact.back().columns;
    } else {
      exact.push_back({static_cast<Index>(j), 1, count[j], 0});
    }
  }
  std::vector<Columns> made;
  for (Columns s : exact) {
    while (!made.empty()) {
      const Columns& child = made.back();
      const Index up = parent[index(s.first) - 1];
      if (up < 0 || up >= s.first + s.columns) break;
      Columns both{child.first, child.columns + s.columns, child.columns + s.rows, 0};
      const double added = static_cast<double>(child.columns) *
                           (static_cast<double>(both.rows) - static_cast<double>(child.rows));
      both.zeros = child.zeros + s.zeros + added;
      if (!worth_merging(both)) break;
      s = both;
      made.pop_back();
    }
    made.push_back(s);
  }
  return made;
}

/// Rows of each supernode, and which it adds to.
void find_rows(const Ordered& a, const std::vector<Columns>& nodes, Elimination& e) {
  const std::size_t count = nodes.size();
  Indices node_of(a.order.size());
  for (std::size_t s = 0; s < count; ++s) {
    for (Index j = 0; j < nodes[s].columns; ++j)
      node_of[index(nodes[s].first + j)] = static_cast<Index>(s);
  }
  std::vector<Indices> children(count);
  Indices seen(a.order.size(), -1);
  e.parent.assign(count, -1);
  e.row_begin.assign(1, 0);
  e.value_begin.assign(1, 0);
  Indices below;
  for (std::size_t s = 0; s < count; ++s) {
    const Index last = nodes[s].first + nodes[s].columns;
    below.clear();
    const auto take = [&](Index i) {
      if (i < last || seen[index(i)] == static_cast<Index>(s)) return;
      seen[index(i)] = static_cast<Index>(s);
      below.push_back(i);
    };
    for (Index j = nodes[s].first; j < last; ++j) {
      a.each(j, take);
    }
    for (const Index c : children[s]) {
      for (Offset q = e.row_begin[index(c)]; q < e.row_begin[index(c) + 1]; ++q) {
        take(e.row_idx[static_cast<std::size_t>(q)]);
      }
    }
    std::sort(below.begin(), below.end());
    for (Index j = nodes[s].first; j < last; ++j) e.row_idx.push_back(j);
    e.row_idx.insert(e.row_idx.end(), below.begin(), below.end());
    e.row_begin.push_back(static_cast<Offset>(e.row_idx.size()));
    e.first.push_back(nodes[s].first);
    const Offset rows = e.row_begin[s + 1] - e.row_begin[s];
    e.value_begin.push_back(e.value_begin.back() + rows * nodes[s].columns);
    if (!below.empty()) {
      e.parent[s] = node_of[index(below.front())];
      children[index(e.parent[s])].push_back(static_cast<Index>(s));
    }
    children[s] = {};
  }
  e.first.push_back(a.rows());
}

}  // namespace

double Elimination::flops_of(Index s) const {
  const double n = columns_of(s);
  const double r = rows_of(s);
  const double m = r - n;  // sum over the columns of the squares of r, r - 1, ..., m + 1
  return (r * (r + 1) * (2 * r + 1) - m * (m + 1) * (2 * m + 1)) / 6;
}

std::optional<Elimination> eliminate(const Offset* row_ptr, const Index* col_idx, Index rows,
                                     double most_entries) {
  const auto start = std::chrono::steady_clock::now();
  MirroredEntries mirrored;
  if (!is_symmetric_pattern(row_ptr, col_idx, rows)) {
    mirrored = mirrored_entries(row_ptr, col_idx, rows);
    row_ptr = mirrored.row_ptr.data();
    col_idx = mirrored.col_idx.data();
  }
  Ordered a{row_ptr, col_idx, {}, {}};
  if (rows > 0) a.set(minimum_degree(row_ptr, col_idx, rows));
  Indices parent = elimination_tree(a);
  move_to_postorder(a, parent);
  const Indices count = column_counts(a, parent);
  if (std::accumulate(count.begin(), count.end(), 0.0) - rows > most_entries) return std::nullopt;
  Elimination e;
  e.rows = rows;
  find_rows(a, merged_columns(parent, count), e);
  e.order = std::move(a.order);
  e.place = std::move(a.place);
  for (Index s = 0; s < e.supernodes(); ++s) e.flops += e.flops_of(s);
  e.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return e;
}

}  // namespace krysol::sparse_cholesky
