// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/model/matrix_file.hpp>

namespace krysol {

std::string_view to_string(Field field) {
  switch (field) {
    case Field::real:
      return "real";
    case Field::integer:
      return "integer";
    case Field::pattern:
      return "pattern";
    case Field::complex:
      return "complex";
  }
  return "unknown";
}

}  // namespace krysol
