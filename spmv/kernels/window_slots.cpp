// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/kernels/window_slots.hpp>

#include <algorithm>
#include <array>
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

// What a core does for a slot, in about cycles, as seen on a Xeon with AMX: a load of neighbours,
// two loads and a permutation, a gather. Only ratios matter, and nothing but the matrix decides:
// slices are the same on every processor.
constexpr double a_diagonal = 2;
constexpr double a_window = 3.5;
constexpr double any_columns = 6;
constexpr double a_slice = 8;
constexpr double a_sorted_slice = 14;  // results go to rows here and there

double cost_of(const SlotsOfSlice& s) {
  return a_diagonal * s.diagonals + a_window * s.windows + any_columns * s.scattered;
}

/// The rows of a slice.
struct SliceLanes {
  std::array<Offset, lanes_of_slice> begin{};   // in col_idx
  std::array<Offset, lanes_of_slice> length{};  // 0 where there is no row
  bool follow = true;                           // rows follow each other
};

/// Finds the slots of one slice after another.
class SlotFinder {
 public:
  SlotFinder(const Index* col_idx, Index cols) : col_idx_(col_idx), cols_(cols) {}

  /// The cheapest of some ways to fill slots; `slot` and `word` are 0.
  SlotsOfSlice find(const SliceLanes& lanes) {
    lanes_ = &lanes;
    const bool ascending = read();
    leave_diagonals();
    SlotsOfSlice best;
    best.diagonals = static_cast<Index>(diagonal_.size());
    for (std::size_t l = 0; l < lanes_of_slice; ++l) {
      for (Index k = 0; k < lefts_[l]; ++k) best_slot_[l][static_cast<std::size_t>(k)] = -1 - k;
      best.scattered = std::max(best.scattered, lefts_[l]);
    }
    cost_ = cost_of(best);
    if (!ascending || cols_ < window_entries || best.scattered == 0) return best;
    int fewest = lanes_of_slice;
    for (const int least : {4, 6}) {
      if (fewest >= least && least > 4) break;  // the same windows
      SlotsOfSlice counts;
      counts.diagonals = best.diagonals;
      if (!find_windows(least, counts, fewest)) continue;
      best = counts;
      cost_ = cost_of(counts);
      best_slot_.swap(slot_);
    }
    return best;
  }
  double cost() const { return cost_; }

  /// slot[k] = the slot of entry k of the matrix, for all entries of the rows last looked at; their
  /// words are appended to `words`.
  void write(const SlotsOfSlice& counts, Index* slot, std::vector<Index>& words) const {
    words.insert(words.end(), diagonal_.begin(), diagonal_.end());
    const std::size_t first_word = words.size();
    const Offset of_windows = SlotsOfSlice::words_of_window * counts.windows;
    words.resize(first_word + static_cast<std::size_t>(of_windows +
                                                       Offset{lanes_of_slice} * counts.scattered),
                 -1);
    Index* const window = words.data() + first_word;
    Index* const scattered = window + of_windows;
    for (Index w = 0; w < counts.windows; ++w) {
      Index* const word = window + SlotsOfSlice::words_of_window * w;
      *word = cols_ - window_entries;
      std::memset(word + 1, no_entry, lanes_of_slice);
    }
    for (std::size_t l = 0; l < lanes_of_slice; ++l) {
      for (std::size_t k = 0; k < static_cast<std::size_t>(lefts_[l]); ++k) {
        if (best_slot_[l][k] < 0) continue;
        Index& base = window[SlotsOfSlice::words_of_window * best_slot_[l][k]];
        base = std::min(base, left_[l][k]);
      }
    }
    for (std::size_t l = 0; l < lanes_of_slice; ++l) {
      Index* const of_lane = slot + lanes_->begin[l];
      std::copy(on_diagonal_[l].begin(), on_diagonal_[l].end(), of_lane);
      for (std::size_t k = 0; k < static_cast<std::size_t>(lefts_[l]); ++k) {
        const Index mine = best_slot_[l][k];
        if (mine < 0) {
          of_lane[entry_[l][k]] = counts.diagonals + counts.windows - 1 - mine;
          scattered[Offset{lanes_of_slice} * (-1 - mine) + static_cast<Offset>(l)] = left_[l][k];
        } else {
          of_lane[entry_[l][k]] = counts.diagonals + mine;
          Index* const word = window + SlotsOfSlice::words_of_window * mine;
          reinterpret_cast<std::uint8_t*>(word + 1)[l] =
              static_cast<std::uint8_t>(left_[l][k] - *word);
        }
      }
    }
  }

