// Harwell-Boeing and Rutherford-Boeing files: compressed columns in fixed fields.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <complex>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <krysol/io/model/matrix_file.hpp>

namespace krysol {

/// True where lines 2 and 3 are those of such a file: counts, then a type of three letters (values,
/// symmetry, assembled or elements) and sizes.
bool is_harwell_boeing(std::string_view text);

/// Reads a matrix and its vectors: all value types (real, complex, pattern, integer), symmetries
/// (symmetric, Hermitian, skew, unsymmetric, rectangular) and both assembled matrices and finite
/// elements, which are summed. Numbers are where the file's Fortran formats say. Of a matrix with a
/// symmetry one triangle is stored, either. The byte after the text is a NUL. Throws ParseError,
/// with the line and column of the field, where anything is not as the header says. Duff, Grimes &
/// Lewis, "Users' Guide for the Harwell-Boeing Sparse Matrix Collection", 1992; "The
/// Rutherford-Boeing Sparse Matrix Collection", RAL-TR-97-031, 1997.
MatrixFile parse_harwell_boeing(std::string_view text, const std::string& name,
                                const ReadOptions& options);

/// Writes an assembled matrix as a Rutherford-Boeing file: its columns, the rows of each ascending,
/// one-based, in fixed fields; of a matrix with a symmetry the lower triangle. Entries of one place
/// are summed in the order of the list. Fields are as wide as the longest number needs, lines have
/// 80 columns at most; each real number has the fewest digits that read back to the same bits, with
/// a point and an exponent, so that Fortran's E and D edit descriptors read it as it stands. Of a
/// pattern, and of a matrix without entries, no values are written, and the latter reads back as a
/// pattern. Title and key are those of `options`.
///
/// `rhs[rows * k]`, full vectors column by column, makes a Harwell-Boeing file of it, because the
/// newer format carries none.
///
/// Compression, "-" for standard output and exceptions are those of `write_matrix`; throws
/// std::invalid_argument also for a title of more than 72 bytes, a key of more than 8, bytes in
/// either that are not printable ASCII, and right-hand sides of another length or with a pattern or
/// integers. Returns how many duplicate entries were added to others. Memory: the entries once
/// more.
Offset write_rutherford_boeing(const std::filesystem::path& path, const Triplets<double>& matrix,
                               const WriteOptions& options = {},
                               const std::vector<double>& rhs = {});
Offset write_rutherford_boeing(const std::filesystem::path& path,
                               const Triplets<std::complex<double>>& matrix,
                               const WriteOptions& options = {},
                               const std::vector<std::complex<double>>& rhs = {});

}  // namespace krysol
