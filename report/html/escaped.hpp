// Text as HTML and SVG take it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>

namespace krysol::report::html {

/// & < > and " as entities; bytes that are not UTF-8 are replaced by U+FFFD, control characters but
/// for line feeds by spaces. For text between tags and in attributes in double quotes.
std::string escaped(std::string_view text);

}  // namespace krysol::report::html
