// What `auto` did with a preconditioner: plain data.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace krysol {

/// A preconditioner that `auto` took, or looked at. Costs are in bytes that the processor could
/// move between memory and cores in the same time: see predicted_cost.hpp.
struct PreconditionerTrial {
  std::string name;
  double predicted_cost = 0;        // of setup and solve, when it was decided about; 0: not known
  double predicted_iterations = 0;  // likewise
  double cost_without = 0;          // predicted then of going on with what was in use
  double setup_seconds = 0;
  std::int64_t iterations = 0;  // made with it
  double seconds = 0;           // that these took
  double first_residual = 0;    // |b - A x|_2 before them
  double last_residual = 0;     // and after
  std::string outcome;          // a clause: what became of it
};

/// `auto:jacobi*40/amg`, or `jacobi` where one made all iterations: the same once more, without a
/// choice. Those that made none are left out.
std::string stages_as_text(const std::vector<PreconditionerTrial>& trials);

}  // namespace krysol
