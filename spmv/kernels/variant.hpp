// The parameters in a format's name, after its colon: bsr:3.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <charconv>
#include <string_view>

#include <krysol/spmv/base/types.hpp>

namespace krysol {

/// A whole number from 1 on; false for anything else.
inline bool read_count(std::string_view text, Index& count) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  return error == std::errc{} && end == text.data() + text.size() && count > 0;
}

}  // namespace krysol
