// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/matrix_market/matrix_market_header.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/matrix_market/matrix_market.hpp>
#include <krysol/io/model/foreign_format.hpp>
#include <krysol/io/text/threads.hpp>

namespace krysol {
namespace {

constexpr std::string_view banner = "%%MatrixMarket";

bool contains_word(std::string_view text, std::string_view word) {
  for (; text.size() >= word.size(); text.remove_prefix(1)) {
    if (same_word(text.substr(0, word.size()), word)) return true;
  }
  return false;
}

/// Reads banner, comments and sizes, one after the other.
class HeaderReader {
 public:
  HeaderReader(Scanner& in, const ReadOptions& options, Repairs& repairs)
      : in_(in), options_(options), repairs_(repairs) {}

  MatrixMarketHeader read() {
    read_banner();
    skip_to_sizes();
    if (!has_banner_) read_sizes_without_banner();
    read_sizes();
    return header_;
  }

  /// Whether a comment `%%GraphBLAS type ... complex` was seen.
  bool graphblas_complex() const { return graphblas_complex_; }

 private:
  void read_banner();
  void parse_banner_words();
  void skip_to_sizes();
  void read_sizes();
  void read_sizes_without_banner();

  Scanner& in_;
  const ReadOptions& options_;
  Repairs& repairs_;
  MatrixMarketHeader header_;
  FileInfo& info_ = header_.info;
  bool has_banner_ = true;
  bool graphblas_complex_ = false;
};

void HeaderReader::read_banner() {
  const std::string_view text(in_.begin, static_cast<std::size_t>(in_.end - in_.begin));
  if (text.empty()) in_.fail(in_.at, "expected the banner '%%MatrixMarket ...', found no text");
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.substr(0, 3) == byte_order_mark) {
    if (!options_.repair) {
      in_.fail(in_.at, "expected the banner '%%MatrixMarket ...', found a byte order mark");
    }
    repairs_.note(RepairKind::byte_order_mark, 1);
    in_.at += 3;
  }
  const std::string_view first = in_.token();
  if (same_word(first, banner)) {
    in_.at += banner.size();
    parse_banner_words();
    return;
  }
  if (const auto what = foreign_format(text, in_.file)) {
    throw FileError(in_.file + ": " + *what);
  }
  // A line that starts like a banner is a damaged one; its missing words cannot be guessed.
  if (!options_.repair || first.substr(0, 2) == "%%") {
    in_.fail(in_.at,
             fmt::format("expected the banner '{} matrix ...', found {}", banner, in_.found()));
  }
  has_banner_ = false;
}

void HeaderReader::parse_banner_words() {
  const auto next = [this](std::string_view what) {
    if (in_.at_line_end()) {
      in_.fail(in_.at, fmt::format("expected the {} in the banner, found {}", what, in_.found()));
    }
    return in_.token();
  };
  const auto unknown = [this](std::string_view what, std::string_view known) {
    in_.fail(in_.at, fmt::format("expected the {}, found {}; known: {}", what, in_.found(), known));
  };
  const auto pass = [this](std::string_view word) { in_.at += word.size(); };

  const std::string_view object = next("object");
  if (!same_word(object, "matrix"))
    unknown("object", "matrix (vectors are matrices of one column)");
  pass(object);

  const std::string_view format = next("format");
  info_.array = same_word(format, "array");
  if (!info_.array && !same_word(format, "coordinate")) unknown("format", "coordinate, array");
  pass(format);

  const std::string_view field = next("field");
  const char* field_start = in_.at;
  constexpr std::array fields{Field::real, Field::integer, Field::pattern, Field::complex};
  const auto known_field = std::find_if(fields.begin(), fields.end(),
                                        [&](Field f) { return same_word(field, to_string(f)); });
  if (known_field == fields.end()) unknown("field", "real, integer, pattern, complex");
  info_.field = *known_field;
  pass(field);

  const std::string_view symmetry = next("symmetry");
  // Spelled here and not with to_string(Symmetry): io needs nothing of spmv but its headers.
  constexpr std::array<std::pair<std::string_view, Symmetry>, 4> symmetries{
      {{"general", Symmetry::general},
       {"symmetric", Symmetry::symmetric},
       {"skew-symmetric", Symmetry::skew_symmetric},
       {"hermitian", Symmetry::hermitian}}};
  const auto known_symmetry =
      std::find_if(symmetries.begin(), symmetries.end(),
                   [&](const auto& entry) { return same_word(symmetry, entry.first); });
  if (known_symmetry == symmetries.end()) {
    unknown("symmetry", "general, symmetric, skew-symmetric, hermitian");
  }
  info_.symmetry = known_symmetry->second;

  if (info_.array && info_.field == Field::pattern) {
    in_.fail(field_start, "an array cannot be a pattern: all its places are stored");
  }
  if (info_.symmetry == Symmetry::hermitian && info_.field != Field::complex) {
    in_.fail(in_.at, fmt::format("a hermitian matrix must be complex, this one is {}",
                                 to_string(info_.field)));
  }
  if (info_.symmetry == Symmetry::skew_symmetric && info_.field == Field::pattern) {
    in_.fail(in_.at, "a pattern cannot be skew-symmetric: it has no signs");
  }
  pass(symmetry);
  in_.end_line("after the symmetry");
}

/// Passes over comments and looks for those that are more than that.
void HeaderReader::skip_to_sizes() {
  for (; in_.at != in_.end; in_.end_line("")) {
    if (in_.at_line_end()) continue;
    if (*in_.at != '%') return;
    const std::string_view rest(in_.at, static_cast<std::size_t>(in_.end - in_.at));
    const std::string_view comment = line_of(rest, 1);
    // A banner further down says what no default may override.
    const std::size_t first_letter = comment.find_first_not_of("% \t");
    if (!has_banner_ && first_letter != std::string_view::npos &&
        same_word(comment.substr(first_letter, 12), "MatrixMarket")) {
      in_.fail(in_.at, "expected the banner on line 1, spelled '%%MatrixMarket', found it here");
    }
    if (contains_word(comment, "%%GraphBLAS type") && contains_word(comment, "complex")) {
      graphblas_complex_ = true;
    }
    in_.at += comment.size();
  }
  in_.fail(in_.at, fmt::format("expected the size line ({}), found the end of the file",
                               info_.array ? "rows columns" : "rows columns entries"));
}

void HeaderReader::read_sizes() {
  constexpr std::int64_t longest = std::numeric_limits<Index>::max();
  header_.rows = static_cast<Index>(in_.size(longest, "rows"));
  in_.skip_blanks();
  const char* cols_start = in_.at;
  header_.cols = static_cast<Index>(in_.size(longest, "columns"));
  if (info_.symmetry != Symmetry::general && header_.rows != header_.cols) {
    in_.fail(cols_start, fmt::format("a {} matrix must be square, this one is {} x {}",
                                     to_string(info_.symmetry), header_.rows, header_.cols));
  }
  // At most 2^62, because both sizes stay below 2^31.
  const std::int64_t places = std::int64_t{header_.rows} * header_.cols;
  if (info_.array) {
    const std::int64_t n = header_.rows;
    info_.stored_entries = info_.symmetry == Symmetry::general          ? places
                           : info_.symmetry == Symmetry::skew_symmetric ? n * (n - 1) / 2
                                                                        : n * (n + 1) / 2;
    in_.end_line("after the two sizes of an array");
  } else {
    in_.skip_blanks();
    const char* entries_start = in_.at;
    info_.stored_entries = in_.size(std::numeric_limits<std::int64_t>::max(), "entries");
    if (places == 0 && info_.stored_entries > 0) {
      in_.fail(entries_start, fmt::format("a {} x {} matrix has no room for {} entries",
                                          header_.rows, header_.cols, info_.stored_entries));
    }
    in_.end_line("after the three sizes");
  }
  header_.data_start = in_.at;
  header_.data_line = in_.line;
}

/// Without a banner the size line tells which kind follows: two numbers head an array, three
/// coordinates.
void HeaderReader::read_sizes_without_banner() {
  const char* start = in_.at;
  int numbers = 0;
  for (; !in_.at_line_end() && numbers < 4; ++numbers) {
    const std::string_view token = in_.token();
    if (token.empty() ||
        !std::all_of(token.begin(), token.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      break;
    }
    in_.at += token.size();
  }
  const bool sizes = in_.at_line_end() && (numbers == 2 || numbers == 3);
  in_.at = start;
  if (!sizes) {
    in_.fail(start, "expected a banner or a line of two or three sizes, found " + in_.found());
  }
  info_.array = numbers == 2;
  repairs_.note(RepairKind::banner, in_.line);
}

/// SuiteSparse ships real arrays whose GraphBLAS type comment says complex and whose lines hold two
/// values: an extension of the format that its own tools write, so taken in strict mode too.
void repair_complex_array(const Scanner& in, FileInfo& info, Repairs& repairs) {
  Scanner peek = in;
  if (!peek.seek_data()) return;
  int numbers = 0;
  for (; !peek.at_line_end(); ++numbers) {
    const std::string_view token = peek.token();
    if (token.empty()) return;
    peek.at += token.size();
  }
  if (numbers != 2) return;
  info.field = Field::complex;
  repairs.note(RepairKind::complex_array, peek.line, info.stored_entries);
}

/// A header may claim any number of entries; nothing is allocated for more than the text can hold.
/// Where the claim is too large for the bytes that follow, the lines are counted; from then on
/// memory is in proportion to the text.
void check_length(Scanner& in, const MatrixMarketHeader& header) {
  // The last line end may be missing.
  if (header.info.stored_entries <= (in.end - in.at + 1) / header.shortest_line()) return;
  Scanner lines = in;
  std::int64_t found = 0;
  for (; found < header.info.stored_entries && lines.seek_data(); ++found) lines.skip_line();
  if (found < header.info.stored_entries) {
    in = lines;
    fail_at_end(in, header.info, found);
  }
}

/// Before the line of sizes there are a banner and comments; no file has more of them.
constexpr std::size_t longest_header = std::size_t{16} << 20;

/// Behind the first line that is neither empty nor a comment; 0 where not all of it is there.
std::size_t behind_first_line_of_data(std::string_view text) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) return 0;
    const std::size_t first = text.find_first_not_of(" \t\r", begin);
    begin = end + 1;
    if (first < end && text[first] != '%') return begin;
  }
  return 0;
}

