// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/report/runs/json_shape.hpp>

#include <cstdint>
#include <stdexcept>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace krysol::report {
namespace {

constexpr int deepest = 32;
constexpr std::int64_t most_values = 16 << 20;

/// Counts, and ends where there is too much.
struct Shape final : nlohmann::json_sax<nlohmann::json> {
  int depth = 0;
  std::int64_t values = 0;

  bool too_deep() const { return depth > deepest; }
  bool value() { return ++values <= most_values; }
  bool open() { return ++depth <= deepest && value(); }
  bool close() {
    --depth;
    return true;
  }
  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t) override { return value(); }
  bool number_unsigned(number_unsigned_t) override { return value(); }
  bool number_float(number_float_t, const string_t&) override { return value(); }
  bool string(string_t&) override { return value(); }
  bool binary(binary_t&) override { return value(); }
  bool start_object(std::size_t) override { return open(); }
  bool key(string_t&) override { return true; }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
    return false;
  }
};

}  // namespace

void check_json_shape(std::string_view text, const std::string& where) {
  Shape shape;
  nlohmann::json::sax_parse(text, &shape);
  if (shape.too_deep()) {
    throw std::invalid_argument(
        fmt::format("{}: lists and objects are nested deeper than {}", where, deepest));
  }
  if (shape.values > most_values) {
    throw std::invalid_argument(fmt::format("{}: more than {} values", where, most_values));
  }
}

}  // namespace krysol::report
