// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/matrix_market/plain_entries.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstring>
#include <exception>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include <fast_float/fast_float.h>

#include <krysol/io/text/scanner.hpp>
#include <krysol/io/text/threads.hpp>
#include <krysol/io/text/ticket.hpp>
#include <krysol/spmv/base/large_pages.hpp>

namespace krysol {
namespace {

using Complex = std::complex<double>;

// ---- digits, eight at a time: Lemire, Software: Practice and Experience 51(8), 2021,
// DOI 10.1002/spe.2984, section 4

static_assert(TextBlock::spare_bytes >= 8);

/// The next eight bytes, each less '0': the first in the lowest byte.
std::uint64_t next_eight(const char* p) {
  std::uint64_t word = 0;
  std::memcpy(&word, p, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word ^ 0x3030303030303030U;
}

/// How many of them are digits before the first that is none.
unsigned leading_digits(std::uint64_t eight) {
  const std::uint64_t no_digit = ((eight + 0x7676767676767676U) | eight) & 0x8080808080808080U;
  return static_cast<unsigned>(std::countr_zero(no_digit)) / 8;  // 64 / 8 where all are
}

/// The number that the first n of them make, 1 <= n <= 8.
std::uint64_t number_of(std::uint64_t eight, unsigned n) {
  eight <<= 8 * (8 - n);               // zeros in front
  eight = eight * 10 + (eight >> 8U);  // pairs
  constexpr std::uint64_t pair = 0x000000FF000000FFU;
  return ((eight & pair) * 0x000F424000000064U + ((eight >> 16U) & pair) * 0x0000271000000001U) >>
         32U;
}

bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

/// Reads the digits from p, at most `most` of them; returns the place after them, or null where
/// there is none or more.
const char* digits(const char* p, int most, std::uint64_t& value) {
  const std::uint64_t eight = next_eight(p);
  const unsigned n = leading_digits(eight);
  if (n == 0) return nullptr;
  value = number_of(eight, n);
  if (n < 8) return p + n;
  const char* const begin = p;
  for (p += 8; is_digit(*p); ++p) {
    if (p - begin == most) return nullptr;
    value = 10 * value + static_cast<std::uint64_t>(*p - '0');
  }
  return p;
}

constexpr std::array<std::uint64_t, 9> powers{1,      10,      100,      1000,     10000,
                                              100000, 1000000, 10000000, 100000000};

/// Appends the digits from p to `value`, whatever their number; a caller counts them.
const char* more_digits(const char* p, std::uint64_t& value) {
  for (;;) {
    const std::uint64_t eight = next_eight(p);
    const unsigned n = leading_digits(eight);
    if (n == 0) return p;
    value = value * powers[n] + number_of(eight, n);
    p += n;
    if (n < 8) return p;
  }
}

/// What of fast_float is used beside its public from_chars. That takes text, so it would read
/// digits again that have been read: 75 ns a number of 17 digits instead of 12 (EPYC, g++ 12 -O2),
/// and such numbers are most of the time of reading a file. A version that has it no longer, or
/// with another meaning of its types, fails here.
template <class Binary>
concept HasComputeFloat = requires(std::int64_t e, std::uint64_t w) {
  { fast_float::compute_float<Binary>(e, w) } -> std::same_as<fast_float::adjusted_mantissa>;
  requires std::same_as<decltype(fast_float::adjusted_mantissa::mantissa), std::uint64_t>;
  requires std::signed_integral<decltype(fast_float::adjusted_mantissa::power2)>;
};
static_assert(
    HasComputeFloat<fast_float::binary_format<double>>,
    "this version of fast_float has no compute_float(exponent, digits) as 3.9 has it: use "
    "that version, or return false below, which is slower");

/// The double next to w 10^e. w is exact.
bool to_double(std::uint64_t w, int e, bool negative, double& value) {
  constexpr std::array<double, 23> tens{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                        1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                        1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  // Both are exact, so one rounding is all (Clinger, PLDI '90, DOI 10.1145/93542.93557).
  if (w <= std::uint64_t{1} << 53U && e >= -22 && e <= 22) {
    const auto exact = static_cast<double>(w);
    const double magnitude = e < 0 ? exact / tens[static_cast<std::size_t>(-e)]
                                   : exact * tens[static_cast<std::size_t>(e)];
    value = negative ? -magnitude : magnitude;
    return true;
  }
  // Lemire's algorithm, which leaves rare cases to others.
  const auto found = fast_float::compute_float<fast_float::binary_format<double>>(e, w);
  if (found.power2 < 0) return false;
  const std::uint64_t bits = found.mantissa | static_cast<std::uint64_t>(found.power2) << 52U |
                             static_cast<std::uint64_t>(negative ? 1 : 0) << 63U;
  value = std::bit_cast<double>(bits);
  return std::isfinite(value) && (value != 0 || w == 0);  // what underflows is counted elsewhere
}

/// A finite number at p; null where none is, or what follows does not end it. `end`: of the text.
const char* real_at(const char* p, const char* end, double& value) {
  const char* const start = p;
  const bool negative = *p == '-';
  if (negative) ++p;
  std::uint64_t w = 0;
  const char* const integer = p;
  p = more_digits(p, w);
  std::ptrdiff_t count = p - integer;
  int exponent = 0;
  if (*p == '.') {
    const char* const fraction = ++p;
    p = more_digits(p, w);
    exponent = -static_cast<int>(p - fraction);
    count += p - fraction;
  }
  if (count > 0 && count <= 19) {
    bool plain = true;
    if (*p == 'e' || *p == 'E') {
      const char* q = p + 1;
      const bool less = *q == '-';
      if (less || *q == '+') ++q;
      std::uint64_t n = 0;
      q = digits(q, 8, n);
      plain = q != nullptr && n < 1000;
      if (plain) {
        exponent += less ? -static_cast<int>(n) : static_cast<int>(n);
        p = q;
      }
    }
    if (plain && to_double(w, exponent, negative, value)) return p;
  }
  const auto [last, error] = fast_float::from_chars(start, end, value);
  return error == std::errc() && std::isfinite(value) && value != 0 ? last : nullptr;
}

// ---- lines

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool ends_token(char c) { return is_blank(c) || c == '\n' || c == '\r' || c == '\0'; }

/// Numbers that need more than a glance: Fortran's exponents, a leading plus, long integers. The
/// line's scanner knows them all, and what it refuses is refused here.
template <class Number, class Read>
const char* by_scanner(const char* p, const char* end, Number& value, Read read) {
  try {
    Scanner scanner({p, static_cast<std::size_t>(end - p)}, {});
    value = read(scanner);
    return scanner.underflowed ? nullptr : scanner.at;
  } catch (const std::exception&) {  // ParseError, or no room for its message
    return nullptr;
  }
}

const char* whole_real(const char* p, const char* end, double& value) {
  // fast_float passes over white space: never let it start there.
  if (static_cast<unsigned char>(*p) > ' ') {
    const char* q = real_at(p, end, value);
    if (q != nullptr && ends_token(*q)) return q;
  }
  return by_scanner(p, end, value, [](Scanner& s) { return s.real(Scanner::Words::none); });
}

struct Tally {
  std::int64_t kept = 0;
  std::int64_t rounded_integers = 0;
};

const char* value_at(const char* p, const char* end, Field field, Tally& tally, double& value) {
  if (field == Field::pattern) {
    value = 1;
    return p;
  }
  while (is_blank(*p)) ++p;
  if (field != Field::integer) return whole_real(p, end, value);
  std::uint64_t magnitude = 0;
  const bool negative = *p == '-';
  const char* q = digits(p + (negative ? 1 : 0), 15, magnitude);
  if (q != nullptr && ends_token(*q)) {
    const auto number = static_cast<std::int64_t>(magnitude);
    value = static_cast<double>(negative ? -number : number);  // the integer -0 is 0
    return q;
  }
  std::int64_t number = 0;
  q = by_scanner(p, end, number, [](Scanner& s) { return s.integer(); });
  if (q == nullptr) return nullptr;
  value = static_cast<double>(number);
  if (!is_exact_in_double(number)) ++tally.rounded_integers;
  return q;
}
const char* value_at(const char* p, const char* end, Field, Tally&, Complex& value) {
  double re = 0;
  double im = 0;
  while (is_blank(*p)) ++p;
  p = whole_real(p, end, re);
  if (p == nullptr) return nullptr;
  while (is_blank(*p)) ++p;
  p = whole_real(p, end, im);
  value = Complex(re, im);
  return p;
}

/// An index 1..size and the blank after it.
const char* index_at(const char* p, Index size, Index& index) {
  std::uint64_t value = 0;
  while (is_blank(*p)) ++p;
  p = digits(p, 18, value);
  if (p == nullptr || value - 1 >= static_cast<std::uint64_t>(size) || !ends_token(*p)) {
    return nullptr;
  }
  index = static_cast<Index>(value - 1);
  return p;
}

bool may_stand(Index row, Index col, double, Symmetry symmetry) {
  return row > col || (row == col && symmetry != Symmetry::skew_symmetric);
}
bool may_stand(Index row, Index col, Complex value, Symmetry symmetry) {
  return row > col || (row == col && symmetry != Symmetry::skew_symmetric &&
                       (symmetry != Symmetry::hermitian || value.imag() == 0));
}

/// Reads the lines of [p, end), which are whole or end with the text, to consecutive places. Bytes
/// up to end + TextBlock::spare_bytes can be looked at. False where one is not plain.
template <class T>
bool read_lines(const char* p, const char* end, const EntryRules& rules, Index* row_idx,
                Index* col_idx, T* values, Tally& tally) {
  std::int64_t k = 0;
  while (p < end) {
    while (is_blank(*p)) ++p;
    if (*p == '%') {
      p = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
      if (p == nullptr) break;
      ++p;
      continue;
    }
    if (is_digit(*p)) {
      p = index_at(p, rules.rows, row_idx[k]);
      if (p != nullptr) p = index_at(p, rules.cols, col_idx[k]);
      if (p != nullptr) p = value_at(p, end, rules.field, tally, values[k]);
      if (p == nullptr || (rules.symmetry != Symmetry::general &&
                           !may_stand(row_idx[k], col_idx[k], values[k], rules.symmetry))) {
        return false;
      }
      ++k;
      while (is_blank(*p)) ++p;
    }
    if (*p == '\r') ++p;
    if (*p == '\n') {
      ++p;
    } else if (p < end) {
      return false;
    }
  }
  tally.kept = k;
  return p == nullptr || p == end;  // and no entry took something from after it
}

std::int64_t count_newlines(const char* p, const char* end) {
  std::int64_t n = 0;
  constexpr std::ptrdiff_t step = 128;
  for (; end - p >= step; p += step) {
    int mine = 0;
    for (std::ptrdiff_t k = 0; k < step; ++k) mine += p[k] == '\n' ? 1 : 0;
    n += mine;
  }
  for (; p < end; ++p) n += *p == '\n' ? 1 : 0;
  return n;
}

/// Entries of one block, before it is known where they go.
template <class T>
struct BlockEntries {
  Array<Index> row_idx;
  Array<Index> col_idx;
  Array<T> values;
  Tally tally;

  bool read(const TextBlock& block, const EntryRules& rules) {
    tally = {};
    // An entry is a line, and the last line need not end.
    const auto lines = static_cast<std::size_t>(count_newlines(block.begin, block.end)) + 1;
    if (lines > values.size()) {
      row_idx.resize(lines);
      col_idx.resize(lines);
      values.resize(lines);
    }
    return block.whole_lines && read_lines(block.begin, block.end, rules, row_idx.data(),
                                           col_idx.data(), values.data(), tally);
  }
};

/// Reads blocks and hands each, with its number, to `take` in the thread that read it.
template <class T, class Take>
void read_blocks(TextBlocks& blocks, const EntryRules& rules, int threads, TicketOrder& turns,
                 const Take& take) {
  on_threads(threads, [&] {
    try {
      TextBlock block;
      BlockEntries<T> entries;
      while (!turns.stopped() && blocks.next(block)) {
        if (!entries.read(block, rules)) {
          turns.stop();
          return;
        }
        take(block.number, entries);
      }
    } catch (...) {
      turns.stop();
      throw;
    }
  });
}

/// What has been read so far, which belongs to the thread whose turn it is.
struct Progress {
  std::int64_t kept = 0;
  std::int64_t rounded_integers = 0;

  /// False where the block holds more entries than are left.
  bool add(const Tally& tally, const EntryRules& rules) {
    if (tally.kept > rules.entries - kept) return false;
    kept += tally.kept;
    rounded_integers += tally.rounded_integers;
    return true;
  }
};

/// Puts blocks of entries after each other.
template <class T>
class Collector {
 public:
  Collector(const EntryRules& rules, std::int64_t at_first, TicketOrder& turns)
      : rules_(rules), turns_(turns) {
    grow(std::min(rules.entries, at_first));
  }

  void take(std::size_t number, const BlockEntries<T>& block) {
    if (!turns_.wait_for(number)) return;
    const std::int64_t to = progress_.kept;
    if (!progress_.add(block.tally, rules_)) {
      turns_.stop();
      return;
    }
    if (progress_.kept > room_) {
      const std::unique_lock while_none_copies(arrays_);
      grow(std::min(rules_.entries, std::max(progress_.kept, 2 * room_)));
    }
    const std::shared_lock while_none_grows(arrays_);
    turns_.pass_on(number);
    const auto n = static_cast<std::ptrdiff_t>(block.tally.kept);
    std::copy_n(block.row_idx.begin(), n, all_.row_idx.begin() + to);
    std::copy_n(block.col_idx.begin(), n, all_.col_idx.begin() + to);
    std::copy_n(block.values.begin(), n, all_.values.begin() + to);
  }

  /// After all blocks.
  std::optional<PlainEntries<T>> result() {
    if (turns_.stopped() || progress_.kept != rules_.entries) return std::nullopt;
    grow(progress_.kept);
    all_.rounded_integers = progress_.rounded_integers;
    return std::move(all_);
  }

 private:
  void grow(std::int64_t entries) {
    room_ = entries;
    const auto size = static_cast<std::size_t>(entries);
    resize(all_.row_idx, size);
    resize(all_.col_idx, size);
    resize(all_.values, size);
  }
  template <class V>
  static void resize(Array<V>& array, std::size_t size) {
    const bool moves = size > array.capacity();
    array.resize(size);
    if (moves) use_large_pages(array.data(), size * sizeof(V));
  }

  const EntryRules& rules_;
  TicketOrder& turns_;
  Progress progress_;
  std::int64_t room_ = 0;
  std::shared_mutex arrays_;  // shared by those who copy into them
  PlainEntries<T> all_;
};

}  // namespace

template <class T>
std::optional<PlainEntries<T>> read_plain_entries(TextBlocks& blocks, const EntryRules& rules,
                                                  std::int64_t at_first, int threads) {
  TicketOrder turns;
  Collector<T> all(rules, at_first, turns);
  read_blocks<T>(
      blocks, rules, threads, turns,
      [&all](std::size_t number, const BlockEntries<T>& block) { all.take(number, block); });
  return all.result();
}

template <class T>
bool visit_plain_entries(TextBlocks& blocks, const EntryRules& rules, int threads,
                         const std::function<void(const PlainBlock<T>&)>& visit,
                         std::int64_t& rounded_integers) {
  TicketOrder turns;
  Progress progress;
  read_blocks<T>(
      blocks, rules, threads, turns, [&](std::size_t number, const BlockEntries<T>& block) {
        if (!turns.wait_for(number)) return;
        if (!progress.add(block.tally, rules)) {
          turns.stop();
          return;
        }
        visit({block.row_idx.data(), block.col_idx.data(), block.values.data(), block.tally.kept});
        turns.pass_on(number);
      });
  rounded_integers = progress.rounded_integers;
  return !turns.stopped() && progress.kept == rules.entries;
}

template std::optional<PlainEntries<double>> read_plain_entries(TextBlocks&, const EntryRules&,
                                                                std::int64_t, int);
template std::optional<PlainEntries<Complex>> read_plain_entries(TextBlocks&, const EntryRules&,
                                                                 std::int64_t, int);
template bool visit_plain_entries(TextBlocks&, const EntryRules&, int,
                                  const std::function<void(const PlainBlock<double>&)>&,
                                  std::int64_t&);
template bool visit_plain_entries(TextBlocks&, const EntryRules&, int,
                                  const std::function<void(const PlainBlock<Complex>&)>&,
                                  std::int64_t&);

}  // namespace krysol
