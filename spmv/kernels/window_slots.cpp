// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/kernels/window_slots.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include <krysol/spmv/kernels/row_blocks.hpp>
#include <krysol/spmv/kernels/slices.hpp>
#include <krysol/spmv/kernels/slot_cycles.hpp>

namespace krysol {
namespace {

constexpr int lanes_of_slice = pack_width;
constexpr Index beyond_all = std::numeric_limits<Index>::max();

constexpr double a_kind = 7;  // cycles at the end of its loop, mispredicted now and then

double cost_of(const SlotsOfSlice& s) {
  return cycles_of_neighbours * s.diagonals + cycles_of_some_neighbours * s.partial +
         cycles_of_window * s.windows + cycles_of_any_columns * s.scattered +
         a_kind * ((s.partial > 0 ? 1 : 0) + (s.windows > 0 ? 1 : 0) + (s.scattered > 0 ? 1 : 0));
}

/// The rows of a slice.
struct SliceLanes {
  std::array<Offset, lanes_of_slice> begin{};   // in col_idx
  std::array<Offset, lanes_of_slice> length{};  // 0 where there is no row
  bool follow = true;                           // rows follow each other
};

/// Which slots are made. One rule for all slices of a matrix, found on some: the cheapest for each
/// takes two to four times as long to find, and loops whose lengths differ less end as predicted.
struct SlotRule {
  int least_of_diagonal;  // lanes that have an entry on it
  int least_of_window;
};
constexpr int all_lanes = lanes_of_slice;
constexpr int no_windows = lanes_of_slice + 1;
constexpr std::array<SlotRule, 5> slot_rules = {
    {{all_lanes, no_windows}, {all_lanes, 4}, {all_lanes, 6}, {4, 4}, {4, 6}}};
/// Diagonals of some lanes are for builds where windows are gathered; elsewhere they gained
/// nothing.
constexpr std::size_t rules = wide_registers ? 3 : 5;

/// Finds the slots of one slice after another.
class SlotFinder {
 public:
  SlotFinder(const Index* col_idx, Index cols, const SlotRule& rule)
      : col_idx_(col_idx), cols_(cols), rule_(rule) {}

  /// `slot` and `word` are 0.
  SlotsOfSlice find(const SliceLanes& lanes) {
    lanes_ = &lanes;
    counts_ = {};
    all_on_diagonals_ = lanes_->follow && are_diagonals();
    if (all_on_diagonals_) {
      counts_.diagonals = length(0);
      return counts_;
    }
    const bool ascending = read();
    leave_diagonals();
    counts_.diagonals = diagonals_;
    counts_.partial = partials_;
    const SlotsOfSlice of_diagonals = counts_;
    counts_.scattered = *std::max_element(lefts_.begin(), lefts_.end());
    if (ascending && rule_.least_of_window < no_windows && cols_ >= window_entries &&
        counts_.scattered > 0) {
      const SlotsOfSlice without = counts_;
      counts_ = of_diagonals;
      if (find_windows(cost_of(without))) return counts_;
      counts_ = without;
    }
    for (std::size_t l = 0; l < lanes_of_slice; ++l) {
      for (Index k = 0; k < lefts_[l]; ++k) slot_[l][static_cast<std::size_t>(k)] = -1 - k;
    }
    return counts_;
  }

