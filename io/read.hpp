// Reads matrices and vectors from any file that Krysol knows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>

#include <krysol/io/model/matrix_file.hpp>

namespace krysol {

/// Reads a matrix: Matrix Market (io/matrix_market/matrix_market.hpp), Harwell-Boeing or
/// Rutherford-Boeing (io/harwell_boeing/harwell_boeing.hpp), either compressed (gzip, bzip2, xz,
/// zstd, lz4, lzip, compress) or in a tar archive, itself compressed or not. What a file is comes
/// from its content, never from its name; `-` is standard input. Of an archive the matrix is the
/// file named as its folder, as in the SuiteSparse collection (NAME/NAME.mtx), else the only matrix
/// in it, and NAME_b.mtx beside it becomes `attached.rhs`; `ReadOptions::member` names another.
/// Throws ParseError (with the position) or FileError.
MatrixFile read_matrix(const std::filesystem::path& path, const ReadOptions& options = {});

/// Reads one or more vectors: a Matrix Market array or coordinate file, the right-hand sides in a
/// Harwell-Boeing file, NAME_b.mtx of an archive. Missing entries are 0, duplicates are summed, a
/// symmetry is expanded. Throws as `read_matrix`.
DenseFile read_dense(const std::filesystem::path& path, const ReadOptions& options = {});

}  // namespace krysol
