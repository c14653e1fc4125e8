// Matrix Market files: the only place that parses or writes them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <complex>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <krysol/io/bytes/stream.hpp>
#include <krysol/io/model/matrix_file.hpp>

namespace krysol {

/// True where a text begins with the banner.
bool is_matrix_market(std::string_view head);

/// Reads a matrix. Entries stay in the order of the file; coordinates keep explicit zeros and
/// duplicates, arrays lose their zeros. A file with a symmetry keeps it and its stored triangle.
/// Numbers may have a leading plus and Fortran's exponents (1.5D+03, 1.5+103); reals that overflow
/// double and integers beyond 64 bits are errors, underflow is not, NaN and infinity are. Throws
/// ParseError (with the position) or FileError.
MatrixFile read_matrix_market(std::unique_ptr<Stream> stream, const ReadOptions& options);

/// Reads one or more vectors: an array file, or a coordinate file whose missing entries are 0 and
/// whose duplicates are summed. A symmetry is expanded. Throws as `read_matrix_market`.
DenseFile read_dense_matrix_market(Stream& stream, const ReadOptions& options);

/// The same from text in memory, after which a NUL stands; `name` is the file's in messages.
MatrixFile parse_matrix(std::string_view text, const std::string& name,
                        const ReadOptions& options = {});
DenseFile parse_dense(std::string_view text, const std::string& name,
                      const ReadOptions& options = {});

/// Writes coordinates in the order given, one-based, each value in the fewest digits that read back
/// to the same bits. Compressed where the name ends in `.gz`, `.bz2`, `.xz` or `.zst`; "-" is
/// standard output. The file appears under its name only when it is complete. Throws FileError,
/// also for a value that is NaN or infinite, because no reader would take the file;
/// std::invalid_argument for arrays of different lengths, indices outside the matrix, entries that
/// its symmetry forbids (above the diagonal; on a skew-symmetric diagonal; with an imaginary part
/// on a hermitian one), and a field that cannot hold the values. Memory: a few MB a thread, some 40
/// MB where compressed.
void write_matrix(const std::filesystem::path& path, const Triplets<double>& matrix,
                  const WriteOptions& options = {});
void write_matrix(const std::filesystem::path& path, const Triplets<std::complex<double>>& matrix,
                  const WriteOptions& options = {});

/// Writes a dense array of `cols` columns, values[rows * cols] column by column. NaN and infinity
/// are written as `nan` and `inf`: the iterate of a solver that broke down is evidence.
/// `read_dense` refuses such a file with the position. Throws FileError; std::invalid_argument
/// where the number of values is not rows * cols, and for a field that cannot hold them (a pattern
/// is none).
void write_dense(const std::filesystem::path& path, Index rows, Index cols,
                 const std::vector<double>& values, const WriteOptions& options = {});
void write_dense(const std::filesystem::path& path, Index rows, Index cols,
                 const std::vector<std::complex<double>>& values, const WriteOptions& options = {});

}  // namespace krysol
