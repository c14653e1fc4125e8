// ELLPACK-R: ELL that knows its row lengths, so that padding is stored but not read.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/formats/ell.hpp>

namespace krysol {

/// A(i, col_idx(i, j)) = values(i, j) for 0 <= j < length[i]; after that a row is padded with
/// column -1. A GPU thread ends with its row; a host tile ends with its longest.
/// Bytes a multiplication (double): 12 a nonzero, 4 a row of lengths, 8 a column of x, 16 a row of
/// y; memory is that of Ell.
/// Vazquez, Fernandez & Garzon, Concurrency and Computation 23(8), 2011, DOI 10.1002/cpe.1658.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
struct EllpackR {
  static constexpr std::string_view name = "ellpack_r";
  static constexpr std::string_view good_for = "rows of similar length, on GPUs";
  using value_type = S;
  using execution_space = Exec;

  Index rows = 0;
  Index cols = 0;
  Ell<S, Exec> ell;
  Kokkos::View<Index*, Exec> length;  // [rows] entries of each row

  Offset nnz() const { return ell.nnz(); }
  static FormatEstimate estimate(const MatrixProfile& matrix) { return estimate_ell(matrix); }
};

template <class S, class Exec>
std::int64_t bytes(const EllpackR<S, Exec>& a) {
  return a.nnz() * static_cast<std::int64_t>(sizeof(S) + sizeof(Index)) +
         std::int64_t{a.rows} * static_cast<std::int64_t>(sizeof(Index));
}

template <class S, class Exec>
EqualBlocks row_blocks(const EllpackR<S, Exec>& a) {
  return row_blocks(a.ell);
}

/// Bytes a nonzero: 12, and its entry of x; a row: 4.
template <class S, class T, class Exec>
struct EllpackRProduct {
  EllProduct<S, T, Exec> ell;
  const Index* length;

  KOKKOS_INLINE_FUNCTION void operator()(const Member<Exec>& member, std::int64_t first, int count,
                                         T* sum) const {
    EllProduct<S, T, Exec> mine = ell;
    mine.width = 0;
    for (int w = 0; w < count; ++w) {
      mine.width = length[first + w] > mine.width ? length[first + w] : mine.width;
    }
    mine(member, first, count, sum);
  }
};

template <class S, class T, class Exec>
EllpackRProduct<S, T, Exec> row_product(const EllpackR<S, Exec>& a,
                                        const Kokkos::View<const T*, Exec>& x) {
  EllProduct<S, T, Exec> ell = row_product(a.ell, x);
  ell.beyond_cache = reads_beyond_cache(bytes(a), x);  // without the padding
  return {ell, a.length.data()};
}

template <class S, class Exec>
void from_csr(const HostCsr<S>& host, EllpackR<S, Exec>& a) {
  a.rows = host.rows;
  a.cols = host.cols;
  const Index width = longest_row(host);
  refuse_padding(a.name, host, width, static_cast<Offset>(host.rows) * width);
  fill_ell(host, width, a.ell);
  std::vector<Index> length(static_cast<std::size_t>(host.rows));
  for (std::size_t i = 0; i < length.size(); ++i) {
    length[i] = static_cast<Index>(host.row_ptr(i + 1) - host.row_ptr(i));
  }
  a.length = to_device<Exec>("ellpack_r.length", length);
}

}  // namespace krysol
