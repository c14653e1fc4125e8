// matrix_convert: a matrix file in another format, compressed or not, with another symmetry.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sample runs:
//   matrix_convert data/gr_30_30.mtx grid.rsa
//   matrix_convert data/gr_30_30.mtx grid.mtx.zst --general --sort
//   matrix_convert data/gr_30_30.mtx grid.tar.gz
//   matrix_convert data/gr_30_30.mtx - --to rb --title "nine-point star" --key STAR
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/core.h>
#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>

#include <krysol/io/bytes/archive_writer.hpp>
#include <krysol/io/bytes/file.hpp>
#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/bytes/temporary_folder.hpp>
#include <krysol/io/harwell_boeing/harwell_boeing.hpp>
#include <krysol/io/matrix_market/matrix_market.hpp>
#include <krysol/io/read.hpp>

#include <krysol/spmv/matrix/triplet_edits.hpp>
#include "common/cli.hpp"
#include "common/matrix_source.hpp"
#include "common/read_options.hpp"
#include "common/waiting.hpp"

namespace krysol::apps {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string in;
  std::string out;
  std::string to;
  std::string rhs;
  std::string title;
  std::string key;
  bool general = false;
  bool symmetric = false;
  bool hermitian = false;
  bool skew = false;
  bool pattern = false;
  bool sum_duplicates = false;
  bool drop_zeros = false;
  bool sort = false;
  bool quiet = false;
  ReadOptions read;
};

// ---- what is written, from names

enum class Format { matrix_market, rutherford_boeing, archive };

constexpr std::string_view known_suffixes =
    ".mtx and .mm (Matrix Market), .rb, .hb and types such as .rsa (Rutherford-Boeing), .tar (an "
    "archive like the collection's), each also with .gz, .bz2, .xz or .zst after it";

struct Target {
  Format format = Format::matrix_market;
  std::string type;                          // such as "rsa", where the name is that of a type
  std::optional<Compression> compression{};  // none: by the name of the file
};

std::optional<Target> target_of_suffix(std::string suffix) {
  std::transform(suffix.begin(), suffix.end(), suffix.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (suffix == "mtx" || suffix == "mm") return Target{Format::matrix_market, ""};
  if (suffix == "rb" || suffix == "hb") return Target{Format::rutherford_boeing, ""};
  if (suffix == "tar") return Target{Format::archive, ""};
  const auto one_of = [&](std::size_t k, std::string_view letters) {
    return letters.find(suffix[k]) != std::string_view::npos;
  };
  if (suffix.size() == 3 && one_of(0, "rcpi") && one_of(1, "suhzr") && suffix[2] == 'a') {
    return Target{Format::rutherford_boeing, suffix};
  }
  return std::nullopt;
}

/// --to, or the end of the name. Throws UsageError.
Target target_of(const Options& o) {
  if (!o.to.empty()) {
    const fs::path to = "." + o.to;  // "mtx.gz" ends as a name does
    auto target = target_of_suffix(without_compression(to).string().substr(1));
    if (!target) {
      throw UsageError(fmt::format("--to takes mtx, rb or tar, also as in mtx.gz, not '{}'", o.to));
    }
    const Compression compression = compression_of(to);
    if (compression != Compression::none) target->compression = compression;
    return *target;
  }
  if (o.out == "-") {
    throw UsageError("standard output has no suffix: add --to mtx, --to rb or --to tar");
  }
  const std::string suffix = without_compression(o.out).extension().string();
  const auto target = suffix.empty() ? std::nullopt : target_of_suffix(suffix.substr(1));
  if (!target) {
    throw UsageError(fmt::format("{}: its name does not say the format. Known are {}; or add --to",
                                 o.out, known_suffixes));
  }
  return *target;
}

std::string_view name_of(Format format) {
  switch (format) {
    case Format::matrix_market:
      return "Matrix Market";
    case Format::rutherford_boeing:
      return "Rutherford-Boeing";
    case Format::archive:
      break;
  }
  return "Matrix Market in a tar archive";
}

/// A name that the file's own makes, where none was given: printable, of at most `longest` bytes.
std::string name_for(const std::string& out, std::size_t longest) {
  std::string name = out == "-" ? "matrix" : without_compression(out).stem().string();
  name.resize(std::min(name.size(), longest));
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c < ' ' || c > '~'; }, '_');
  return name;
}

