// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/formats/row_groups.hpp>

#include <algorithm>
#include <functional>

#include <fmt/core.h>

namespace krysol {
namespace {

// What a core does, in about the time of an operation on a register. A gather loads eight entries,
// two at a time; a value that is not where its lane is has to be moved there, by one or two
// operations more. Only ratios matter: they decide whether rows are taken together.
constexpr double row_of_few = 4;      // a row whose entries are added one by one, and its end
constexpr double single_entry = 1.3;  // of it
constexpr double sum_of_lanes = 10;   // of a long row, and its end
constexpr double eight_columns = 5;   // of rows with the same columns: a gather for all of them
constexpr double eight_values = 1.5;  // of each such row
constexpr double group_of_lanes = 12;
constexpr double full_column = 1.6;
constexpr double partial_column = 4;

constexpr Index most_of_same = 3;  // with more, lanes are the better place for rows

/// g rows with the same n columns.
double cost_of_same(Index g, Offset n) {
  const Offset eights = (n + 7) / 8;
  return g * sum_of_lanes + static_cast<double>(eights) * (eight_columns + eight_values * g);
}

double cost_alone(Offset n) {
  return std::min(row_of_few + single_entry * static_cast<double>(n), cost_of_same(1, n));
}

double cost_of_lanes(std::size_t full, std::size_t partial) {
  return group_of_lanes + full_column * static_cast<double>(full) +
         partial_column * static_cast<double>(partial);
}

struct ColumnsOfRows {
  const Offset* row_ptr;
  const Index* col_idx;

  Offset length(Index i) const { return row_ptr[i + 1] - row_ptr[i]; }
  const Index* begin(Index i) const { return col_idx + row_ptr[i]; }
  const Index* end(Index i) const { return col_idx + row_ptr[i + 1]; }
  bool same(Index i, Index j) const {
    return length(i) == length(j) && std::equal(begin(i), end(i), begin(j));
  }
  /// Columns that both have, where both ascend.
  Offset in_common(Index i, Index j) const {
    Offset count = 0;
    const Index* a = begin(i);
    const Index* b = begin(j);
    while (a != end(i) && b != end(j)) {
      const Index first = *a;
      const Index second = *b;
      count += first == second ? 1 : 0;
      a += first <= second ? 1 : 0;
      b += second <= first ? 1 : 0;
    }
    return count;
  }
  bool ascends(Index i) const {
    return std::adjacent_find(begin(i), end(i), std::greater_equal<>()) == end(i);
  }
};

/// A column of a group, and which rows have it.
struct SharedColumn {
  Index col;
  unsigned rows;
};

/// The rows from one on that are taken together, column by column.
class RowsAsLanes {
 public:
  explicit RowsAsLanes(const ColumnsOfRows& pattern) : pattern_(pattern) {}

  void begin_with(Index row) {
    first_ = row;
    rows_ = 1;
    columns_.clear();
    for (const Index* c = pattern_.begin(row); c != pattern_.end(row); ++c) {
      columns_.push_back({*c, 1U});
    }
    full_ = columns_.size();
  }

  /// Takes the next row in. `same`: it has the columns of all before it, which have the same.
  void add_next(bool same) {
    const unsigned bit = 1U << static_cast<unsigned>(rows_);
    const unsigned all = 2 * bit - 1;
    const Index row = first_ + rows_;
    ++rows_;
    if (same) {
      for (SharedColumn& c : columns_) c.rows = all;
      return;
    }
    joined_.clear();
    full_ = 0;
    const Index* mine = pattern_.begin(row);
    const Index* const end = pattern_.end(row);
    for (const SharedColumn& c : columns_) {
      for (; mine != end && *mine < c.col; ++mine) joined_.push_back({*mine, bit});
      joined_.push_back(c);
      if (mine != end && *mine == c.col) {
        joined_.back().rows |= bit;
        full_ += joined_.back().rows == all ? 1 : 0;
        ++mine;
      }
    }
    for (; mine != end; ++mine) joined_.push_back({*mine, bit});
    columns_.swap(joined_);
  }

