// Letters for pictures, drawn here: five dots wide, seven high, two more below for tails.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string_view>

namespace krysol::report {

inline constexpr int letter_width = 5;
inline constexpr int letter_height = 9;   // the line that letters stand on is below the seventh row
inline constexpr int letter_advance = 6;  // from one letter to the next

/// Is there ink at that dot of a letter? Printable ASCII; any other byte is drawn as a question
/// mark.
bool letter_has(char letter, int row, int col);

/// Dots from the first column of a text to its last.
int text_width(std::string_view text);

}  // namespace krysol::report
