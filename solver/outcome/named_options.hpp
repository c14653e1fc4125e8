// Options of methods and preconditioners that are chosen by name.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

namespace krysol {

/// What a method or preconditioner is given beside its name, as texts: {{"block", "8"}}. Numbers
/// are written as C++ does, with a point. The same may stand after the name, as in
/// `block-jacobi:8` for the first option, or `block-jacobi:block=8`, several parted by commas.
using NamedOptions = std::map<std::string, std::string, std::less<>>;

/// The options of one name, each to be asked for by who makes the thing. All functions throw
/// std::invalid_argument, naming thing, option and what was expected.
class OptionReader {
 public:
  /// kind, name: "preconditioner", "block-jacobi:8". known: names of options, the first of which
  /// may stand after the colon by itself; empty where none is taken. Throws for an unknown one, and
  /// for one that is given twice.
  OptionReader(std::string_view kind, std::string_view name, const NamedOptions& options,
               std::initializer_list<std::string_view> known);

  /// Whether it is given.
  bool has(std::string_view option) const { return find(option) != nullptr; }
  /// A whole number from 1 on; `otherwise` where the option is not given.
  std::int32_t whole_number(std::string_view option, std::int32_t otherwise) const;
  /// A whole number from 1 to `most`.
  std::int32_t whole_number_to(std::string_view option, std::int32_t most,
                               std::int32_t otherwise) const;
  /// A finite number.
  double number(std::string_view option, double otherwise) const;
  /// A number above `low` and below `high`.
  double number_between(std::string_view option, double low, double high, double otherwise) const;
  /// A number from `low` on and below `high`.
  double number_from(std::string_view option, double low, double high, double otherwise) const;
  /// One of some words: its place among them; 0 where the option is not given.
  std::size_t one_of(std::string_view option, std::initializer_list<std::string_view> words) const;

 private:
  [[noreturn]] void refuse(std::string_view option, std::string_view expected) const;
  const std::string* find(std::string_view option) const;

  std::string kind_;
  std::string name_;          // with what follows the colon, for messages
  std::string short_option_;  // the one that stands after the colon without its name
  NamedOptions options_;
};

/// For what takes none. `read` throws std::invalid_argument where one is given.
struct NoOptions {
  static NoOptions read(std::string_view name, const NamedOptions& options) {
    const OptionReader none("solver", name, options, {});
    return {};
  }
};

/// "block-jacobi" of "block-jacobi:8".
std::string_view base_of(std::string_view name);

}  // namespace krysol
