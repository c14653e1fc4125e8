// What is thrown where a format cannot reasonably hold a matrix.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <stdexcept>

namespace krysol {

/// A format that cannot reasonably hold a matrix. The message holds the numbers that rule it out.
class FormatRefusal : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

}  // namespace krysol
