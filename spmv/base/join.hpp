// Joins a list into a text: "a, b, c".
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>

namespace krysol {

/// The texts from `first` to `last`, with `separator` between them.
template <class Iterator>
std::string join(Iterator first, Iterator last, std::string_view separator) {
  std::string out;
  for (Iterator text = first; text != last; ++text) {
    if (text != first) out += separator;
    out += *text;
  }
  return out;
}
template <class Texts>
std::string join(const Texts& texts, std::string_view separator) {
  return join(texts.begin(), texts.end(), separator);
}

}  // namespace krysol