  /// slot[k] = the slot of entry k of the matrix, for all entries of the rows last looked at; their
  /// words are appended to `words`.
  void write(Index* slot, std::vector<Index>& words) const {
    if (all_on_diagonals_) {
      words.insert(words.end(), column(0), column(0) + length(0));
      for (const Offset begin : lanes_->begin) std::iota(slot + begin, slot + begin + length(0), 0);
      return;
    }
    words.insert(words.end(), diagonal_.begin(), diagonal_.begin() + diagonals_);
    for (Index k = 0; k < partials_; ++k) {
      const PartialDiagonal& mine = partial_[static_cast<std::size_t>(k)];
      words.insert(words.end(), {mine.column, mine.lanes});
    }
    const std::size_t first_word = words.size();
    const Offset of_windows = SlotsOfSlice::words_of_window * counts_.windows;
    words.resize(first_word + static_cast<std::size_t>(of_windows +
                                                       Offset{lanes_of_slice} * counts_.scattered),
                 -1);
    Index* const window = words.data() + first_word;
    Index* const scattered = window + of_windows;
    for (Index w = 0; w < counts_.windows; ++w) {
      Index* const word = window + SlotsOfSlice::words_of_window * w;
      *word = cols_ - window_entries;
      std::memset(word + 1, no_entry, lanes_of_slice);
    }
    for (std::size_t l = 0; l < lanes_of_slice; ++l) {
      for (std::size_t k = 0; k < static_cast<std::size_t>(lefts_[l]); ++k) {
        if (slot_[l][k] < 0) continue;
        Index& base = window[SlotsOfSlice::words_of_window * slot_[l][k]];
        base = std::min(base, left_[l][k]);
      }
    }
    const Index first_window = diagonals_ + partials_;
    for (std::size_t l = 0; l < lanes_of_slice; ++l) {
      Index* const of_lane = slot + lanes_->begin[l];
      for (Index k = 0; k < length(l); ++k) {
        const Index d = on_diagonal_[l][static_cast<std::size_t>(k)];
        of_lane[k] = d < first_partial ? d : diagonals_ + (d - first_partial);
      }
      for (std::size_t k = 0; k < static_cast<std::size_t>(lefts_[l]); ++k) {
        const Index mine = slot_[l][k];
        Index& to = of_lane[entry_[l][k]];
        if (mine < 0) {
          to = first_window + counts_.windows - 1 - mine;
          scattered[Offset{lanes_of_slice} * (-1 - mine) + static_cast<Offset>(l)] = left_[l][k];
        } else {
          to = first_window + mine;
          Index* const word = window + SlotsOfSlice::words_of_window * mine;
          reinterpret_cast<std::uint8_t*>(word + 1)[l] =
              static_cast<std::uint8_t>(left_[l][k] - *word);
        }
      }
    }
  }

 private:
  using PerLane = std::array<std::vector<Index>, lanes_of_slice>;
  struct PartialDiagonal {
    Index column;  // of lane 0, or where it would be
    Index lanes;   // bit l: lane l has it
  };
  static constexpr Index first_partial = Index{1} << 30;  // in on_diagonal_, beyond all others

  const Index* column(std::size_t l) const { return col_idx_ + lanes_->begin[l]; }
  Index length(std::size_t l) const { return static_cast<Index>(lanes_->length[l]); }

  /// True where all entries are on diagonals of all lanes, as within grids: found in less time.
  bool are_diagonals() const {
    const Index n = length(0);
    if (n == 0) return false;
    for (std::size_t l = 1; l < lanes_of_slice; ++l) {
      if (length(l) != n) return false;
    }
    const Index* const first = column(0);
    bool ascending = true;
    for (Index k = 1; k < n; ++k) ascending &= first[k - 1] < first[k];
    if (!ascending) return false;
    for (std::size_t l = 1; l < lanes_of_slice; ++l) {
      const Index* const c = column(l);
      const auto lane = static_cast<Index>(l);
      for (Index k = 0; k < n; ++k) {
        if (c[k] - lane != first[k]) return false;
      }
    }
    return true;
  }

  /// True where the columns of each row ascend.
  bool read() {
    bool ascending = true;
    Index most = 0;
    for (std::size_t l = 0; l < lanes_of_slice; ++l) {
      const Index* const c = column(l);
      for (Index k = 1; k < length(l); ++k) ascending &= c[k - 1] < c[k];
      most = std::max(most, length(l));
      on_diagonal_[l].assign(static_cast<std::size_t>(length(l)) + 1, -1);
    }
    diagonals_ = 0;
    partials_ = 0;
    if (ascending && lanes_->follow) {
      if (rule_.least_of_diagonal < all_lanes) {
        find_partial_diagonals(static_cast<std::size_t>(most));
      } else {
        find_diagonals();
      }
    }
    return ascending;
  }

