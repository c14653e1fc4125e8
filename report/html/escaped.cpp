// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/report/html/escaped.hpp>

#include <nlohmann/json.hpp>

namespace krysol::report::html {

std::string escaped(std::string_view text) {
  using Json = nlohmann::json;
  const auto utf8 = Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace))
                        .get<std::string>();
  std::string out;
  out.reserve(utf8.size());
  for (const char c : utf8) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += static_cast<unsigned char>(c) < 0x20 && c != '\n' ? ' ' : c;
    }
  }
  return out;
}

}  // namespace krysol::report::html
