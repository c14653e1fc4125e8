// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/matrix/host_csr.hpp>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <krysol/spmv/base/runtime.hpp>
#include <krysol/spmv/base/spaces.hpp>
#include <krysol/spmv/matrix/finish_rows.hpp>

namespace krysol {
namespace {

template <class T>
DeviceScalar<T> device_scalar(const T& v) {
  if constexpr (is_complex<T>) {
    return {v.real(), v.imag()};
  } else {
    return v;
  }
}

template <class T>
void check_sizes(const Triplets<T>& t) {
  if (t.row_idx.size() != t.values.size() || t.col_idx.size() != t.values.size()) {
    throw std::invalid_argument(
        fmt::format("krysol::to_csr: {} row indices, {} column indices and {} values; the three "
                    "arrays must be of one length",
                    t.row_idx.size(), t.col_idx.size(), t.values.size()));
  }
  if (t.rows < 0 || t.cols < 0) {
    throw std::invalid_argument(
        fmt::format("krysol::to_csr: a matrix cannot be {} x {}", t.rows, t.cols));
  }
  if (t.symmetry != Symmetry::general && t.rows != t.cols) {
    throw std::invalid_argument(
        fmt::format("krysol::to_csr: a {} matrix must be square, not {} x {}",
                    to_string(t.symmetry), t.rows, t.cols));
  }
}

template <class T>
bool is_inside(const Triplets<T>& t, std::size_t k) {  // a negative index is a large one unsigned
  return static_cast<std::uint32_t>(t.row_idx[k]) < static_cast<std::uint32_t>(t.rows) &&
         static_cast<std::uint32_t>(t.col_idx[k]) < static_cast<std::uint32_t>(t.cols);
}

template <class T>
[[noreturn]] void refuse_outside(const Triplets<T>& t) {
  std::size_t k = 0;
  while (is_inside(t, k)) ++k;
  throw std::invalid_argument(
      fmt::format("krysol::to_csr: entry {} is at row {}, column {} of a {} x {} matrix (all "
                  "counted from 0)",
                  k, t.row_idx[k], t.col_idx[k], t.rows, t.cols));
}

/// The rows [first, last), which one thread counts and fills. It looks at all entries and takes
/// those of its rows, so that a row gets its entries in the order in which they stand, whatever the
/// number of threads, without locks and without sorting: reading indices is the cheap part.
struct RowRange {
  Index first;
  Index last;

