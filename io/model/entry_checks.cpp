// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/model/entry_checks.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <type_traits>

#include <fmt/core.h>

#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/text/ordered_blocks.hpp>
#include <krysol/spmv/base/finite.hpp>

namespace krysol {
namespace {

using Complex = std::complex<double>;

bool is_whole(double v) { return v >= -0x1p63 && v < 0x1p63 && v == std::trunc(v); }
bool is_whole(Complex) { return false; }

template <class T>
void check_shape(std::string_view function, const Triplets<T>& a, Field field) {
  if (a.row_idx.size() != a.values.size() || a.col_idx.size() != a.values.size()) {
    throw std::invalid_argument(fmt::format("{}: {} rows, {} columns and {} values", function,
                                            a.row_idx.size(), a.col_idx.size(), a.values.size()));
  }
  if (a.rows < 0 || a.cols < 0 || (a.symmetry != Symmetry::general && a.rows != a.cols)) {
    throw std::invalid_argument(
        fmt::format("{}: a {} matrix of {} x {}", function, to_string(a.symmetry), a.rows, a.cols));
  }
  if (a.symmetry == Symmetry::hermitian && std::is_same_v<T, double>) {
    throw std::invalid_argument(
        fmt::format("{}: a real matrix is symmetric, not hermitian", function));
  }
  if (field == Field::pattern && a.symmetry != Symmetry::general &&
      a.symmetry != Symmetry::symmetric) {
    throw std::invalid_argument(fmt::format("{}: a pattern is general or symmetric, not {}",
                                            function, to_string(a.symmetry)));
  }
}

template <class T>
bool may_stand(const Triplets<T>& a, std::size_t k) {
  const Index row = a.row_idx[k];
  const Index col = a.col_idx[k];
  const bool inside = row >= 0 && row < a.rows && col >= 0 && col < a.cols;
  return inside && (a.symmetry == Symmetry::general || row > col ||
                    (row == col && a.symmetry != Symmetry::skew_symmetric &&
                     (a.symmetry != Symmetry::hermitian || std::imag(a.values[k]) == 0)));
}

template <class T>
void check_whole_numbers(std::string_view function, const T* values, std::size_t n) {
  const T* const wrong = std::find_if(values, values + n, [](T v) { return !is_whole(v); });
  if (wrong == values + n) return;
  throw std::invalid_argument(fmt::format("{}: value {} of {}, {}, is no integer of 64 bits",
                                          function, wrong - values + 1, n, std::real(*wrong)));
}

}  // namespace

template <class T>
Field field_to_write(std::string_view function, const WriteOptions& options) {
  constexpr bool complex = std::is_same_v<T, Complex>;
  const Field field = options.field.value_or(complex ? Field::complex : Field::real);
  if (field != Field::pattern && complex != (field == Field::complex)) {
    throw std::invalid_argument(fmt::format("{}: {} values cannot be written as {}", function,
                                            complex ? "complex" : "real", to_string(field)));
  }
  return field;
}

template <class T>
void check_entries(std::string_view function, const std::string& name, const Triplets<T>& a,
                   Field field, int threads) {
  check_shape(function, a, field);
  const std::size_t n = a.values.size();
  const std::size_t k = find_first(n, threads, [&](std::size_t i) {
    return !may_stand(a, i) || !can_be_written(a.values[i], field);
  });
  if (k == n) return;
  const Index row = a.row_idx[k];
  const Index col = a.col_idx[k];
  if (!may_stand(a, k)) {
    throw std::invalid_argument(
        fmt::format("{}: entry ({}, {}), counted from 0, cannot stand in a {} matrix of {} x {}",
                    function, row, col, to_string(a.symmetry), a.rows, a.cols));
  }
  if (!is_finite(a.values[k])) {
    throw FileError(fmt::format("{}: not written: entry ({}, {}), counted from 1, is not finite",
                                name, row + 1, col + 1));
  }
  throw std::invalid_argument(
      fmt::format("{}: entry ({}, {}), counted from 0, is {}: no integer of 64 bits", function, row,
                  col, std::real(a.values[k])));
}

bool can_be_written(double value, Field field) {
  return is_finite(value) && (field != Field::integer || is_whole(value));
}
bool can_be_written(Complex value, Field) { return is_finite(value); }

void check_whole(std::string_view function, const double* values, std::size_t n) {
  check_whole_numbers(function, values, n);
}
void check_whole(std::string_view function, const Complex* values, std::size_t n) {
  check_whole_numbers(function, values, n);
}

template Field field_to_write<double>(std::string_view, const WriteOptions&);
template Field field_to_write<Complex>(std::string_view, const WriteOptions&);
template void check_entries(std::string_view, const std::string&, const Triplets<double>&, Field,
                            int);
template void check_entries(std::string_view, const std::string&, const Triplets<Complex>&, Field,
                            int);

}  // namespace krysol
