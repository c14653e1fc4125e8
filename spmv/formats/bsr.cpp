// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/formats/bsr.hpp>

#include <algorithm>

#include <fmt/core.h>

namespace krysol {
namespace {

struct Pattern {
  const Offset* row_ptr;
  const Index* col_idx;
  Index rows;

  Offset nnz_of(Index first, Index count) const { return row_ptr[first + count] - row_ptr[first]; }

  /// Are the b rows from `first` made of full, aligned blocks of b x b?
  bool full(Index first, Index b) const {
    if (rows - first < b) return false;
    const Offset n = row_ptr[first + 1] - row_ptr[first];
    if (n % b != 0) return false;
    const Index* top = col_idx + row_ptr[first];
    for (Index r = 1; r < b; ++r) {
      const Index* row = col_idx + row_ptr[first + r];
      if (row_ptr[first + r + 1] - row_ptr[first + r] != n || !std::equal(top, top + n, row)) {
        return false;
      }
    }
    for (Offset k = 0; k < n; k += b) {
      if (top[k] % b != 0) return false;
      for (Index d = 1; d < b; ++d) {
        if (top[k + d] != top[k] + d) return false;
      }
    }
    return true;
  }

  /// Indices that the block row from `first` takes.
  Offset indices(Index first, Index b) const {
    const Index count = std::min<Index>(b, rows - first);
    const Offset nnz = nnz_of(first, count);
    return full(first, b) ? nnz / (Offset{b} * b) : nnz + count;
  }
};

}  // namespace

BlockChoice choose_block(const Offset* row_ptr, const Index* col_idx, Index rows) {
  const Pattern pattern{row_ptr, col_idx, rows};
  constexpr Index sample = 512;  // block rows
  BlockChoice best;
  for (Index b = 2; b <= largest_block; ++b) {
    const auto block_rows = static_cast<Index>((std::int64_t{rows} + b - 1) / b);
    const Index stride = std::max<Index>(1, block_rows / sample);
    Offset indices = 0;
    Offset nnz = 0;
    for (std::int64_t i = 0; i < block_rows; i += stride) {
      const auto first = static_cast<Index>(i * b);
      indices += pattern.indices(first, b);
      nnz += pattern.nnz_of(first, std::min<Index>(b, rows - first));
    }
    const double share = nnz == 0 ? 1 : static_cast<double>(indices) / static_cast<double>(nnz);
    if (share < best.indices) best = {b, share};
  }
  return best;
}

const BlockChoice& choose_block(const MatrixProfile& matrix) {
  return matrix.once(
      [&matrix] { return choose_block(matrix.row_ptr(), matrix.col_idx(), matrix.rows()); });
}

std::string refuse_block_sample(const MatrixProfile& matrix) {
  const double indices = choose_block(matrix).indices;
  if (indices <= 0.5) return {};
  return fmt::format("{:.2f} indices for each nonzero: too few of them lie in full blocks",
                     indices);
}

FormatEstimate estimate_bsr(const MatrixProfile& matrix) {
  const auto nnz = static_cast<double>(matrix.nnz());
  return {.bytes = matrix.nnz() * matrix.entry_bytes() +
                   static_cast<std::int64_t>(choose_block(matrix).indices * nnz * sizeof(Index)),
          .refusal = refuse_block_sample(matrix)};
}

BlockPattern plan_blocks(const Offset* row_ptr, const Index* col_idx, Index rows, Index block,
                         bool host, std::int64_t rows_per_block) {
  detail::check_block_size("bsr", block);
  const Pattern pattern{row_ptr, col_idx, rows};
  const Index b = block;
  const auto block_rows = static_cast<std::size_t>((std::int64_t{rows} + b - 1) / b);
  BlockPattern plan;
  plan.value_ptr.resize(block_rows + 1);
  plan.index_ptr.resize(block_rows + 1);
  plan.value_ptr[0] = plan.index_ptr[0] = 0;
  host_for("krysol::plan_blocks", static_cast<std::int64_t>(block_rows), [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    const auto first = static_cast<Index>(i * b);
    plan.value_ptr[at + 1] = row_ptr[std::min<std::int64_t>(rows, std::int64_t{first} + b)];
    plan.index_ptr[at + 1] = pattern.indices(first, b);
  });
  for (std::size_t i = 0; i < block_rows; ++i) plan.index_ptr[i + 1] += plan.index_ptr[i];
  plan.index.resize(static_cast<std::size_t>(plan.index_ptr.back()));
  host_for("krysol::plan_blocks(fill)", static_cast<std::int64_t>(block_rows), [&](std::int64_t i) {
    const auto first = static_cast<Index>(i * b);
    const Index count = std::min<Index>(b, rows - first);
    const auto at = static_cast<std::size_t>(i);
    Index* to = plan.index.data() + plan.index_ptr[at];
    const Offset indices = plan.index_ptr[at + 1] - plan.index_ptr[at];
    const Offset nnz = pattern.nnz_of(first, count);
    if (indices * b * b == nnz) {
      for (Offset k = 0; k < indices; ++k) to[k] = col_idx[row_ptr[first] + k * b] / b;
      return;
    }
    for (Index r = 0; r < count; ++r) *to++ = static_cast<Index>(pattern.nnz_of(first + r, 1));
    std::copy_n(col_idx + row_ptr[first], nnz, to);
  });

  // On a host a block of rows is one tile, so that no block row is cut, and small enough for a
  // core's cache.
  std::int64_t size = rows_per_block;
  if (host) {
    constexpr Offset entries = 8192;
    const Offset mean = rows == 0 ? 1 : row_ptr[rows] / rows + 1;
    size = std::max<std::int64_t>(b, std::min<Offset>(rows_per_block, entries / mean) / b * b);
  }
  for (std::int64_t i = 0; i < rows; i += size) plan.block_row.push_back(static_cast<Index>(i));
  plan.block_row.push_back(rows);
  return plan;
}

namespace detail {
void check_block_size(std::string_view format, Index block) {
  if (block >= 2 && block <= largest_block) return;
  throw std::invalid_argument(fmt::format("krysol::from_csr({}): blocks of 2 to {}, not of {}",
                                          format, largest_block, block));
}

void refuse_few_blocks(std::string_view format, Index block, Offset indices, Offset nnz) {
  constexpr Offset few = always_allowed_bytes / static_cast<Offset>(sizeof(Index));
  if (indices <= few || indices <= nnz / 2) return;
  throw FormatRefusal(
      fmt::format("{0}: {1} indices would be left for {2} nonzeros, because too few of them lie in "
                  "full blocks of "
                  "{3} x {3}; at most half of them pay",
                  format, indices, nnz, block));
}
}  // namespace detail

}  // namespace krysol