  bool has(Index row) const {
    return static_cast<std::uint32_t>(row) - static_cast<std::uint32_t>(first) <
           static_cast<std::uint32_t>(last - first);
  }
};

std::vector<RowRange> equal_ranges(Index rows, int count) {
  std::vector<RowRange> ranges;
  for (int p = 0; p < count; ++p) {
    ranges.push_back({static_cast<Index>(std::int64_t{rows} * p / count),
                      static_cast<Index>(std::int64_t{rows} * (p + 1) / count)});
  }
  return ranges;
}

/// Ranges of similar numbers of entries.
std::vector<RowRange> ranges_of_work(const Offset* row_ptr, Index rows, int count) {
  std::vector<RowRange> ranges;
  Index first = 0;
  for (int p = 1; p <= count; ++p) {
    const Offset until = row_ptr[rows] / count * p;
    const auto cut = static_cast<Index>(std::lower_bound(row_ptr, row_ptr + rows, until) - row_ptr);
    const Index last = p == count ? rows : std::max(first, cut);
    ranges.push_back({first, last});
    first = last;
  }
  return ranges;
}

/// Counts the entries of the rows of `mine`, that of row i in row_ptr[i + 1]. False where an entry
/// of any row lies outside the matrix; such a row or column is nobody's.
template <class T>
bool count_entries(const Triplets<T>& t, const RowRange& mine, Offset* row_ptr) {
  const bool mirror = t.symmetry != Symmetry::general;
  const std::size_t stored = t.values.size();
  bool inside = true;
  for (std::size_t k = 0; k < stored; ++k) {
    const Index row = t.row_idx[k];
    const Index col = t.col_idx[k];
    inside &= is_inside(t, k);
    if (mine.has(row)) ++row_ptr[row + 1];
    if (mirror && row != col && mine.has(col)) ++row_ptr[col + 1];
  }
  return inside;
}

/// Puts the entries of the rows of `mine` to where next[row] says, which moves on. Returns how many
/// of those that are stored are zero.
template <class T>
std::int64_t fill_rows(const Triplets<T>& t, const RowRange& mine, Offset* next, Index* col_idx,
                       DeviceScalar<T>* values) {
  const Symmetry symmetry = t.symmetry;
  const bool mirror = symmetry != Symmetry::general;
  const std::size_t stored = t.values.size();
  std::int64_t zero_entries = 0;
  for (std::size_t k = 0; k < stored; ++k) {
    const Index row = t.row_idx[k];
    const Index col = t.col_idx[k];
    if (mine.has(row)) {
      const Offset place = next[row]++;
      col_idx[place] = col;
      values[place] = device_scalar(t.values[k]);
      zero_entries += t.values[k] == T(0) ? 1 : 0;
    }
    if (mirror && row != col && mine.has(col)) {
      const Offset place = next[col]++;
      col_idx[place] = row;
      values[place] = device_scalar(mirrored(t.values[k], symmetry));
    }
  }
  return zero_entries;
}

/// What `of` returns of each of the ranges, a thread for each.
template <class Result, class Of>
std::vector<Result> of_each_range(const char* label, const std::vector<RowRange>& ranges,
                                  const Of& of) {
  std::vector<Result> results(ranges.size());
  host_for(label, static_cast<std::int64_t>(ranges.size()), [&](std::int64_t p) {
    const auto at = static_cast<std::size_t>(p);
    results[at] = of(ranges[at]);
  });
  return results;
}

/// Whether each is greater than the one before; without branches, as most rows of files do.
bool ascends(const Index* begin, const Index* end) {
  int wrong = 0;
  for (const Index* c = begin; end - c > 1; ++c) wrong |= c[0] < c[1] ? 0 : 1;
  return wrong == 0;
}

/// Sorts the rows of `range` by column, entries of one place in the order in which they stand, and
/// counts the places that are named again: all of them, and those not above the diagonal.
struct Repeated {
  std::int64_t all = 0;
  std::int64_t not_above = 0;
};

template <class S>
Repeated sort_rows(const RowRange& range, const Offset* row_ptr, Index* col_idx, S* values) {
  Repeated repeated;
  std::vector<std::pair<Index, S>> entries;
  for (Index i = range.first; i < range.last; ++i) {
    Index* const begin = col_idx + row_ptr[i];
    Index* const end = col_idx + row_ptr[i + 1];
    if (ascends(begin, end)) continue;
    if (!std::is_sorted(begin, end)) {
      S* value = values + row_ptr[i];
      entries.clear();
      for (const Index* c = begin; c != end; ++c) entries.emplace_back(*c, *value++);
      std::stable_sort(entries.begin(), entries.end(),
                       [](const auto& p, const auto& q) { return p.first < q.first; });
      value = values + row_ptr[i];
      Index* c = begin;
      for (const auto& [col, v] : entries) {
        *c++ = col;
        *value++ = v;
      }
    }
    for (const Index* c = begin; end - c > 1; ++c) {
      if (c[0] != c[1]) continue;
      ++repeated.all;
      if (c[0] <= i) ++repeated.not_above;
    }
  }
  return repeated;
}

/// Sums entries of one place, which stand side by side, and closes the gaps.
template <class S>
void sum_repeated(HostCsr<S>& a) {
  Index* const col_idx = a.col_idx.data();
  S* const values = a.values.data();
  Offset to = 0;
  Offset from = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.rows); ++i) {
    const Offset first = to;
    for (; from < a.row_ptr(i + 1); ++from) {
      if (to > first && col_idx[to - 1] == col_idx[from]) {
        values[to - 1] += values[from];
      } else {
        col_idx[to] = col_idx[from];
        values[to] = values[from];
        ++to;
      }
    }
    a.row_ptr(i + 1) = to;
  }
}

