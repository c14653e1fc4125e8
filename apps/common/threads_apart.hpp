// Threads that keep out of each other's way.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

namespace krysol::apps {

/// As long as it lives each thread of the host's kernels stays on a part of the cores of its own:
/// of n cores and t threads the k-th has those from k n / t to (k + 1) n / t. In a virtual machine
/// the system wakes a thread beside the one that wakes it, whatever other core is idle, and moves
/// it away some 5 to 25 ms later: in that time two threads wait for each other on one core.
/// Processes side by side do not lose by it, as they would where threads were bound to one core
/// each: where they have as many threads as there are cores all cores have one of each, and else
/// the system distributes them within the parts. Does nothing where OMP_PROC_BIND has bound them,
/// where there are more threads than cores, or no such thing as an affinity mask.
///
/// Threads that the constructing thread starts meanwhile would share its part, and it alone may
/// destroy this.
class ThreadsApart {
 public:
  ThreadsApart();
  ~ThreadsApart();
  ThreadsApart(const ThreadsApart&) = delete;
  ThreadsApart& operator=(const ThreadsApart&) = delete;

 private:
  int threads_ = 0;         // 0: left alone
  std::vector<int> cores_;  // of all of them
};

}  // namespace krysol::apps
