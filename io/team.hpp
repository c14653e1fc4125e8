// Threads that do the same work side by side.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>

namespace krysol {

/// How many threads read or write: those asked for, or, where that is 0, as many as OMP_NUM_THREADS
/// says, or as there are cores for this process.
int reading_threads(int asked);

/// Calls `work()` in `threads` threads, this one among them, or in fewer where there are no more,
/// and returns when all have. It must not throw.
void run_team(int threads, const std::function<void()>& work);

}  // namespace krysol
