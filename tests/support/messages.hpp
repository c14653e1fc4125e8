// What tests ask of messages.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <stdexcept>
#include <string>

namespace krysol_tests {

inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// What a std::invalid_argument thrown by `body` says.
template <class Body>
std::string message_of(const Body& body) {
  try {
    body();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "nothing was thrown";
}

}  // namespace krysol_tests
