// Checks entries before they are written: what no reader would accept is refused.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <krysol/io/model/matrix_file.hpp>

namespace krysol {

/// The field that a matrix of T is written as. `function` names the caller in messages, here and
/// below. Throws std::invalid_argument where it does not hold numbers of T. T is double or
/// std::complex<double>.
template <class T>
Field field_to_write(std::string_view function, const WriteOptions& options);

/// Throws std::invalid_argument for arrays of different lengths, a symmetry that the matrix cannot
/// have, and the first entry that cannot stand where it is or be written as `field`; FileError of
/// `name` for the first that is not finite.
template <class T>
void check_entries(std::string_view function, const std::string& name, const Triplets<T>& a,
                   Field field, int threads);

/// Finite, and an integer of 64 bits where the field is that.
bool can_be_written(double value, Field field);
bool can_be_written(std::complex<double> value, Field field);

/// Throws std::invalid_argument for the first of n values that is no integer of 64 bits.
void check_whole(std::string_view function, const double* values, std::size_t n);
void check_whole(std::string_view function, const std::complex<double>* values, std::size_t n);

}  // namespace krysol
