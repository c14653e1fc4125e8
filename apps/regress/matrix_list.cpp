// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "regress/matrix_list.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <map>
#include <set>
#include <sstream>

#include <fmt/core.h>

#include <krysol/io/bytes/file.hpp>
#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/bytes/source.hpp>
#include <krysol/io/bytes/stream.hpp>
#include "common/cli.hpp"
#include "common/matrix_source.hpp"

namespace krysol::apps {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 7> compressions = {".gz",  ".bz2", ".xz", ".zst",
                                                          ".lz4", ".lz",  ".Z"};
constexpr std::array<std::string_view, 25> endings = {
    ".mtx", ".mm",  ".tar", ".tgz", ".rb",  ".hb",  ".rsa", ".rua", ".rra",
    ".rza", ".rha", ".csa", ".cua", ".cha", ".cza", ".cra", ".psa", ".pua",
    ".pra", ".pza", ".isa", ".iua", ".ira", ".rse", ".rue"};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  });
  return text;
}

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Without the endings of compression and format; nothing where it has none of a format.
std::optional<std::string> stem_of(std::string name) {
  for (const std::string_view c : compressions) {
    if (ends_with(name, c)) {
      name.resize(name.size() - c.size());
      break;
    }
  }
  const std::string lowered = lower(name);
  for (const std::string_view e : endings) {
    if (ends_with(lowered, e)) return name.substr(0, name.size() - e.size());
  }
  return std::nullopt;
}

/// The length of the UTF-8 sequence at `at`; 0 where there is none.
std::size_t sequence_at(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t k) {
    return static_cast<unsigned char>(k < text.size() ? text[k] : 0);
  };
  const unsigned first = byte(at);
  if (first < 0x80) return first < 0x20 || first == 0x7f ? 0 : 1;
  const std::size_t length = first >= 0xf0 && first < 0xf5   ? 4
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xc2 && first < 0xe0 ? 2
                                                             : 0;
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(at + k) & 0xc0U) != 0x80U) return 0;
  }
  if ((first == 0xe0 && byte(at + 1) < 0xa0) || (first == 0xed && byte(at + 1) > 0x9f) ||
      (first == 0xf0 && byte(at + 1) < 0x90) || (first == 0xf4 && byte(at + 1) > 0x8f)) {
    return 0;
  }
  return length;
}

/// What an index says of a matrix.
struct IndexLine {
  std::string group_and_name;
  std::int64_t rows = -1;
  std::int64_t cols = -1;
  std::int64_t nonzeros = -1;
  std::string field;
  std::string spd;
};

/// By the name of a file, and by GROUP/NAME.
using MatrixIndex = std::map<std::string, IndexLine>;

std::int64_t whole_or(const std::string& text, std::int64_t other) {
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  return error == std::errc{} && end == text.data() + text.size() ? n : other;
}

