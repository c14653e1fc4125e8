// Harwell-Boeing and Rutherford-Boeing files: compressed columns in fixed fields.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>

#include <krysol/io/matrix_file.hpp>

namespace krysol {

/// True where lines 2 and 3 are those of such a file: counts, then a type of three letters (values,
/// symmetry, assembled or elements) and sizes.
bool is_harwell_boeing(std::string_view text);

/// Reads a matrix and its vectors: all value types (real, complex, pattern, integer), symmetries
/// (symmetric, Hermitian, skew, unsymmetric, rectangular) and both assembled matrices and finite
/// elements, which are summed. Numbers are where the file's Fortran formats say. Of a matrix with a
/// symmetry one triangle is stored, either. The byte behind the text is a NUL. Throws ParseError,
/// with the line and column of the field, where anything is not as the header says. Duff, Grimes &
/// Lewis, "Users' Guide for the Harwell-Boeing Sparse Matrix Collection", 1992; "The
/// Rutherford-Boeing Sparse Matrix Collection", RAL-TR-97-031, 1997.
MatrixFile parse_harwell_boeing(std::string_view text, const std::string& name,
                                const ReadOptions& options);

}  // namespace krysol
