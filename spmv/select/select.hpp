// auto: the fastest format for this matrix on this device, found by measuring.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/select/format_choice.hpp>
#include <krysol/spmv/select/formats.hpp>

namespace krysol {

struct SelectOptions {
  /// Multiplications that the caller expects; few of them are not worth measuring for.
  double products = 200;
  /// They come with the dot product x'A x, as in conjugate gradients; for square matrices.
  bool with_dot = false;
  /// Once choosing has taken this share of the time of `products` multiplications by csr, and more
  /// seconds than anybody notices, no further format is tried. The fewest bytes come first.
  double most_share = 0.2;
  double unnoticed_seconds = 0.05;
};

/// A matrix with fewer nonzeros stays in csr: a multiplication takes microseconds in any format.
inline constexpr Offset least_nnz_to_select = 20000;
/// With fewer multiplications ahead than this, measuring costs more than it can save.
inline constexpr double least_products_to_select = 40;

/// The matrix in the format that multiplies fastest here. Formats that row lengths rule out are not
/// made: those that move more bytes than another of their kind, and those that refuse. The others
/// are timed in turns with the best so far, until that has taken its share.
/// Formats that add in no fixed order are no candidates. Where the times are within 2 % csr is
/// kept. Throws what make_operator throws for csr. Instantiated as make_operator is.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
std::unique_ptr<Operator<S, Exec>> select_format(const HostCsr<S>& csr,
                                                 const SelectOptions& options,
                                                 FormatChoice& choice);

}  // namespace krysol