/// A table of tabs with a line of names: file, group/name, rows, cols, nnz_expanded, field, spd.
void read_index_tsv(std::istream& in, const std::string& first, const fs::path& path,
                    MatrixIndex& index) {
  const auto names = fields_of(first, '\t');
  const auto column = [&](std::string_view name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  const std::size_t file = column("file");
  const std::size_t group = column("group/name");
  if (file == names.size() && group == names.size()) {
    throw UsageError(
        fmt::format("{}:1: a line of column names with file or group/name was expected, found '{}'",
                    path.string(), first.substr(0, 60)));
  }
  for (std::string line; std::getline(in, line);) {
    const auto fields = fields_of(line, '\t');
    const auto at = [&](std::size_t k) { return k < fields.size() ? fields[k] : std::string(); };
    IndexLine of;
    of.group_and_name = at(group);
    of.rows = whole_or(at(column("rows")), -1);
    of.cols = whole_or(at(column("cols")), -1);
    of.nonzeros = whole_or(at(column("nnz_expanded")), -1);
    of.field = at(column("field"));
    of.spd = at(column("spd"));
    if (!at(file).empty()) index[at(file)] = of;
    if (!of.group_and_name.empty()) index[of.group_and_name] = of;
  }
}

/// The collection's own: Group,Name,rows,cols,nnz,isReal,isBinary,isND,posdef,... after two lines.
void read_ssstats(std::istream& in, const fs::path& path, MatrixIndex& index) {
  std::string line;
  std::getline(in, line);  // a date
  for (std::int64_t number = 3; std::getline(in, line); ++number) {
    const auto f = fields_of(line, ',');
    constexpr std::size_t needed = 9;
    if (f.size() < needed) {
      throw UsageError(fmt::format(
          "{}:{}: Group,Name,rows,cols,nonzeros,real,binary,ND,posdef was expected, found '{}'",
          path.string(), number, line.substr(0, 60)));
    }
    IndexLine of;
    of.group_and_name = f[0] + "/" + f[1];
    of.rows = whole_or(f[2], -1);
    of.cols = whole_or(f[3], -1);
    of.nonzeros = whole_or(f[4], -1);
    of.field = f[5] == "0" ? "complex" : f[6] == "1" ? "pattern" : "real";
    of.spd = f[8] == "1" ? "yes" : "no";
    index[of.group_and_name] = of;
  }
}

/// A list or an index, which are no longer than that.
std::string text_of_table(const fs::path& path) {
  constexpr std::int64_t longest = 16 << 20;
  return std::string(read_text(path, longest).view());
}

void read_index(const fs::path& path, MatrixIndex& index) {
  std::istringstream in(text_of_table(path));
  std::string first;
  if (!std::getline(in, first)) {
    throw UsageError(fmt::format("{}: cannot be read as an index of matrices", path.string()));
  }
  if (whole_or(first, -1) >= 0) {
    read_ssstats(in, path, index);
  } else {
    read_index_tsv(in, first, path, index);
  }
}

void complete(ListedMatrix& m, const MatrixIndex& index, const std::string& file_name) {
  auto found = index.find(file_name);
  if (found == index.end()) found = index.find(m.name);
  if (found == index.end()) {  // of one group alone
    const auto ends_so = [&](const auto& entry) {
      const std::string& name = entry.second.group_and_name;
      return name.size() > m.name.size() + 1 && name[name.size() - m.name.size() - 1] == '/' &&
             name.ends_with(m.name);
    };
    found = std::find_if(index.begin(), index.end(), ends_so);
    if (found == index.end()) return;
    const auto other = std::find_if(std::next(found), index.end(), ends_so);
    if (other != index.end() && other->second.group_and_name != found->second.group_and_name)
      return;
  }
  const IndexLine& of = found->second;
  if (!of.group_and_name.empty()) m.name = of.group_and_name;
  m.rows = of.rows;
  m.cols = of.cols;
  m.nonzeros = of.nonzeros;
  m.field = of.field;
  m.spd = of.spd;
}

bool may_be_read(const fs::path& folder) { return ::access(folder.c_str(), R_OK | X_OK) == 0; }

/// All of a folder.
void add_folder(const fs::path& folder, const MatrixIndex& given, std::vector<ListedMatrix>& out,
                ListingNotes& notes) {
  if (!may_be_read(folder))
    throw UsageError(fmt::format("{}: {}", folder.string(), reason(EACCES)));
  MatrixIndex index = given;
  for (const char* const name : {"INDEX.tsv", "ssstats.csv"}) {
    std::error_code ignored;
    if (!given.empty() || !fs::is_regular_file(folder / name, ignored)) continue;
    read_index(folder / name, index);
    notes.files.push_back((folder / name).string());
  }
  std::set<std::string> stems;
  std::vector<std::pair<fs::path, std::string>> files;
  std::error_code failed;
  std::set<std::string> folders = {fs::weakly_canonical(folder, failed).string()};
  const auto options = fs::directory_options::skip_permission_denied |
                       fs::directory_options::follow_directory_symlink;
  for (fs::recursive_directory_iterator at(folder, options, failed), end; !failed && at != end;
       at.increment(failed)) {
    std::error_code ignored;
    if (at->is_directory(ignored)) {
      // What a run works in, and a link back to where this came from.
      const auto inner = fs::weakly_canonical(at->path(), ignored);
      const bool seen = !ignored && !folders.insert(inner.string()).second;
      if (seen || at->path().filename().string().ends_with(work_ending)) {
        at.disable_recursion_pending();
      } else if (!may_be_read(at->path())) {
        notes.left_out.push_back(
            fmt::format("left out: {}: {}", at->path().string(), reason(EACCES)));
      }
      continue;
    }
    const bool dangling = at->is_symlink(ignored) && !fs::exists(at->path(), ignored);
    if (!at->is_regular_file(ignored) && !dangling) continue;
    const auto stem = stem_of(at->path().lexically_relative(folder).generic_string());
    if (!stem) continue;
    stems.insert(*stem);
    files.emplace_back(at->path(), *stem);
    notes.files.push_back(at->path().string());
  }
  if (failed) {
    throw UsageError(fmt::format("{}: {}", folder.string(), failed.message()));
  }
  for (const auto& [path, stem] : files) {
    const auto underscore = stem.rfind('_');
    // NAME_b, NAME_x, NAME_coord beside NAME are what belongs to it.
    const std::string tail = underscore == std::string::npos ? "" : stem.substr(underscore + 1);
    const bool belongs = (tail == "b" || tail == "x" || tail == "coord" || tail == "rhs") &&
                         stems.count(stem.substr(0, underscore)) > 0;
    ListedMatrix m;
    m.name = stem;
    m.file = path.string();
    complete(m, index, path.lexically_relative(folder).generic_string());
    const bool known = index.count(path.lexically_relative(folder).generic_string()) > 0;
    if (belongs && !known) continue;
    out.push_back(std::move(m));
  }
}

void add_place(const std::string& place, const MatrixIndex& index, std::vector<ListedMatrix>& out,
               ListingNotes& notes) {
  std::error_code ignored;
  if (fs::is_directory(place, ignored)) {
    add_folder(place, index, out, notes);
    return;
  }
  ListedMatrix m;
  m.file = place;
  if (fs::exists(place, ignored)) {
    const std::string name = fs::path(place).filename().string();
    m.name = stem_of(name).value_or(name);
    complete(m, index, name);
  } else if (is_made(place)) {
    m.name = place;
  } else {
    throw UsageError(
        fmt::format("{}: a folder, a matrix file, or a problem that is made (see cg_solve --list) "
                    "was expected; "
                    "there is none of that name",
                    place));
  }
  out.push_back(std::move(m));
}

ListedMatrix to_be_fetched(const std::string& name, const std::string& folder,
                           const MatrixIndex& index) {
  const auto slash = name.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == name.size()) {
    throw UsageError(fmt::format("--fetch takes GROUP/NAME, as in HB/bcsstk01, not '{}'", name));
  }
  ListedMatrix m;
  m.name = name;
  complete(m, index, name);
  m.file = (fs::path(folder) / (name + ".tar.gz")).string();
  m.fetched = true;
  return m;
}

