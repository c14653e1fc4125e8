// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/matrix/host_csr.hpp>

#include <algorithm>
#include <atomic>
#include <stdexcept>

#include <fmt/core.h>
#include <krysol/spmv/base/spaces.hpp>

namespace krysol {

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

/// Of two arrays on the host, block by block; no more are read once one differs.
template <class T>
bool same_array(const Kokkos::View<T*, Host>& a, const Kokkos::View<T*, Host>& b) {
  if (b.extent(0) != a.extent(0)) return false;
  if (a.data() == b.data()) return true;
  constexpr std::int64_t step = 65536;
  const EqualBlocks pieces{static_cast<std::int64_t>(a.extent(0)), step};
  std::atomic<bool> equal{true};
  host_for("krysol::same_pattern", pieces.count(), [&](std::int64_t p) {
    if (!equal.load(std::memory_order_relaxed)) return;
    if (!std::equal(a.data() + pieces.first(p), a.data() + pieces.last(p),
                    b.data() + pieces.first(p))) {
      equal.store(false, std::memory_order_relaxed);
    }
  });
  return equal.load();
}

template <class S>
bool same_pattern(const HostCsr<S>& a, const HostCsr<S>& b) {
  return a.rows == b.rows && a.cols == b.cols && same_array(a.row_ptr, b.row_ptr) &&
         same_array(a.col_idx, b.col_idx);
}

#define KRYSOL_INSTANTIATE(S)             \
  template void check(const HostCsr<S>&); \
  template bool same_pattern(const HostCsr<S>&, const HostCsr<S>&);
KRYSOL_FOR_EACH_ENTRY(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
