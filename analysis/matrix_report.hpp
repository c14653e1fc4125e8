// What matrix_info finds out about a matrix, as plain data.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace krysol::analysis {

/// A row and a column, from 0; -1: nowhere.
struct Place {
  std::int64_t row = -1;
  std::int64_t col = -1;

  bool known() const { return row >= 0; }
};

/// How many there are of a kind, and the first of them, from 0.
struct Tally {
  std::int64_t count = 0;
  std::int64_t first = -1;
};

/// Numbers of stored places a row, or a column.
struct Lengths {
  std::int64_t shortest = 0;
  std::int64_t longest = 0;
  double mean = 0;
  double median = 0;     // of an even number the mean of the middle two
  double deviation = 0;  // sqrt(mean (length - mean)^2)
  Tally empty;
  std::vector<std::int64_t> histogram;  // [0]: empty; [k]: 2^(k-1) <= length < 2^k
};

/// Distances of stored places from the diagonal, in rows.
struct Band {
  std::int64_t lower = 0;          // max i - j
  std::int64_t upper = 0;          // max j - i
  std::int64_t lower_profile = 0;  // sum over rows i of i - (first column of row i), where >= 0
  std::int64_t upper_profile = 0;  // sum over columns j of j - (first row of column j), where >= 0
  double mean_distance = 0;        // mean |i - j|
};

/// Connected components of the graph of A + A', or, of a rectangle, of its rows and columns.
struct Components {
  bool of_rows_and_columns = false;
  std::int64_t count = 0;
  std::int64_t largest = 0;   // vertices of the largest: rows, or rows and columns
  std::int64_t isolated = 0;  // components of one vertex
};

/// The stored places in blocks of b x b, cut from the first row and column on. Blocks at the lower
/// and right edge may have fewer places.
struct BlockSize {
  int size = 0;
  std::int64_t blocks = 0;  // that hold a stored place
  std::int64_t full = 0;    // whose places are all stored
  double fill = 0;          // stored places / places of those blocks
};
struct Blocks {
  std::array<BlockSize, 7> sizes{};  // b = 2 .. 8
  int best = 1;  // of the fewest bytes in 8 b^2 + 4 a block; 1: 12 a nonzero are fewer
};

/// How far A is from B, one of A', A^H and -A'.
struct Mirror {
  std::int64_t matched = 0;       // stored places with a(i,j) = b(i,j)
  double largest_difference = 0;  // max |a(i,j) - b(i,j)|
  Place where;                    // of that, the first in the order of rows
  double relative = 0;            // |A - B|_F / |A|_F; 0 for A = 0

  bool exact() const { return largest_difference == 0; }
};
struct SymmetryProperties {
  std::int64_t off_diagonal = 0;  // stored places off the diagonal
  std::int64_t mirrored = 0;      // of those, the ones whose mirror image is stored
  Place unmirrored;               // the first whose is not
  Mirror symmetric;               // to A'
  Mirror hermitian;               // to A^H
  Mirror skew;                    // to -A'
  /// Hermitian to 1e-10, as solvers check it: largest |a(i,j) - conj(a(j,i))| relative to the
  /// larger of them and of sqrt(|a(i,i) a(j,j)|).
  bool nearly_hermitian = false;
  double asymmetry = 0;
  Place asymmetric;
};

/// a(i,i) for i < min(rows, cols); signs are those of the real part.
struct Diagonal {
  std::int64_t length = 0;
  std::int64_t positive = 0;
  Tally negative;
  Tally zero;     // stored, and zero
  Tally missing;  // not stored
  Tally not_real;
  double smallest = 0;  // real parts; a missing one is 0
  double largest = 0;
  std::int64_t dominant = 0;  // rows with |a(i,i)| > sum of |a(i,j)|, j != i
  std::int64_t balanced = 0;  // equal
  Tally not_dominant;         // smaller
};