  /// Those of lane 0 that all others have, in their order.
  void find_diagonals() {
    std::array<const Index*, lanes_of_slice> at{};
    std::array<const Index*, lanes_of_slice> end{};
    for (std::size_t l = 0; l < lanes_of_slice; ++l) {
      at[l] = column(l);
      end[l] = at[l] + length(l);
      if (at[l] == end[l]) return;
    }
    diagonal_.resize(static_cast<std::size_t>(length(0)));
    for (; at[0] != end[0]; ++at[0]) {
      bool all = true;
      for (std::size_t l = 1; l < lanes_of_slice; ++l) {
        const auto lane = static_cast<Index>(l);
        while (*at[l] - lane < *at[0]) {
          if (++at[l] == end[l]) return;
        }
        all = all && *at[l] - lane == *at[0];
      }
      if (!all) continue;
      for (std::size_t l = 0; l < lanes_of_slice; ++l) {
        on_diagonal_[l][static_cast<std::size_t>(at[l] - column(l))] = diagonals_;
      }
      diagonal_[static_cast<std::size_t>(diagonals_)] = *at[0];
      ++diagonals_;
    }
  }

  /// Those that all lanes have, and those that enough have, in their order. Almost without
  /// branches, which would be mispredicted. most: entries of a lane.
  void find_partial_diagonals(std::size_t most) {
    constexpr std::uint32_t above = lanes_of_slice - 1;  // added, so that none is negative
    constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    std::array<const std::uint32_t*, lanes_of_slice> next{};
    std::array<Index*, lanes_of_slice> number{};
    std::uint32_t first = none;
    for (std::size_t l = 0; l < lanes_of_slice; ++l) {
      const auto n = static_cast<std::size_t>(length(l));
      const Index* const c = column(l);
      of_entry_[l].resize(n + 1);
      std::uint32_t* const of_entry = of_entry_[l].data();
      const std::uint32_t of_lane = above - static_cast<std::uint32_t>(l);
      for (std::size_t k = 0; k < n; ++k) of_entry[k] = static_cast<std::uint32_t>(c[k]) + of_lane;
      of_entry[n] = none;
      next[l] = of_entry;
      number[l] = on_diagonal_[l].data();
      first = std::min(first, *next[l]);
    }
    diagonal_.resize(most + 1);  // one more is written than found
    const auto least = static_cast<std::size_t>(rule_.least_of_diagonal);
    partial_.resize(most * lanes_of_slice / least + 1);
    while (first != none) {
      unsigned lanes = 0;
      int n = 0;
      for (std::size_t l = 0; l < lanes_of_slice; ++l) {
        const unsigned here = *next[l] == first ? 1 : 0;
        lanes |= here << l;
        n += static_cast<int>(here);
      }
      const Index all = n == lanes_of_slice ? 1 : 0;
      const Index some = n >= rule_.least_of_diagonal ? 1 - all : 0;
      const Index mine = all != 0 ? diagonals_ : some != 0 ? first_partial + partials_ : -1;
      const auto column_of_first = static_cast<Index>(first - above);
      diagonal_[static_cast<std::size_t>(diagonals_)] = column_of_first;
      partial_[static_cast<std::size_t>(partials_)] = {column_of_first, static_cast<Index>(lanes)};
      diagonals_ += all;
      partials_ += some;
      first = none;
      for (std::size_t l = 0; l < lanes_of_slice; ++l) {
        const std::ptrdiff_t here = lanes >> l & 1U;
        *number[l] = mine;  // written over where it has none
        number[l] += here;
        next[l] += here;
        first = std::min(first, *next[l]);
      }
    }
  }

  /// Finds the entries on no diagonal that is taken.
  void leave_diagonals() {
    for (std::size_t l = 0; l < lanes_of_slice; ++l) {
      const auto room =
          static_cast<std::size_t>(length(l)) + 1;  // see below, and a column after all
      left_[l].resize(room);
      entry_[l].resize(room);
      slot_[l].resize(room);
      Index* column_of = left_[l].data();
      Index* entry = entry_[l].data();
      const Index* const c = column(l);
      for (Index k = 0; k < length(l); ++k) {
        *column_of = c[k];  // without a branch: written over where on a diagonal
        *entry = k;
        const std::ptrdiff_t left = on_diagonal_[l][static_cast<std::size_t>(k)] < 0 ? 1 : 0;
        column_of += left;
        entry += left;
      }
      *column_of = beyond_all;
      lefts_[l] = static_cast<Index>(column_of - left_[l].data());
    }
  }

