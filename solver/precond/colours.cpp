// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/precond/colours.hpp>

#include <algorithm>
#include <numeric>

#include <krysol/spmv/base/spaces.hpp>

namespace krysol {
namespace {

/// Neighbours of each row with smaller numbers, from both triangles; one may stand there twice.
struct EarlierNeighbours {
  std::vector<Offset> row_ptr;  // [rows + 1]
  std::vector<Index> col_idx;
};

template <class T, class Visit>
void visit_couplings(const HostCsr<T>& a, const Visit& visit) {
  for (Index i = 0; i < a.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (Offset k = a.row_ptr(row); k < a.row_ptr(row + 1); ++k) {
      const Index j = a.col_idx(static_cast<std::size_t>(k));
      if (i != j) visit(static_cast<std::size_t>(std::max(i, j)), std::min(i, j));
    }
  }
}

template <class T>
EarlierNeighbours earlier_neighbours(const HostCsr<T>& a) {
  EarlierNeighbours n;
  n.row_ptr.assign(static_cast<std::size_t>(a.rows) + 1, 0);
  visit_couplings(a, [&](std::size_t later, Index) { ++n.row_ptr[later + 1]; });
  std::partial_sum(n.row_ptr.begin(), n.row_ptr.end(), n.row_ptr.begin());
  n.col_idx.resize(static_cast<std::size_t>(n.row_ptr.back()));
  std::vector<Offset> next = n.row_ptr;
  visit_couplings(a, [&](std::size_t later, Index earlier) {
    n.col_idx[static_cast<std::size_t>(next[later]++)] = earlier;
  });
  return n;
}

}  // namespace

template <class T>
std::vector<Index> greedy_colours(const HostCsr<T>& a) {
  const EarlierNeighbours n = earlier_neighbours(a);
  std::vector<Index> colour(static_cast<std::size_t>(a.rows), 0);
  std::vector<Index> taken_by;  // [colours] the last row that saw it at a neighbour
  for (std::size_t i = 0; i < colour.size(); ++i) {
    const auto row = static_cast<Index>(i);
    for (Offset k = n.row_ptr[i]; k < n.row_ptr[i + 1]; ++k) {
      const auto neighbour = static_cast<std::size_t>(n.col_idx[static_cast<std::size_t>(k)]);
      taken_by[static_cast<std::size_t>(colour[neighbour])] = row;
    }
    const auto free =
        std::find_if(taken_by.begin(), taken_by.end(), [&](Index by) { return by != row; });
    colour[i] = static_cast<Index>(free - taken_by.begin());
    if (free == taken_by.end()) taken_by.push_back(-1);
  }
  return colour;
}

#define KRYSOL_INSTANTIATE(T) template std::vector<Index> greedy_colours(const HostCsr<T>&);
KRYSOL_FOR_EACH_ENTRY(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
