// Listens to Kokkos Tools, as a profiling library would, without being one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include <krysol/report/profile.hpp>
#include "common/rooms.hpp"

namespace krysol::apps {

/// From its constructor on it hears of regions, kernels and copies; one at a time, in a program
/// whose kernels are started by one thread. Kernels of devices are waited for, as Kokkos does for
/// any tool, so that times are theirs. Throws UsageError where a tool is loaded already
/// (KOKKOS_TOOLS_LIBS).
class Profiler {
 public:
  Profiler();
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  /// What was heard so far, as a tree; of each region the longest first. What is still open counts
  /// up to now.
  static std::vector<ProfileNode> nodes();
};

}  // namespace krysol::apps