 private:
  using PerLane = std::array<std::vector<Index>, lanes_of_slice>;

  const Index* column(std::size_t l) const { return col_idx_ + lanes_->begin[l]; }
  Index length(std::size_t l) const { return static_cast<Index>(lanes_->length[l]); }

  /// True where the columns of each row ascend.
  bool read() {
    bool ascending = true;
    bool all = true;
    for (std::size_t l = 0; l < lanes_of_slice; ++l) {
      const Index* const c = column(l);
      for (Index k = 1; k < length(l); ++k) ascending &= c[k - 1] < c[k];
      all = all && length(l) > 0;
      on_diagonal_[l].assign(static_cast<std::size_t>(length(l)), -1);
    }
    diagonal_.clear();
    if (ascending && all && lanes_->follow) find_diagonals();
    return ascending;
  }

  /// Those of lane 0 that all others have.
  void find_diagonals() {
    std::array<const Index*, lanes_of_slice> at{};
    std::array<const Index*, lanes_of_slice> end{};
    for (std::size_t l = 0; l < lanes_of_slice; ++l) {
      at[l] = column(l);
      end[l] = at[l] + length(l);
    }
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
        on_diagonal_[l][static_cast<std::size_t>(at[l] - column(l))] =
            static_cast<Index>(diagonal_.size());
      }
      diagonal_.push_back(*at[0]);
    }
  }

  /// Finds the entries on no diagonal.
  void leave_diagonals() {
    for (std::size_t l = 0; l < lanes_of_slice; ++l) {
      const auto room =
          static_cast<std::size_t>(length(l)) + 1;  // see below, and a column after all
      left_[l].resize(room);
      entry_[l].resize(room);
      slot_[l].resize(room);
      best_slot_[l].resize(room);
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

  /// Windows of `least` lanes and more. slot_ counts them, or is -1 - j for the j-th entry of its
  /// lane in slots of any columns. False where that costs no less than the best so far, as soon as
  /// it does. fewest: lanes of a window.
  bool find_windows(int least, SlotsOfSlice& counts, int& fewest) {
    std::array<const Index*, lanes_of_slice> next{};
    std::array<Index*, lanes_of_slice> slot{};
    std::array<Index, lanes_of_slice> of_lane{};
    Index first = beyond_all;
    for (std::size_t l = 0; l < lanes_of_slice; ++l) {
      next[l] = left_[l].data();
      slot[l] = slot_[l].data();
      first = std::min(first, *next[l]);
    }
    double spent = cost_of(counts);
    while (first != beyond_all) {
      // The difference does not overflow, which first and a window might.
      const Index base = std::min<Index>(first, cols_ - window_entries);
      int n = 0;
      for (std::size_t l = 0; l < lanes_of_slice; ++l) {
        n += *next[l] - base < window_entries ? 1 : 0;
      }
      const bool window = n >= least;
      const Index within = window ? window_entries : first - base + 1;
      const Index number = counts.windows;
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
      if (window) {
        ++counts.windows;
        fewest = std::min(fewest, n);
        spent += a_window;
      } else if (most > counts.scattered) {
        ++counts.scattered;
        spent += any_columns;
      }
      if (spent >= cost_) return false;
    }
    return true;
  }

  const Index* col_idx_;
  Index cols_;
  const SliceLanes* lanes_ = nullptr;
  std::vector<Index> diagonal_;                // columns of lane 0
  PerLane on_diagonal_;                        // [length] which, or -1
  std::array<Index, lanes_of_slice> lefts_{};  // entries on none
  PerLane entry_;                              // [lefts] which these are
  PerLane left_;                               // [lefts + 1] their columns, and one beyond all
  PerLane slot_;       // [lefts] of a window, from 0 on, or of any columns, from -1 down
  PerLane best_slot_;  // the same of the cheapest way
  double cost_ = 0;
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
  double windows = 0;
  double scattered = 0;
  double slices = 0;
  double nnz = 0;
};

void operator+=(SlicesCost& a, const SlicesCost& b) {
  a.cost += b.cost;
  a.diagonals += b.diagonals;
  a.windows += b.windows;
  a.scattered += b.scattered;
  a.slices += b.slices;
  a.nnz += b.nnz;
}

/// Of some slices of `count` rows from `first` on, in their order or sorted together.
SlicesCost cost_of_rows(const Offset* row_ptr, const Index* col_idx, Index first, Index count,
                        Index cols, bool sorted) {
  constexpr std::int64_t most_slices = 4;
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
  const std::int64_t taken = std::min(slices, most_slices);
  SlotFinder finder(col_idx, cols);
  SlicesCost sum;
  for (std::int64_t sample = 0; sample < taken; ++sample) {
    // In the middle of its part: the first rows of all are often unlike the others.
    const std::int64_t s = (2 * sample + 1) * slices / (2 * taken);
    const SliceLanes lanes =
        lanes_of_slice_at(row_ptr, s, count, row.empty() ? nullptr : row.data());
    const SlotsOfSlice mine = finder.find(lanes);
    const Offset nnz = std::accumulate(lanes.length.begin(), lanes.length.end(), Offset{0});
    sum += {finder.cost() + (sorted ? a_sorted_slice : a_slice),
            static_cast<double>(mine.diagonals),
            static_cast<double>(mine.windows),
            static_cast<double>(mine.scattered),
            1,
            static_cast<double>(nnz)};
  }
  return sum;
}

/// Rows that are sorted together, and the sums over the slices of a sample then.
struct SigmaChoice {
  Index sigma = 1;
  SlicesCost sample;
};

/// On a sample, in which rows are in their order and sorted, on the host's cores.
SigmaChoice choose_sigma(const Offset* row_ptr, const Index* col_idx, Index rows, Index cols) {
  constexpr Index run = 512;
  constexpr Index samples = 4;
  const Index runs = rows / run + (rows % run != 0 ? 1 : 0);
  const Index taken = std::min(runs, samples);
  std::vector<SlicesCost> cost(2 * static_cast<std::size_t>(taken));
  host_for("krysol::choose_sigma", std::int64_t{2} * taken, [&](std::int64_t task) {
    const auto first = static_cast<Index>(task / 2 * runs / taken * run);
    cost[static_cast<std::size_t>(task)] =
        cost_of_rows(row_ptr, col_idx, first, std::min(run, rows - first), cols, task % 2 == 1);
  });
  SlicesCost in_order;
  SlicesCost sorted;
  for (std::size_t k = 0; k < cost.size(); k += 2) {
    in_order += cost[k];
    sorted += cost[k + 1];
  }
  if (in_order.nnz == 0 || sorted.nnz == 0) return {};
  const bool sort = sorted.cost / sorted.nnz < in_order.cost / in_order.nnz;
  return {sort ? run : 1, sort ? sorted : in_order};
}

}  // namespace