  double cost() const { return cost_of_lanes(full_, columns_.size() - full_); }
  /// Of all rows that were taken in. Those of the first ones are those with a bit of theirs.
  const std::vector<SharedColumn>& columns() const { return columns_; }

 private:
  ColumnsOfRows pattern_;
  Index first_ = 0;
  Index rows_ = 0;
  std::vector<SharedColumn> columns_;  // ascending
  std::vector<SharedColumn> joined_;   // of add_next
  std::size_t full_ = 0;
};

/// Groups of some rows, with the places of columns and masks counted from the first of them.
struct Part {
  std::vector<RowGroup> group;
  std::vector<Index> col_idx;
  std::vector<std::uint8_t> mask;
  double cost = 0;
  double alone = 0;  // what the same rows would cost by themselves
};

class Grouping {
 public:
  Grouping(const ColumnsOfRows& pattern, bool host)
      : pattern_(pattern), host_(host), lanes_(pattern) {}

  Part rows(Index first, Index last) {
    Part part;
    for (Index i = first; i < last;) i += add_group(i, last, part);
    return part;
  }

 private:
  Index add_group(Index i, Index last, Part& part) {
    const Index most = std::min<Index>(largest_group, last - i);
    Index same = 1;  // rows with the columns of the first
    while (same < most && pattern_.same(i, i + same)) ++same;
    const Offset n = pattern_.length(i);
    part.group.push_back({i, -1, static_cast<Offset>(part.col_idx.size()),
                          static_cast<Offset>(part.mask.size()), pattern_.row_ptr[i]});
    Choice choice{1, false, cost_alone(n), 0};
    const Index rows = host_ ? std::min(same, most_of_same) : same;
    const double cost = cost_of_same(rows, n);
    const double saved = cost_alone(n) - cost / rows;
    if (saved > 0 || !host_) choice = {rows, false, cost, saved};
    if (host_) find_lanes(i, most, same, choice);
    if (choice.as_lanes) {
      add_lanes(choice.rows, part);
    } else {
      part.col_idx.insert(part.col_idx.end(), pattern_.begin(i), pattern_.end(i));
    }
    part.cost += choice.cost;
    for (Index r = 0; r < choice.rows; ++r) part.alone += cost_alone(pattern_.length(i + r));
    return choice.rows;
  }

  struct Choice {
    Index rows;
    bool as_lanes;
    double cost;
    double saved;  // a row
  };

  /// Whether rows i and i + 1 as lanes cost no more than row i as a lane and the next alone: what
  /// most rows of most matrices do not, found without lists.
  bool pair_pays(Index i) const {
    const auto n = static_cast<std::size_t>(pattern_.length(i));
    const auto next = static_cast<std::size_t>(pattern_.length(i + 1));
    const auto both = static_cast<std::size_t>(pattern_.in_common(i, i + 1));
    return cost_of_lanes(both, n + next - 2 * both) - cost_of_lanes(n, 0) <=
           cost_alone(pattern_.length(i + 1));
  }

  /// Takes rows from i on as lanes instead, where that saves more a row.
  void find_lanes(Index i, Index most, Index same, Choice& choice) {
    if (most == 1 || (same == 1 && !pair_pays(i)) || !pattern_.ascends(i)) return;
    double alone = cost_alone(pattern_.length(i));
    lanes_.begin_with(i);
    for (Index g = 1; g < most; ++g) {
      const bool is_same = g < same;
      if (!is_same && !pattern_.ascends(i + g)) return;
      const double row_alone = cost_alone(pattern_.length(i + g));
      const double before = lanes_.cost();
      lanes_.add_next(is_same);
      const double cost = lanes_.cost();
      if (cost - before > row_alone) return;
      alone += row_alone;
      const double saved = (alone - cost) / (g + 1);
      if (saved > choice.saved) choice = {g + 1, true, cost, saved};
    }
  }

