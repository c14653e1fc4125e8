// matrix_info: what can be told of a matrix in a file, in numbers and as a picture.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sample runs:
//   matrix_info data/gr_30_30.mtx
//   matrix_info data/Trefethen_2000.mtx --spy Trefethen_2000.png
//   matrix_info data/Trefethen_20b.mtx --quiet --spy -
//   matrix_info data/gr_30_30.mtx --json - --quiet
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include <krysol/io/read.hpp>

#include <krysol/analysis/analysis.hpp>
#include <krysol/report/matrix_report_text.hpp>
#include <krysol/report/spy.hpp>
#include <krysol/report/text.hpp>
#include "common/cli.hpp"
#include "common/matrix_source.hpp"
#include "common/read_options.hpp"
#include "common/waiting.hpp"
#include "krysol_version.hpp"

namespace krysol::apps {
namespace {

struct Options {
  std::string matrix;
  std::string json;
  std::vector<std::string> spies;
  int spy_size = 800;
  AnalysisOptions analysis;
  bool no_lanczos = false;
  bool ascii = false;
  ReadOptions read;
  bool quiet = false;
  MachineOptions machine;
};

constexpr int letters_a_line = 72;

std::string list_text() {
  return list_section("verdicts on positive definiteness, the first that holds", list_reasons()) +
         fmt::format(
             "pictures (--spy):\n  {:<15} letters, on standard output\n  {:<15} {}\n", "-",
             "FILE.png",
             has_png() ? "PNG, shaded by density" : "not in this build, which has no libpng") +
         problems_section();
}

/// Does the terminal show more than ASCII?
bool speaks_unicode() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string text = value;
    for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text.find("UTF-8") != std::string::npos || text.find("UTF8") != std::string::npos;
  }
  return false;
}

bool wants_letters(const Options& o) {
  return std::count(o.spies.begin(), o.spies.end(), "-") > 0 ||
         (!o.quiet && isatty(STDOUT_FILENO) == 1);
}

std::vector<std::string> picture_files(const Options& o) {
  std::vector<std::string> files;
  for (const std::string& spy : o.spies) {
    if (spy != "-") files.push_back(spy);
  }
  return files;
}

std::string picture_of(const Pattern& a, const Options& o) {
  const SpyLayout layout = spy_layout(a.rows, a.cols, o.spy_size);
  const SpyGrid grid = spy_density(a, layout.height, layout.width);
  const std::vector<std::string> caption = {
      std::filesystem::path(o.matrix).filename().string(),
      fmt::format("{} x {}, {} nonzeros", grouped(a.rows), grouped(a.cols), grouped(a.nnz()))};
  return png_of(draw_spy(grid, layout, caption).image);
}

FileReport file_report(const Options& o, const FileInfo& info) {
  FileReport f;
  f.name = o.matrix;
  f.member = info.member;
  f.bytes = info.bytes;
  f.text_bytes = info.text_bytes;
  f.format = info.format == "Matrix Market" ? (info.array ? "array" : "coordinate") : info.format;
  f.field = to_string(info.field);
  f.symmetry = to_string(info.symmetry);
  f.stored_entries = info.stored_entries;
  f.rounded_integers = info.rounded_integers;
  f.repairs = info.repairs;
  return f;
}

template <class T>
void look_at_file(const Options& o, Triplets<T> entries, FileReport file, double read_seconds) {
  constexpr double bytes_a_row = 80;  // of pointers, sets and vectors
  require_host_memory("arrays of rows", bytes_a_row * entries.rows);
  Kokkos::Timer timer;
  const auto assembled = to_csr(entries);
  entries = {};
  MatrixReport p = matrix_report_of(assembled.matrix, o.analysis);
  p.seconds = timer.seconds();
  p.read_seconds = read_seconds;
  p.file = std::move(file);
  p.file.duplicates = assembled.duplicates;
  p.file.explicit_zeros = assembled.explicit_zeros;
  p.threads = Host().concurrency();
  p.backend = version::backend;
  p.version = version_text();
  const Pattern pattern = pattern_of(assembled.matrix);
  for (const std::string& file_name : picture_files(o)) {
    write_file(file_name, picture_of(pattern, o));
  }
  if (!o.json.empty()) write_file(o.json, as_json(p));
  if (!o.quiet) print(as_text(p));
  if (!wants_letters(o)) return;
  print((o.quiet ? "" : "\n") + spy_text(pattern, letters_a_line, o.ascii || !speaks_unicode()));
}

int run(const Options& o) {
  Kokkos::Timer timer;
  MatrixFile file = matrix_from(o.matrix, o.read);
  const double read_seconds = timer.seconds();
  const FileReport report = file_report(o, file.info);
  std::visit([&](auto& entries) { look_at_file(o, std::move(entries), report, read_seconds); },
             file.matrix);
  return exit_converged;
}

void add_options(CLI::App& app, Options& o) {
  app.add_option("matrix", o.matrix, matrix_argument)->required();
  app.add_option("--spy", o.spies,
                 "draw where the entries are: FILE.png, shaded by density, or - for letters on\n"
                 "standard output, which a terminal gets by itself; may be given several times")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--spy-size", o.spy_size, "pixels of the longer side, without numbers")
      ->check(CLI::Range(64, 4096))
      ->capture_default_str();
  app.add_flag("--ascii", o.ascii, "letters of ASCII alone, by density");
  app.add_option("--json", o.json, "write the report as JSON; - for standard output");
  app.add_option("--lanczos-steps", o.analysis.lanczos_steps,
                 "multiplications that estimate the ends of the spectrum")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_flag("--no-lanczos", o.no_lanczos, "do not look at the spectrum");
  add_read_options(app, o.read);
  app.add_flag("--quiet", o.quiet, "no report; the exit code, errors and files say all");
  add_machine_options(app, o.machine, false);
}

void check_options(const Options& o) {
  for (const std::string& file : picture_files(o)) {
    if (std::filesystem::path(file).extension() != ".png") {
      throw UsageError(fmt::format("--spy takes a name that ends in .png, or -, not '{}'", file));
    }
    if (!has_png()) {
      throw UsageError(
          fmt::format("{}: this build has no libpng, so it draws in letters only (--spy -)", file));
    }
  }
  if (o.json != "-") return;
  if (!o.quiet) {
    throw UsageError("the report and --json - would mix on standard output; add --quiet");
  }
  if (wants_letters(o)) {
    throw UsageError("--spy - and --json - would mix on standard output");
  }
}

int main_checked(int argc, char** argv) {
  Options options;
  CLI::App app{
      "Tells what can be told of a matrix in a file: size, symmetry, structure, diagonal, values,\n"
      "spectrum, positive definiteness; and draws where its entries are.\n"
      "Exit code: 0 done, 2 bad input or usage, 3 internal error or not enough memory.",
      "matrix_info"};
  add_options(app, options);
  if (const auto done =
          parse(app, argc, argv, "list verdicts, kinds of pictures and problems", list_text)) {
    return *done;
  }
  options.analysis.lanczos = !options.no_lanczos;
  check_options(options);
  std::vector<std::string> files = picture_files(options);
  files.push_back(options.json);
  check_writable(files, {options.matrix});
  options.read.threads = std::max(options.machine.threads, 0);
  const Kokkos::ScopeGuard guard(kokkos_settings(options.machine));
  return run(options);
}

}  // namespace
}  // namespace krysol::apps

int main(int argc, char** argv) {
  krysol::apps::settle_waiting(argv);
  return krysol::apps::run_program("matrix_info",
                                   [&] { return krysol::apps::main_checked(argc, argv); });
}