WindowsPlan plan_windows(const Offset* row_ptr, const Index* col_idx, Index rows, Index cols,
                         Index sigma, std::int64_t rows_per_block) {
  WindowsPlan plan;
  if (rows == 0) {
    plan.block_row = {0};
    return plan;
  }
  plan.sigma = sigma > 0 ? sigma : choose_sigma(row_ptr, col_idx, rows, cols).sigma;
  if (plan.sigma > 1) plan.row = rows_by_length(row_ptr, rows, plan.sigma);
  const std::int64_t slices = (std::int64_t{rows} + lanes_of_slice - 1) / lanes_of_slice;
  plan.slice.resize(static_cast<std::size_t>(slices));
  plan.slot.resize(static_cast<std::size_t>(row_ptr[rows]));
  constexpr std::int64_t at_once = 32;
  const std::int64_t parts = (slices + at_once - 1) / at_once;
  std::vector<std::vector<Index>> words(static_cast<std::size_t>(parts));
  host_for_uneven("krysol::plan_windows", parts, [&](std::int64_t part) {
    SlotFinder finder(col_idx, cols);
    const Index* const row = plan.row.empty() ? nullptr : plan.row.data();
    const std::int64_t last = std::min(slices, (part + 1) * at_once);
    for (std::int64_t s = part * at_once; s < last; ++s) {
      const SliceLanes lanes = lanes_of_slice_at(row_ptr, s, rows, row);
      const SlotsOfSlice mine = finder.find(lanes);
      finder.write(mine, plan.slot.data(), words[static_cast<std::size_t>(part)]);
      plan.slice[static_cast<std::size_t>(s)] = mine;
    }
  });
  Offset first_word = 0;
  std::vector<Offset> first_value = {0};
  for (SlotsOfSlice& mine : plan.slice) {
    mine.slot = plan.slots;
    mine.word = first_word;
    plan.slots += mine.slots();
    first_word += mine.words();
    first_value.push_back(plan.slots * lanes_of_slice);
  }
  plan.words.resize(static_cast<std::size_t>(first_word));
  host_for("krysol::plan_windows(words)", parts, [&](std::int64_t part) {
    const auto& mine = words[static_cast<std::size_t>(part)];
    const SlotsOfSlice& first = plan.slice[static_cast<std::size_t>(part * at_once)];
    std::copy(mine.begin(), mine.end(), plan.words.begin() + first.word);
  });
  plan.block_row =
      plan_row_blocks(first_value.data(), static_cast<Index>(slices), RowSchedule::balanced, true,
                      std::max<std::int64_t>(1, rows_per_block / lanes_of_slice),
                      Offset{3} * lanes_of_slice)
          .block_row;
  for (Index& first : plan.block_row) {
    first = static_cast<Index>(std::min<std::int64_t>(rows, std::int64_t{first} * lanes_of_slice));
  }
  return plan;
}