  /// Counts and fills windows, and slots of any columns with what is in none. False as soon as that
  /// costs no less than `limit`.
  bool find_windows(double limit) {
    std::array<const Index*, lanes_of_slice> next{};
    std::array<Index*, lanes_of_slice> slot{};
    std::array<Index, lanes_of_slice> of_lane{};
    Index first = beyond_all;
    for (std::size_t l = 0; l < lanes_of_slice; ++l) {
      next[l] = left_[l].data();
      slot[l] = slot_[l].data();
      first = std::min(first, *next[l]);
    }
    while (first != beyond_all) {
      // The difference does not overflow, which first and a window might.
      const Index base = std::min<Index>(first, cols_ - window_entries);
      int n = 0;
      for (std::size_t l = 0; l < lanes_of_slice; ++l) {
        n += *next[l] - base < window_entries ? 1 : 0;
      }
      const bool window = n >= rule_.least_of_window;
      const Index within = window ? window_entries : first - base + 1;
      const Index number = counts_.windows;
      first = beyond_all;
      Index most = 0;
      for (std::size_t l = 0; l < lanes_of_slice; ++l) {
        const Index taken = *next[l] - base < within ? 1 : 0;
        *slot[l] = window ? number : -1 - of_lane[l];
        slot[l] += taken;
        next[l] += taken;
        of_lane[l] += window ? 0 : taken;
        most = std::max(most, of_lane[l]);
        first = std::min(first, *next[l]);
      }
      counts_.windows += window ? 1 : 0;
      counts_.scattered = std::max(counts_.scattered, most);
      if (cost_of(counts_) >= limit) return false;
    }
    return true;
  }

