// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>

#include "fortran_format.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  krysol_fuzz::fuzz_fortran_format({reinterpret_cast<const char*>(data), size});
  return 0;
}