std::vector<std::string> lines_of_list(const std::string& path) {
  std::istringstream in(text_of_table(path));
  const fs::path folder = fs::path(path).parent_path();
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) {
    line = line.substr(0, line.find('#'));
    const auto begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos) continue;
    line = line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
    std::error_code ignored;
    const bool beside = !fs::exists(line, ignored) && fs::exists(folder / line, ignored);
    out.push_back(beside ? (folder / line).string() : line);
  }
  return out;
}

bool is_selected(const MatrixSelection& s, const ListedMatrix& m) {
  const auto within = [](std::int64_t n, std::int64_t low, std::int64_t high) {
    return n >= low && (high < 0 || n <= high);
  };
  if (!s.name.empty() && m.name.find(s.name) == std::string::npos) return false;
  if (!s.group.empty() && m.group != s.group) return false;
  if (!s.spd.empty() && m.spd != s.spd) return false;
  if (!s.needs_sizes()) return true;
  if (!s.field.empty() && m.field != s.field) return false;
  return within(m.rows, s.min_rows, s.max_rows) &&
         within(m.nonzeros, s.min_nonzeros, s.max_nonzeros);
}

/// The first lines of Matrix Market; the entries of one triangle stand for both.
bool sizes_of_matrix_market(const std::string& text, ListedMatrix& m) {
  std::istringstream in(text);
  std::string word;
  std::string object;
  std::string format;
  std::string symmetry;
  in >> word >> object >> format >> m.field >> symmetry;
  m.field = lower(m.field);
  if (m.field == "double" || m.field == "float") m.field = "real";
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    if (line.empty() || line.front() == '%' || line.find_first_not_of(" \t\r") == std::string::npos)
      continue;
    std::istringstream sizes(line);
    std::int64_t rows = 0;
    std::int64_t cols = 0;
    std::int64_t entries = 0;
    if (!(sizes >> rows >> cols)) return false;
    if (lower(format) == "array") {
      entries = rows * cols;
    } else if (!(sizes >> entries)) {
      return false;
    }
    if (!in.good()) return false;  // the line may be cut
    m.rows = rows;
    m.cols = cols;
    m.nonzeros = lower(symmetry) == "general" || lower(format) == "array"
                     ? entries
                     : 2 * entries - std::min(rows, entries);
    return true;
  }
  return false;
}

