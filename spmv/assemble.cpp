// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/csr.hpp>

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <krysol/spmv/finish_rows.hpp>
#include <krysol/spmv/spaces.hpp>

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

template <class S>
S mirrored(const S& v, Symmetry symmetry) {
  if (symmetry == Symmetry::skew_symmetric) return -v;
  return symmetry == Symmetry::hermitian ? conjugate(v) : v;
}

/// Calls visit(begin, end) for as many parts of [0, n) as there are threads.
template <class Visit>
void in_chunks(const char* label, std::size_t n, const Visit& visit) {
  const auto chunks = static_cast<std::size_t>(Host().concurrency());
  host_for(label, static_cast<std::int64_t>(chunks), [&](std::int64_t p) {
    const auto at = static_cast<std::size_t>(p);
    visit(n * at / chunks, n * (at + 1) / chunks);
  });
}

template <class T>
void check_triplets(const Triplets<T>& t) {
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
  const auto outside = [&t](std::size_t k) {
    return t.row_idx[k] < 0 || t.row_idx[k] >= t.rows || t.col_idx[k] < 0 || t.col_idx[k] >= t.cols;
  };
  std::atomic<std::size_t> first_outside{t.values.size()};
  in_chunks("krysol::to_csr(check)", t.values.size(), [&](std::size_t begin, std::size_t end) {
    std::size_t k = begin;
    while (k < end && !outside(k)) ++k;
    std::size_t before = first_outside;
    while (k < end && k < before && !first_outside.compare_exchange_weak(before, k)) {
    }
  });
  const std::size_t k = first_outside;
  if (k == t.values.size()) return;
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
    return static_cast<std::uint32_t>(row - first) < static_cast<std::uint32_t>(last - first);
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

/// Calls visit(range number, row, k, mirrored) for the entries of each range's rows, in the order
/// in which they stand.
template <class T, class Visit>
void for_each_place(const char* label, const Triplets<T>& t, const std::vector<RowRange>& ranges,
                    const Visit& visit) {
  const bool mirror = t.symmetry != Symmetry::general;
  const Index* row_idx = t.row_idx.data();
  const Index* col_idx = t.col_idx.data();
  const std::size_t stored = t.values.size();
  host_for(label, static_cast<std::int64_t>(ranges.size()), [&](std::int64_t p) {
    const RowRange mine = ranges[static_cast<std::size_t>(p)];
    for (std::size_t k = 0; k < stored; ++k) {
      const Index row = row_idx[k];
      if (mine.has(row)) visit(row, k, false);
      if (!mirror) continue;
      const Index col = col_idx[k];
      if (row != col && mine.has(col)) visit(col, k, true);
    }
  });
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
  auto copy = fresh<V>(label, kept);
  Kokkos::deep_copy(copy, part);
  return copy;
}

}  // namespace

template <class T>
Assembled<DeviceScalar<T>> to_csr(const Triplets<T>& t) {
  using S = DeviceScalar<T>;
  check_triplets(t);
  const int threads = Host().concurrency();
  Assembled<S> out;
  HostCsr<S>& a = out.matrix;
  a.rows = t.rows;
  a.cols = t.cols;
  a.row_ptr = zeros<Offset>(Host{}, "csr.row_ptr", std::int64_t{t.rows} + 1);
  Offset* const row_ptr = a.row_ptr.data();
  for_each_place("krysol::to_csr(count)", t, equal_ranges(t.rows, threads),
                 [=](Index row, std::size_t, bool) { ++row_ptr[row + 1]; });
  for (Index i = 0; i < t.rows; ++i) row_ptr[i + 1] += row_ptr[i];
  const Offset expanded = row_ptr[t.rows];

  // row_ptr[i] moves to the end of row i while it is filled, which is where row i + 1 begins.
  a.col_idx = fresh<decltype(a.col_idx)>("csr.col_idx", expanded);
  a.values = fresh<decltype(a.values)>("csr.values", expanded);
  Index* const col_idx = a.col_idx.data();
  S* const values = a.values.data();
  const std::vector<RowRange> ranges = ranges_of_work(row_ptr, t.rows, threads);
  for_each_place("krysol::to_csr(fill)", t, ranges, [&](Index row, std::size_t k, bool other) {
    const Offset place = row_ptr[row]++;
    const S v = device_scalar(t.values[k]);
    col_idx[place] = other ? t.row_idx[k] : t.col_idx[k];
    values[place] = other ? mirrored(v, t.symmetry) : v;
  });
  std::copy_backward(row_ptr, row_ptr + t.rows, row_ptr + t.rows + 1);
  row_ptr[0] = 0;

  std::atomic<std::int64_t> zero_entries{0};
  in_chunks("krysol::to_csr(zeros)", t.values.size(), [&](std::size_t begin, std::size_t end) {
    const auto from = t.values.begin();
    zero_entries += std::count(from + static_cast<std::ptrdiff_t>(begin),
                               from + static_cast<std::ptrdiff_t>(end), T(0));
  });
  out.explicit_zeros = zero_entries;
  finish_rows(out, t.symmetry);
  return out;
}

template <class S>
void finish_rows(Assembled<S>& out, Symmetry symmetry, bool scarce) {
  HostCsr<S>& a = out.matrix;
  const Offset* const row_ptr = a.row_ptr.data();
  const auto ranges = ranges_of_work(row_ptr, a.rows, Host().concurrency());
  std::vector<Repeated> repeated(ranges.size());
  Index* const col_idx = a.col_idx.data();
  S* const values = a.values.data();
  host_for("krysol::finish_rows", static_cast<std::int64_t>(ranges.size()), [&](std::int64_t p) {
    const auto at = static_cast<std::size_t>(p);
    repeated[at] = sort_rows(ranges[at], row_ptr, col_idx, values);
  });
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
  set_schedule(a, CsrSchedule::automatic);
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
