// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/outcome/named_options.hpp>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <vector>

#include <fast_float/fast_float.h>
#include <fmt/core.h>
#include <krysol/spmv/base/finite.hpp>
#include <krysol/spmv/base/join.hpp>

namespace krysol {
namespace {

template <class T>
bool read_number(std::string_view text, T& value) {
  const char* end = text.data() + text.size();
  if constexpr (std::is_floating_point_v<T>) {
    const auto [stop, error] = fast_float::from_chars(text.data(), end, value);
    return error == std::errc{} && stop == end && is_finite(value);
  } else {
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    return error == std::errc{} && stop == end;
  }
}

}  // namespace

std::string_view base_of(std::string_view name) { return name.substr(0, name.find(':')); }

OptionReader::OptionReader(std::string_view kind, std::string_view name,
                           const NamedOptions& options,
                           std::initializer_list<std::string_view> known)
    : kind_(kind), name_(name), options_(options) {
  const std::string_view base = base_of(name);
  if (base.size() < name.size()) {
    std::string_view rest = name.substr(base.size() + 1);
    for (bool more = true; more;) {
      const auto comma = rest.find(',');
      const std::string_view part = rest.substr(0, comma);
      more = comma != std::string_view::npos;
      if (more) rest.remove_prefix(comma + 1);
      const auto equals = part.find('=');
      const bool named = equals != std::string_view::npos;
      const std::string option(named              ? part.substr(0, equals)
                               : known.size() > 0 ? *known.begin()
                                                  : std::string_view{});
      if (!named) short_option_ = option;
      if (!options_.emplace(option, part.substr(named ? equals + 1 : 0)).second) {
        throw std::invalid_argument(
            fmt::format("{} '{}': option '{}' is given twice", kind, name, option));
      }
    }
  }
  for (const auto& [option, value] : options_) {
    if (std::find(known.begin(), known.end(), option) != known.end()) continue;
    throw std::invalid_argument(
        fmt::format("{} '{}': unknown option '{}'; known: {}", kind, name, option,
                    known.size() > 0 ? join(known, " ") : std::string("none")));
  }
}

const std::string* OptionReader::find(std::string_view option) const {
  const auto found = options_.find(option);
  return found == options_.end() ? nullptr : &found->second;
}

void OptionReader::refuse(std::string_view option, std::string_view expected) const {
  if (option == short_option_) {
    throw std::invalid_argument(
        fmt::format("{} '{}': expected {} after '{}:'", kind_, name_, expected, base_of(name_)));
  }
  throw std::invalid_argument(fmt::format("{} '{}': option '{}' must be {}, not '{}'", kind_, name_,
                                          option, expected, *find(option)));
}

std::int32_t OptionReader::whole_number(std::string_view option, std::int32_t otherwise) const {
  const std::string* text = find(option);
  if (text == nullptr) return otherwise;
  std::int32_t value = 0;
  if (!read_number(*text, value) || value < 1) refuse(option, "a whole number from 1 on");
  return value;
}

std::int32_t OptionReader::whole_number_to(std::string_view option, std::int32_t most,
                                           std::int32_t otherwise) const {
  const std::string* text = find(option);
  if (text == nullptr) return otherwise;
  std::int32_t value = 0;
  if (!read_number(*text, value) || value < 1 || value > most) {
    refuse(option, fmt::format("a whole number from 1 to {}", most));
  }
  return value;
}

double OptionReader::number(std::string_view option, double otherwise) const {
  const std::string* text = find(option);
  if (text == nullptr) return otherwise;
  double value = 0;
  if (!read_number(*text, value)) refuse(option, "a finite number");
  return value;
}

double OptionReader::number_between(std::string_view option, double low, double high,
                                    double otherwise) const {
  const std::string* text = find(option);
  if (text == nullptr) return otherwise;
  double value = 0;
  if (!read_number(*text, value) || !(value > low && value < high)) {
    refuse(option, fmt::format("a number above {} and below {}", low, high));
  }
  return value;
}

double OptionReader::number_from(std::string_view option, double low, double high,
                                 double otherwise) const {
  const std::string* text = find(option);
  if (text == nullptr) return otherwise;
  double value = 0;
  if (!read_number(*text, value) || !(value >= low && value < high)) {
    refuse(option, fmt::format("a number from {} on and below {}", low, high));
  }
  return value;
}

std::size_t OptionReader::one_of(std::string_view option,
                                 std::initializer_list<std::string_view> words) const {
  const std::string* text = find(option);
  if (text == nullptr) return 0;
  const auto* const found = std::find(words.begin(), words.end(), *text);
  if (found == words.end()) refuse(option, fmt::format("one of {}", join(words, " ")));
  return static_cast<std::size_t>(found - words.begin());
}

}  // namespace krysol
