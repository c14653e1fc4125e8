// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <stdexcept>

#include <fmt/core.h>

#include <krysol/io/bytes/file.hpp>
#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/harwell_boeing/fortran_format.hpp>
#include <krysol/io/harwell_boeing/harwell_boeing.hpp>
#include <krysol/io/model/entry_checks.hpp>
#include <krysol/io/text/number_text.hpp>
#include <krysol/io/text/ordered_blocks.hpp>
#include <krysol/io/text/threads.hpp>
#include <krysol/spmv/matrix/sorted_columns.hpp>

namespace krysol {
namespace {

using Complex = std::complex<double>;

constexpr std::string_view function = "write_rutherford_boeing";
constexpr std::size_t line_columns = 80;

// ---- fields

struct Number {
  std::array<char, longest_number + spare_bytes> text;
  int size = 0;
};

Number whole(std::int64_t value) {
  Number n;
  n.size = static_cast<int>(put_whole(n.text.data(), value) - n.text.data());
  return n;
}

Number real(double value) {
  Number n;
  n.size = static_cast<int>(put_scientific(n.text.data(), value) - n.text.data());
  return n;
}

/// Fields of the width of their longest number and a blank, as many as a line holds.
FortranFormat format_of(FortranFormat::Kind kind, int longest, int digits = 0) {
  FortranFormat format;
  format.kind = kind;
  format.letter = kind == FortranFormat::Kind::real ? 'E' : 'I';
  format.width = longest + 1;
  format.count = static_cast<int>(line_columns) / format.width;
  format.digits = digits;
  return format;
}

FortranFormat format_of_wholes(std::int64_t largest) {
  return format_of(FortranFormat::Kind::integer, whole(largest).size);
}

/// That holds n numbers, each made by `number(k)`.
template <class Make>
FortranFormat format_of_numbers(FortranFormat::Kind kind, std::size_t n, int threads,
                                const Make& number) {
  std::atomic<int> longest{1};
  std::atomic<int> most_digits{1};
  const auto raise = [](std::atomic<int>& most, int value) {
    for (int seen = most; seen < value && !most.compare_exchange_weak(seen, value);) {
    }
  };
  find_first(n, threads, [&](std::size_t k) {  // a search that looks at all of them
    const Number one = number(k);
    raise(longest, one.size);
    if (kind == FortranFormat::Kind::real) {
      const std::string_view text(one.text.data(), static_cast<std::size_t>(one.size));
      raise(most_digits, static_cast<int>(text.find('E') - text.find('.')) - 1);
    }
    return false;
  });
  return format_of(kind, longest, kind == FortranFormat::Kind::real ? most_digits.load() : 0);
}

/// Numbers of one kind, which begin a line.
struct Section {
  std::size_t numbers = 0;
  FortranFormat format;
  std::function<void(std::size_t begin, std::size_t end, char* p)> put;  // right-aligned, in blanks

