// Runs one function on several threads at the same time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>

namespace krysol {

/// How many threads read or write: those asked for, or, where that is 0, as many as OMP_NUM_THREADS
/// says, but no more than there are cores for this process (usable_cores()).
int reading_threads(int asked);

/// Calls `work()` on `threads` threads at a time, this one among them; on fewer where the system
/// has no more. After all have ended, rethrows the first exception of any.
void on_threads(int threads, const std::function<void()>& work);

}  // namespace krysol
