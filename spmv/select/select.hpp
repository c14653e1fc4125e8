// auto: the fastest format for this matrix on this device, found by measuring.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <string_view>

#include <krysol/spmv/select/format_choice.hpp>
#include <krysol/spmv/select/formats.hpp>

namespace krysol {

struct SelectOptions {
  /// Multiplications that the caller expects; few of them are not worth measuring for. Of 22
  /// positive definite matrices of the SuiteSparse collection with 20 000 to 550 000 nonzeros, 15
  /// took Jacobi-CG more iterations than this (b = A*ones, 1e-8), and half of them 1370.
  double products = 400;
  /// They come with the dot product x'A x, as in conjugate gradients; for square matrices.
  bool with_dot = false;
  /// The caller has seen that the matrix is symmetric to the bit (MatrixProperties::mirrored): then
  /// formats of one triangle do not look again, which is most of their conversion.
  bool mirrored = false;
  /// Choosing may take most_share of the time of `products` multiplications by the best format so
  /// far, or unnoticed_seconds where that is more; a format expected to exceed it is not tried.
  /// Formats that use the arrays of csr come first, and are timed in any case; then those with the
  /// least estimated time of conversion and `products` multiplications.
  double most_share = 0.2;
  double unnoticed_seconds = 0.0008;
  /// Measurements of an earlier run on this machine for a matrix with this pattern. The fastest but
  /// csr is timed first. Where the ratio of its time to that of csr is what it was, within a factor
  /// 1.25, formats that took 1.1 times the best time or more are not timed again, and the time goes
  /// to those that were not timed then; otherwise the measurements are ignored.
  const FormatChoice* earlier = nullptr;
  /// Seconds of a multiplication in a format (a name with its variant) in place of the clock's; for
  /// tests.
  std::function<double(std::string_view)> clock{};
};

/// A matrix with fewer nonzeros stays in csr: a multiplication takes microseconds in any format.
inline constexpr Offset least_nnz_to_select = 20000;
/// With fewer multiplications ahead than this, measuring costs more than it can save.
inline constexpr double least_products_to_select = 40;

/// The matrix in the format that multiplies fastest here. Not tried are formats that refuse the
/// matrix, those whose bytes alone would take longer than the best so far even at 1.3 times the
/// highest rate of reading seen in this run (of the matrix's own arrays, or of any format), and
/// those for which no time is left. Each other is timed alone and, where it is within a factor 1.25
/// of the best so far, in turns with it; it becomes the best where it is more than 2 % faster. csr
/// is the first. Formats that sum in no fixed order are not candidates. `choice` receives the times
/// and the reason. Throws what make_operator throws for csr. Instantiated as make_operator is.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
std::unique_ptr<Operator<S, Exec>> select_format(const HostCsr<S>& csr,
                                                 const SelectOptions& options,
                                                 FormatChoice& choice);

}  // namespace krysol