FormatEstimate estimate_windows(const MatrixProfile& matrix) {
  const SigmaChoice choice =
      choose_sigma(matrix.row_ptr(), matrix.col_idx(), matrix.rows(), matrix.cols());
  const SlicesCost& sample = choice.sample;
  const double scale = static_cast<double>(matrix.nnz()) / std::max(sample.nnz, 1.0);
  const bool sorted = choice.sigma > 1;
  const double slots = sample.diagonals + sample.windows + sample.scattered;
  const double words = sample.diagonals +
                       static_cast<double>(SlotsOfSlice::words_of_window) * sample.windows +
                       lanes_of_slice * sample.scattered;
  constexpr double word = sizeof(Index);
  constexpr double head = sizeof(SlotsOfSlice);
  const double of_slice = head + (sorted ? lanes_of_slice * word : 0);
  const auto bytes = static_cast<std::int64_t>(
      scale * (slots * lanes_of_slice * static_cast<double>(matrix.entry_bytes()) + words * word +
               of_slice * sample.slices));
  const SlotCounts counts{scale * sample.diagonals, scale * sample.windows,
                          scale * sample.scattered, scale * sample.slices, sorted};
  return {.bytes = bytes,
          .refusal = refuse_more_than(bytes, 1.5, matrix.csr_bytes(), "csr"),
          .variant = std::to_string(choice.sigma),
          .conversion = 4.5,
          .cached = cached_slots(matrix, counts, bytes)};
}

}  // namespace krysol
