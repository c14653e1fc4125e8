// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/model/duplicates.hpp>

#include <algorithm>
#include <complex>
#include <vector>

namespace krysol {
namespace {

constexpr auto itself = ~std::uint64_t{0};

/// Entry numbers row by row, in a row by column, at a place in the order of the list.
template <class T>
Array<std::uint64_t> by_place(const Triplets<T>& a) {
  const auto rows = static_cast<std::size_t>(a.rows);
  std::vector<std::uint64_t> begin(rows + 1);
  for (const Index row : a.row_idx) ++begin[static_cast<std::size_t>(row) + 1];
  for (std::size_t i = 0; i < rows; ++i) begin[i + 1] += begin[i];
  Array<std::uint64_t> order(a.values.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    order[begin[static_cast<std::size_t>(a.row_idx[k])]++] = k;
  }
  const auto at = [&order](std::uint64_t k) {
    return order.begin() + static_cast<std::ptrdiff_t>(k);
  };
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < rows; ++i) {  // begin[i] has become the end of row i
    std::sort(at(first), at(begin[i]), [&a](std::uint64_t p, std::uint64_t q) {
      return a.col_idx[p] != a.col_idx[q] ? a.col_idx[p] < a.col_idx[q] : p < q;
    });
    first = begin[i];
  }
  return order;
}

/// For each entry the first one of its place, where that is another.
template <class T>
Array<std::uint64_t> repeated_entries(const Triplets<T>& a, DuplicatesFound& found) {
  Array<std::uint64_t> order = by_place(a);
  Array<std::uint64_t> repeats;
  std::uint64_t first_of_place = 0;
  std::uint64_t first = itself;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::uint64_t entry = order[k];
    const bool same = k > 0 && a.row_idx[entry] == a.row_idx[first_of_place] &&
                      a.col_idx[entry] == a.col_idx[first_of_place];
    if (!same) {
      first_of_place = entry;
      continue;
    }
    if (found.count++ == 0) repeats.resize(order.size(), itself);
    first = std::min(first, entry);
    repeats[entry] = first_of_place;
  }
  if (first != itself) {
    found.row = a.row_idx[first];
    found.col = a.col_idx[first];
  }
  return repeats;
}

}  // namespace

template <class T>
DuplicatesFound treat_duplicates(Triplets<T>& a, Duplicates how) {
  DuplicatesFound found;
  if (how == Duplicates::keep) return found;
  const Array<std::uint64_t> repeats = repeated_entries(a, found);
  if (found.count == 0 || how == Duplicates::reject) return found;
  Array<std::size_t> place(a.values.size());  // to which an entry has moved
  std::size_t kept = 0;
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    if (repeats[k] != itself) {
      if (how == Duplicates::sum) a.values[place[repeats[k]]] += a.values[k];
      continue;
    }
    place[k] = kept;
    a.row_idx[kept] = a.row_idx[k];
    a.col_idx[kept] = a.col_idx[k];
    a.values[kept] = a.values[k];
    ++kept;
  }
  a.row_idx.resize(kept);
  a.col_idx.resize(kept);
  a.values.resize(kept);
  return found;
}

template DuplicatesFound treat_duplicates(Triplets<double>&, Duplicates);
template DuplicatesFound treat_duplicates(Triplets<std::complex<double>>&, Duplicates);

}  // namespace krysol
