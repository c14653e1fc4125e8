// Loops over the rows of a matrix on the host, for the analyses of matrix_info.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <krysol/spmv/matrix/host_csr.hpp>
#include <krysol/spmv/matrix/transpose.hpp>

namespace krysol::analysis {

/// host_for, but one thread does little work alone: on a busy machine two of them wait for each
/// other. steps: of the loops inside, about.
template <class Body>
void host_for_much(const char* label, std::int64_t n, std::int64_t steps, const Body& body) {
  constexpr std::int64_t little = 1 << 14;
  if (steps > little) {
    host_for(label, n, body);
  } else {
    for (std::int64_t i = 0; i < n; ++i) body(i);
  }
}

/// Runs body(i, part) for 0 <= i < n on the host's cores; returns the sum, by `+=`, of the parts.
/// Each part belongs to a block of rows of fixed size and they are added in order, so that the
/// result does not depend on the number of threads.
template <class Part, class Body>
Part over_rows(const char* label, std::int64_t n, const Body& body) {
  constexpr std::int64_t block = 512;
  const std::int64_t blocks = (n + block - 1) / block;
  std::vector<Part> parts(static_cast<std::size_t>(blocks));
  host_for_much(label, blocks, n, [&](std::int64_t b) {
    Part part{};
    const std::int64_t last = std::min(n, (b + 1) * block);
    for (std::int64_t i = b * block; i < last; ++i) body(i, part);
    parts[static_cast<std::size_t>(b)] = part;
  });
  Part total{};
  for (const Part& part : parts) total += part;
  return total;
}

template <class S>
double magnitude(const S& v) {
  if constexpr (is_complex<S>) {
    return std::hypot(static_cast<double>(v.real()), static_cast<double>(v.imag()));
  } else {
    return std::abs(static_cast<double>(v));
  }
}

/// Which places are stored; a view of a HostCsr, which must outlive it. Columns ascend in a row.
struct Pattern {
  Index rows = 0;
  Index cols = 0;
  const Offset* row_ptr = nullptr;  // [rows + 1]
  const Index* col_idx = nullptr;   // [nnz]

  Offset nnz() const { return row_ptr == nullptr ? 0 : row_ptr[rows]; }
};

template <class S>
Pattern pattern_of(const HostCsr<S>& a) {
  return {a.rows, a.cols, a.row_ptr.data(), a.col_idx.data()};
}

/// A without its empty columns: column q of it is `kept[q]` of A. Row pointers and values are A's.
/// O(nnz log nnz), however many columns A has.
template <class S>
HostCsr<S> without_empty_columns(const HostCsr<S>& a, std::vector<Index>& kept) {
  kept.assign(a.col_idx.data(), a.col_idx.data() + a.nnz());
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  HostCsr<S> out = a;
  out.cols = static_cast<Index>(kept.size());
  out.col_idx = allocate<decltype(out.col_idx)>("without_empty_columns.col_idx", a.nnz());
  for (std::size_t k = 0; k < a.col_idx.extent(0); ++k) {
    const auto at = std::lower_bound(kept.begin(), kept.end(), a.col_idx(k));
    out.col_idx(k) = static_cast<Index>(at - kept.begin());
  }
  return out;
}

/// Calls visit(j, a(i,j) or nullptr, b(i,j) or nullptr) for the places that are stored in row i of
/// either of two matrices, j ascending.
template <class S, class Visit>
void for_each_pair(const HostCsr<S>& a, const HostCsr<S>& b, std::int64_t i, const Visit& visit) {
  const auto row = static_cast<std::size_t>(i);
  Offset k = a.row_ptr(row);
  Offset l = b.row_ptr(row);
  const Offset k_end = a.row_ptr(row + 1);
  const Offset l_end = b.row_ptr(row + 1);
  const Index* const a_col = a.col_idx.data();
  const Index* const b_col = b.col_idx.data();
  const S* const a_value = a.values.data();
  const S* const b_value = b.values.data();
  while (k < k_end || l < l_end) {
    const bool take_a = l == l_end || (k < k_end && a_col[k] <= b_col[l]);
    const bool take_b = k == k_end || (l < l_end && b_col[l] <= a_col[k]);
    const Index j = take_a ? a_col[k] : b_col[l];
    visit(j, take_a ? a_value + k : nullptr, take_b ? b_value + l : nullptr);
    if (take_a) ++k;
    if (take_b) ++l;
  }
}

}  // namespace krysol::analysis
