// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/choice/preconditioner_trial.hpp>

#include <fmt/core.h>

namespace krysol {

std::string stages_as_text(const std::vector<PreconditionerTrial>& trials) {
  std::string text;
  const PreconditionerTrial* last = nullptr;
  for (const PreconditionerTrial& t : trials) {
    if (t.iterations == 0) continue;
    if (last != nullptr) text += fmt::format("{}*{}/", last->name, last->iterations);
    last = &t;
  }
  if (last == nullptr) return "jacobi";
  return text.empty() ? last->name : fmt::format("auto:{}{}", text, last->name);
}

}  // namespace krysol
