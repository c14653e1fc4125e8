// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/kernels/row_patterns.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <unordered_map>

#include <fmt/core.h>
#include <krysol/spmv/base/spaces.hpp>

namespace krysol {
namespace {

constexpr std::size_t most_patterns = 65536;

template <class S>
struct Rows {
  const Offset* row_ptr;
  const Index* col_idx;
  const S* values;
  bool with_values;

  Offset length(Index i) const { return row_ptr[i + 1] - row_ptr[i]; }

  bool alike(Index i, Index j) const {
    const Offset n = length(i);
    if (n != length(j)) return false;
    const Index* a = col_idx + row_ptr[i];
    const Index* b = col_idx + row_ptr[j];
    const Index shift = i - j;
    // In pieces that a compiler turns into vector compares, so that most differences end it early.
    constexpr Offset piece = 8;
    Offset k = 0;
    for (; k + piece <= n; k += piece) {
      Index differ = 0;
      for (Offset l = 0; l < piece; ++l) differ |= (a[k + l] - b[k + l]) ^ shift;
      if (differ != 0) return false;
    }
    for (; k < n; ++k) {
      if (a[k] - b[k] != shift) return false;
    }
    return !with_values || std::memcmp(values + row_ptr[i], values + row_ptr[j],
                                       static_cast<std::size_t>(n) * sizeof(S)) == 0;
  }

  std::uint64_t hash(Index i) const {
    constexpr std::uint64_t factor = 0x9E3779B97F4A7C15U;
    auto h = static_cast<std::uint64_t>(length(i)) * factor;
    const auto mix = [&h](std::uint64_t word) {
      h = (h ^ word) * factor;
      h ^= h >> 29U;
    };
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      mix(static_cast<std::uint64_t>(std::int64_t{col_idx[k]} - i));
      if (!with_values) continue;
      std::array<std::uint64_t, sizeof(S) / 8 + (sizeof(S) < 8 ? 1 : 0)> words{};
      std::memcpy(words.data(), values + k, sizeof(S));
      for (const std::uint64_t w : words) mix(w);
    }
    return h;
  }
};

constexpr Index remembered = 4;  // patterns that are compared before any is looked up

/// The patterns seen so far, and the last few of them, which the next row most likely has.
template <class S>
class Patterns {
 public:
  explicit Patterns(const Rows<S>& rows) : rows_(rows) { recent_.fill(-1); }

  Index kind_of(Index i) {
    for (std::size_t r = 0; r < recent_.size() && recent_[r] >= 0; ++r) {
      const Index pattern = recent_[r];
      if (!rows_.alike(i, first_row[static_cast<std::size_t>(pattern)])) continue;
      std::rotate(recent_.begin(), recent_.begin() + static_cast<std::ptrdiff_t>(r),
                  recent_.begin() + static_cast<std::ptrdiff_t>(r) + 1);
      return pattern;
    }
    const Index pattern = search(i);
    std::rotate(recent_.begin(), recent_.end() - 1, recent_.end());
    recent_[0] = pattern;
    return pattern;
  }

  std::vector<Index> first_row;
  Offset list_entries = 0;
  std::int64_t searches = 0;  // rows like none of the last few patterns

 private:
  Index search(Index i) {
    ++searches;
    const auto [from, to] = by_hash_.equal_range(rows_.hash(i));
    for (auto it = from; it != to; ++it) {
      if (rows_.alike(i, first_row[static_cast<std::size_t>(it->second)])) return it->second;
    }
    const auto pattern = static_cast<Index>(first_row.size());
    by_hash_.emplace(rows_.hash(i), pattern);
    first_row.push_back(i);
    list_entries += rows_.length(i);
    return pattern;
  }

  const Rows<S>& rows_;
  std::unordered_multimap<std::uint64_t, Index> by_hash_;
  std::array<Index, static_cast<std::size_t>(remembered)> recent_{};  // latest first
};

/// What patterns and their lists may be. All of it grows with the rows looked at and none of it
/// depends on which they are, so that a part of the rows may stop at it for all.
struct Limit {
  Offset nnz;
  Index rows;
  Offset always;  // entries of lists

