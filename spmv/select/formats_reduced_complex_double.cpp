// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/select/make_operator.hpp>

namespace krysol {
KRYSOL_ON_EACH_SPACE(KRYSOL_MAKE_REDUCED, Kokkos::complex<double>)
}  // namespace krysol
