// JSON from files that anybody may have written.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>

namespace krysol::report {

/// Throws std::invalid_argument where lists and objects are nested deeper than 32, or there are
/// more than 16 million values: what reads such a text by recursion, or holds all of it, would end
/// the program. A text that is no JSON passes. O(1) memory but for a bit a level.
void check_json_shape(std::string_view text, const std::string& where);

}  // namespace krysol::report
