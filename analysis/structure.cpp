// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/analysis/structure.hpp>

#include <cstdint>

namespace krysol::analysis {
namespace {

std::size_t bin_of(std::int64_t length) {
  std::size_t bin = 0;
  for (; length > 0; length /= 2) ++bin;
  return bin;
}

/// The number that stands `at` when `zeros` zeros and those of the list are sorted.
double number_at(std::vector<std::int64_t>& list, std::int64_t zeros, std::int64_t at) {
  if (at < zeros) return 0;
  const auto place = list.begin() + (at - zeros);
  std::nth_element(list.begin(), place, list.end());
  return static_cast<double>(*place);
}

/// The first column that is not kept.
std::int64_t first_gap(const Columns& columns) {
  std::int64_t q = 0;
  for (const Index j : columns.kept) {
    if (j != q) break;
    ++q;
  }
  return q;
}

struct Spread {
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  double distance = 0;  // sum |i - j|

  void operator+=(const Spread& o) {
    lower = std::max(lower, o.lower);
    upper = std::max(upper, o.upper);
    distance += o.distance;
  }
};

/// Row i counts as row number(i).
template <class Number>
std::int64_t lower_profile(const Pattern& a, const Number& number) {
  return over_rows<std::int64_t>("krysol::profile", a.rows, [&](std::int64_t i, std::int64_t& sum) {
    const Offset begin = a.row_ptr[i];
    if (begin < a.row_ptr[i + 1]) sum += std::max<std::int64_t>(0, number(i) - a.col_idx[begin]);
  });
}

struct BlockCount {
  std::int64_t blocks = 0;
  std::int64_t full = 0;
  std::int64_t places = 0;

  void operator+=(const BlockCount& o) {
    blocks += o.blocks;
    full += o.full;
    places += o.places;
  }
};

/// Counts blocks of b x b, block row by block row.
class BlockCounter {
 public:
  BlockCounter(const Pattern& a, Index b) : a_(a), b_(b) {
    const std::int64_t block_cols = (std::int64_t{a.cols} + b - 1) / b;
    if (block_cols <= least_to_sort || block_cols <= a.nnz()) {
      stored_.assign(static_cast<std::size_t>(block_cols), 0);
    }
  }

  void add_block_row(std::int64_t block_row, BlockCount& count) {
    first_ = block_row * b_;
    last_ = std::min<std::int64_t>(a_.rows, first_ + b_);
    if (stored_.empty()) {
      add_sorted(count);
    } else {
      add_marked(count);
    }
  }

 private:
  static constexpr std::int64_t least_to_sort = 1 << 20;

  void add_marked(BlockCount& count) {
    found_.clear();
    for (Offset k = a_.row_ptr[first_]; k < a_.row_ptr[last_]; ++k) {
      const Index block = a_.col_idx[k] / b_;
      std::uint8_t& stored = stored_[static_cast<std::size_t>(block)];
      if (stored == 0) found_.push_back(block);
      ++stored;
    }
    for (const Index block : found_) {
      std::uint8_t& stored = stored_[static_cast<std::size_t>(block)];
      add_block(block, stored, count);
      stored = 0;
    }
  }
  void add_sorted(BlockCount& count) {
    found_.clear();
    for (Offset k = a_.row_ptr[first_]; k < a_.row_ptr[last_]; ++k) {
      found_.push_back(a_.col_idx[k] / b_);
    }
    std::sort(found_.begin(), found_.end());
    for (auto begin = found_.begin(); begin != found_.end();) {
      const auto end =
          std::find_if(begin, found_.end(), [&](Index other) { return other != *begin; });
      add_block(*begin, end - begin, count);
      begin = end;
    }
  }
  void add_block(Index block, std::int64_t stored, BlockCount& count) const {
    const std::int64_t width = std::min<std::int64_t>(b_, a_.cols - std::int64_t{block} * b_);
    const std::int64_t places = (last_ - first_) * width;
    ++count.blocks;
    count.places += places;
    if (stored == places) ++count.full;
  }