// ---- what is done to it

std::optional<Symmetry> wanted_symmetry(const Options& o) {
  if (o.general) return Symmetry::general;
  if (o.symmetric) return Symmetry::symmetric;
  if (o.hermitian) return Symmetry::hermitian;
  if (o.skew) return Symmetry::skew_symmetric;
  return std::nullopt;
}

template <class T>
void edit(const Options& o, Triplets<T>& a, std::vector<std::string>& notes) {
  const auto wanted = wanted_symmetry(o);
  if (wanted && *wanted != a.symmetry) {
    if (*wanted == Symmetry::hermitian && std::is_same_v<T, double>) {
      throw UsageError(fmt::format("{}: real values: --symmetric, not --hermitian", o.in));
    }
    expand(a);
    if (*wanted != Symmetry::general) keep_lower_triangle(a, *wanted);
  }
  if (o.sum_duplicates) {
    notes.push_back(fmt::format("duplicates summed: {}", sum_duplicates(a)));
  }
  if (o.drop_zeros) notes.push_back(fmt::format("zeros dropped: {}", drop_zeros(a)));
  if (o.sort) sort(a);
}

bool all_fit_integers(const Triplets<double>& a) {
  return std::all_of(a.values.begin(), a.values.end(),
                     [](double v) { return v >= -0x1p63 && v < 0x1p63 && v == std::trunc(v); });
}

/// The file's own field where it can hold what was read; that of a type in the name, where it has
/// one.
template <class T>
Field field_for(const Options& o, const Target& target, const FileInfo& info, Triplets<T>& a) {
  const bool one_sign = a.symmetry == Symmetry::general || a.symmetry == Symmetry::symmetric;
  if (o.pattern || target.type.starts_with('p')) {
    if (!one_sign) a.symmetry = Symmetry::symmetric;  // where its entries are
    return Field::pattern;
  }
  if constexpr (std::is_same_v<T, std::complex<double>>) {
    return Field::complex;
  } else {
    if (target.type.starts_with('r')) return Field::real;
    if (target.type.starts_with('i')) return Field::integer;
    if (info.field == Field::pattern && one_sign) return Field::pattern;
    if (info.field == Field::integer || info.field == Field::pattern) {
      return all_fit_integers(a) ? Field::integer : Field::real;
    }
    return Field::real;
  }
}

/// A file whose suffix names another format would mislead its readers.
void check_type(const Options& o, const Target& target, Field field, Symmetry symmetry) {
  if (target.type.empty()) return;
  constexpr std::string_view fields = "ripc";  // in the order of Field
  const bool right_field = target.type[0] == fields[static_cast<std::size_t>(field)];
  constexpr std::string_view symmetries = "uszh";                    // in the order of Symmetry
  const char letter = target.type[1] == 'r' ? 'u' : target.type[1];  // rectangular
  if (right_field && letter == symmetries[static_cast<std::size_t>(symmetry)]) return;
  throw UsageError(fmt::format(
      "{}: {} names another type than {} {}. Name it .rb, or see --general, --symmetric, "
      "--hermitian, --skew and --pattern",
      o.out, target.type, to_string(field), to_string(symmetry)));
}

template <class T>
std::vector<T> right_hand_side(const Options& o, Index rows, const DenseFile& attached) {
  if (o.rhs.empty() && attached.cols == 0) return {};
  ReadOptions read = o.read;
  read.member.clear();  // names the matrix
  const DenseFile file = o.rhs.empty() ? attached : read_dense(o.rhs, read);
  if (file.rows != rows) {
    throw UsageError(fmt::format("{}: the right-hand side has {} rows; the matrix has {} rows",
                                 o.rhs.empty() ? o.in : o.rhs, file.rows, rows));
  }
  return std::visit(
      [&](const auto& values) -> std::vector<T> {
        using S = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::is_same_v<S, std::complex<double>> && std::is_same_v<T, double>) {
          throw UsageError(
              fmt::format("{}: the right-hand side is complex, the matrix is real", o.rhs));
        } else {
          return {values.begin(), values.end()};
        }
      },
      file.values);
}

// ---- the line that says what was done

