// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/bytes/source.hpp>

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include <krysol/io/bytes/parse_error.hpp>

namespace krysol {
namespace {

constexpr std::size_t source_block_bytes = std::size_t{1} << 20;

using CrcTable = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr CrcTable make_crc_table() {
  CrcTable table{};
  for (std::uint32_t n = 0; n < 256; ++n) {
    std::uint32_t c = n;
    for (int bit = 0; bit < 8; ++bit) c = (c & 1) != 0 ? 0xedb88320U ^ (c >> 1) : c >> 1;
    table[0][n] = c;
  }
  for (std::size_t n = 0; n < 256; ++n) {
    for (std::size_t k = 1; k < 8; ++k) {
      const std::uint32_t c = table[k - 1][n];
      table[k][n] = table[0][c & 0xff] ^ (c >> 8);
    }
  }
  return table;
}

constexpr CrcTable crc_table = make_crc_table();

/// A 32 x 32 matrix over GF(2), a column a word, times a vector.
using BitMatrix = std::array<std::uint32_t, 32>;

std::uint32_t product(const BitMatrix& m, std::uint32_t v) {
  std::uint32_t sum = 0;
  for (std::size_t k = 0; v != 0; ++k, v >>= 1U) {
    if ((v & 1U) != 0) sum ^= m[k];
  }
  return sum;
}

BitMatrix square(const BitMatrix& m) {
  BitMatrix s{};
  std::transform(m.begin(), m.end(), s.begin(), [&](std::uint32_t v) { return product(m, v); });
  return s;
}

bool starts_with(std::string_view text, std::string_view magic) {
  return text.substr(0, magic.size()) == magic;
}

}  // namespace

std::string reason(int error_number) { return std::generic_category().message(error_number); }

// Eight bytes a step. Here because libarchive reads past the checksum of a gzip file without
// comparing it.
std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = ~std::uint32_t{0};
  const char* p = bytes.data();
  const auto at = [&p](std::size_t k) { return static_cast<unsigned char>(p[k]); };
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, p += 8) {
    crc = crc_table[7][(crc ^ at(0)) & 0xff] ^ crc_table[6][((crc >> 8) ^ at(1)) & 0xff] ^
          crc_table[5][((crc >> 16) ^ at(2)) & 0xff] ^ crc_table[4][(crc >> 24) ^ at(3)] ^
          crc_table[3][at(4)] ^ crc_table[2][at(5)] ^ crc_table[1][at(6)] ^ crc_table[0][at(7)];
  }
  for (; left > 0; --left, ++p) crc = crc_table[0][(crc ^ at(0)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

// Zeros after a text are a linear map of its CRC; n of them are that of one bit, squared often.
std::uint32_t crc32_of_both(std::uint32_t first, std::uint32_t second, std::uint64_t second_bytes) {
  BitMatrix zeros{};  // after the text: one bit
  zeros[0] = 0xedb88320U;
  for (std::size_t k = 1; k < zeros.size(); ++k) zeros[k] = 1U << (k - 1);
  for (int k = 0; k < 3; ++k) zeros = square(zeros);  // a byte
  for (; second_bytes != 0; second_bytes >>= 1U) {
    if ((second_bytes & 1U) != 0) first = product(zeros, first);
    zeros = square(zeros);
  }
  return first ^ second;
}

bool is_gzip(std::string_view head) { return starts_with(head, "\x1f\x8b"); }

bool is_compressed(std::string_view head) {
  using namespace std::string_view_literals;
  return is_gzip(head) || starts_with(head, "\x1f\x9d"sv) || starts_with(head, "BZh"sv) ||
         starts_with(head, "\xfd\x37\x7a\x58\x5a\x00"sv) ||
         starts_with(head, "\x28\xb5\x2f\xfd"sv) || starts_with(head, "\x04\x22\x4d\x18"sv) ||
         starts_with(head, "LZIP"sv);
}

std::string Source::name_of(const std::filesystem::path& path) {
  return path == "-" ? "standard input" : path.string();
}

Source::Source(const std::filesystem::path& path) : name_(name_of(path)) {
  file_ = path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                      : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0) throw FileError(name_ + ": cannot be opened: " + reason(errno));
  struct stat status {};
  if (::fstat(file_, &status) != 0) return;
  if (S_ISDIR(status.st_mode)) {
    ::close(file_);
    throw FileError(name_ + ": is a folder, a file was expected");
  }
  // Standard input may be a file that others have read a part of, or have open to go on with.
  regular_ = S_ISREG(status.st_mode) && path != "-";
  if (regular_) size_ = status.st_size;
}

Source::~Source() { ::close(file_); }

std::size_t Source::read(char* data, std::size_t wanted) {
  std::size_t got = 0;
  while (got < wanted) {
    // More than 2 GiB in one call is cut by the kernel; asking for less keeps it simple.
    const ssize_t n = ::read(file_, data + got, std::min(wanted - got, std::size_t{1} << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw FileError(name_ + ": cannot be read: " + reason(errno));
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  bytes_read_ += static_cast<std::int64_t>(got);
  remember(data, got);
  return got;
}

void Source::remember(const char* data, std::size_t size) {
  const std::size_t fresh = std::min(size, last_.size());
  std::copy(last_.begin() + static_cast<std::ptrdiff_t>(fresh), last_.end(), last_.begin());
  std::memcpy(last_.data() + last_.size() - fresh, data + size - fresh, fresh);
}

std::uint32_t Source::trailer_word(std::size_t at) const {
  return static_cast<std::uint32_t>(last_[at]) | static_cast<std::uint32_t>(last_[at + 1]) << 8 |
         static_cast<std::uint32_t>(last_[at + 2]) << 16 |
         static_cast<std::uint32_t>(last_[at + 3]) << 24;
}

Decompressor::Decompressor(Source& source, std::string head)
    : source_(source), block_(std::move(head)), handle_(archive_read_new()) {
  if (handle_ == nullptr) throw std::bad_alloc();
  archive_read_support_filter_gzip(handle_.get());
  archive_read_support_filter_compress(handle_.get());
  archive_read_support_filter_bzip2(handle_.get());
  archive_read_support_filter_xz(handle_.get());
  archive_read_support_filter_zstd(handle_.get());
  archive_read_support_filter_lz4(handle_.get());
  archive_read_support_filter_lzip(handle_.get());
  archive_read_support_format_raw(handle_.get());
  archive_read_support_format_empty(handle_.get());
  if (archive_read_open(handle_.get(), this, nullptr, next_block, nullptr) != ARCHIVE_OK) fail();
  archive_entry* entry = nullptr;
  const int status = archive_read_next_header(handle_.get(), &entry);
  at_end_ = status == ARCHIVE_EOF;  // compressed emptiness
  if (!at_end_ && status != ARCHIVE_OK) fail();
  // One filter, and the file. libarchive would go on as long as it knows what comes out, and only
  // of the first is known whether all of it is there.
  if (archive_filter_count(handle_.get()) > 2) {
    throw FileError(fmt::format("{}: is compressed twice, {} inside {}; decompress it once",
                                source_.name(), archive_filter_name(handle_.get(), 0),
                                archive_filter_name(handle_.get(), 1)));
  }
  if (at_end_) check_end();
}

std::size_t Decompressor::read(char* data, std::size_t wanted) {
  if (at_end_) return 0;
  const la_ssize_t n = archive_read_data(handle_.get(), data, wanted);
  if (n < 0) fail();
  if (n == 0 && wanted > 0) {
    at_end_ = true;
    check_end();
  }
  return static_cast<std::size_t>(n);
}

/// libarchive passes over what stands after the end of the compressed data.
void Decompressor::check_end() {
  const std::int64_t used = archive_filter_bytes(handle_.get(), -1);
  char next = '\0';
  static_cast<void>(source_.read(&next, 1));
  const std::int64_t there = source_.is_regular() ? source_.size() : source_.bytes_read();
  if (used < 0 || used >= there) return;
  throw FileError(
      fmt::format("{}: cannot be decompressed as a whole: {}byte {} is not of the {} data that end "
                  "before it",
                  source_.name(), source_.is_regular() ? "" : "at least ", used + 1,
                  archive_filter_name(handle_.get(), 0)));
}

void Decompressor::Free::operator()(archive* a) const { archive_read_free(a); }

// Exceptions must not cross libarchive, which is C: they are kept and thrown by `fail`.
la_ssize_t Decompressor::next_block(archive* a, void* self, const void** data) noexcept {
  auto& me = *static_cast<Decompressor*>(self);
  try {
    if (!me.head_given_) {
      me.head_given_ = true;
    } else {
      me.block_.resize(source_block_bytes);
      me.block_.resize(me.source_.read(me.block_.data(), source_block_bytes));
    }
  } catch (...) {
    me.read_error_ = std::current_exception();
    archive_set_error(a, EIO, "reading failed");
    return -1;
  }
  *data = me.block_.data();
  return static_cast<la_ssize_t>(me.block_.size());
}

void Decompressor::fail() {
  if (read_error_) std::rethrow_exception(read_error_);
  const char* message = archive_error_string(handle_.get());
  throw FileError(fmt::format("{}: cannot be decompressed, it is cut or damaged: {}",
                              source_.name(), message != nullptr ? message : "no reason given"));
}

}  // namespace krysol
