// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/report/choice_report.hpp>

#include <cmath>

#include <fmt/core.h>

namespace krysol::report {
namespace {

std::string milliseconds(double seconds) { return fmt::format("{:.4g}", 1e3 * seconds); }

}  // namespace

std::string explain(const FormatChoice& choice) {
  std::string out = fmt::format("  {:<20}{:>10}{:>10}{:>12}{:>12}  {}\n", "candidate", "ms", "MB",
                                "convert ms", "break-even", "");
  for (const FormatTrial& t : choice.trials) {
    const std::string megabytes =
        t.bytes > 0 ? fmt::format("{:.2f}", static_cast<double>(t.bytes) / 1e6) : "-";
    const std::string break_even = !t.measured || t.name == "csr" ? "-"
                                   : std::isfinite(t.break_even)
                                       ? fmt::format("{:.0f}", std::ceil(t.break_even))
                                       : "never";
    out += fmt::format("  {:<20}{:>10}{:>10}{:>12}{:>12}  {}\n", t.name,
                       t.measured ? milliseconds(t.seconds) : "-", megabytes,
                       t.measured ? milliseconds(t.convert_seconds) : "-", break_even, t.remark);
  }
  out += fmt::format("  chosen: {}, {}; choosing took {} ms\n", choice.name, choice.reason,
                     milliseconds(choice.seconds));
  return out;
}

nlohmann::ordered_json choice_as_json(const FormatChoice& choice) {
  using Json = nlohmann::ordered_json;
  const auto number = [](bool known, double v) {
    return known && std::isfinite(v) ? Json(v) : Json(nullptr);
  };
  Json trials = Json::array();
  for (const FormatTrial& t : choice.trials) {
    trials.push_back({{"name", t.name},
                      {"measured", t.measured},
                      {"seconds", number(t.measured, t.seconds)},
                      {"bytes", t.bytes > 0 ? Json(t.bytes) : Json(nullptr)},
                      {"convert_seconds", number(t.measured, t.convert_seconds)},
                      {"break_even", number(t.measured, t.break_even)},
                      {"remark", t.remark}});
  }
  return {{"reason", choice.reason},
          {"reused", choice.reused},
          {"used_earlier", choice.used_earlier},
          {"mismatch", choice.mismatch},
          {"seconds", choice.seconds},
          {"trials", std::move(trials)}};
}

}  // namespace krysol::report
