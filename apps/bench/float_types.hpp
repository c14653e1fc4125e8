// Whether this build holds krysol::float, which benchmarks of float need and no other program does.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fmt/format.h>
#include <string_view>

#include "common/cli.hpp"

namespace krysol::apps {

#ifdef KRYSOL_HAVE_FLOAT
inline constexpr bool holds_float = true;
#else
inline constexpr bool holds_float = false;
#endif

/// Throws UsageError where `option`, which asks for float, cannot be had.
inline void require_float(std::string_view option) {
  if (!holds_float) {
    throw UsageError(fmt::format(
        "{} needs krysol::float, and this build has none: configure it with -DKRYSOL_FLOAT=ON",
        option));
  }
}

}  // namespace krysol::apps
