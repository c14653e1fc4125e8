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
  /// No format is tried that would take choosing, as far as can be told before, beyond this share
  /// of the time of `products` multiplications by the best so far and beyond so many seconds.
  /// First come the fewest bytes, or what is fast within the caches where the matrix is; formats
  /// that use the arrays of csr are last, and timed in any case.
  double most_share = 0.2;
  double unnoticed_seconds = 0.0008;
  /// What an earlier run on this machine measured for a matrix with this pattern. The fastest but
  /// csr is timed first. Where it is to csr what it was (within 1.25 times), those that were 1.1
  /// times as slow as the best or slower are not timed again, and the time goes to those that were
  /// not timed then; else all of it is passed over.
  const FormatChoice* earlier = nullptr;
  /// Seconds of a multiplication in a format (a name with its variant) in place of the clock's; for
  /// tests.
  std::function<double(std::string_view)> clock{};
};

/// A matrix with fewer nonzeros stays in csr: a multiplication takes microseconds in any format.
inline constexpr Offset least_nnz_to_select = 20000;
/// With fewer multiplications ahead than this, measuring costs more than it can save.
inline constexpr double least_products_to_select = 40;

/// The matrix in the format that multiplies fastest here. Each is timed in turns with the best so
/// far, but for those that refuse the matrix, those whose bytes alone would take longer than the
/// best even at the highest rate of reading seen in this run (of the matrix's own arrays, or of any
/// format), and those for which no time is left. A format in which a multiplication takes
/// half as long again as in the best, by its second time too, gets no further turns.
/// Formats that add in no fixed order are no candidates. Where the times are within 2 % csr is
/// kept. Throws what make_operator throws for csr. Instantiated as make_operator is.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
std::unique_ptr<Operator<S, Exec>> select_format(const HostCsr<S>& csr,
                                                 const SelectOptions& options,
                                                 FormatChoice& choice);

}  // namespace krysol
