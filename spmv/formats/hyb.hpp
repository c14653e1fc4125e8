// Hybrid: an ELL part wide enough for most rows, and the rest of the long rows as coordinates.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/formats/coo.hpp>
#include <krysol/spmv/formats/ell.hpp>

namespace krysol {

/// Bytes of the two parts; refuses where they exceed 1.3 times the bytes of csr.
FormatEstimate estimate_hyb(const MatrixProfile& matrix);

/// A = ell + coo. The width of the ELL part is the largest that at least a third of the rows fill.
/// Bytes a multiplication: those of the two parts.
/// Bell & Garland, SC '09, DOI 10.1145/1654059.1654078, section 4.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
struct Hyb {
  static constexpr std::string_view name = "hyb";
  static constexpr std::string_view good_for = "rows of similar length with a few long exceptions";
  using value_type = S;
  using execution_space = Exec;

  Index rows = 0;
  Index cols = 0;
  Ell<S, Exec> ell;  // the first ell.width entries of each row
  Coo<S, Exec> coo;  // what is left of longer rows, by ascending rows

  Offset nnz() const { return ell.nnz() + coo.nnz(); }
  static FormatEstimate estimate(const MatrixProfile& matrix) { return estimate_hyb(matrix); }
};

template <class S, class Exec>
std::int64_t bytes(const Hyb<S, Exec>& a) {
  return bytes(a.ell) + bytes(a.coo);
}

/// The width for rows of these lengths. row_ptr: [rows + 1].
Index hyb_width(const Offset* row_ptr, Index rows);

/// y := alpha A x + beta y; see apply in row_loop.hpp.
template <class S, class T, class Exec>
void apply(const Exec& exec, std::type_identity_t<T> alpha, const Hyb<S, Exec>& a,
           std::type_identity_t<ConstVector<T, Exec>> x, std::type_identity_t<T> beta,
           const Vector<T, Exec>& y) {
  apply(exec, alpha, a.ell, x, beta, y);
  if (a.coo.nnz() > 0) apply(exec, alpha, a.coo, x, T(1), y);
}

template <class S, class Exec>
void from_csr(const HostCsr<S>& host, Hyb<S, Exec>& a) {
  a.rows = host.rows;
  a.cols = host.cols;
  const Index width = hyb_width(host.row_ptr.data(), host.rows);
  fill_ell(host, width, a.ell);

  HostCsr<S> rest;
  rest.rows = host.rows;
  rest.cols = host.cols;
  const auto rows = static_cast<std::size_t>(host.rows);
  const auto left = static_cast<std::size_t>(host.nnz() - a.ell.entries);
  rest.row_ptr = allocate<Vector<Offset, Host>>("hyb.row_ptr", rows + 1);
  rest.row_ptr(0) = 0;
  rest.col_idx = allocate<Vector<Index, Host>>("hyb.col_idx", left);
  rest.values = allocate<Vector<S, Host>>("hyb.values", left);
  std::size_t to = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    for (Offset k = host.row_ptr(i) + width; k < host.row_ptr(i + 1); ++k, ++to) {
      rest.col_idx(to) = host.col_idx(static_cast<std::size_t>(k));
      rest.values(to) = host.values(static_cast<std::size_t>(k));
    }
    rest.row_ptr(i + 1) = static_cast<Offset>(to);
  }
  from_csr(rest, a.coo);
  a.ell.beside = bytes(a.coo);
}

}  // namespace krysol