/// The bytes up to the sizes, of which `head()` then has all; 0 where `longest_header` are too few.
std::size_t find_header(Stream& stream) {
  std::size_t bytes = behind_first_line_of_data(stream.head());
  while (bytes == 0 && stream.head().size() < longest_header && stream.extend_head()) {
    bytes = behind_first_line_of_data(stream.head());
  }
  return bytes;
}

}  // namespace

EntryRules MatrixMarketHeader::rules() const {
  return {rows, cols, info.field, info.symmetry, info.stored_entries};
}

std::int64_t MatrixMarketHeader::shortest_line() const {
  const std::int64_t value = info.field == Field::complex ? 4 : 2;
  if (info.array) return value;
  return info.field == Field::pattern ? 4 : 4 + value;
}

void fail_at_end(const Scanner& in, const FileInfo& info, std::int64_t entries_found) {
  in.fail(in.at, fmt::format("the file ends after {} of {} declared {}", entries_found,
                             info.stored_entries, info.array ? "values" : "entries"));
}

MatrixMarketHeader read_matrix_market_header(Scanner& in, const ReadOptions& options,
                                             Repairs& repairs, HeaderOf extent) {
  HeaderReader reader(in, options, repairs);
  MatrixMarketHeader header = reader.read();
  header.info.bytes = header.info.text_bytes = in.end - in.begin;
  if (extent == HeaderOf::first_lines) return header;
  if (header.info.array && reader.graphblas_complex() && header.info.field == Field::real) {
    repair_complex_array(in, header.info, repairs);
  }
  check_length(in, header);
  return header;
}