  bool exceeded(std::size_t patterns, Offset list_entries) const {
    if (patterns > most_patterns || list_entries > std::numeric_limits<Index>::max()) return true;
    return list_entries > always &&
           (list_entries > nnz / 8 || patterns > static_cast<std::size_t>(rows) / 4);
  }
  [[noreturn]] void refuse(std::string_view format, std::size_t patterns, std::int64_t seen,
                           Offset list_entries) const {
    throw FormatRefusal(fmt::format(
        "{}: too few rows are alike: {} patterns among {} of {} rows, whose lists hold {} of {} "
        "nonzeros; {} patterns, a quarter of the rows and an eighth of the nonzeros are the most "
        "that "
        "pay",
        format, patterns, seen, rows, list_entries, nnz, most_patterns));
  }
};

struct SeenRows {
  std::int64_t all = 0;
  std::int64_t single = 0;    // of a pattern that no other has
  std::int64_t followed = 0;  // behind as many others of their run as are remembered
  std::int64_t searched = 0;  // of these, like none of the last few patterns
  std::int64_t behind = 0;    // behind another of their run
  std::int64_t alike = 0;     // of these, like that one
};

/// `runs` runs of `length` rows from all over the matrix.
template <class S>
SeenRows look_at_runs(Index rows, Index runs, Index length, Patterns<S>& patterns) {
  SeenRows seen;
  std::vector<std::int64_t> of_pattern;
  std::int64_t searches = 0;
  std::size_t before = 0;
  const Index stride = std::max<Index>(length, rows / runs);
  for (std::int64_t first = 0; first < rows; first += stride) {
    const auto last = std::min<std::int64_t>(rows, first + length);
    for (std::int64_t i = first; i < last; ++i) {
      const auto pattern = static_cast<std::size_t>(patterns.kind_of(static_cast<Index>(i)));
      if (pattern == of_pattern.size()) of_pattern.push_back(0);
      ++of_pattern[pattern];
      if (i == first + remembered - 1) searches = patterns.searches;
      if (i > first) seen.alike += pattern == before ? 1 : 0;
      before = pattern;
    }
    seen.behind += last - first - 1;
    // Before that a whole conversion remembers rows which are not of the sample.
    if (last - first <= remembered) continue;
    seen.searched += patterns.searches - searches;
    seen.followed += last - first - remembered;
  }
  for (const std::int64_t n : of_pattern) {
    seen.all += n;
    seen.single += n == 1 ? 1 : 0;
  }
  return seen;
}

/// Refuses a matrix whose rows mostly differ, by a few of them.
template <class S>
void look_at_sample(std::string_view format, const Rows<S>& rows, const Limit& limit) {
  constexpr Index runs = 64;
  constexpr Index length = 64;
  constexpr Index few = 4 * runs * length;  // rows that all cores look at in as much time
  if (limit.nnz <= limit.always || limit.rows <= few) return;
  Patterns<S> patterns(rows);
  const std::int64_t seen = look_at_runs(limit.rows, runs, length, patterns).all;
  if (2 * static_cast<std::int64_t>(patterns.first_row.size()) > seen) {
    limit.refuse(format, patterns.first_row.size(), seen, patterns.list_entries);
  }
}

/// Entries of lists that are allowed whatever the matrix.
Offset always_allowed(std::size_t entry_bytes, bool with_values) {
  return Offset{always_allowed_bytes} /
         static_cast<Offset>(sizeof(Index) + (with_values ? entry_bytes : 0));
}

}  // namespace

double RowSample::conversion() const {
  // One like the last few is recognised, one like any other is looked up by its hash, and one
  // unlike all before it is copied and masked too: on bfly, where each row is looked up, 6 times as
  // long as on a grid, and 11 times where all rows differ.
  constexpr double search = 5;
  constexpr double list = 5;
  return 1 + search * searched + list * single;
}

double RowSample::over_csr(bool own_values, double mean_row) const {
  // Grids 0.27 to 0.5 of csr, own values 0.35 to 0.53; where rows differ from their neighbours 1.45
  // and 1.56 at 2 nonzeros a row, 1.14 and 1.3 at 4, 0.5 and 0.9 at 66.
  const double together = own_values ? 0.45 : 0.35;
  const double row = std::max(mean_row, 1.0);
  const double apart = own_values ? 0.8 + 1.5 / row : 0.4 + 2.6 / row;
  return alike * together + (1 - alike) * apart;
}