  Pattern a_;
  Index b_;
  std::int64_t first_ = 0;  // rows of the current block row
  std::int64_t last_ = 0;
  std::vector<std::uint8_t> stored_;  // [block columns] its places in each block, 64 at most
  std::vector<Index> found_;
};

BlockSize count_blocks(const Pattern& a, Index b) {
  const std::int64_t block_rows = (std::int64_t{a.rows} + b - 1) / b;
  // One counter a thread; the counts are integers, so that their sum depends on no order.
  const std::int64_t parts = std::min<std::int64_t>(block_rows, Host().concurrency());
  std::vector<BlockCount> counts(static_cast<std::size_t>(parts));
  host_for_much("krysol::blocks", parts, a.nnz(), [&](std::int64_t p) {
    BlockCounter counter(a, b);
    BlockCount mine;
    const std::int64_t last = block_rows * (p + 1) / parts;
    for (std::int64_t r = block_rows * p / parts; r < last; ++r) counter.add_block_row(r, mine);
    counts[static_cast<std::size_t>(p)] = mine;
  });
  BlockCount total;
  for (const BlockCount& c : counts) total += c;
  BlockSize out{static_cast<int>(b), total.blocks, total.full, 0};
  if (total.places > 0) out.fill = static_cast<double>(a.nnz()) / static_cast<double>(total.places);
  return out;
}

}  // namespace

Lengths lengths_of(const Offset* row_ptr, Index n) {
  Columns all;
  all.cols = n;
  return lengths_of(row_ptr, n, all);
}

Lengths lengths_of(const Offset* row_ptr, Index n, const Columns& columns) {
  Lengths out;
  if (columns.cols == 0) return out;
  const std::int64_t empty = std::int64_t{columns.cols} - n;  // that are not among the n
  std::vector<std::int64_t> length(static_cast<std::size_t>(n));
  out.mean = static_cast<double>(row_ptr[n]) / columns.cols;
  double square = static_cast<double>(empty) * out.mean * out.mean;
  out.histogram.push_back(empty);
  for (Index i = 0; i < n; ++i) {
    const std::int64_t l = row_ptr[i + 1] - row_ptr[i];
    length[static_cast<std::size_t>(i)] = l;
    square += (static_cast<double>(l) - out.mean) * (static_cast<double>(l) - out.mean);
    const std::size_t bin = bin_of(l);
    if (out.histogram.size() <= bin) out.histogram.resize(bin + 1);
    ++out.histogram[bin];
    if (l == 0 && out.empty.count++ == 0) out.empty.first = i;
  }
  if (empty > 0) out.empty = {empty, first_gap(columns)};
  out.deviation = std::sqrt(square / columns.cols);
  out.shortest = empty > 0 ? 0 : *std::min_element(length.begin(), length.end());
  out.longest = n > 0 ? *std::max_element(length.begin(), length.end()) : 0;
  out.median = (number_at(length, empty, (columns.cols - 1) / 2) +
                number_at(length, empty, columns.cols / 2)) /
               2;
  return out;
}

Band band_of(const Pattern& a, const Pattern& transposed, const Columns& columns) {
  const auto spread = over_rows<Spread>("krysol::band", a.rows, [&](std::int64_t i, Spread& s) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const std::int64_t below = i - a.col_idx[k];
      s.lower = std::max(s.lower, below);
      s.upper = std::max(s.upper, -below);
      s.distance += static_cast<double>(std::abs(below));
    }
  });
  Band out{spread.lower, spread.upper, 0, 0, 0};
  out.lower_profile = lower_profile(a, [](std::int64_t i) { return i; });
  out.upper_profile = lower_profile(transposed, [&](std::int64_t q) { return columns.number(q); });
  if (a.nnz() > 0) out.mean_distance = spread.distance / static_cast<double>(a.nnz());
  return out;
}

Components components_of(const Pattern& a, bool square) {
  Components out;
  out.of_rows_and_columns = !square;
  const std::int64_t first_col = out.of_rows_and_columns ? a.rows : 0;
  const std::int64_t vertices = first_col + a.cols;
  DisjointSets sets(vertices);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      sets.join(i, first_col + a.col_idx[k]);
    }
  }
  std::vector<std::int64_t> size(static_cast<std::size_t>(vertices), 0);
  for (std::int64_t v = 0; v < vertices; ++v) ++size[static_cast<std::size_t>(sets.find(v))];
  for (const std::int64_t s : size) {
    if (s == 0) continue;
    ++out.count;
    out.largest = std::max(out.largest, s);
    if (s == 1) ++out.isolated;
  }
  return out;
}

Blocks blocks_of(const Pattern& a) {
  Blocks out;
  double fewest = 12 * static_cast<double>(a.nnz());
  for (std::size_t k = 0; k < out.sizes.size(); ++k) {
    const auto b = static_cast<Index>(k + 2);
    out.sizes[k] = count_blocks(a, b);
    const double bytes = static_cast<double>(out.sizes[k].blocks) * (8.0 * b * b + 4);
    if (bytes >= fewest) continue;
    fewest = bytes;
    out.best = b;
  }
  return out;
}

}  // namespace krysol::analysis
