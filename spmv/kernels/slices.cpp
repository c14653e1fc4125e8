// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/kernels/slices.hpp>

#include <algorithm>

#include <krysol/spmv/base/registers.hpp>
#include <krysol/spmv/kernels/slot_cycles.hpp>

namespace krysol {
namespace {

/// Padding that no sorting is worth.
constexpr double little_padding = 1.05;

Offset length_of(const Offset* row_ptr, Index i) { return row_ptr[i + 1] - row_ptr[i]; }

/// Slots that slices of rows in this order take. row: [rows], or empty for their own order.
Offset padded_slots(const Offset* row_ptr, Index rows, Index slice, const std::vector<Index>& row) {
  Offset slots = 0;
  for (Index first = 0; first < rows; first += slice) {
    Offset longest = 0;
    for (Index i = first; i < std::min<Index>(rows, first + slice); ++i) {
      const Index r = row.empty() ? i : row[static_cast<std::size_t>(i)];
      longest = std::max(longest, length_of(row_ptr, r));
    }
    slots += longest * slice;
  }
  return slots;
}

}  // namespace

std::vector<Index> rows_by_length(const Offset* row_ptr, Index rows, Index window) {
  std::vector<Index> row(static_cast<std::size_t>(rows));
  const std::int64_t windows = (std::int64_t{rows} + window - 1) / window;
  host_for("krysol::rows_by_length", windows, [&, row_data = row.data()](std::int64_t w) {
    const auto first = static_cast<Index>(w * window);
    const auto last = static_cast<Index>(std::min<std::int64_t>(rows, (w + 1) * window));
    // Counting sort: stable, longest first.
    Offset longest = 0;
    for (Index i = first; i < last; ++i) longest = std::max(longest, length_of(row_ptr, i));
    std::vector<Index> next(static_cast<std::size_t>(longest) + 2, 0);
    for (Index i = first; i < last; ++i) {
      ++next[static_cast<std::size_t>(longest - length_of(row_ptr, i)) + 1];
    }
    for (std::size_t l = 1; l < next.size(); ++l) next[l] += next[l - 1];
    for (Index i = first; i < last; ++i) {
      row_data[first + next[static_cast<std::size_t>(longest - length_of(row_ptr, i))]++] = i;
    }
  });
  return row;
}

SliceSize choose_window(const Offset* row_ptr, Index rows, Index slice) {
  const Offset nnz = rows == 0 ? 0 : row_ptr[rows];
  SliceSize best{1, padded_slots(row_ptr, rows, slice, {})};
  for (const Index window : {512, 16384}) {
    if (static_cast<double>(best.slots) <= little_padding * static_cast<double>(nnz)) break;
    const Offset slots = padded_slots(row_ptr, rows, slice, rows_by_length(row_ptr, rows, window));
    if (static_cast<double>(slots) <= static_cast<double>(best.slots) / little_padding) {
      best = {window, slots};
    }
  }
  return best;
}

const SliceSize& choose_window(const MatrixProfile& matrix) {
  return matrix.once([&matrix] {
    return choose_window(matrix.row_ptr(), matrix.rows(), slice_rows_of(matrix.on_host()));
  });
}

std::int64_t sell_bytes(const MatrixProfile& matrix) {
  const SliceSize& size = choose_window(matrix);
  const std::int64_t rows = matrix.rows();
  return size.slots * matrix.slot_bytes() + rows / slice_rows_of(matrix.on_host()) * 12 +
         (size.sigma > 1 ? rows * 4 : 0);
}

double cached_slices(const MatrixProfile& matrix, std::int64_t bytes) {
  const SliceSize& size = choose_window(matrix);
  return cached_slots(matrix,
                      {.scattered = static_cast<double>(size.slots) / pack_width,
                       .slices = static_cast<double>(matrix.rows()) / pack_width,
                       .sorted = size.sigma > 1},
                      bytes);
}

SlicePlan plan_slices(const Offset* row_ptr, Index rows, Index slice, Index sigma,
                      std::int64_t rows_per_block) {
  SlicePlan plan;
  const Offset nnz = rows == 0 ? 0 : row_ptr[rows];
  plan.sigma = sigma > 0 ? sigma : choose_window(row_ptr, rows, slice).sigma;
  if (plan.sigma > 1) plan.row = rows_by_length(row_ptr, rows, plan.sigma);
  plan.slice_ptr.push_back(0);
  for (Index first = 0; first < rows; first += slice) {
    Offset longest = 0;
    Offset shortest = first + slice <= rows ? nnz : 0;  // absent rows are empty ones
    for (Index i = first; i < std::min<Index>(rows, first + slice); ++i) {
      const Offset length =
          length_of(row_ptr, plan.row.empty() ? i : plan.row[static_cast<std::size_t>(i)]);
      longest = std::max(longest, length);
      shortest = std::min(shortest, length);
    }
    plan.slice_ptr.push_back(plan.slice_ptr.back() + longest * slice);
    plan.full.push_back(static_cast<Index>(shortest));
  }
  const auto slices = static_cast<Index>(plan.full.size());
  plan.block_row =
      plan_row_blocks(plan.slice_ptr.data(), slices, RowSchedule::balanced, true,
                      std::max<std::int64_t>(1, rows_per_block / slice), Offset{3} * slice)
          .block_row;
  for (Index& first : plan.block_row) first = std::min<Index>(rows, first * slice);
  return plan;
}

}  // namespace krysol
