// How threads of a program wait for each other.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace krysol::apps {

/// g++'s OpenMP reads its environment before main, and by default lets threads spin for
/// milliseconds at the end of each kernel: where another process has a core, for a thread that the
/// system has put to sleep. Where the user has said nothing of it (OMP_WAIT_POLICY,
/// GOMP_SPINCOUNT) they are to spin for some tens of microseconds: sets that and starts the program
/// again, once. Returns where there is nothing to set, or the program cannot be started. Threads
/// are not bound to cores: programs that run side by side would share the first of them.
void settle_waiting(char** argv);

}  // namespace krysol::apps
