// The memory bandwidth of this machine, measured in this run.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/report/report.hpp>
#include "common/rooms.hpp"

namespace krysol::apps {

/// Arrays of four times the last cache (64 to 256 MB, and at most a sixteenth of the memory that
/// is free), the best of `repeats` passes. Takes some tenths of a second.
Bandwidth measure_bandwidth(int repeats = 5);

}  // namespace krysol::apps
