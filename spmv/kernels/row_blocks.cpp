// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/kernels/row_blocks.hpp>

#include <algorithm>
#include <stdexcept>

#include <fmt/core.h>

namespace krysol {
namespace {

/// Nonzeros of a block on a host: 100 kB of double entries and columns.
constexpr Offset most_work_on_host = 8192;

/// Nonzeros of a row from which on a team of a device sums it together.
constexpr Offset long_row_on_device = 1024;

/// Nonzeros a row below which a thread of a device takes a row: 7 points take 1.07 and 1.4 times as
/// long with two and four lanes.
constexpr Offset few = 10;

/// Four to sixteen entries for each lane, whose loads overlap; on an H100 rows of 14 and 26
/// take 1.6 and 1.9 times as long with a lane for each or two, and rows of 75 are best with eight.
int lanes_for(Offset mean) {
  int lanes = 4;
  for (Offset most = 48; lanes < 32 && mean >= most; most *= 4) lanes *= 2;
  return lanes;
}

/// Blocks at the least, where there are rows for them: threads take whole ones.
constexpr Offset least_blocks_on_host = 64;

}  // namespace

RowBlockPlan plan_row_blocks(const Offset* row_ptr, Index rows, RowSchedule schedule, bool host,
                             std::int64_t rows_per_block, Offset row_overhead) {
  RowBlockPlan plan;
  const Offset nnz = rows == 0 ? 0 : row_ptr[rows];
  const Offset mean = rows == 0 ? 0 : nnz / rows;
  const bool lanes =
      schedule == RowSchedule::lanes || (!host && schedule != RowSchedule::thread && mean >= few);
  if (lanes) plan.lanes = lanes_for(mean);
  plan.block_row.push_back(0);
  if (schedule == RowSchedule::thread || schedule == RowSchedule::lanes) {
    for (std::int64_t i = rows_per_block; i < rows; i += rows_per_block) {
      plan.block_row.push_back(static_cast<Index>(i));
    }
  } else {
    // A block is as much work as rows_per_block rows of mean length, and on a host no more than the
    // first two caches hold; a longer row is a block.
    Offset target = rows_per_block * (mean + row_overhead);
    if (host) {
      const Offset all = nnz + rows * row_overhead;
      target = std::min({target, most_work_on_host, all / least_blocks_on_host});
    }
    Offset work = 0;
    for (Index i = 0; i < rows; ++i) {
      const Offset row = row_ptr[i + 1] - row_ptr[i] + row_overhead;
      const bool alone = !host && row > long_row_on_device;
      if (work > 0 && (work + row > target || alone)) {
        plan.block_row.push_back(i);
        work = 0;
      }
      work = alone ? target : work + row;
    }
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