std::string line(const Options& o, const Target& target, const FileInfo& info, std::string matrix,
                 const std::vector<std::string>& notes) {
  std::string text = fmt::format("{}: {}, {}", o.out == "-" ? "standard output" : o.out, matrix,
                                 name_of(target.format));
  std::error_code unknown;
  if (o.out != "-" && fs::is_regular_file(o.out, unknown)) {
    text += fmt::format(", {} bytes", fs::file_size(o.out));
  }
  if (!info.member.empty()) text += fmt::format(", from {}", info.member);
  for (const std::string& repair : info.repairs) text += "; repaired: " + repair;
  for (const std::string& note : notes) text += "; " + note;
  if (info.rounded_integers > 0) {
    text += fmt::format("; integers beyond 2^53 rounded: {}", info.rounded_integers);
  }
  return text + "\n";
}

/// Vectors that came with the matrix and have no place in what is written.
void left_out(const Target& target, const AttachedVectors& attached,
              std::vector<std::string>& notes) {
  const auto note = [&notes](const DenseFile& vector, std::string_view what) {
    if (vector.cols > 0) notes.push_back(fmt::format("left out: {}", what));
  };
  if (target.format == Format::matrix_market) note(attached.rhs, "the right-hand side");
  note(attached.guess, "the starting guess");
  note(attached.solution, "the solution");
}

// ---- writing

/// Where there is room for as much as a file will hold: where it will be.
fs::path folder_beside(const std::string& out) {
  std::error_code ignored;
  const auto status = fs::status(out, ignored);
  if (out == "-" || (exists(status) && !is_regular_file(status))) return fs::temp_directory_path();
  const fs::path folder = fs::path(out).parent_path();
  return folder.empty() ? "." : folder;
}

/// NAME/NAME.mtx, and its right-hand sides as NAME/NAME_b.mtx, as the collection ships them. An
/// archive says how long a member is before it, so members are files first, beside OUT.
template <class T>
void write_archive(const Options& o, const Triplets<T>& a, WriteOptions write,
                   const std::vector<T>& b) {
  const TemporaryFolder members(folder_beside(o.out), ".matrix_convert.");
  ArchiveWriter archive(o.out, {.compression = write.compression});
  const std::string name = name_for(o.out, 100);
  const auto add = [&](const std::string& stem, const auto& write_to) {
    const std::string member = fmt::format("{}/{}.mtx", name, stem);
    const fs::path file = members.path() / stem;
    try {
      write_to(file);
    } catch (const FileError& e) {  // of a file that comes along unasked
      const std::string what = e.what();
      const std::string known = file.string();
      if (!what.starts_with(known)) throw;
      throw FileError(fmt::format("{}({}){}", o.out, member, what.substr(known.size())));
    }
    archive.add(member, file);
    fs::remove(file);
  };
  write.compression = Compression::none;
  add(name, [&](const fs::path& file) { write_matrix(file, a, write); });
  if (!b.empty()) {
    WriteOptions dense;
    dense.threads = write.threads;
    const auto cols = static_cast<Index>(b.size() / static_cast<std::size_t>(a.rows));
    add(name + "_b", [&](const fs::path& file) { write_dense(file, a.rows, cols, b, dense); });
  }
  archive.commit();
}

template <class T>
int convert(const Options& o, const Target& target, const FileInfo& info,
            const AttachedVectors& attached, Triplets<T> a) {
  std::vector<std::string> notes;
  left_out(target, attached, notes);
  edit(o, a, notes);
  WriteOptions write;
  write.threads = o.read.threads;
  write.compression = target.compression;
  write.field = field_for(o, target, info, a);
  check_type(o, target, *write.field, a.symmetry);
  if (write.field == Field::pattern && info.field != Field::pattern) {
    notes.emplace_back("values left out");
  }
  write.title = o.title;
  Offset summed = 0;  // entries, by the writer
  if (target.format == Format::matrix_market) {
    write_matrix(o.out, a, write);
  } else if (target.format == Format::archive) {
    write_archive(o, a, write, right_hand_side<T>(o, a.rows, attached.rhs));
  } else {
    if (o.title.empty()) write.title = name_for(o.out, 72);
    write.key = o.key.empty() ? name_for(o.out, 8) : o.key;
    summed = write_rutherford_boeing(o.out, a, write, right_hand_side<T>(o, a.rows, attached.rhs));
  }
  if (o.quiet) return exit_converged;
  if (summed > 0) notes.push_back(fmt::format("duplicates summed: {}", summed));
  const std::string matrix =
      fmt::format("{} x {}, {} {}, {} entries", a.rows, a.cols, to_string(*write.field),
                  to_string(a.symmetry), static_cast<Offset>(a.values.size()) - summed);
  const std::string report = line(o, target, info, matrix, notes);
  if (o.out == "-") {
    fmt::print(stderr, "{}", report);
  } else {
    print(report);
  }
  return exit_converged;
}