/// The numbers themselves. Of complex ones, `smallest` and `largest` are not defined.
struct Values {
  bool complex = false;
  std::int64_t distinct = 0;       // different ones; 0 and -0 are the same
  std::int64_t most_frequent = 0;  // places of the one that stands most often
  double frequent_real = 0;        // that one
  double frequent_imaginary = 0;
  std::int64_t zeros = 0;  // stored places whose value is zero
  std::int64_t not_finite = 0;
  double smallest = 0;
  double largest = 0;
  double smallest_magnitude = 0;  // of the values that are not zero
  double largest_magnitude = 0;
  double norm_1 = 0;          // max over columns of sum |a(i,j)|
  double norm_inf = 0;        // max over rows
  double norm_frobenius = 0;  // sqrt(sum |a(i,j)|^2)
};

/// s(i) = sum over j of a(i,j) = (A 1)(i).
struct RowSums {
  double largest = 0;     // max |s(i)|
  double relative = 0;    // max |s(i)| / sum of |a(i,j)|, over rows that are not empty or zero
  std::int64_t zero = 0;  // rows with s(i) = 0, exactly
  /// A 1 = 0 but for rounding: |s(i)| <= 2 eps (length) sum of |a(i,j)| in each row, and cols > 0.
  bool null_vector = false;
};

/// Estimates of both ends of the spectrum, from inside.
struct Ends {
  bool singular_values = false;  // of sqrt(A^H A); else of A itself, which is then Hermitian
  int steps = 0;
  double smallest = 0;
  double largest = 0;
  double smallest_residual = 0;  // an eigenvalue is within that distance; eigenvalues only
  double largest_residual = 0;
  double condition = 0;  // at least that, in the 2-norm; infinity: smallest is rounding
};

/// x'Ax for an x of length 1, with a bound of what rounding did to it.
struct Curvature {
  double value = 0;
  double rounding = 0;
  std::int64_t row = -1;  // of the largest entry of x
};

struct Spectra {
  std::optional<Ends> eigenvalues;      // of a matrix that is (nearly) Hermitian
  std::optional<Ends> singular_values;  // where those do not bound the condition
  std::optional<Curvature> negative;    // at the smallest Ritz value, where that is below 0
};

enum class Verdict { yes, no, open };

/// Is A positive definite: x'Ax > 0 for all x != 0, A Hermitian?
struct Definiteness {
  Verdict verdict = Verdict::open;
  std::string reason;  // one of list_reasons()
  Place place;
  double value = std::numeric_limits<double>::quiet_NaN();
  std::string text;  // the reason as a sentence, with place and numbers
};

/// What a reason means, for --list.
struct Reason {
  std::string name;
  std::string good_for;
};
std::vector<Reason> list_reasons();

/// What the file says of itself, and what became of its entries.
struct FileReport {
  std::string name;
  std::string member;  // of an archive
  std::int64_t bytes = 0;
  std::int64_t text_bytes = 0;
  std::string format;    // coordinate or array
  std::string field;     // real, integer, pattern, complex
  std::string symmetry;  // that it declares
  std::int64_t stored_entries = 0;
  std::int64_t duplicates = 0;
  std::int64_t explicit_zeros = 0;
  std::int64_t rounded_integers = 0;
  std::vector<std::string> repairs;
};

struct MatrixReport {
  FileReport file;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;  // stored places, with both triangles of a file with a symmetry
  Lengths row_lengths;
  Lengths col_lengths;
  Band band;
  Components components;
  Blocks blocks;
  SymmetryProperties symmetry;  // of a square matrix
  Diagonal diagonal;
  Values values;
  RowSums row_sums;
  Spectra spectra;
  Definiteness definite;
  int threads = 0;
  std::string backend;
  std::string version;
  double read_seconds = 0;
  double seconds = 0;  // of everything after reading

  bool square() const { return rows == cols; }
  /// nnz / (rows cols); 0 where there are no places.
  double density() const;
  /// An upper bound of the rank: rows and columns that are not empty, the fewer of them.
  std::int64_t rank_at_most() const;
};

}  // namespace krysol::analysis