  const Index* col_idx_;
  Index cols_;
  SlotRule rule_;
  const SliceLanes* lanes_ = nullptr;
  SlotsOfSlice counts_;
  bool all_on_diagonals_ = false;
  std::vector<Index> diagonal_;  // [diagonals_ and more] columns of lane 0, of those of all lanes
  std::vector<PartialDiagonal> partial_;  // [partials_ and more] of some lanes
  Index diagonals_ = 0;
  Index partials_ = 0;
  // [length + 1] which of diagonal_, which of partial_ from first_partial on, or -1
  PerLane on_diagonal_;
  std::array<std::vector<std::uint32_t>, lanes_of_slice> of_entry_;  // [length + 1] diagonals
  std::array<Index, lanes_of_slice> lefts_{};                        // entries on none
  PerLane entry_;                                                    // [lefts] which these are
  PerLane left_;  // [lefts + 1] their columns, and one beyond all
  PerLane slot_;  // [lefts] of a window, from 0 on, or of any columns, from -1 down
};

SliceLanes lanes_of_slice_at(const Offset* row_ptr, std::int64_t s, Index rows, const Index* row) {
  SliceLanes lanes;
  const std::int64_t first = s * lanes_of_slice;
  for (std::int64_t l = 0; l < lanes_of_slice && first + l < rows; ++l) {
    const std::int64_t i = row == nullptr ? first + l : row[first + l];
    if (row != nullptr && i != row[first] + l) lanes.follow = false;
    lanes.begin[static_cast<std::size_t>(l)] = row_ptr[i];
    lanes.length[static_cast<std::size_t>(l)] = row_ptr[i + 1] - row_ptr[i];
  }
  return lanes;
}

/// Sums over slices.
struct SlicesCost {
  double cost = 0;
  double diagonals = 0;
  double partial = 0;
  double windows = 0;
  double scattered = 0;
  double slices = 0;
  double nnz = 0;
};

void operator+=(SlicesCost& a, const SlicesCost& b) {
  a.cost += b.cost;
  a.diagonals += b.diagonals;
  a.partial += b.partial;
  a.windows += b.windows;
  a.scattered += b.scattered;
  a.slices += b.slices;
  a.nnz += b.nnz;
}

/// Of some slices of `count` rows from `first` on, in their order or sorted together, by each rule
/// that makes a difference; nnz is 0 for others.
std::array<SlicesCost, rules> cost_of_rows(const Offset* row_ptr, const Index* col_idx, Index first,
                                           Index count, Index cols, bool sorted) {
  constexpr std::int64_t most_slices = 4;
  constexpr Offset most_entries = 1024;  // and one slice more
  row_ptr += first;
  std::vector<Index> row;
  const auto length = [row_ptr](Index i) { return row_ptr[i + 1] - row_ptr[i]; };
  if (sorted) {  // as rows_by_length does, but that is a loop over all cores, as the caller's is
    row.resize(static_cast<std::size_t>(count));
    std::iota(row.begin(), row.end(), 0);
    std::stable_sort(row.begin(), row.end(),
                     [&](Index i, Index j) { return length(i) > length(j); });
  }
  const std::int64_t slices = (count + lanes_of_slice - 1) / lanes_of_slice;
  const std::int64_t taken =
      std::min({slices, most_slices,
                1 + most_entries * slices / std::max<Offset>(1, row_ptr[count] - row_ptr[0])});
  std::array<SlicesCost, rules> sum;
  for (std::size_t k = 0; k < rules; ++k) {
    const SlotRule& rule = slot_rules[k];
    if (sorted && rule.least_of_diagonal < all_lanes) continue;  // most rows follow no other
    SlotFinder finder(col_idx, cols, rule);
    for (std::int64_t sample = 0; sample < taken; ++sample) {
      // In the middle of its part: the first rows of all are often unlike the others.
      const std::int64_t s = (2 * sample + 1) * slices / (2 * taken);
      const SliceLanes lanes =
          lanes_of_slice_at(row_ptr, s, count, row.empty() ? nullptr : row.data());
      const SlotsOfSlice mine = finder.find(lanes);
      const Offset nnz = std::accumulate(lanes.length.begin(), lanes.length.end(), Offset{0});
      sum[k] += {cost_of(mine) + (sorted ? cycles_of_sorted_slice : cycles_of_slice),
                 static_cast<double>(mine.diagonals),
                 static_cast<double>(mine.partial),
                 static_cast<double>(mine.windows),
                 static_cast<double>(mine.scattered),
                 1,
                 static_cast<double>(nnz)};
    }
  }
  return sum;
}

/// How a matrix is cut into slots, and the sums over the slices of a sample then.
struct SlotsChoice {
  Index sigma = 1;  // rows that are sorted together
  SlotRule rule = slot_rules[1];
  SlicesCost sample;
};

/// The cheapest on a sample, on the host's cores. sigma: 0 where both may be chosen, rows in their
/// order and sorted.
SlotsChoice choose_slots(const Offset* row_ptr, const Index* col_idx, Index rows, Index cols,
                         Index sigma) {
  constexpr Index run = 512;
  constexpr Index samples = 4;
  const Index runs = rows / run + (rows % run != 0 ? 1 : 0);
  const Index taken = std::min(runs, samples);
  const int orders = sigma == 0 ? 2 : 1;
  std::vector<std::array<SlicesCost, rules>> cost(static_cast<std::size_t>(orders * taken));
  host_for("krysol::choose_slots", std::int64_t{orders} * taken, [&](std::int64_t task) {
    const auto first = static_cast<Index>(task / orders * runs / taken * run);
    const bool sorted = sigma > 1 || task % orders == 1;
    cost[static_cast<std::size_t>(task)] =
        cost_of_rows(row_ptr, col_idx, first, std::min(run, rows - first), cols, sorted);
  });
  SlotsChoice best;
  if (sigma > 0) best.sigma = sigma;
  for (int order = 0; order < orders; ++order) {
    for (std::size_t k = 0; k < rules; ++k) {
      SlicesCost sum;
      for (auto task = static_cast<std::size_t>(order); task < cost.size();
           task += static_cast<std::size_t>(orders)) {
        sum += cost[task][k];
      }
      if (sum.nnz == 0) continue;
      if (best.sample.nnz > 0 && sum.cost / sum.nnz >= best.sample.cost / best.sample.nnz) continue;
      best = {sigma > 0 ? sigma : order == 0 ? 1 : run, slot_rules[k], sum};
    }
  }
  return best;
}

}  // namespace

WindowsPlan plan_windows(const Offset* row_ptr, const Index* col_idx, Index rows, Index cols,
                         Index sigma, std::int64_t rows_per_block) {
  WindowsPlan plan;
  if (rows == 0) {
    plan.block_row = {0};
    return plan;
  }
  const SlotsChoice choice = choose_slots(row_ptr, col_idx, rows, cols, sigma);
  plan.sigma = choice.sigma;
  if (plan.sigma > 1) plan.row = rows_by_length(row_ptr, rows, plan.sigma);
  const std::int64_t slices = (std::int64_t{rows} + lanes_of_slice - 1) / lanes_of_slice;
  plan.slice.resize(static_cast<std::size_t>(slices));
  plan.slot.resize(static_cast<std::size_t>(row_ptr[rows]));
  constexpr std::int64_t at_once = 32;
  const std::int64_t parts = (slices + at_once - 1) / at_once;
  std::vector<std::vector<Index>> words(static_cast<std::size_t>(parts));
  host_for_uneven("krysol::plan_windows", parts, [&](std::int64_t part) {
    SlotFinder finder(col_idx, cols, choice.rule);
    const Index* const row = plan.row.empty() ? nullptr : plan.row.data();
    const std::int64_t last = std::min(slices, (part + 1) * at_once);
    for (std::int64_t s = part * at_once; s < last; ++s) {
      const SliceLanes lanes = lanes_of_slice_at(row_ptr, s, rows, row);
      const SlotsOfSlice mine = finder.find(lanes);
      finder.write(plan.slot.data(), words[static_cast<std::size_t>(part)]);
      plan.slice[static_cast<std::size_t>(s)] = mine;
    }
  });
  Offset first_word = 0;
  std::vector<Offset> work_before = {0};  // in slots on diagonals, of eight entries each
  for (SlotsOfSlice& mine : plan.slice) {
    mine.slot = plan.slots;
    mine.word = first_word;
    plan.slots += mine.slots();
    first_word += mine.words();
    work_before.push_back(work_before.back() +
                          std::llround(cost_of(mine) * lanes_of_slice / cycles_of_neighbours));
  }
  plan.words = allocate<Vector<Index, Host>>("sell_windows.words", first_word);
  host_for("krysol::plan_windows(words)", parts, [&](std::int64_t part) {
    const auto& mine = words[static_cast<std::size_t>(part)];
    const SlotsOfSlice& first = plan.slice[static_cast<std::size_t>(part * at_once)];
    std::copy(mine.begin(), mine.end(), plan.words.data() + first.word);
  });
  plan.block_row =
      plan_row_blocks(work_before.data(), static_cast<Index>(slices), RowSchedule::balanced, true,
                      std::max<std::int64_t>(1, rows_per_block / lanes_of_slice),
                      Offset{3} * lanes_of_slice)
          .block_row;
  for (Index& first : plan.block_row) {
    first = static_cast<Index>(std::min<std::int64_t>(rows, std::int64_t{first} * lanes_of_slice));
  }
  return plan;
}

FormatEstimate estimate_windows(const MatrixProfile& matrix) {
  const SlotsChoice choice =
      choose_slots(matrix.row_ptr(), matrix.col_idx(), matrix.rows(), matrix.cols(), 0);
  const SlicesCost& sample = choice.sample;
  if (sample.nnz == 0 && matrix.nnz() > 0) {  // it saw empty rows only: as other formats of slices
    return {.bytes = matrix.nnz() * matrix.slot_bytes(), .variant = "1", .conversion = 3.5};
  }
  const double scale = static_cast<double>(matrix.nnz()) / std::max(sample.nnz, 1.0);
  const bool sorted = choice.sigma > 1;
  const double slots = sample.diagonals + sample.partial + sample.windows + sample.scattered;
  const double words = sample.diagonals +
                       static_cast<double>(SlotsOfSlice::words_of_partial) * sample.partial +
                       static_cast<double>(SlotsOfSlice::words_of_window) * sample.windows +
                       lanes_of_slice * sample.scattered;
  constexpr double word = sizeof(Index);
  constexpr double head = sizeof(SlotsOfSlice);
  const double of_slice = head + (sorted ? lanes_of_slice * word : 0);
  const auto bytes = static_cast<std::int64_t>(
      scale * (slots * lanes_of_slice * static_cast<double>(matrix.entry_bytes()) + words * word +
               of_slice * sample.slices));
  const SlotCounts counts{scale * sample.diagonals, scale * sample.partial, scale * sample.windows,
                          scale * sample.scattered, scale * sample.slices,  sorted};
  return {.bytes = bytes,
          .refusal = refuse_more_than(bytes, 1.5, matrix.csr_bytes(), "csr"),
          .variant = std::to_string(choice.sigma),
          .conversion = 3.5,
          .cached = cached_slots(matrix, counts, bytes)};
}

}  // namespace krysol
