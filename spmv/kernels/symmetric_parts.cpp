// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/kernels/symmetric_parts.hpp>

#include <algorithm>
#include <limits>

#include <fmt/core.h>
#include <krysol/spmv/base/spaces.hpp>

namespace krysol {
namespace {

template <class S>
std::string value_text(const S& v) {
  if constexpr (is_complex<S>) {
    return fmt::format("({}, {})", v.real(), v.imag());
  } else {
    return fmt::format("{}", v);
  }
}

/// The place of A(row, col); -1 where nothing is stored there.
template <class S>
Offset place_of(const HostCsr<S>& a, Index row, Index col) {
  const Index* begin = a.col_idx.data() + a.row_ptr.data()[row];
  const Index* end = a.col_idx.data() + a.row_ptr.data()[row + 1];
  const Index* at = std::lower_bound(begin, end, col);
  return at != end && *at == col ? at - a.col_idx.data() : -1;
}

/// Are two entries mirror images? Two NaN are: the solvers name their row.
template <class S>
bool mirrors(const S& a, const S& b) {
  return a == conjugate(b) || (a != a && b != b);
}

/// Is the entry at k of row i the conjugate of a stored A(j, i)?
template <class S>
bool is_mirrored(const HostCsr<S>& a, Index i, Offset k) {
  const Offset mirror = place_of(a, a.col_idx.data()[k], i);
  return mirror >= 0 && mirrors(a.values.data()[mirror], a.values.data()[k]);
}

template <class S>
[[noreturn]] void refuse_pair(std::string_view format, const HostCsr<S>& a, Index i, Offset k) {
  const Index j = a.col_idx.data()[k];
  const Offset mirror = place_of(a, j, i);
  throw FormatRefusal(fmt::format(
      "{}: the matrix is not {} to the bit: A({}, {}) = {}, and A({}, {}) {} (counted from 0)",
      format, is_complex<S> ? "Hermitian" : "symmetric", i, j, value_text(a.values.data()[k]), j, i,
      mirror < 0 ? "is not stored" : "= " + value_text(a.values.data()[mirror])));
}

/// The first one of all. Only for matrices that have one.
template <class S>
[[noreturn]] void refuse_first_pair(std::string_view format, const HostCsr<S>& a) {
  std::int64_t first = a.rows;
  const auto first_in_row = [&a](Index i) {
    Offset k = a.row_ptr.data()[i];
    while (k < a.row_ptr.data()[i + 1] && is_mirrored(a, i, k)) ++k;
    return k;
  };
  Kokkos::parallel_reduce(
      "krysol::check_symmetric(first)",
      Kokkos::RangePolicy<Host, Kokkos::IndexType<std::int64_t>>(0, a.rows),
      [&](std::int64_t row, std::int64_t& least) {
        const auto i = static_cast<Index>(row);
        if (row < least && first_in_row(i) < a.row_ptr.data()[i + 1]) least = row;
      },
      Kokkos::Min<std::int64_t>(first));
  const auto row = static_cast<Index>(first);
  refuse_pair(format, a, row, first_in_row(row));
}

/// Do the entries of the rows first .. last - 1 right of the diagonal have their mirror images, and
/// are the diagonal ones real? Tile after tile of these rows, so that a tile's entries stay in
/// cache: the rows j below it are walked from top to bottom, each one on from the column where the
/// last tile has left it. As j ascends, the image of A(j, i) is the next entry of row i.
template <class S>
bool part_is_mirrored(const HostCsr<S>& a, const UpperRows& upper, Index first, Index last) {
  constexpr Offset entries_of_tile = 32768;
  constexpr Index done = std::numeric_limits<Index>::max();
  const Offset* row_ptr = upper.row_ptr;
  const Index* col_idx = upper.col_idx;
  const S* values = a.values.data();
  Index end = last;
  for (Index i = first; i < last; ++i) end = std::max(end, upper.reach_end(i));
  const auto rows = static_cast<std::size_t>(end - first);
  std::vector<Offset> next(rows);     // of row first + at, the next entry left of the diagonal
  std::vector<Index> next_col(rows);  // and its column
  std::vector<Offset> image;          // of each row of a tile, the next entry right of the diagonal
  Index met = first;                  // rows that `next` knows
  for (Index f = first; f < last;) {
    image.clear();
    Index g = f;
    Index below = f;
    for (Offset taken = 0; g < last && (g == f || taken < entries_of_tile); ++g) {
      Offset k = upper.begin(g);
      if (k < upper.end(g) && col_idx[k] == g) {
        if (!mirrors(values[k], values[k])) return false;
        ++k;
      }
      image.push_back(k);
      taken += upper.end(g) - k + 1;
      below = std::max(below, upper.reach_end(g));
    }
    for (; met < below; ++met) {
      const Index* begin = col_idx + row_ptr[met];
      const Index* diagonal = begin + upper.lower.data()[met];
      const Index* at = std::lower_bound(begin, diagonal, first);
      next[static_cast<std::size_t>(met - first)] = at - col_idx;
      next_col[static_cast<std::size_t>(met - first)] = at == diagonal ? done : *at;
    }
    for (Index j = f; j < below; ++j) {
      if (const auto soon = static_cast<std::size_t>(j - first) + 12;
          soon < rows && next_col[soon] < g) {
        prefetch(col_idx + next[soon]);
        for (Offset l = 0; l < 4; ++l) prefetch(values + next[soon] + 8 * l);
      }
      Index& col = next_col[static_cast<std::size_t>(j - first)];
      if (col >= g) continue;
      Offset& k = next[static_cast<std::size_t>(j - first)];
      const Offset diagonal = upper.begin(j);
      while (col < g) {
        if (col < f) return false;  // has no image in a tile before
        Offset& at = image[static_cast<std::size_t>(col - f)];
        if (at == upper.end(col) || col_idx[at] != j) return false;
        if (!mirrors(values[at], values[k])) return false;
        ++at;
        ++k;
        col = k < diagonal ? col_idx[k] : done;
      }
    }
    for (Index i = f; i < g; ++i) {
      if (image[static_cast<std::size_t>(i - f)] != upper.end(i)) return false;
    }
    f = g;
  }
  return true;
}

}  // namespace

template <class S>
bool may_be_symmetric(const HostCsr<S>& a) {
  if (a.rows != a.cols) return false;
  constexpr Index sample = 32;  // rows from all over the matrix
  constexpr Offset entries_of_row = 32;
  const Index stride = std::max<Index>(1, a.rows / sample);
  for (std::int64_t row = 0; row < a.rows; row += stride) {
    const auto i = static_cast<Index>(row);
    const Offset begin = a.row_ptr.data()[i];
    const Offset end = std::min(a.row_ptr.data()[i + 1], begin + entries_of_row);
    for (Offset k = begin; k < end; ++k) {
      if (!is_mirrored(a, i, k)) return false;
    }
  }
  return true;
}

template <class S>
UpperRows upper_rows(std::string_view format, const HostCsr<S>& a) {
  if (a.rows != a.cols) {
    throw FormatRefusal(fmt::format("{}: a {} x {} matrix is not square", format, a.rows, a.cols));
  }
  constexpr Index most_rows = std::numeric_limits<Index>::max() - 4096;  // loops go by tiles
  if (a.rows > most_rows) {
    throw FormatRefusal(fmt::format("{}: {} rows are more than {}", format, a.rows, most_rows));
  }
  UpperRows upper{a.row_ptr.data(), a.col_idx.data(), a.rows,
                  allocate<Kokkos::View<Index*, Kokkos::HostSpace>>("symmetric.lower", a.rows)};
  std::int64_t unsorted = a.rows;
  Offset below = 0;
  Offset above = 0;
  Kokkos::parallel_reduce(
      "krysol::upper_rows", Kokkos::RangePolicy<Host, Kokkos::IndexType<std::int64_t>>(0, a.rows),
      [&](std::int64_t row, std::int64_t& least, Offset& lower, Offset& higher) {
        const auto i = static_cast<Index>(row);
        const Index* col = upper.col_idx + upper.row_ptr[row];
        const auto n = static_cast<Index>(upper.row_ptr[row + 1] - upper.row_ptr[row]);
        Index before = n > 0 && col[0] < i ? 1 : 0;
        Index after = n > 0 && col[0] > i ? 1 : 0;
        Index falls = 0;
        for (Index k = 1; k < n; ++k) {
          before += col[k] < i ? 1 : 0;
          after += col[k] > i ? 1 : 0;
          falls += col[k] <= col[k - 1] ? 1 : 0;
        }
        upper.lower.data()[row] = before;
        lower += before;
        higher += after;
        if (falls > 0) least = std::min(least, row);
      },
      Kokkos::Min<std::int64_t>(unsorted), below, above);
  if (a.rows > 0 && unsorted < a.rows) {
    throw FormatRefusal(
        fmt::format("{}: the columns of row {} do not ascend (counted from 0)", format, unsorted));
  }
  if (below != above) refuse_first_pair(format, a);
  return upper;
}

template <class S>
void check_symmetric(std::string_view format, const HostCsr<S>& a, const UpperRows& upper,
                     const std::vector<Index>& part_row) {
  // As many entries lie below the diagonal as above it, so that none is left where each one above
  // has its own image.
  const auto parts = static_cast<std::int64_t>(part_row.size()) - 1;
  std::vector<std::uint8_t> mirrored(static_cast<std::size_t>(std::max<std::int64_t>(parts, 0)));
  host_for("krysol::check_symmetric", parts, [&](std::int64_t p) {
    const auto at = static_cast<std::size_t>(p);
    mirrored[at] = part_is_mirrored(a, upper, part_row[at], part_row[at + 1]) ? 1 : 0;
  });
  if (std::find(mirrored.begin(), mirrored.end(), 0) != mirrored.end()) {
    refuse_first_pair(format, a);
  }
}

void cut_parts(std::string_view format, Index rows, std::int64_t entry_bytes, TrianglePlan& plan) {
  constexpr std::int64_t most = 64;
  constexpr std::int64_t fewest = 4;        // what a matrix beyond the caches needs at least
  constexpr Offset least_values = 8192;     // of a part
  constexpr Offset values_of_a_carry = 24;  // values to a row of carry that make its cost small
  const auto tiles = plan.tile_end.size();
  Offset carried = 0;
  const auto cut = [&](std::int64_t parts) {
    plan.part_row.clear();
    plan.carry_ptr = {0};
    Index end = 0;
    for (std::size_t t = 0; t < tiles; ++t) {
      const auto begun = static_cast<Offset>(plan.part_row.size());
      if (begun < parts && plan.tile_value[t] >= plan.values / parts * begun) {
        const auto row = static_cast<Index>(static_cast<Offset>(t) * plan.tile);
        if (t > 0) {
          const Offset excess = std::max<Offset>(0, Offset{end} - row);
          plan.carry_ptr.push_back(plan.carry_ptr.back() +
                                   (excess > 0 ? excess + carry_margin : 0));
        }
        plan.part_row.push_back(row);
        end = 0;
      }
      end = std::max(end, plan.tile_end[t]);
    }
    if (tiles > 0) plan.carry_ptr.push_back(plan.carry_ptr.back());
    plan.part_row.push_back(rows);
    carried = plan.carry_ptr.back();
  };
  std::int64_t parts = most;
  while (parts > 1 && parts * least_values > plan.values) parts /= 2;
  for (;; parts /= 2) {
    cut(parts);
    if (values_of_a_carry * carried <= plan.values) return;
    if (parts <= fewest) break;
  }
  if (parts >= fewest && 4 * carried <= plan.values) return;
  if (plan.values * entry_bytes <= always_allowed_bytes) return cut(1);
  throw FormatRefusal(fmt::format(
      "{}: {} parts of {} rows would hand on sums of {} rows to each other, for {} stored entries, "
      "because entries are up to {} columns from the diagonal; 1 for 4 entries at most pays. "
      "Reorder the rows first, so that neighbours are near each other",
      format, parts, rows / parts, carried, plan.values, plan.reach));
}

std::string refuse_unsymmetric_sample(const MatrixProfile& matrix) {
  struct Sample {
    bool may_be_symmetric = false;
  };
  const auto& sample = matrix.once([&matrix] {
    return Sample{matrix.visit([](const auto& a) { return may_be_symmetric(a); })};
  });
  return sample.may_be_symmetric
             ? ""
             : "a sample of rows shows that the matrix is not symmetric to the bit";
}

namespace detail {
void refuse_device(std::string_view format, std::string_view space) {
  throw FormatRefusal(fmt::format(
      "{}: {} has thousands of threads, and one triangle is read in tens of parts, each from its "
      "beginning to its end; use it on a host",
      format, space));
}
}  // namespace detail

#define KRYSOL_INSTANTIATE(S)                                                          \
  template UpperRows upper_rows(std::string_view, const HostCsr<S>&);                  \
  template bool may_be_symmetric(const HostCsr<S>&);                                   \
  template void check_symmetric(std::string_view, const HostCsr<S>&, const UpperRows&, \
                                const std::vector<Index>&);
KRYSOL_FOR_EACH_ENTRY(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