int threads_for(std::int64_t bytes, const ReadOptions& options) {
  constexpr std::int64_t bytes_a_thread = std::int64_t{1} << 20;
  return static_cast<int>(
      std::min<std::int64_t>(bytes / bytes_a_thread + 1, reading_threads(options.threads)));
}

std::optional<PlainHeader> plain_header(Stream& stream, const ReadOptions& options) {
  const bool known = stream.text_bytes_known();
  if (known && stream.text_bytes() > options.max_text_bytes) return std::nullopt;
  const std::size_t bytes = find_header(stream);
  if (bytes == 0 || !is_matrix_market(stream.head())) return std::nullopt;
  const std::string text(stream.head().substr(0, bytes));
  Scanner in(text, stream.name());
  Repairs repairs;
  const MatrixMarketHeader header =
      read_matrix_market_header(in, options, repairs, HeaderOf::first_lines);
  const std::int64_t left = stream.text_bytes() - static_cast<std::int64_t>(text.size());
  if (header.info.array || options.index_base == IndexBase::zero ||
      (known && header.info.stored_entries > (left + 1) / header.shortest_line())) {
    return std::nullopt;
  }
  return PlainHeader{header.info, header.rules(), text.size()};
}

void check_header_ends(Stream& stream) {
  if (find_header(stream) != 0 || stream.head().size() < longest_header) return;
  throw FileError(fmt::format(
      "{}: expected the size line (rows columns entries) within the first {} bytes, where a Matrix "
      "Market file has its banner and comments, found no line with sizes that ends there",
      stream.name(), longest_header));
}

bool is_matrix_market(std::string_view head) {
  constexpr std::string_view after_words = " \t\r\n";
  return same_word(head.substr(0, banner.size()), banner) &&
         (head.size() == banner.size() ||
          after_words.find(head[banner.size()]) != std::string_view::npos);
}

}  // namespace krysol
