// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/matrix/sorted_columns.hpp>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <utility>
#include <vector>

namespace krysol {
namespace {

template <class T>
struct Entry {
  Index row;
  T value;
};

/// Columns [begin, end) of the arrays in order; those of a file mostly are.
template <class T>
void sort_column(SortedColumns<T>& c, std::size_t begin, std::size_t end,
                 std::vector<Entry<T>>& room) {
  const auto rows = c.row_idx.begin();
  if (std::is_sorted(rows + static_cast<std::ptrdiff_t>(begin),
                     rows + static_cast<std::ptrdiff_t>(end))) {
    return;
  }
  room.clear();
  for (std::size_t k = begin; k < end; ++k) room.push_back({c.row_idx[k], c.values[k]});
  std::stable_sort(room.begin(), room.end(),
                   [](const Entry<T>& a, const Entry<T>& b) { return a.row < b.row; });
  for (std::size_t k = begin; k < end; ++k) {
    c.row_idx[k] = room[k - begin].row;
    c.values[k] = room[k - begin].value;
  }
}

/// Adds neighbours of one row, and closes the gaps.
template <class T>
void sum_neighbours(SortedColumns<T>& c) {
  std::size_t kept = 0;
  std::size_t k = 0;
  for (std::size_t j = 0; j + 1 < c.begin.size(); ++j) {
    const std::size_t first = kept;
    for (const auto end = static_cast<std::size_t>(c.begin[j + 1]); k < end; ++k) {
      if (kept > first && c.row_idx[kept - 1] == c.row_idx[k]) {
        c.values[kept - 1] += c.values[k];
      } else {
        c.row_idx[kept] = c.row_idx[k];
        c.values[kept] = c.values[k];
        ++kept;
      }
    }
    c.begin[j + 1] = static_cast<Offset>(kept);
  }
  c.duplicates = static_cast<Offset>(c.values.size() - kept);
  c.row_idx.resize(kept);
  c.values.resize(kept);
}

}  // namespace

template <class T>
SortedColumns<T> sorted_columns(const Triplets<T>& a, SamePlace same_place) {
  SortedColumns<T> c;
  c.rows = a.rows;
  c.cols = a.cols;
  const auto cols = static_cast<std::size_t>(a.cols);
  const std::size_t n = a.values.size();
  c.begin.resize(cols + 1, 0);
  for (const Index j : a.col_idx) ++c.begin[static_cast<std::size_t>(j) + 1];
  for (std::size_t j = 0; j < cols; ++j) c.begin[j + 1] += c.begin[j];
  c.row_idx.resize(n);
  c.values.resize(n);
  std::vector<Offset> next(c.begin.begin(), c.begin.end() - 1);
  for (std::size_t k = 0; k < n; ++k) {
    const auto to = static_cast<std::size_t>(next[static_cast<std::size_t>(a.col_idx[k])]++);
    c.row_idx[to] = a.row_idx[k];
    c.values[to] = a.values[k];
  }
  std::vector<Entry<T>> room;
  for (std::size_t j = 0; j < cols; ++j) {
    sort_column(c, static_cast<std::size_t>(c.begin[j]), static_cast<std::size_t>(c.begin[j + 1]),
                room);
  }
  if (same_place == SamePlace::summed) sum_neighbours(c);
  return c;
}

template SortedColumns<double> sorted_columns(const Triplets<double>&, SamePlace);
template SortedColumns<std::complex<double>> sorted_columns(const Triplets<std::complex<double>>&,
                                                            SamePlace);

}  // namespace krysol