RowSample sample_rows(const MatrixProfile& matrix, bool with_values) {
  return matrix.visit([with_values]<class S>(const HostCsr<S>& a) -> RowSample {
    const Rows<S> rows{a.row_ptr.data(), a.col_idx.data(), a.values.data(), with_values};
    RowSample sample;
    const auto look = [&](Index runs, Index length) {
      Patterns<S> patterns(rows);
      const SeenRows seen = look_at_runs(a.rows, runs, length, patterns);
      const std::size_t differ = patterns.first_row.size();
      const auto share = [](auto part, auto all) {
        return all > 0 ? static_cast<double>(part) / static_cast<double>(all) : 0;
      };
      sample.differing = share(differ, seen.all);
      sample.single = share(seen.single, seen.all);
      sample.searched = share(seen.searched, seen.followed);
      sample.alike = share(seen.alike, seen.behind);
      sample.refusal = fmt::format("of {} rows sampled {} differ", seen.all, differ);
    };
    const bool may_refuse = a.nnz() > always_allowed(sizeof(S), with_values);
    if (may_refuse) look(4, 16);  // enough where no two are alike
    if (!may_refuse || sample.differing < 1) look(16, 16);
    bool refuses = may_refuse && sample.differing > 0.75;
    if (refuses && sample.differing <= 15.0 / 16) {
      constexpr Index small = 65536;  // rows: a look at some thousand of them is half a conversion
      refuses = a.rows > small;
      if (refuses) {
        look(64, 64);  // some thousand patterns: as find_patterns looks at them
        refuses = sample.differing > 0.5;
      }
    }
    if (!refuses) sample.refusal.clear();
    return sample;
  });
}

template <class S>
RowPatterns find_patterns(std::string_view format, const HostCsr<S>& a, bool with_values) {
  const Rows<S> rows{a.row_ptr.data(), a.col_idx.data(), a.values.data(), with_values};
  const Limit limit{a.nnz(), a.rows, always_allowed(sizeof(S), with_values)};
  look_at_sample(format, rows, limit);
  RowPatterns found;
  found.of_row.resize(static_cast<std::size_t>(a.rows));

  // Each piece numbers its patterns for itself; those of the pieces are then masked in order, so
  // that the numbers do not depend on the pieces.
  constexpr Index shortest_piece = 4096;
  const Index pieces =
      std::clamp<Index>(a.rows / shortest_piece, 1, static_cast<Index>(Host().concurrency()));
  const auto begin = [&](Index p) { return static_cast<Index>(std::int64_t{a.rows} * p / pieces); };
  std::vector<Patterns<S>> of_piece(static_cast<std::size_t>(pieces), Patterns<S>(rows));
  std::vector<Index> stopped(static_cast<std::size_t>(pieces), -1);
  host_for("krysol::find_patterns", pieces, [&](std::int64_t p) {
    Patterns<S>& mine = of_piece[static_cast<std::size_t>(p)];
    const Index last = begin(static_cast<Index>(p) + 1);
    for (Index i = begin(static_cast<Index>(p)); i < last; ++i) {
      const Index pattern = mine.kind_of(i);
      if (limit.exceeded(mine.first_row.size(), mine.list_entries)) {
        stopped[static_cast<std::size_t>(p)] = i;
        return;
      }
      found.of_row[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(pattern);
    }
  });
  Patterns<S> all(rows);
  for (Index p = 0; p < pieces; ++p) {
    const Patterns<S>& mine = of_piece[static_cast<std::size_t>(p)];
    if (const Index i = stopped[static_cast<std::size_t>(p)]; i >= 0) {
      limit.refuse(format, mine.first_row.size(), i - begin(p) + 1, mine.list_entries);
    }
    std::vector<std::uint16_t> renamed;
    for (const Index first : mine.first_row) {
      renamed.push_back(static_cast<std::uint16_t>(all.kind_of(first)));
      if (limit.exceeded(all.first_row.size(), all.list_entries)) {
        limit.refuse(format, all.first_row.size(), begin(p + 1), all.list_entries);
      }
    }
    if (p == 0) continue;  // the same numbers
    host_for("krysol::find_patterns(rename)", begin(p + 1) - begin(p), [&](std::int64_t k) {
      auto& pattern = found.of_row[static_cast<std::size_t>(begin(p) + k)];
      pattern = renamed[pattern];
    });
  }
  found.first_row = std::move(all.first_row);
  found.pattern_ptr = {0};
  for (const Index i : found.first_row) {
    found.pattern_ptr.push_back(found.pattern_ptr.back() + static_cast<Index>(rows.length(i)));
  }
  return found;
}

template <class S>
std::vector<Index> offsets_of(const RowPatterns& patterns, const HostCsr<S>& a) {
  std::vector<Index> offset;
  offset.reserve(static_cast<std::size_t>(patterns.pattern_ptr.back()));
  for (const Index i : patterns.first_row) {
    for (Offset k = a.row_ptr.data()[i]; k < a.row_ptr.data()[i + 1]; ++k) {
      offset.push_back(a.col_idx.data()[k] - i);
    }
  }
  return offset;
}

#define KRYSOL_INSTANTIATE(S)                                                    \
  template RowPatterns find_patterns(std::string_view, const HostCsr<S>&, bool); \
  template std::vector<Index> offsets_of(const RowPatterns&, const HostCsr<S>&);
KRYSOL_FOR_EACH_ENTRY(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
