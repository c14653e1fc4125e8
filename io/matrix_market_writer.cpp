// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include <krysol/io/file.hpp>
#include <krysol/io/matrix_market.hpp>
#include <krysol/io/parse_error.hpp>

namespace krysol {
namespace {

using Complex = std::complex<double>;

std::string_view field_word(double) { return "real"; }
std::string_view field_word(Complex) { return "complex"; }
bool is_finite(double value) { return std::isfinite(value); }
bool is_finite(Complex value) { return std::isfinite(value.real()) && std::isfinite(value.imag()); }

/// One line of numbers; the longest, two indices and two doubles, has 72 bytes.
class Line {
 public:
  template <class T>
  void number(T value) {
    if (size_ > 0) text_[size_++] = ' ';
    size_ = static_cast<std::size_t>(
        std::to_chars(text_.data() + size_, text_.data() + text_.size(), value).ptr - text_.data());
  }
  void value(double v) { number(v); }
  void value(Complex v) {
    number(v.real());
    number(v.imag());
  }
  void write_to(OutputFile& file) {
    text_[size_++] = '\n';
    file.write({text_.data(), size_});
    size_ = 0;
  }

 private:
  std::array<char, 128> text_;
  std::size_t size_ = 0;
};

/// What no reader would take back is refused before the first byte is written.
template <class T>
void check(const std::string& name, const Triplets<T>& a) {
  if (a.row_idx.size() != a.values.size() || a.col_idx.size() != a.values.size()) {
    throw std::invalid_argument(fmt::format("write_matrix: {} rows, {} columns and {} values",
                                            a.row_idx.size(), a.col_idx.size(), a.values.size()));
  }
  if (a.rows < 0 || a.cols < 0 || (a.symmetry != Symmetry::general && a.rows != a.cols)) {
    throw std::invalid_argument(
        fmt::format("write_matrix: a {} matrix of {} x {}", to_string(a.symmetry), a.rows, a.cols));
  }
  if (a.symmetry == Symmetry::hermitian && std::is_same_v<T, double>) {
    throw std::invalid_argument("write_matrix: a real matrix is symmetric, not hermitian");
  }
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    const Index row = a.row_idx[k];
    const Index col = a.col_idx[k];
    const bool inside = row >= 0 && row < a.rows && col >= 0 && col < a.cols;
    const bool allowed = a.symmetry == Symmetry::general || row > col ||
                         (row == col && a.symmetry != Symmetry::skew_symmetric &&
                          (a.symmetry != Symmetry::hermitian || std::imag(a.values[k]) == 0));
    if (!inside || !allowed) {
      throw std::invalid_argument(
          fmt::format("write_matrix: entry ({}, {}), counted from 0, cannot stand in a {} matrix "
                      "of {} x {}",
                      row, col, to_string(a.symmetry), a.rows, a.cols));
    }
    if (!is_finite(a.values[k])) {
      throw FileError(fmt::format("{}: not written: entry ({}, {}), counted from 1, is not finite",
                                  name, row + 1, col + 1));
    }
  }
}

template <class T>
void write_coordinates(const std::filesystem::path& path, const Triplets<T>& a) {
  check(path.string(), a);
  OutputFile file(path);
  file.write(fmt::format("%%MatrixMarket matrix coordinate {} {}\n{} {} {}\n", field_word(T()),
                         to_string(a.symmetry), a.rows, a.cols, a.values.size()));
  Line line;
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    line.number(std::int64_t{a.row_idx[k]} + 1);
    line.number(std::int64_t{a.col_idx[k]} + 1);
    line.value(a.values[k]);
    line.write_to(file);
  }
  file.commit();
}

template <class T>
void write_array(const std::filesystem::path& path, Index rows, Index cols,
                 const std::vector<T>& values) {
  if (rows < 0 || cols < 0 ||
      std::int64_t{rows} * cols != static_cast<std::int64_t>(values.size())) {
    throw std::invalid_argument(
        fmt::format("write_dense: {} values for an array of {} x {}", values.size(), rows, cols));
  }
  OutputFile file(path);
  file.write(
      fmt::format("%%MatrixMarket matrix array {} general\n{} {}\n", field_word(T()), rows, cols));
  Line line;
  for (const T& value : values) {
    line.value(value);
    line.write_to(file);
  }
  file.commit();
}

}  // namespace

void write_matrix(const std::filesystem::path& path, const Triplets<double>& matrix) {
  write_coordinates(path, matrix);
}

void write_matrix(const std::filesystem::path& path, const Triplets<Complex>& matrix) {
  write_coordinates(path, matrix);
}

void write_dense(const std::filesystem::path& path, Index rows, Index cols,
                 const std::vector<double>& values) {
  write_array(path, rows, cols, values);
}

void write_dense(const std::filesystem::path& path, Index rows, Index cols,
                 const std::vector<Complex>& values) {
  write_array(path, rows, cols, values);
}

}  // namespace krysol
