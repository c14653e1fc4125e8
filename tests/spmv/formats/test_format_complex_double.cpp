// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Kokkos_Core.hpp>

#define KRYSOL_TEST_ENTRY Kokkos::complex<double>
#include "format_properties.hpp"
