// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common/cli.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <limits>
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

namespace {

bool same_file(const std::string& a, const std::string& b) {
  std::error_code failed;
  if (std::filesystem::equivalent(a, b, failed) && !failed) return true;
  // Absolute first: the name of a file that is not there, and has no folder, would stay as it is. A
  // link may lead to what is not there yet.
  const auto path_a = weakly_canonical(behind_links(std::filesystem::absolute(a, failed)), failed);
  if (failed) return false;
  const auto path_b = weakly_canonical(behind_links(std::filesystem::absolute(b, failed)), failed);
  return !failed && path_a == path_b;
}

}  // namespace

void check_writable(const std::vector<std::string>& paths, const std::vector<std::string>& inputs) {
  std::vector<std::string> seen;
  for (const std::string& path : paths) {
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    const bool special = exists(status) && !is_regular_file(status) && !is_directory(status);
    if (path == "-") const OutputFile open(path);          // or closed
    if (path.empty() || path == "-" || special) continue;  // a pipe would see its end
    const auto is_path = [&path](const std::string& other) {
      return !other.empty() && other != "-" && same_file(path, other);
    };
    if (std::any_of(inputs.begin(), inputs.end(), is_path)) {
      throw UsageError(path + ": is read as well, and would be lost; give the output another name");
    }
    if (std::any_of(seen.begin(), seen.end(), is_path)) {
      throw UsageError(path + ": two outputs would go to this file; give one of them another name");
    }
    seen.push_back(path);
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
      ->check(whole_number(0, std::numeric_limits<int>::max()));
}

namespace {

/// Why no GPU can be used; empty where one can. Kokkos would end the program.
std::string no_device() {
#if defined(KOKKOS_ENABLE_CUDA)
  int count = 0;
  const auto error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) return cudaGetErrorString(error);
#elif defined(KOKKOS_ENABLE_HIP)
  int count = 0;
  const auto error = hipGetDeviceCount(&count);
  if (error != hipSuccess) return hipGetErrorString(error);
#else
  const int count = Kokkos::num_devices();  // -1 where none is used
#endif
  return count > 0 ? "" : "none was found";
}

/// `device`: that was asked for, -1 for none.
void check_device(int device) {
  const std::string none = no_device();
  if constexpr (!on_host<Kokkos::DefaultExecutionSpace>) {
    if (!none.empty()) {
      throw UsageError(fmt::format("no GPU can be used, and this program was built for {}: {}",
                                   version::backend, none));
    }
  }
  if (device < 0) return;
  if (!none.empty()) {
    throw UsageError(fmt::format("--device {}: this program was built for {}, and uses no GPU",
                                 device, version::backend));
  }
  const int devices = Kokkos::num_devices();
  if (device < devices) return;
  throw UsageError(
      fmt::format("--device {}: there are {} GPUs here, numbered from 0", device, devices));
}

}  // namespace

Kokkos::InitializationSettings kokkos_settings(const MachineOptions& o) {
  Kokkos::InitializationSettings settings;
  settings.set_disable_warnings(true);
  const int threads = o.threads > 0 ? o.threads : default_threads();
  if (threads > 0) settings.set_num_threads(threads);
  check_device(o.device);
  if (o.device >= 0) settings.set_device_id(o.device);
  return settings;
}

namespace {

/// An empty text is a variable of the shell that was not set, more often than a wish.
void refuse_empty_texts(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 || option->get_expected_min() == 0) continue;
    for (const std::string& text : option->results()) {
      if (text.empty()) {
        throw CLI::ValidationError(option->get_name(), "needs a value, and this one is empty");
      }
    }
  }
}

}  // namespace

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
    refuse_empty_texts(app);
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

namespace {

/// The numbers of standard streams that are closed would go to the next files that are opened, and
/// what is said to them into those. Reading and writing fail as before.
void occupy_standard_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (::fcntl(stream, F_GETFD) == -1) {
      static_cast<void>(::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
    }
  }
}

}  // namespace

int run_program(std::string_view name, const std::function<int()>& program) {
  occupy_standard_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // a file at its limit (ulimit -f) is an error of one output
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
    fmt::print(stderr, "{}: error: not enough memory for this matrix\n", name);
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

std::function<std::string(const std::string&)> whole_number(std::int64_t lowest,
                                                            std::int64_t highest) {
  return [=](const std::string& text) -> std::string {
    std::int64_t v = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    if (whole && v >= lowest && v <= highest) return {};
    const bool bounded = highest < std::numeric_limits<std::int64_t>::max();
    return fmt::format("takes a whole number from {}{}, not '{}'", lowest,
                       bounded ? fmt::format(" to {}", highest) : "", text);
  };
}

std::string quoted_command(const std::vector<std::string>& words) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%*";
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out += ' ';
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos &&
        word.find('*') == std::string::npos) {
      out += word;
      continue;
    }
    out += '\'';
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    out += '\'';
  }
  return out;
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
