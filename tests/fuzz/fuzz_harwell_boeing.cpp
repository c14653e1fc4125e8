// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>

#include "harwell_boeing.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  krysol_fuzz::fuzz_harwell_boeing({reinterpret_cast<const char*>(data), size});
  return 0;
}