void add_options(CLI::App& app, Options& o) {
  app.add_option("in", o.in, matrix_argument)->required();
  app.add_option(
         "out", o.out,
         fmt::format("what is written. Known are {};\n- is standard output", known_suffixes))
      ->required();
  app.add_option("--to", o.to,
                 "mtx, rb or tar, also as in mtx.gz, whatever the name of the file says");
  auto* general = app.add_flag("--general", o.general, "store both triangles of a symmetry");
  auto* symmetric = app.add_flag("--symmetric", o.symmetric,
                                 "store the lower triangle; an error names a pair that differs");
  auto* hermitian = app.add_flag("--hermitian", o.hermitian, "the same for a Hermitian matrix");
  auto* skew = app.add_flag("--skew", o.skew, "the same for a skew-symmetric matrix");
  general->excludes(symmetric, hermitian, skew);
  symmetric->excludes(hermitian, skew);
  hermitian->excludes(skew);
  app.add_flag("--pattern", o.pattern, "no values, only where entries are");
  app.add_flag("--sum-duplicates", o.sum_duplicates,
               "one entry a place (Rutherford-Boeing files always have that)");
  app.add_flag("--drop-zeros", o.drop_zeros, "no entries that are 0");
  app.add_flag("--sort", o.sort, "entries column by column, rows ascending");
  app.add_option("--rhs", o.rhs,
                 "right-hand sides for a Harwell-Boeing file or an archive: a dense file");
  app.add_option("--title", o.title,
                 "comment of a Matrix Market file; title of another (72 bytes)");
  app.add_option("--key", o.key, "of a Rutherford-Boeing file (8 bytes)");
  add_read_options(app, o.read);
  app.add_option("--threads", o.read.threads, "default: OMP_NUM_THREADS, or all cores")
      ->check(CLI::Range(1, 4096));
  app.add_flag("--quiet", o.quiet, "no line that says what was done");
}

std::string list_text() {
  return "formats (--to, or the end of the name):\n"
         "  mtx             Matrix Market, coordinates: .mtx .mm\n"
         "  rb              Rutherford-Boeing, compressed columns: .rb .hb .rsa .rua .cha ...\n"
         "  tar             archive with NAME/NAME.mtx, as the SuiteSparse collection ships it: "
         ".tar\n"
         "compressions (after it, as in mtx.gz): gz bz2 xz zst\n" +
         problems_section();
}

int main_checked(int argc, char** argv) {
  Options o;
  CLI::App app{
      "Writes a matrix file anew: in another format, compressed, with or without a symmetry.\n"
      "Values keep every bit. OUT may be IN: it takes its name when it is complete.\n"
      "Exit code: 0 written, 2 bad input or usage, 3 internal error or not enough memory.",
      "matrix_convert"};
  add_options(app, o);
  if (const auto done =
          parse(app, argc, argv, "list formats, compressions and problems", list_text)) {
    return *done;
  }
  const Target target = target_of(o);
  if (target.format == Format::matrix_market && !o.rhs.empty()) {
    throw UsageError("--rhs goes with Rutherford-Boeing and with archives, not with Matrix Market");
  }
  if (target.format != Format::rutherford_boeing && !o.key.empty()) {
    throw UsageError("--key goes with Rutherford-Boeing, not with Matrix Market");
  }
  check_writable({o.out});
  std::optional<Kokkos::ScopeGuard> guard;  // problems are made by all cores
  if (is_made(o.in)) guard.emplace(kokkos_settings({.threads = o.read.threads}));
  MatrixFile file = matrix_from(o.in, o.read);
  return std::visit(
      [&](auto& entries) {
        return convert(o, target, file.info, file.attached, std::move(entries));
      },
      file.matrix);
}

}  // namespace
}  // namespace krysol::apps

int main(int argc, char** argv) {
  krysol::apps::settle_waiting(argv);
  return krysol::apps::run_program("matrix_convert",
                                   [&] { return krysol::apps::main_checked(argc, argv); });
}