/// The first `kept` entries, in memory of their size where `copied`.
template <class V>
V shortened(const char* label, const V& view, Offset kept, bool copied) {
  V part =
      Kokkos::subview(view, std::pair<std::size_t, std::size_t>(0, static_cast<std::size_t>(kept)));
  if (!copied) return part;
  auto copy = allocate<V>(label, kept);
  Kokkos::deep_copy(copy, part);
  return copy;
}

}  // namespace

template <class T>
Assembled<DeviceScalar<T>> to_csr(const Triplets<T>& t) {
  using S = DeviceScalar<T>;
  ensure_kokkos();
  check_sizes(t);
  const int threads = Host().concurrency();
  Assembled<S> out;
  HostCsr<S>& a = out.matrix;
  a.rows = t.rows;
  a.cols = t.cols;
  a.row_ptr = zeros<Offset>(Host{}, "csr.row_ptr", std::int64_t{t.rows} + 1);
  Offset* const row_ptr = a.row_ptr.data();
  const auto inside = of_each_range<int>(
      "krysol::to_csr(count)", equal_ranges(t.rows, threads),
      [&](const RowRange& mine) { return count_entries(t, mine, row_ptr) ? 1 : 0; });
  if (std::find(inside.begin(), inside.end(), 0) != inside.end()) refuse_outside(t);
  for (Index i = 0; i < t.rows; ++i) row_ptr[i + 1] += row_ptr[i];
  const Offset expanded = row_ptr[t.rows];

  // row_ptr[i] moves to the end of row i while it is filled, which is where row i + 1 begins.
  a.col_idx = allocate<decltype(a.col_idx)>("csr.col_idx", expanded);
  a.values = allocate<decltype(a.values)>("csr.values", expanded);
  Index* const col_idx = a.col_idx.data();
  S* const values = a.values.data();
  const auto zero_entries = of_each_range<std::int64_t>(
      "krysol::to_csr(fill)", ranges_of_work(row_ptr, t.rows, threads),
      [&](const RowRange& mine) { return fill_rows(t, mine, row_ptr, col_idx, values); });
  for (const std::int64_t zeros : zero_entries) out.explicit_zeros += zeros;
  std::copy_backward(row_ptr, row_ptr + t.rows, row_ptr + t.rows + 1);
  row_ptr[0] = 0;

  finish_rows(out, t.symmetry);
  return out;
}

template <class S>
void finish_rows(Assembled<S>& out, Symmetry symmetry, bool scarce) {
  HostCsr<S>& a = out.matrix;
  const Offset* const row_ptr = a.row_ptr.data();
  const auto ranges = ranges_of_work(row_ptr, a.rows, Host().concurrency());
  Index* const col_idx = a.col_idx.data();
  S* const values = a.values.data();
  const auto repeated = of_each_range<Repeated>(
      "krysol::finish_rows", ranges,
      [&](const RowRange& range) { return sort_rows(range, row_ptr, col_idx, values); });
  Offset again = 0;
  for (const Repeated& r : repeated) {
    again += r.all;
    // With a symmetry each stored one comes with its mirror image, but for those on the diagonal.
    out.duplicates += symmetry == Symmetry::general ? r.all : r.not_above;
  }
  if (again > 0) {
    const Offset filled = row_ptr[a.rows];
    sum_repeated(a);
    const bool copied = !scarce && again > filled / 8;
    a.col_idx = shortened("csr.col_idx", a.col_idx, filled - again, copied);
    a.values = shortened("csr.values", a.values, filled - again, copied);
  }
}

template void finish_rows(Assembled<float>&, Symmetry, bool);
template void finish_rows(Assembled<double>&, Symmetry, bool);
template void finish_rows(Assembled<Kokkos::complex<float>>&, Symmetry, bool);
template void finish_rows(Assembled<Kokkos::complex<double>>&, Symmetry, bool);

template Assembled<float> to_csr(const Triplets<float>&);
template Assembled<double> to_csr(const Triplets<double>&);
template Assembled<Kokkos::complex<float>> to_csr(const Triplets<std::complex<float>>&);
template Assembled<Kokkos::complex<double>> to_csr(const Triplets<std::complex<double>>&);

}  // namespace krysol
