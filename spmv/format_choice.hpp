// What `auto` found out, as plain data.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace krysol {

/// How a format fared, or why it was not tried.
struct FormatTrial {
  std::string name;  // as make_operator takes it
  bool measured = false;
  double seconds = 0;          // a multiplication: the best of a few, in turns with the best so far
  double convert_seconds = 0;  // from csr
  std::int64_t bytes = 0;      // of its arrays; from the row lengths where it was not made
  double break_even = 0;       // multiplications that repay the conversion; 0 for csr, Inf: never
  std::string remark;          // why it was not measured
};

struct FormatChoice {
  std::string name;                 // give this to make_operator to repeat the run
  std::vector<FormatTrial> trials;  // all formats
  double seconds = 0;               // spent on conversions and timings
  std::string reason;               // a sentence
};

}  // namespace krysol
