// Matrices and vectors as files hold them: the result of reading, and the options of reading.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <complex>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <krysol/io/bytes/compressor.hpp>
#include <krysol/spmv/matrix/triplets.hpp>

namespace krysol {

enum class Field { real, integer, pattern, complex };

/// "real", "integer", "pattern" or "complex", as Matrix Market spells them.
std::string_view to_string(Field field);

/// What a reader does about a departure from the format. `by_mode`: refuses it when it is strict,
/// repairs it when it repairs.
enum class Policy { by_mode, refuse, repair };

/// What indices count from. `by_mode`: from 1 when the reader is strict, as seen when it repairs.
/// `as_seen`: from 0 where an index 0 is found, which no other index may contradict.
enum class IndexBase { by_mode, one, zero, as_seen };

/// What becomes of NaN and infinity. `by_mode`: refused; when the reader repairs, NaN entries of
/// coordinate files are dropped. `drop` and `keep` are for both, in coordinate files and in arrays,
/// of which a dropped value is a 0.
enum class NotFinite { by_mode, refuse, drop, keep };

/// What becomes of entries that name a place that an earlier one has named. `keep`: all stand side
/// by side, to be summed by `to_csr`. `sum` adds them to the first, `first` drops them, both
/// counted in `FileInfo::repairs`; `reject` throws at the first that is found.
enum class Duplicates { keep, sum, first, reject };

/// Whether matrices are kept as they were parsed, for the next time; see `read_through_cache`. The
/// environment variable KRYSOL_MATRIX_CACHE says the same without the program's help: a folder (as
/// `use` and `folder`), `on` (as `use`), or `off`, which changes nothing. What is set here counts.
struct CacheOptions {
  bool use = false;

  /// A cache is good where the hash of the source's content is unchanged, whatever its inode and
  /// times; all of the source is read for that.
  bool verify = false;

  /// Empty: that of KRYSOL_MATRIX_CACHE, else krysol/matrices in $XDG_CACHE_HOME or ~/.cache.
  std::filesystem::path folder;
};

struct ReadOptions {
  /// false (strict): the first departure from the format throws. Two that have one meaning are
  /// taken all the same, and noted in `FileInfo::repairs`: a file with a symmetry that stores the
  /// upper triangle and nothing below it, and a "real" array of two values a line under a comment
  /// `%%GraphBLAS type ... complex` (read as complex). So are values so small that double has 0.
  /// true: departures with one obvious meaning are repaired, and each kind is counted there:
  /// a missing banner (two sizes: array, three: coordinate, both real general), indices that count
  /// from 0, NaN entries of coordinate files (dropped), imaginary parts on a hermitian diagonal
  /// and zeros on a skew-symmetric one (dropped), values in a pattern file (ignored), lines after
  /// the last declared entry (ignored), a byte order mark (passed over), entries on both sides of
  /// the diagonal of a symmetric file (the upper ones mirrored where none has a twin below, dropped
  /// where all have an equal one; where some twins differ, the matrix is general as it stands).
  bool repair = false;

  /// Of one kind of departure, whatever `repair` says of the others.
  IndexBase index_base = IndexBase::by_mode;
  Policy wrong_triangle = Policy::by_mode;  // entries on both sides of the diagonal, or on it
  Policy junk = Policy::by_mode;            // lines after the last entry, values in pattern files
  NotFinite not_finite = NotFinite::by_mode;
  Duplicates duplicates = Duplicates::keep;

  bool repairs(Policy policy) const {
    return policy == Policy::by_mode ? repair : policy == Policy::repair;
  }

  /// The file to read from an archive, with its folders; empty: see `read_matrix`.
  std::string member{};

  /// The most text a file may decompress to. 64 GiB hold some 3 x 10^9 entries; a gzip file can
  /// swell 1032-fold, so a limit relative to its size would say little.
  std::int64_t max_text_bytes = std::int64_t{64} << 30;

  /// That read the lines of a coordinate file; 0: as many as OMP_NUM_THREADS says, or as there are
  /// cores for this process. The result does not depend on it, nor does what is thrown.
  int threads = 0;

  /// `read_csr` reads a file twice instead of keeping its entries beside the matrix.
  bool low_memory = false;

  /// The most values `read_dense` makes of a coordinate file, whose sizes are not bounded by its
  /// length as those of an array file are; and of sparse right-hand sides or elements without
  /// values in a Harwell-Boeing file, for the same reason.
  std::int64_t max_dense_values = std::int64_t{1} << 30;

  CacheOptions cache;
};

struct WriteOptions {
  /// That make the text; 0: as `ReadOptions::threads`. The file does not depend on
  /// it.
  int threads = 0;

  /// What the entries are written as; none: real, or complex where they are. Integers must be whole
  /// numbers from -2^63 to below 2^63 (-0.0 becomes 0). A pattern holds no values, and is general
  /// or symmetric.
  std::optional<Field> field{};

  /// None: as the name ends. A long file is compressed by all threads, but for gzip, which one
  /// thread does while others make its text.
  std::optional<Compression> compression{};

  /// Of Matrix Market, comment lines after the banner; of Harwell-Boeing, the title.
  std::string title{};

  /// Of Harwell-Boeing: a name of at most eight bytes.
  std::string key{};
};

/// What a file said of itself, and what had to be done to read it.
struct FileInfo {
  std::string format = "Matrix Market";
  std::string member;  // the file of an archive
  std::string title;   // what the file calls the matrix; empty: nothing
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  bool array = false;                 // a dense array file, not coordinates
  std::int64_t stored_entries = 0;    // entry lines in the file, as declared
  std::int64_t rounded_integers = 0;  // integers beyond 2^53 that double had to round
  std::int64_t bytes = 0;             // of the file as it lies on disk
  std::int64_t text_bytes = 0;        // after decompression
  std::vector<std::string> repairs;   // one sentence a kind, each with its count and first line
  std::string cache;  // what became of it: "read from PATH"; empty where none was asked for
};

/// A dense file, column by column: right-hand sides, starting guesses, solutions.
struct DenseFile {
  FileInfo info;
  Index rows = 0;
  Index cols = 0;
  std::variant<std::vector<double>, std::vector<std::complex<double>>> values;  // [rows * cols]
};

/// Vectors that belong to a matrix: those in a Harwell-Boeing file, the right-hand side beside the
/// matrix in an archive. `cols` is 0 where there is none.
struct AttachedVectors {
  DenseFile rhs;
  DenseFile guess;
  DenseFile solution;
};

/// A sparse matrix file: real, integer and pattern (value 1) entries become double.
struct MatrixFile {
  FileInfo info;
  std::variant<Triplets<double>, Triplets<std::complex<double>>> matrix;
  AttachedVectors attached;
};

}  // namespace krysol
