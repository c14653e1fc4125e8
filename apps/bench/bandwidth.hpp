// The memory bandwidth of this machine, measured in this run.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/report/report.hpp>
#include "common/rooms.hpp"

namespace krysol::apps {

/// Arrays of four times the last cache (64 to 256 MB, and at most a sixteenth of the memory that
/// is free; of 64 MB or what is filled in `seconds`, where memory is slow to get), the best of
/// `repeats` passes, of two at least once `seconds` are over. Throws OutOfMemory.
Bandwidth measure_bandwidth(int repeats = 5, double seconds = 0.3);

}  // namespace krysol::apps
