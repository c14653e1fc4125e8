// Rows cut into blocks of similar work.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <krysol/spmv/base/types.hpp>
#include <krysol/spmv/base/vector.hpp>

namespace krysol {

/// Who works on a row of a Csr.
enum class RowSchedule {
  automatic,  // balanced; on a GPU thread where all rows are short
  thread,     // one thread a row, blocks of equally many rows
  lanes,    // a team of vector lanes a row (on a host: one core's vector lanes), equally many rows
  balanced  // blocks of rows with equally many nonzeros; on a GPU such as fit scratch memory
};

/// Products that a team of a GPU keeps in its scratch memory at a time, and the threads that make
/// them: four each, whose loads overlap. With eight or sixteen an H200 takes up to 1.3 times as
/// long (docs/performance.md). Where a function takes its arguments by reference, device code must
/// pass copies: int{staging_threads}.
inline constexpr int staged_entries = 1024;
inline constexpr int staging_threads = staged_entries / 4;

/// Blocks of rows with similar work, from a list of first rows.
struct ListedBlocks {
  const Index* first_row = nullptr;
  std::int64_t blocks = 0;

  KOKKOS_INLINE_FUNCTION std::int64_t count() const { return blocks; }
  KOKKOS_INLINE_FUNCTION std::int64_t first(std::int64_t b) const { return first_row[b]; }
  KOKKOS_INLINE_FUNCTION std::int64_t last(std::int64_t b) const { return first_row[b + 1]; }
};

/// block_row: [blocks + 1], what plan_row_blocks found; a matrix without rows has no blocks.
template <class Exec>
ListedBlocks listed_blocks(Index rows, const Kokkos::View<Index*, Exec>& block_row) {
  return {block_row.data(), rows == 0 ? 0 : static_cast<std::int64_t>(block_row.extent(0)) - 1};
}

/// How a matrix's rows are to be worked on, found from its row pointers on the host.
struct RowBlockPlan {
  int lanes = 1;
  bool staged = false;           // on a GPU: blocks are made for scratch memory, see StagedRows
  std::vector<Index> block_row;  // [blocks + 1]
};

/// row_ptr: [rows + 1]. row_overhead: what a row costs beside its nonzeros, counted in nonzeros:
/// its pointer, its entry of y, the end of a loop. On a GPU a balanced block is at most
/// staged_entries nonzeros, or one row, whatever rows_per_block and row_overhead are, and
/// `automatic` is balanced but where all rows are short. Depends on the matrix and the kind of
/// space alone, never on thread counts.
RowBlockPlan plan_row_blocks(const Offset* row_ptr, Index rows, RowSchedule schedule, bool host,
                             std::int64_t rows_per_block, Offset row_overhead = 3);

/// Lanes of a team of a GPU on a row of mean length, where they read it from memory.
int device_lanes(const Offset* row_ptr, Index rows);

/// True where more than an eighth of the rows, by a sample, differ in length from the one before: a
/// branch at the end of each is mispredicted so often that it takes longer than short rows do.
bool are_uneven(const Offset* row_ptr, Index rows);

namespace detail {
/// Throws std::invalid_argument where a matrix with rows has no blocks: it would multiply nothing.
void require_schedule(std::string_view format, Index rows, std::size_t block_rows);
}  // namespace detail

}  // namespace krysol
