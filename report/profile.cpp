// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/report/profile.hpp>

#include <algorithm>

#include <fmt/core.h>

#include <krysol/report/text.hpp>

namespace krysol::report {

std::string as_text(const std::vector<ProfileNode>& profile, double least) {
  constexpr std::size_t widest = 48;
  double total = 0;
  for (const ProfileNode& n : profile) total += n.depth == 0 ? n.seconds : 0;
  std::string out = fmt::format("  {:<{}}{:>11}{:>9}{:>9}{:>12}{:>10}\n", "profile", widest, "ms",
                                "share", "calls", "bytes", "GB/s");
  std::size_t left_out = 0;
  for (const ProfileNode& n : profile) {
    if (n.seconds < least * total) {
      ++left_out;
      continue;
    }
    std::string name(2 * static_cast<std::size_t>(n.depth), ' ');
    name += n.name;
    if (name.size() >= widest) name = name.substr(0, widest - 3) + "..";
    const bool rate = n.bytes > 0 && n.seconds > 0;
    out += fmt::format("  {:<{}}{:>11.3f}{:>7.1f} %{:>9}{:>12}{:>10}\n", name, widest,
                       1e3 * n.seconds, total > 0 ? 100 * n.seconds / total : 0, n.calls,
                       n.bytes > 0 ? size(n.bytes) : "-",
                       rate ? fmt::format("{:.1f}", n.bytes / n.seconds / 1e9) : "-");
  }
  if (left_out > 0) {
    out += fmt::format("  ({} of less than {:g} % of the time)\n",
                       plural(static_cast<std::int64_t>(left_out), "line", "lines"), 100 * least);
  }
  return out;
}

}  // namespace krysol::report
