// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/choice/preconditioner_stages.hpp>

#include <charconv>
#include <stdexcept>
#include <utility>

#include <fmt/core.h>
#include <krysol/solver/registry.hpp>

namespace krysol {
namespace {

[[noreturn]] void refuse_stages(std::string_view name, std::string_view why) {
  throw std::invalid_argument(
      fmt::format("preconditioner '{}': {}; expected as in auto:jacobi*40/amg, 40 iterations with "
                  "jacobi and the rest with amg",
                  name, why));
}

PreconditionerStage stage_of(std::string_view name, std::string_view text, bool last) {
  const auto star = text.rfind('*');
  PreconditionerStage stage{std::string(text.substr(0, star)), 0};
  if (last != (star == std::string_view::npos)) {
    refuse_stages(name, last ? "the last of them goes on to the end"
                             : fmt::format("how many iterations with '{}'?", text));
  }
  if (!last) {
    const std::string_view count = text.substr(star + 1);
    const auto [end, error] =
        std::from_chars(count.data(), count.data() + count.size(), stage.iterations);
    if (error != std::errc{} || end != count.data() + count.size() || stage.iterations < 1) {
      refuse_stages(name, fmt::format("'{}' is no number of iterations from 1", count));
    }
  }
  std::string known;
  for (const auto& info : list_preconditioners()) {
    if (info.name == base_of(stage.name)) return stage;
    known += fmt::format(" {}", info.name);
  }
  throw std::invalid_argument(
      fmt::format("preconditioner '{}': unknown '{}'; known:{}", name, base_of(stage.name), known));
}

}  // namespace

std::vector<PreconditionerStage> preconditioner_stages(std::string_view name,
                                                       const NamedOptions& options) {
  if (!options.empty()) {
    throw std::invalid_argument(
        fmt::format("preconditioner '{}': unknown option '{}'; stages follow the colon", name,
                    options.begin()->first));
  }
  std::vector<PreconditionerStage> stages;
  const auto colon = name.find(':');
  if (colon == std::string_view::npos) return stages;
  std::string_view rest = name.substr(colon + 1);
  for (bool more = true; more;) {
    const auto slash = rest.find('/');
    more = slash != std::string_view::npos;
    stages.push_back(stage_of(name, rest.substr(0, slash), !more));
    if (more) rest.remove_prefix(slash + 1);
  }
  return stages;
}

}  // namespace krysol
