// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/csr.hpp>

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <krysol/spmv/spaces.hpp>

namespace krysol {
namespace {

/// Nonzeros of a block on a host: 100 kB of double entries and columns.
constexpr Offset most_work_on_host = 8192;

/// Blocks at the least, where there are rows for them: threads take whole ones.
constexpr Offset least_blocks_on_host = 64;

}  // namespace

void check_sizes(std::string_view function, Index rows, Index cols, std::size_t x, std::size_t y) {
  if (x == static_cast<std::size_t>(cols) && y == static_cast<std::size_t>(rows)) return;
  throw std::invalid_argument(
      fmt::format("{}: y = A x with A {} x {}, x of {} entries and y of {}; x needs {} and y {}",
                  function, rows, cols, x, y, cols, rows));
}

void check_square(std::string_view function, std::int64_t rows, std::int64_t cols) {
  if (rows == cols) return;
  throw std::invalid_argument(
      fmt::format("{}: x'Ax needs a square matrix, A is {} x {}", function, rows, cols));
}

CsrPlan plan_csr(const Offset* row_ptr, Index rows, CsrSchedule schedule, bool host,
                 std::int64_t rows_per_block, Offset row_overhead) {
  CsrPlan plan;
  const Offset nnz = rows == 0 ? 0 : row_ptr[rows];
  const Offset mean = rows == 0 ? 0 : nnz / rows;
  const bool lanes =
      schedule == CsrSchedule::lanes || (!host && schedule != CsrSchedule::thread && mean >= 8);
  if (lanes) {
    plan.lanes = 2;
    while (plan.lanes < 32 && plan.lanes < mean) plan.lanes *= 2;
  }
  plan.block_row.push_back(0);
  if (schedule == CsrSchedule::thread || schedule == CsrSchedule::lanes) {
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
      if (work > 0 && work + row > target) {
        plan.block_row.push_back(i);
        work = 0;
      }
      work += row;
    }
  }
  if (rows > 0) plan.block_row.push_back(rows);
  return plan;
}

/// The first entry whose column is outside the matrix; nnz where there is none.
template <class S>
std::int64_t first_bad_column(const HostCsr<S>& a) {
  const Index* col_idx = a.col_idx.data();
  const Index cols = a.cols;
  const std::int64_t nnz = a.nnz();
  std::int64_t first = nnz;
  constexpr std::int64_t block = 4096;
  Kokkos::parallel_reduce(
      "krysol::check(csr)",
      Kokkos::RangePolicy<Host, Kokkos::IndexType<std::int64_t>>(0, (nnz + block - 1) / block),
      [=](std::int64_t b, std::int64_t& least) {
        const std::int64_t end = std::min(nnz, (b + 1) * block);
        // As unsigned numbers negative columns are too large as well.
        std::uint32_t largest = 0;
        for (std::int64_t k = b * block; k < end; ++k) {
          largest = std::max(largest, static_cast<std::uint32_t>(col_idx[k]));
        }
        if (largest < static_cast<std::uint32_t>(cols)) return;
        for (std::int64_t k = b * block; k < end; ++k) {
          if (col_idx[k] < 0 || col_idx[k] >= cols) least = std::min(least, k);
        }
      },
      Kokkos::Min<std::int64_t>(first));
  return std::min(first, nnz);
}

template <class S>
void check(const HostCsr<S>& a) {
  const auto rows = static_cast<std::size_t>(a.rows);
  if (a.rows < 0 || a.cols < 0 || a.row_ptr.extent(0) != rows + 1 ||
      a.col_idx.extent(0) != a.values.extent(0)) {
    throw std::invalid_argument(fmt::format(
        "krysol::check(csr): a {} x {} matrix with {} row pointers (needs rows + 1), {} "
        "columns and {} values",
        a.rows, a.cols, a.row_ptr.extent(0), a.col_idx.extent(0), a.values.extent(0)));
  }
  if (a.row_ptr(0) != 0 || a.row_ptr(rows) != a.nnz()) {
    throw std::invalid_argument(
        fmt::format("krysol::check(csr): row_ptr runs from {} to {}; it must run from 0 to the "
                    "number of entries, {}",
                    a.row_ptr(0), a.row_ptr(rows), a.nnz()));
  }
  for (std::size_t i = 0; i < rows; ++i) {
    if (a.row_ptr(i + 1) < a.row_ptr(i)) {
      throw std::invalid_argument(
          fmt::format("krysol::check(csr): row_ptr falls from {} to {} at row {} (counted from 0)",
                      a.row_ptr(i), a.row_ptr(i + 1), i));
    }
  }
  const std::int64_t bad = first_bad_column(a);
  if (bad == a.nnz()) return;
  const Offset* begin = a.row_ptr.data();
  const auto row = std::upper_bound(begin, begin + rows + 1, bad) - begin - 1;
  throw std::invalid_argument(
      fmt::format("krysol::check(csr): row {} names column {} of {} (counted from 0)", row,
                  a.col_idx(static_cast<std::size_t>(bad)), a.cols));
}

#define KRYSOL_INSTANTIATE(S) template void check(const HostCsr<S>&);
KRYSOL_FOR_EACH_ENTRY(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
