// Time of the processor that the calling thread has used.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <time.h>

namespace krysol {

/// Seconds for which the calling thread had a core. Asking is a call of the system, as long as a
/// short kernel.
inline double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace krysol
