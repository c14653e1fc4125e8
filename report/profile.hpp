// Where a program's time went, by the regions and kernels that it named to Kokkos Tools.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace krysol::report {

/// A region or kernel within others. A list of them is a tree: those that follow with a larger
/// depth are within it.
struct ProfileNode {
  std::string name;
  int depth = 0;
  bool kernel = false;  // a loop, sum or copy; else a region
  std::int64_t calls = 0;
  double seconds = 0;  // with all that is within
  double bytes = 0;    // 0: not known
};

/// A line a node, those of each region by their time; what takes less than `least` of the whole is
/// left out, and counted.
std::string as_text(const std::vector<ProfileNode>& profile, double least = 0.001);

}  // namespace krysol::report
