// The first four or five lines of a Harwell-Boeing text: title, counts, type, sizes and formats.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <krysol/io/harwell_boeing/cards.hpp>
#include <krysol/io/harwell_boeing/fortran_format.hpp>
#include <krysol/io/model/matrix_file.hpp>

namespace krysol {

/// What the header says.
struct HarwellBoeingHeader {
  std::string title;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  bool elements = false;
  Index rows = 0;
  Index cols = 0;  // or elements
  std::int64_t indices = 0;
  std::int64_t element_values = 0;
  bool has_values = true;
  bool has_vectors = false;
  FortranFormat pointer_format;
  FortranFormat index_format;
  FortranFormat value_format;
  FortranFormat vector_format;
  std::string vector_type;  // three letters
  Index vectors = 0;
  std::int64_t vector_indices = 0;
};

/// Columns of a count in the header.
inline constexpr std::size_t size_width = 14;

/// Reads the header from the start of the text; the next line holds pointers. No count is larger
/// than the bytes that follow. Throws ParseError.
HarwellBoeingHeader read_harwell_boeing_header(CardReader& cards);

}  // namespace krysol
