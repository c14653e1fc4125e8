// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/matrix/triplets.hpp>

namespace krysol {

std::string_view to_string(Symmetry symmetry) {
  switch (symmetry) {
    case Symmetry::general:
      return "general";
    case Symmetry::symmetric:
      return "symmetric";
    case Symmetry::skew_symmetric:
      return "skew-symmetric";
    case Symmetry::hermitian:
      return "hermitian";
  }
  return "unknown";
}

}  // namespace krysol