/// The third line, or where a Harwell-Boeing file has right-hand sides still the third: a type of
/// three letters, rows, columns, entries.
bool sizes_of_boeing(const std::string& text, ListedMatrix& m) {
  std::istringstream in(text);
  std::string line;
  for (int k = 0; k < 3; ++k) {
    if (!std::getline(in, line)) return false;
  }
  std::istringstream sizes(line);
  std::string type;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t entries = 0;
  if (!(sizes >> type >> rows >> cols >> entries) || type.size() != 3) return false;
  type = lower(type);
  const auto kind = std::string_view("rcipq").find(type[0]);
  if (kind == std::string_view::npos) return false;
  constexpr std::array<const char*, 5> fields = {"real", "complex", "integer", "pattern",
                                                 "pattern"};
  m.field = fields[kind];
  m.rows = rows;
  m.cols = cols;
  m.nonzeros = type[1] == 'u' || type[1] == 'r' ? entries : 2 * entries - std::min(rows, entries);
  return true;
}

}  // namespace

std::vector<std::string> fields_of(const std::string& line, char separator) {
  std::vector<std::string> out;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, separator);) out.push_back(field);
  return out;
}

std::string plain_name(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_at(text, at);
    if (length == 0) {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(text[at++]));
    } else {
      out += text.substr(at, length);
      at += length;
    }
  }
  return out;
}

bool read_sizes(ListedMatrix& m) {
  constexpr std::int64_t most_text = std::int64_t{1} << 40;
  constexpr std::size_t longest_head = 1 << 22;
  try {
    const auto stream = open_stream(m.file, most_text);
    do {
      const std::string head(stream->head());
      const auto banner = head.find("%%MatrixMarket");
      if (banner != std::string::npos ? sizes_of_matrix_market(head.substr(banner), m)
                                      : sizes_of_boeing(head, m)) {
        return true;
      }
    } while (stream->head().size() < longest_head && stream->extend_head());
  } catch (const FileError&) {
    return false;  // whoever solves it will say what is wrong
  }
  return false;
}

