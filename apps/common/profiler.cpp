// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common/profiler.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>

#include <fmt/core.h>
#include <Kokkos_Core.hpp>

#include "common/cli.hpp"

namespace krysol::apps {
namespace {

using ProfileClock = std::chrono::steady_clock;

struct HeardNode {
  std::string name;
  bool kernel = false;
  std::int64_t calls = 0;
  double seconds = 0;
  double bytes = 0;
  ProfileClock::time_point began;
  HeardNode* parent = nullptr;
  std::vector<std::unique_ptr<HeardNode>> within;

  HeardNode& child(const char* wanted, bool is_kernel) {
    for (const auto& node : within) {
      if (node->kernel == is_kernel && node->name == wanted) return *node;
    }
    within.push_back(std::make_unique<HeardNode>());
    HeardNode& made = *within.back();
    made.name = wanted;
    made.kernel = is_kernel;
    made.parent = this;
    return made;
  }
};

/// The tree, and where in it the program is.
struct Heard {
  HeardNode root;
  HeardNode* at = &root;
};
std::unique_ptr<Heard> heard;  // Kokkos calls plain functions

void enter(const char* name, bool kernel, double bytes = 0) {
  if (!heard) return;
  HeardNode& node = heard->at->child(name, kernel);
  ++node.calls;
  node.bytes += bytes;
  node.began = ProfileClock::now();
  heard->at = &node;
}

void leave() {
  if (!heard || heard->at->parent == nullptr) return;
  HeardNode& node = *heard->at;
  node.seconds += std::chrono::duration<double>(ProfileClock::now() - node.began).count();
  heard->at = node.parent;
}

void push_region(const char* name) { enter(name, false); }
void begin_kernel(const char* name, std::uint32_t, std::uint64_t*) { enter(name, true); }
void end_kernel(std::uint64_t) { leave(); }
void begin_copy(Kokkos::Tools::SpaceHandle to, const char* to_name, const void*,
                Kokkos::Tools::SpaceHandle from, const char*, const void*, std::uint64_t bytes) {
  enter(fmt::format("copy to {} ({} from {})", to_name, to.name, from.name).c_str(), true,
        static_cast<double>(bytes));
}

void add_nodes(const HeardNode& of, int depth, std::vector<ProfileNode>& out) {
  std::vector<const HeardNode*> list;
  for (const auto& node : of.within) list.push_back(node.get());
  std::stable_sort(list.begin(), list.end(),
                   [](const HeardNode* a, const HeardNode* b) { return a->seconds > b->seconds; });
  for (const HeardNode* const node : list) {
    out.push_back({node->name, depth, node->kernel, node->calls, node->seconds, node->bytes});
    add_nodes(*node, depth + 1, out);
  }
}

}  // namespace

Profiler::Profiler() {
  if (std::getenv("KOKKOS_TOOLS_LIBS") != nullptr || Kokkos::Tools::profileLibraryLoaded()) {
    throw UsageError(
        "--profile: another tool listens to Kokkos (KOKKOS_TOOLS_LIBS); leave one of them out");
  }
  heard = std::make_unique<Heard>();
  namespace tools = Kokkos::Tools::Experimental;
  tools::set_push_region_callback(push_region);
  tools::set_pop_region_callback(leave);
  tools::set_begin_parallel_for_callback(begin_kernel);
  tools::set_end_parallel_for_callback(end_kernel);
  tools::set_begin_parallel_reduce_callback(begin_kernel);
  tools::set_end_parallel_reduce_callback(end_kernel);
  tools::set_begin_parallel_scan_callback(begin_kernel);
  tools::set_end_parallel_scan_callback(end_kernel);
  tools::set_begin_deep_copy_callback(begin_copy);
  tools::set_end_deep_copy_callback(leave);
}

Profiler::~Profiler() {
  Kokkos::Tools::Experimental::set_callbacks({});  // as it was: nobody listened
  heard.reset();
}

std::vector<ProfileNode> Profiler::nodes() {
  std::vector<ProfileNode> out;
  if (!heard) return out;
  const auto now = ProfileClock::now();
  for (HeardNode* node = heard->at; node->parent != nullptr; node = node->parent) {
    node->seconds += std::chrono::duration<double>(now - node->began).count();
    node->began = now;
  }
  add_nodes(heard->root, 0, out);
  return out;
}

}  // namespace krysol::apps