  std::size_t per_line() const { return static_cast<std::size_t>(format.count); }
  std::size_t lines() const { return (numbers + per_line() - 1) / per_line(); }
};

template <class Make>
Section section_of(std::size_t numbers, const FortranFormat& format, Make number) {
  Section s;
  s.numbers = numbers;
  s.format = format;
  const auto width = static_cast<std::size_t>(format.width);
  s.put = [number, width](std::size_t begin, std::size_t end, char* p) {
    for (std::size_t k = begin; k < end; ++k, p += width) {
      const Number one = number(k);
      const auto size = static_cast<std::size_t>(one.size);
      std::memcpy(p + width - size, one.text.data(), size);
    }
  };
  return s;
}

// ---- lines, in blocks that threads share

constexpr std::size_t block_lines = std::size_t{1} << 13;
constexpr std::size_t packed_block_lines = std::size_t{1} << 17;

struct Block {
  const Section* section;
  std::size_t begin;  // lines of it
  std::size_t end;
};

void append_lines(const Block& block, Array<char>& text) {
  const Section& s = *block.section;
  const std::size_t width = static_cast<std::size_t>(s.format.width);
  const std::size_t last = std::min(block.end * s.per_line(), s.numbers);
  const std::size_t before = text.size();
  const std::size_t numbers = last - block.begin * s.per_line();
  text.resize(before + numbers * width + (block.end - block.begin));
  char* p = text.data() + before;
  std::fill(p, text.data() + text.size(), ' ');
  for (std::size_t begin = block.begin * s.per_line(); begin < last; begin += s.per_line()) {
    const std::size_t end = std::min(begin + s.per_line(), last);
    s.put(begin, end, p);
    p += (end - begin) * width;
    *p++ = '\n';
  }
}

/// A matrix of few lines is one block, whatever its sections, and so one compressed stream.
std::vector<std::vector<Block>> blocks_of(const std::vector<Section>& sections, std::size_t size) {
  std::vector<std::vector<Block>> blocks;
  std::size_t room = 0;
  for (const Section& s : sections) {
    for (std::size_t line = 0; line < s.lines();) {
      if (room == 0) {
        blocks.emplace_back();
        room = size;
      }
      const std::size_t end = std::min(s.lines(), line + room);
      blocks.back().push_back({&s, line, end});
      room -= end - line;
      line = end;
    }
  }
  return blocks;
}

// ---- the file

void check_word(const std::string& word, std::string_view what, std::size_t longest) {
  const bool printable =
      std::all_of(word.begin(), word.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (word.size() <= longest && printable) return;
  throw std::invalid_argument(fmt::format("{}: a {} has at most {} bytes of printable ASCII: '{}'",
                                          function, what, longest, word));
}

template <class T>
void check_rhs(const std::string& name, const Triplets<T>& a, Field field,
               const std::vector<T>& rhs) {
  if (rhs.empty()) return;
  const auto rows = static_cast<std::size_t>(a.rows);
  if (rows == 0 || rhs.size() % rows != 0) {
    throw std::invalid_argument(fmt::format("{}: {} values make no right-hand sides of {} rows",
                                            function, rhs.size(), a.rows));
  }
  if (field == Field::pattern || field == Field::integer) {
    throw std::invalid_argument(
        fmt::format("{}: right-hand sides stand beside real or complex matrices, not {} ones",
                    function, to_string(field)));
  }
  for (std::size_t k = 0; k < rhs.size(); ++k) {
    if (can_be_written(rhs[k], field)) continue;
    throw FileError(fmt::format("{}: not written: value {} of the right-hand sides is not finite",
                                name, k + 1));
  }
}

template <class T>
std::string type_of(const Triplets<T>& a, Field field, bool vectors) {
  constexpr std::string_view fields = "ripc";      // in the order of Field
  constexpr std::string_view symmetries = "uszh";  // in the order of Symmetry
  static_assert(static_cast<int>(Field::complex) == 3);
  static_assert(static_cast<int>(Symmetry::hermitian) == 3);
  const char symmetry = a.rows != a.cols ? 'r' : symmetries[static_cast<std::size_t>(a.symmetry)];
  std::string type{fields[static_cast<std::size_t>(field)], symmetry, 'a'};
  if (vectors) {  // the older format has capitals
    for (char& c : type) c = static_cast<char>(c - 'a' + 'A');
  }
  return type;
}

constexpr std::size_t parts(double) { return 1; }
constexpr std::size_t parts(Complex) { return 2; }
double part(const double* values, std::size_t k) { return values[k]; }
double part(const Complex* values, std::size_t k) {
  return k % 2 == 0 ? values[k / 2].real() : values[k / 2].imag();
}

/// Real and imaginary parts, or integers; none of a pattern.
template <class T>
Section section_of_values(const T* values, std::size_t entries, Field field, int threads) {
  const std::size_t n = field == Field::pattern ? 0 : entries * parts(T());
  if (field == Field::integer) {
    const auto number = [=](std::size_t k) {
      return whole(static_cast<std::int64_t>(part(values, k)));
    };
    return section_of(n, format_of_numbers(FortranFormat::Kind::integer, n, threads, number),
                      number);
  }
  const auto number = [=](std::size_t k) { return real(part(values, k)); };
  return section_of(n, format_of_numbers(FortranFormat::Kind::real, n, threads, number), number);
}

std::string header(const std::vector<Section>& sections, const std::string& type, Index rows,
                   Index cols, std::size_t vectors, const WriteOptions& options) {
  std::array<std::size_t, 4> lines{};
  for (std::size_t k = 0; k < sections.size(); ++k) lines[k] = sections[k].lines();
  std::string text = fmt::format("{:<72}{:<8}\n{:>14}", options.title, options.key,
                                 lines[0] + lines[1] + lines[2] + lines[3]);
  for (std::size_t k = 0; k < 3; ++k) text += fmt::format("{:>14}", lines[k]);
  if (vectors > 0) text += fmt::format("{:>14}", lines[3]);
  text +=
      fmt::format("\n{:<14}{:>14}{:>14}{:>14}{:>14}\n", type, rows, cols, sections[1].numbers, 0);
  text += fmt::format("{:<16}{:<16}{:<20}", sections[0].format.text(), sections[1].format.text(),
                      lines[2] > 0 ? sections[2].format.text() : "");
  if (vectors > 0) {
    text += fmt::format("{:<20}\n{:<14}{:>14}{:>14}", sections[3].format.text(), "F", vectors, 0);
  }
  return text + '\n';
}

/// Sums of what can be written may be what cannot.
template <class T>
void check_sums(const std::string& name, const SortedColumns<T>& c, Field field, int threads) {
  if (c.duplicates == 0) return;
  const std::size_t n = c.values.size();
  const std::size_t k =
      find_first(n, threads, [&](std::size_t i) { return !can_be_written(c.values[i], field); });
  if (k == n) return;
  const auto column = std::upper_bound(c.begin.begin(), c.begin.end(), static_cast<Offset>(k));
  throw FileError(
      fmt::format("{}: not written: the sum of the entries ({}, {}), counted from 1, "
                  "is beyond what a {} file can hold",
                  name, c.row_idx[k] + 1, column - c.begin.begin(), to_string(field)));
}

template <class T>
Offset write_columns(const std::filesystem::path& path, const Triplets<T>& a,
                     const WriteOptions& options, const std::vector<T>& rhs) {
  const int threads = reading_threads(options.threads);
  const Field field = field_to_write<T>(function, options);
  check_word(options.title, "title", 72);
  check_word(options.key, "key", 8);
  check_entries(function, path.string(), a, field, threads);
  check_rhs(path.string(), a, field, rhs);
  const SortedColumns<T> c = sorted_columns(a);
  check_sums(path.string(), c, field, threads);

  const std::size_t entries = c.values.size();
  const Offset* begin = c.begin.data();
  const Index* rows = c.row_idx.data();
  std::vector<Section> sections;
  sections.push_back(section_of(c.begin.size(),
                                format_of_wholes(static_cast<std::int64_t>(entries) + 1),
                                [=](std::size_t k) { return whole(begin[k] + 1); }));
  sections.push_back(section_of(entries, format_of_wholes(std::max<Index>(a.rows, 1)),
                                [=](std::size_t k) { return whole(std::int64_t{rows[k]} + 1); }));
  sections.push_back(section_of_values(c.values.data(), entries, field, threads));
  std::size_t vectors = 0;
  if (!rhs.empty()) {
    vectors = rhs.size() / static_cast<std::size_t>(a.rows);
    sections.push_back(section_of_values(rhs.data(), rhs.size(), field, threads));
  }

  OutputFile file(path, {.compression = options.compression});
  file.write(header(sections, type_of(a, field, vectors > 0), a.rows, a.cols, vectors, options));
  const auto blocks =
      blocks_of(sections, made_of_streams(file.compression()) ? packed_block_lines : block_lines);
  write_in_order(file, blocks.size(), threads, [&](std::size_t k, Array<char>& text) {
    text.clear();
    for (const Block& block : blocks[k]) append_lines(block, text);
  });
  file.commit();
  return c.duplicates;
}

}  // namespace

Offset write_rutherford_boeing(const std::filesystem::path& path, const Triplets<double>& matrix,
                               const WriteOptions& options, const std::vector<double>& rhs) {
  return write_columns(path, matrix, options, rhs);
}

Offset write_rutherford_boeing(const std::filesystem::path& path, const Triplets<Complex>& matrix,
                               const WriteOptions& options, const std::vector<Complex>& rhs) {
  return write_columns(path, matrix, options, rhs);
}

}  // namespace krysol
