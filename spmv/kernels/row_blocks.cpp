// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/kernels/row_blocks.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/core.h>

namespace krysol {
namespace {

/// Nonzeros of a block on a host: 100 kB of double entries and columns.
constexpr Offset most_work_on_host = 8192;

/// Nonzeros of a row beyond which a team of a device sums it together: one for each thread.
constexpr Offset long_row_on_device = staging_threads;

/// Blocks at the least, where there are rows for them: threads take whole ones.
constexpr Offset least_blocks_on_host = 64;

Offset mean_of(const Offset* row_ptr, Index rows) { return rows == 0 ? 0 : row_ptr[rows] / rows; }

/// A block is as much work as rows_per_block rows of mean length at most, and no more than the
/// first two caches hold; a longer row is a block. Each ends as near as rows allow to where equal
/// ones would, and their number is a multiple of eight, so that threads, which take as many blocks
/// each, have as much to do.
void cut_for_host(const Offset* row_ptr, Index rows, std::int64_t rows_per_block,
                  Offset row_overhead, std::vector<Index>& block_row) {
  const Offset all = row_ptr[rows] + rows * row_overhead;
  const Offset most =
      std::min(rows_per_block * (mean_of(row_ptr, rows) + row_overhead), most_work_on_host);
  constexpr Offset step = 8;
  const Offset least = std::max(all / std::max<Offset>(most, 1) + 1, least_blocks_on_host);
  const Offset blocks = (least + step - 1) / step * step;
  const double share = static_cast<double>(all) / static_cast<double>(blocks);
  double ends = 1;  // of so many shares the block that row i is for
  for (Index i = 1; i < rows; ++i) {
    const auto before = static_cast<double>(row_ptr[i] + i * row_overhead);
    const auto row = static_cast<double>(row_ptr[i + 1] - row_ptr[i] + row_overhead);
    if (before + row / 2 < share * ends) continue;
    block_row.push_back(i);
    ends = std::max(ends, std::floor(before / share)) + 1;
  }
}

/// True where a thread a row reads memory as fast as a team does: rows of seven nonzeros take 0.94
/// of the time so on an H200, and those of five 0.90.
bool all_short(const Offset* row_ptr, Index rows) {
  constexpr Offset few = 8;
  constexpr Offset most = 16;
  if (mean_of(row_ptr, rows) >= few) return false;
  for (Index i = 0; i < rows; ++i) {
    if (row_ptr[i + 1] - row_ptr[i] > most) return false;
  }
  return true;
}

/// Each block fits the scratch memory of a team, and has no more rows than that has entries; a long
/// row is a block.
void cut_for_device(const Offset* row_ptr, Index rows, std::vector<Index>& block_row) {
  bool alone = false;  // the row before
  for (Index i = 0; i < rows; ++i) {
    const Index first = block_row.back();
    const bool before = alone;
    alone = row_ptr[i + 1] - row_ptr[i] > long_row_on_device;
    const bool full =
        row_ptr[i + 1] - row_ptr[first] > staged_entries || i - first == staged_entries;
    if (i > first && (full || alone || before)) block_row.push_back(i);
  }
}

}  // namespace

int device_lanes(const Offset* row_ptr, Index rows) {
  // Four to sixteen entries for each lane, whose loads overlap: on an H100 rows of 14 and 26 take
  // 1.6 and 1.9 times as long with a lane for each or two, and rows of 75 are best with eight. 7
  // points take 1.07 and 1.4 times as long with two and four lanes as with one.
  constexpr Offset few = 10;
  const Offset mean = mean_of(row_ptr, rows);
  if (mean < few) return 1;
  int lanes = 4;
  for (Offset most = 48; lanes < 32 && mean >= most; most *= 4) lanes *= 2;
  return lanes;
}

bool are_uneven(const Offset* row_ptr, Index rows) {
  constexpr Index most = 4096;         // rows that are looked at
  const Index step = rows / most | 1;  // odd: not that of a grid's lines
  std::int64_t differ = 0;
  std::int64_t seen = 0;
  for (std::int64_t i = 1; i < rows; i += step, ++seen) {
    if (row_ptr[i + 1] - row_ptr[i] != row_ptr[i] - row_ptr[i - 1]) ++differ;
  }
  return 8 * differ > seen;
}

RowBlockPlan plan_row_blocks(const Offset* row_ptr, Index rows, RowSchedule schedule, bool host,
                             std::int64_t rows_per_block, Offset row_overhead) {
  RowBlockPlan plan;
  plan.block_row.push_back(0);
  if (schedule == RowSchedule::automatic && !host && all_short(row_ptr, rows)) {
    schedule = RowSchedule::thread;
  }
  if (schedule == RowSchedule::thread || schedule == RowSchedule::lanes) {
    for (std::int64_t i = rows_per_block; i < rows; i += rows_per_block) {
      plan.block_row.push_back(static_cast<Index>(i));
    }
    if (schedule == RowSchedule::lanes) plan.lanes = std::max(device_lanes(row_ptr, rows), 4);
  } else if (rows > 0 && host) {
    cut_for_host(row_ptr, rows, rows_per_block, row_overhead, plan.block_row);
  } else if (rows > 0) {
    cut_for_device(row_ptr, rows, plan.block_row);
    plan.lanes = device_lanes(row_ptr, rows);
    plan.staged = true;
  }
  if (rows > 0) plan.block_row.push_back(rows);
  return plan;
}

void detail::require_schedule(std::string_view format, Index rows, std::size_t block_rows) {
  if (rows == 0 || block_rows > 0) return;
  throw std::invalid_argument(fmt::format(
      "{}: {} rows and no schedule: call set_schedule after filling row_ptr", format, rows));
}

}  // namespace krysol
