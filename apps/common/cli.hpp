// What the programs share: options, output, exit codes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>
#include "common/rooms.hpp"

namespace krysol::apps {

enum ExitCode { exit_converged = 0, exit_not_converged = 1, exit_bad_input = 2, exit_internal = 3 };

/// Wrong in a way that only the person who typed it can repair.
class UsageError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// Version, revision, Kokkos, backend, compiler and kind of build, and the processors that the
/// library's kernels were compiled for: what --version prints.
std::string version_text();

/// To standard output, all of it. Throws FileError where that cannot take it.
void print(std::string_view text);

/// Writes all of it under its name, or nothing; "-" is standard output.
void write_file(const std::string& path, std::string_view text);

/// An hour's work must not end in "no such folder": every file to be written is begun once, and
/// dropped. Empty paths and "-" are none. Throws FileError; UsageError where two of them are one
/// file, or where one is a file of `inputs`, which would be lost.
void check_writable(const std::vector<std::string>& paths,
                    const std::vector<std::string>& inputs = {});

/// What Kokkos runs on, for --version and reports; empty on a host.
std::string device_name();

/// What every program's options say of the machine.
struct MachineOptions {
  int threads = 0;  // 0 and -1: as many as Kokkos chooses
  int device = -1;
  bool no_bandwidth = false;
};
/// --threads and --device; of a program that measures, --no-bandwidth too.
void add_machine_options(CLI::App& app, MachineOptions& o, bool measures = true);
/// Throws UsageError where there is no such device.
Kokkos::InitializationSettings kokkos_settings(const MachineOptions& o);

/// Adds --list and --version, and parses. Returns the exit code where all is done or wrong.
std::optional<int> parse(CLI::App& app, int argc, char** argv, const std::string& list_help,
                         const std::function<std::string()>& list_text);

/// The words of a command line, each quoted where a shell would take it apart.
std::string quoted_command(const std::vector<std::string>& words);

/// Runs the program; what it throws becomes a message and an exit code.
int run_program(std::string_view name, const std::function<int()>& program);

/// A check that a text is a name of the list, with or without a variant after a colon.
std::function<std::string(const std::string&)> known_name(std::string_view kind,
                                                          std::vector<std::string> names);
template <class Entries>
std::function<std::string(const std::string&)> known_name(std::string_view kind,
                                                          const Entries& entries) {
  std::vector<std::string> names;
  for (const auto& e : entries) names.emplace_back(e.name);
  return known_name(kind, std::move(names));
}

/// A check that a text is a format that the library has, or auto.
std::function<std::string(const std::string&)> known_format();

/// A check that a text is a finite number from `lowest`, which is itself allowed or not.
std::function<std::string(const std::string&)> number_from(double lowest, bool inclusive = true);

/// A check that a text is a whole number from `lowest` to `highest`.
std::function<std::string(const std::string&)> whole_number(
    std::int64_t lowest, std::int64_t highest = std::numeric_limits<std::int64_t>::max());

/// A section of --list.
template <class Entries>
std::string list_section(std::string_view title, const Entries& entries) {
  std::string out = fmt::format("{}:\n", title);
  for (const auto& e : entries) out += fmt::format("  {:<15} {}\n", e.name, e.good_for);
  return out;
}

/// The section of the formats, auto among them, and of their variants. What auto is to the program
/// may be added to its line, as in "; the default".
std::string formats_section(std::string_view auto_is = {});

}  // namespace krysol::apps