std::pair<std::int64_t, std::int64_t> shard_of(const std::string& text) {
  const auto slash = text.find('/');
  const std::int64_t k = whole_or(text.substr(0, slash), -1);
  const std::int64_t n = slash == std::string::npos ? -1 : whole_or(text.substr(slash + 1), -1);
  if (k < 1 || n < 1 || k > n) {
    throw UsageError(
        fmt::format("--shard takes K/N with K from 1 to N, as in 3/16, not '{}'", text));
  }
  return {k, n};
}

std::vector<ListedMatrix> list_matrices(const MatrixSelection& s, ListingNotes& notes) {
  MatrixIndex index;
  if (!s.index.empty()) read_index(s.index, index);
  std::vector<ListedMatrix> all;
  for (const std::string& place : s.places) add_place(place, index, all, notes);
  for (const std::string& list : s.list_files) {
    for (const std::string& place : lines_of_list(list)) add_place(place, index, all, notes);
  }
  for (const std::string& name : s.fetch) all.push_back(to_be_fetched(name, s.fetch_folder, index));
  for (const ListedMatrix& m : all) notes.files.push_back(m.file);
  std::set<std::string> files;
  std::set<std::string> names;
  std::vector<ListedMatrix> out;
  std::size_t without_sizes = 0;
  std::size_t without_spd = 0;
  for (ListedMatrix& m : all) m.name = plain_name(m.name);
  std::sort(all.begin(), all.end(), [](const ListedMatrix& a, const ListedMatrix& b) {
    return a.name != b.name ? a.name < b.name : a.file < b.file;
  });
  for (ListedMatrix& m : all) {
    std::error_code unknown;
    const auto canonical = fs::weakly_canonical(m.file, unknown);
    if (!files.insert(unknown || is_made(m.file) ? m.file : canonical.string()).second) continue;
    const auto bytes = fs::file_size(m.file, unknown);
    m.file_bytes = unknown ? 0 : static_cast<std::int64_t>(bytes);
    const auto slash = m.name.rfind('/');
    if (slash != std::string::npos) {
      const auto before = m.name.rfind('/', slash - 1);
      const std::size_t begin = before == std::string::npos || slash == 0 ? 0 : before + 1;
      m.group = m.name.substr(begin, slash - begin);
    }
    if (!s.spd.empty() && m.spd.empty()) {
      ++without_spd;
      continue;
    }
    if (s.needs_sizes() && m.rows < 0 && !is_made(m.file) && !read_sizes(m)) {
      ++without_sizes;
      continue;
    }
    if (!is_selected(s, m)) continue;
    // Two files of one name, as NAME.mtx and NAME.rsa, keep their endings.
    const std::string whole = plain_name(fs::path(m.file).filename().string());
    if (names.count(m.name) > 0) m.name = whole;
    for (int k = 2; names.count(m.name) > 0; ++k) m.name = fmt::format("{}#{}", whole, k);
    names.insert(m.name);
    out.push_back(std::move(m));
  }
  if (without_sizes > 0) {
    notes.left_out.push_back(
        fmt::format("{} left out: neither an index nor the first lines say how large they are, "
                    "which a filter asks for",
                    without_sizes));
  }
  if (without_spd > 0) {
    notes.left_out.push_back(fmt::format(
        "{} left out: no index says whether they are positive definite, which --spd asks for",
        without_spd));
  }
  std::sort(out.begin(), out.end(),
            [](const ListedMatrix& a, const ListedMatrix& b) { return a.name < b.name; });
  if (!s.shard.empty()) {
    const auto [k, n] = shard_of(s.shard);
    std::vector<ListedMatrix> part;
    for (std::size_t i = static_cast<std::size_t>(k - 1); i < out.size();
         i += static_cast<std::size_t>(n)) {
      part.push_back(std::move(out[i]));
    }
    out = std::move(part);
  }
  return out;
}

}  // namespace krysol::apps
