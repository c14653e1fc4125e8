// What `auto` may be told to take in place of a choice.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <krysol/solver/outcome/named_options.hpp>

namespace krysol {

/// Where `auto` is told what to take, as in `auto:jacobi*40/amg`: 40 iterations with jacobi, the
/// rest with amg.
struct PreconditionerStage {
  std::string name;
  std::int64_t iterations = 0;  // 0: until the end
};

/// The stages after the colon of `auto:...`; none where there is no colon. Throws
/// std::invalid_argument, naming what is wrong.
std::vector<PreconditionerStage> preconditioner_stages(std::string_view name,
                                                       const NamedOptions& options);

}  // namespace krysol
