// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/matrix/host_csr.hpp>

#include <algorithm>
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
void check_lengths(const Triplets<T>& t) {
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

/// The list has entries on both sides of the diagonal: names the first on the second side.
template <class T>
[[noreturn]] void refuse_both_triangles(const Triplets<T>& t) {
  const auto next = [&t](std::size_t k, auto wanted) {
    while (!wanted(t.row_idx[k], t.col_idx[k])) ++k;
    return k;
  };
  const std::size_t one = next(0, [](Index row, Index col) { return row != col; });
  const bool below = t.row_idx[one] > t.col_idx[one];
  const std::size_t other =
      next(one, [below](Index row, Index col) { return below ? row < col : row > col; });
  throw std::invalid_argument(fmt::format(
      "krysol::to_csr: entry {} at row {}, column {} lies {} the diagonal, and entry {} at row {}, "
      "column {} {} it (all counted from 0); a {} list gives one triangle, which is mirrored. If "
      "it gives both, pass Triangles::both, or declare it general",
      other, t.row_idx[other], t.col_idx[other], below ? "above" : "below", one, t.row_idx[one],
      t.col_idx[one], below ? "below" : "above", to_string(t.symmetry)));
}

/// Whether a value may stand on the diagonal of a matrix with that symmetry, which is where
/// v = mirrored(v).
template <class T>
bool fits_diagonal(const T& v, Symmetry symmetry) {
  if (symmetry == Symmetry::skew_symmetric) return v == T(0);
  if constexpr (is_complex<T>) {
    // Not v == conj(v): NaN is for solvers to report.
    return symmetry != Symmetry::hermitian || v.imag() == 0 || v.imag() != v.imag();
  } else {
    return true;
  }
}

template <class T>
[[noreturn]] void refuse_diagonal(const Triplets<T>& t) {
  std::size_t k = 0;
  while (t.row_idx[k] != t.col_idx[k] || fits_diagonal(t.values[k], t.symmetry)) ++k;
  if constexpr (is_complex<T>) {
    if (t.symmetry == Symmetry::hermitian) {
      throw std::invalid_argument(fmt::format(
          "krysol::to_csr: the diagonal of a hermitian matrix is real, entry {} at row {}, column "
          "{} (all counted from 0) has the imaginary part {}",
          k, t.row_idx[k], t.col_idx[k], t.values[k].imag()));
    }
  }
  throw std::invalid_argument(fmt::format(
      "krysol::to_csr: the diagonal of a skew-symmetric matrix is zero, entry {} at row {}, column "
      "{} (all counted from 0) is not",
      k, t.row_idx[k], t.col_idx[k]));
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

/// What is seen on the way through all entries.
struct SidesSeen {
  bool inside = true;  // no entry of any row lies outside the matrix
  bool above = false;  // the diagonal
  bool below = false;
};

/// Counts the entries of the rows of `mine`, that of row i in row_ptr[i + 1]. A row or column
/// outside the matrix belongs to no range.
template <class T>
SidesSeen count_entries(const Triplets<T>& t, bool mirror, const RowRange& mine, Offset* row_ptr) {
  const std::size_t stored = t.values.size();
  SidesSeen seen;
  for (std::size_t k = 0; k < stored; ++k) {
    const Index row = t.row_idx[k];
    const Index col = t.col_idx[k];
    seen.inside &= is_inside(t, k);
    seen.above |= row < col;
    seen.below |= row > col;
    if (mine.has(row)) ++row_ptr[row + 1];
    if (mirror && row != col && mine.has(col)) ++row_ptr[col + 1];
  }
  return seen;
}

/// What is seen of values while they are put into rows.
struct Filled {
  std::int64_t zero_entries = 0;  // of those that are stored
  bool wrong_diagonal = false;    // something that the symmetry does not allow there
};

/// Puts the entries of the rows of `mine` to where next[row] says, which moves on.
template <class T>
Filled fill_rows(const Triplets<T>& t, bool mirror, const RowRange& mine, Offset* next,
                 Index* col_idx, DeviceScalar<T>* values) {
  const Symmetry symmetry = t.symmetry;
  const std::size_t stored = t.values.size();
  Filled filled;
  for (std::size_t k = 0; k < stored; ++k) {
    const Index row = t.row_idx[k];
    const Index col = t.col_idx[k];
    if (mine.has(row)) {
      const Offset place = next[row]++;
      col_idx[place] = col;
      values[place] = device_scalar(t.values[k]);
      filled.zero_entries += t.values[k] == T(0) ? 1 : 0;
      if (row == col && !fits_diagonal(t.values[k], symmetry)) filled.wrong_diagonal = true;
    }
    if (mirror && row != col && mine.has(col)) {
      const Offset place = next[col]++;
      col_idx[place] = row;
      values[place] = device_scalar(mirrored(t.values[k], symmetry));
    }
  }
  return filled;
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
Assembled<DeviceScalar<T>> to_csr(const Triplets<T>& t, Triangles given) {
  using S = DeviceScalar<T>;
  ensure_kokkos();
  check_lengths(t);
  const bool mirror = t.symmetry != Symmetry::general && given == Triangles::one;
  const int threads = Host().concurrency();
  Assembled<S> out;
  HostCsr<S>& a = out.matrix;
  a.rows = t.rows;
  a.cols = t.cols;
  a.row_ptr = zeros<Offset>(Host{}, "csr.row_ptr", std::int64_t{t.rows} + 1);
  Offset* const row_ptr = a.row_ptr.data();
  const auto seen = of_each_range<SidesSeen>(
      "krysol::to_csr(count)", equal_ranges(t.rows, threads),
      [&](const RowRange& mine) { return count_entries(t, mirror, mine, row_ptr); });
  // Each range has seen all entries.
  if (!seen.front().inside) refuse_outside(t);
  if (mirror && seen.front().above && seen.front().below) refuse_both_triangles(t);
  for (Index i = 0; i < t.rows; ++i) row_ptr[i + 1] += row_ptr[i];
  const Offset expanded = row_ptr[t.rows];

  // row_ptr[i] moves to the end of row i while it is filled, which is where row i + 1 begins.
  a.col_idx = allocate<decltype(a.col_idx)>("csr.col_idx", expanded);
  a.values = allocate<decltype(a.values)>("csr.values", expanded);
  Index* const col_idx = a.col_idx.data();
  S* const values = a.values.data();
  const auto filled = of_each_range<Filled>(
      "krysol::to_csr(fill)", ranges_of_work(row_ptr, t.rows, threads),
      [&](const RowRange& mine) { return fill_rows(t, mirror, mine, row_ptr, col_idx, values); });
  for (const Filled& f : filled) {
    if (f.wrong_diagonal) refuse_diagonal(t);
    out.explicit_zeros += f.zero_entries;
  }
  std::copy_backward(row_ptr, row_ptr + t.rows, row_ptr + t.rows + 1);
  row_ptr[0] = 0;

  finish_rows(out, mirror ? t.symmetry : Symmetry::general);
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

template Assembled<float> to_csr(const Triplets<float>&, Triangles);
template Assembled<double> to_csr(const Triplets<double>&, Triangles);
template Assembled<Kokkos::complex<float>> to_csr(const Triplets<std::complex<float>>&, Triangles);
template Assembled<Kokkos::complex<double>> to_csr(const Triplets<std::complex<double>>&,
                                                   Triangles);

}  // namespace krysol