  void add_lanes(Index rows, Part& part) const {
    const unsigned all = (1U << static_cast<unsigned>(rows)) - 1U;
    Index full = 0;
    for (const SharedColumn& c : lanes_.columns()) {
      if ((c.rows & all) != all) continue;
      part.col_idx.push_back(c.col);
      ++full;
    }
    for (const SharedColumn& c : lanes_.columns()) {
      const unsigned mine = c.rows & all;
      if (mine == 0 || mine == all) continue;
      part.col_idx.push_back(c.col);
      part.mask.push_back(static_cast<std::uint8_t>(mine));
    }
    part.group.back().full = full;
  }

  ColumnsOfRows pattern_;
  bool host_;
  RowsAsLanes lanes_;
};

/// What grouping a sample of the rows found.
struct GroupSums {
  double nnz = 0;
  double columns = 0;
  double masks = 0;
  double groups = 0;
  double cost = 0;
  double alone = 0;  // of the same rows by themselves

  void operator+=(const GroupSums& b) {
    nnz += b.nnz;
    columns += b.columns;
    masks += b.masks;
    groups += b.groups;
    cost += b.cost;
    alone += b.alone;
  }
};

/// On the host's cores; the same for any number of them.
GroupSums sample_groups(const ColumnsOfRows& pattern, Index rows, bool host) {
  constexpr Index run = 32;  // rows side by side
  constexpr Index most_runs = 16;
  const Index stride = std::max<Index>(run, rows / most_runs);
  const Index runs = rows / stride + (rows % stride != 0 ? 1 : 0);
  std::vector<GroupSums> of_run(static_cast<std::size_t>(runs));
  host_for("krysol::sample_groups", runs, [&](std::int64_t k) {
    const auto first = static_cast<Index>(k * stride);
    const auto last = static_cast<Index>(std::min<std::int64_t>(rows, k * stride + run));
    const Part part = Grouping(pattern, host).rows(first, last);
    of_run[static_cast<std::size_t>(k)] = {
        static_cast<double>(pattern.row_ptr[last] - pattern.row_ptr[first]),
        static_cast<double>(part.col_idx.size()),
        static_cast<double>(part.mask.size()),
        static_cast<double>(part.group.size()),
        part.cost,
        part.alone};
  });
  GroupSums sum;
  for (const GroupSums& mine : of_run) sum += mine;
  return sum;
}

/// A block is as many groups as one tile holds, and on a host no more entries than the first two
/// caches hold; a larger group is a block.
std::vector<Index> blocks_of_groups(const RowGroupPlan& plan, const Offset* row_ptr, Index rows,
                                    bool host, std::int64_t rows_per_block) {
  constexpr Offset most_entries = 8192;
  constexpr Offset least_blocks = 64;  // threads take whole ones
  std::vector<Index> block_row = {0};
  if (rows == 0) return block_row;
  const Offset most =
      host ? std::min(most_entries, row_ptr[rows] / least_blocks + 1) : row_ptr[rows];
  for (std::size_t q = 0; q + 1 < plan.group.size(); ++q) {
    const Index begin = block_row.back();
    const Index end = plan.group[q + 1].row;
    const bool first = plan.group[q].row == begin;
    if (!first && (end - begin > rows_per_block || row_ptr[end] - row_ptr[begin] > most)) {
      block_row.push_back(plan.group[q].row);
    }
  }
  block_row.push_back(rows);
  return block_row;
}

}  // namespace

FormatEstimate estimate_row_groups(const MatrixProfile& matrix) {
  GroupSums sample =
      sample_groups({matrix.row_ptr(), matrix.col_idx()}, matrix.rows(), matrix.on_host());
  if (sample.nnz == 0) sample = {.nnz = 1, .columns = 1, .cost = 1, .alone = 1};
  const double columns = sample.columns / sample.nnz;
  const double lists =
      static_cast<double>(matrix.nnz()) / sample.nnz *
      (sample.columns * sizeof(Index) + sample.masks + sample.groups * sizeof(RowGroup));
  const std::int64_t bytes = matrix.nnz() * matrix.entry_bytes() + static_cast<std::int64_t>(lists);
  FormatEstimate estimate{.bytes = bytes, .conversion = 2.5};
  // In this build. Registers of four numbers move the values of a part of the rows in two halves.
  constexpr bool wide = register_bytes >= 64;
  const double cost = wide ? 1.2 * sample.cost : 1.3 * (sample.cost + 2 * sample.masks);
  estimate.cached = matrix.per_byte(cost / sample.alone, bytes);
  constexpr double most_columns = 0.75;
  if (columns > most_columns) {
    estimate.refusal = fmt::format(
        "{:.2f} columns for each nonzero: neighbouring rows have too few of them in common",
        columns);
  }
  return estimate;
}

RowGroupPlan plan_row_groups(const Offset* row_ptr, const Index* col_idx, Index rows, bool host,
                             std::int64_t rows_per_block) {
  constexpr Index part_rows = 2048;  // no group reaches from one part into the next
  const ColumnsOfRows pattern{row_ptr, col_idx};
  const auto parts = static_cast<std::size_t>((std::int64_t{rows} + part_rows - 1) / part_rows);
  std::vector<Part> part(parts);
  host_for("krysol::plan_row_groups", static_cast<std::int64_t>(parts), [&](std::int64_t p) {
    const auto first = static_cast<Index>(p * part_rows);
    const auto last = static_cast<Index>(std::min<std::int64_t>(rows, p * part_rows + part_rows));
    part[static_cast<std::size_t>(p)] = Grouping(pattern, host).rows(first, last);
  });

  std::vector<RowGroup> from(parts + 1);  // where each part begins: columns, masks; groups in `row`
  for (std::size_t p = 0; p < parts; ++p) {
    from[p + 1].row = from[p].row + static_cast<Index>(part[p].group.size());
    from[p + 1].columns = from[p].columns + static_cast<Offset>(part[p].col_idx.size());
    from[p + 1].masks = from[p].masks + static_cast<Offset>(part[p].mask.size());
  }
  RowGroupPlan plan;
  plan.group.resize(static_cast<std::size_t>(from[parts].row) + 1);
  plan.group.back() = {rows, -1, from[parts].columns, from[parts].masks,
                       rows == 0 ? 0 : row_ptr[rows]};
  plan.group_of.resize(static_cast<std::size_t>(rows));
  plan.col_idx.resize(static_cast<std::size_t>(from[parts].columns) + pack_width, 0);
  plan.mask.resize(static_cast<std::size_t>(from[parts].masks));
  host_for("krysol::plan_row_groups(join)", static_cast<std::int64_t>(parts), [&](std::int64_t t) {
    const auto p = static_cast<std::size_t>(t);
    std::copy(part[p].col_idx.begin(), part[p].col_idx.end(),
              plan.col_idx.begin() + from[p].columns);
    std::copy(part[p].mask.begin(), part[p].mask.end(), plan.mask.begin() + from[p].masks);
    const auto last = static_cast<Index>(std::min<std::int64_t>(rows, t * part_rows + part_rows));
    for (std::size_t q = 0; q < part[p].group.size(); ++q) {
      RowGroup mine = part[p].group[q];
      mine.columns += from[p].columns;
      mine.masks += from[p].masks;
      const std::size_t at = static_cast<std::size_t>(from[p].row) + q;
      plan.group[at] = mine;
      const Index end = q + 1 < part[p].group.size() ? part[p].group[q + 1].row : last;
      std::fill(plan.group_of.begin() + mine.row, plan.group_of.begin() + end,
                static_cast<Index>(at));
    }
  });
  plan.block_row = blocks_of_groups(plan, row_ptr, rows, host, rows_per_block);
  return plan;
}

}  // namespace krysol
