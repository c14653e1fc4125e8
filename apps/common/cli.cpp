// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common/cli.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <fast_float/fast_float.h>

#include <krysol/io/bytes/file.hpp>
#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/spmv/base/join.hpp>
#include <krysol/spmv/base/processor.hpp>
#include <krysol/spmv/select/formats.hpp>

#include "krysol_version.hpp"

namespace krysol::apps {
namespace {

constexpr int most_threads = 512;  // that Kokkos has room for on OpenMP

std::vector<FormatInfo> list_formats_and_auto(std::string_view auto_is_good_for) {
  auto formats = list_formats();
  formats.push_back({"auto", auto_is_good_for, {}, false});
  return formats;
}

}  // namespace

std::string version_text() {
  return fmt::format("{}, compiled for {}", version::text, instruction_set());
}

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw FileError("standard output: cannot be written to (disk full, or closed?)");
  }
}

void write_file(const std::string& path, std::string_view text) {
  if (path == "-") {
    print(text);
    return;
  }
  OutputFile file(path);
  file.write(text);
  file.commit();
}

void check_writable(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    const bool special = exists(status) && !is_regular_file(status) && !is_directory(status);
    if (path.empty() || path == "-" || special) continue;  // a pipe would see its end
    const OutputFile begun(path);
  }
}

std::string device_name() {
#if defined(KOKKOS_ENABLE_CUDA)
  return Kokkos::Cuda().cuda_device_prop().name;
#elif defined(KOKKOS_ENABLE_HIP)
  return Kokkos::HIP::hip_device_prop().name;
#else
  return {};
#endif
}

void add_machine_options(CLI::App& app, MachineOptions& o, bool measures) {
  if (measures) {
    app.add_flag("--no-bandwidth", o.no_bandwidth,
                 "do not measure this machine's memory bandwidth");
  }
  app.add_option("--threads", o.threads,
                 "host threads, at most 512 (default: OMP_NUM_THREADS, or all cores that this "
                 "process may use, whichever is less)")
      ->check(CLI::Range(1, most_threads));
  app.add_option("--device", o.device, "number of the GPU (default: the first)")
      ->check(number_from(0));
}

Kokkos::InitializationSettings kokkos_settings(const MachineOptions& o) {
  Kokkos::InitializationSettings settings;
  settings.set_disable_warnings(true);
  const int threads = o.threads > 0 ? o.threads : default_threads();
  if (threads > 0) settings.set_num_threads(threads);
  if (o.device >= 0) settings.set_device_id(o.device);
  return settings;
}

std::optional<int> parse(CLI::App& app, int argc, char** argv, const std::string& list_help,
                         const std::function<std::string()>& list_text) {
  app.add_flag_callback(
      "--list",
      [&list_text] {
        print(list_text());
        throw CLI::Success();
      },
      list_help);
  app.add_flag_callback(
      "--version",
      [] {
        print(version_text() + "\n");
        throw CLI::Success();
      },
      "print version, revision, backend and compiler");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print(app.help());
    return exit_converged;
  } catch (const CLI::Success&) {
    return exit_converged;
  } catch (const CLI::ParseError& e) {
    fmt::print(stderr, "{0}: error: {1}\nRun {0} --help for the options.\n", app.get_name(),
               e.what());
    return exit_bad_input;
  }
  return std::nullopt;
}

int run_program(std::string_view name, const std::function<int()>& program) {
  try {
    return program();
  } catch (const FileError& e) {
    fmt::print(stderr, "{}: error: {}\n", name, e.what());
    return exit_bad_input;
  } catch (const std::invalid_argument& e) {
    fmt::print(stderr, "{}: error: {}\n", name, e.what());
    return exit_bad_input;
  } catch (const OutOfMemory& e) {
    fmt::print(stderr, "{}: error: not enough memory: {}\n", name, e.what());
    return exit_internal;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "{}: internal error: not enough memory for this matrix\n", name);
    return exit_internal;
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}: internal error: {}\n", name, e.what());
    return exit_internal;
  }
}

std::function<std::string(const std::string&)> known_name(std::string_view kind,
                                                          std::vector<std::string> names) {
  return
      [kind = std::string(kind), names = std::move(names)](const std::string& name) -> std::string {
        const std::string base = name.substr(0, name.find(':'));
        if (std::find(names.begin(), names.end(), base) != names.end()) return {};
        return fmt::format("unknown {} '{}'; known: {}", kind, name, join(names, " "));
      };
}

std::function<std::string(const std::string&)> known_format() {
  return known_name("format", list_formats_and_auto({}));
}

std::function<std::string(const std::string&)> number_from(double lowest, bool inclusive) {
  return [=](const std::string& text) -> std::string {
    double v = 0;
    const auto [end, error] = fast_float::from_chars(text.data(), text.data() + text.size(), v);
    const bool fits = error == std::errc{} && end == text.data() + text.size() &&
                      std::isfinite(v) && (inclusive ? v >= lowest : v > lowest);
    if (fits) return {};
    return fmt::format("takes a number {} {}, not '{}'", inclusive ? "from" : "above", lowest,
                       text);
  };
}

std::string formats_section(std::string_view auto_is) {
  const std::string measured = fmt::format("the fastest of them, found by measuring{}", auto_is);
  const auto formats = list_formats_and_auto(measured);
  std::string out = list_section("formats (--format)", formats);
  for (const FormatInfo& f : formats) {
    if (!f.variants.empty()) out += fmt::format("  {}:{} choose a variant\n", f.name, f.variants);
  }
  return out;
}

}  // namespace krysol::apps
