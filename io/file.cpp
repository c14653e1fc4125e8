// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <random>
#include <system_error>

#include <fmt/format.h>

#include <krysol/io/file.hpp>
#include <krysol/io/parse_error.hpp>

namespace krysol {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20;

std::string reason(int error_number) { return std::generic_category().message(error_number); }

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

/// CRC-32 as gzip defines it (RFC 1952, section 8), eight bytes a step. Here because libarchive
/// reads past the checksum of a gzip file without comparing it.
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

/// An open file as a stream of blocks; remembers its last eight bytes, gzip's trailer.
class Source {
 public:
  explicit Source(const std::filesystem::path& path) : name_(path.string()) {
    file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file_ < 0) throw FileError(name_ + ": cannot be opened: " + reason(errno));
    struct stat status {};
    if (::fstat(file_, &status) == 0) {
      if (S_ISDIR(status.st_mode)) {
        ::close(file_);
        throw FileError(name_ + ": is a folder, a file was expected");
      }
      if (S_ISREG(status.st_mode)) size_ = status.st_size;
    }
  }
  ~Source() { ::close(file_); }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  const std::string& name() const { return name_; }
  std::int64_t size() const { return size_; }              // 0 where unknown, as for a pipe
  std::int64_t bytes_read() const { return bytes_read_; }  // so far
  const std::array<unsigned char, 8>& last_bytes() const { return last_; }

  /// Fills `data` as far as the file goes; less than `wanted` only at its end.
  std::size_t read(char* data, std::size_t wanted) {
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

 private:
  void remember(const char* data, std::size_t size) {
    const std::size_t fresh = std::min(size, last_.size());
    std::copy(last_.begin() + static_cast<std::ptrdiff_t>(fresh), last_.end(), last_.begin());
    std::memcpy(last_.data() + last_.size() - fresh, data + size - fresh, fresh);
  }

  std::string name_;
  int file_ = -1;
  std::int64_t size_ = 0;
  std::int64_t bytes_read_ = 0;
  std::array<unsigned char, 8> last_{};
};

bool starts_with(std::string_view text, std::string_view magic) {
  return text.substr(0, magic.size()) == magic;
}

bool is_gzip(std::string_view head) { return starts_with(head, "\x1f\x8b"); }

/// True where one of the decompressors that run inside this process knows the first bytes.
bool is_compressed(std::string_view head) {
  using namespace std::string_view_literals;
  return is_gzip(head) || starts_with(head, "\x1f\x9d"sv) || starts_with(head, "BZh"sv) ||
         starts_with(head, "\xfd\x37\x7a\x58\x5a\x00"sv) ||
         starts_with(head, "\x28\xb5\x2f\xfd"sv) || starts_with(head, "\x04\x22\x4d\x18"sv) ||
         starts_with(head, "LZIP"sv);
}

/// Decompression of one stream, after `head`, which was read to recognise it.
class Decompressor {
 public:
  Decompressor(Source& source, std::string head)
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
  }
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  /// At most `wanted` bytes; 0 at the end.
  std::size_t read(char* data, std::size_t wanted) {
    if (at_end_) return 0;
    const la_ssize_t n = archive_read_data(handle_.get(), data, wanted);
    if (n < 0) fail();
    return static_cast<std::size_t>(n);
  }

 private:
  struct Free {
    void operator()(archive* a) const { archive_read_free(a); }
  };

  // Exceptions must not cross libarchive, which is C: they are kept and thrown by `fail`.
  static la_ssize_t next_block(archive* a, void* self, const void** data) noexcept {
    auto& me = *static_cast<Decompressor*>(self);
    try {
      if (!me.head_given_) {
        me.head_given_ = true;
      } else {
        me.block_.resize(block_bytes);
        me.block_.resize(me.source_.read(me.block_.data(), block_bytes));
      }
    } catch (...) {
      me.read_error_ = std::current_exception();
      archive_set_error(a, EIO, "reading failed");
      return -1;
    }
    *data = me.block_.data();
    return static_cast<la_ssize_t>(me.block_.size());
  }

  [[noreturn]] void fail() {
    if (read_error_) std::rethrow_exception(read_error_);
    const char* message = archive_error_string(handle_.get());
    throw FileError(fmt::format("{}: cannot be decompressed, it is cut or damaged: {}",
                                source_.name(), message != nullptr ? message : "no reason given"));
  }

  Source& source_;
  std::string block_;
  bool head_given_ = false;
  bool at_end_ = false;
  std::exception_ptr read_error_;
  std::unique_ptr<archive, Free> handle_;
};

/// The trailer of the last member must fit the end of the text: its CRC-32 and its length modulo
/// 2^32 (RFC 1952). Files of one member, nearly all, are so compared in full.
void check_gzip_trailer(const Source& source, std::string_view text) {
  const auto& last = source.last_bytes();
  const auto word = [&last](std::size_t k) {
    return static_cast<std::uint32_t>(last[k]) | static_cast<std::uint32_t>(last[k + 1]) << 8 |
           static_cast<std::uint32_t>(last[k + 2]) << 16 |
           static_cast<std::uint32_t>(last[k + 3]) << 24;
  };
  const std::uint32_t crc = word(0);
  const std::uint32_t length = word(4);
  const bool one_member = static_cast<std::uint32_t>(text.size()) == length;
  const std::string_view member =
      one_member ? text : text.substr(text.size() - std::min<std::size_t>(length, text.size()));
  if (length > text.size() || crc32(member) != crc) {
    throw FileError(source.name() +
                    ": cannot be decompressed, it is damaged: the gzip checksum differs");
  }
}

}  // namespace

void FileText::grow(std::size_t capacity) {
  auto* larger = static_cast<char*>(std::realloc(data_.get(), capacity));
  if (larger == nullptr) throw std::bad_alloc();
  static_cast<void>(data_.release());
  data_.reset(larger);
  capacity_ = capacity;
}

FileText read_text(const std::filesystem::path& path, std::int64_t max_text_bytes) {
  Source source(path);
  const auto limit = static_cast<std::size_t>(std::max<std::int64_t>(max_text_bytes, 0));
  FileText text;
  // Doubling keeps the copies of a growing buffer linear; one byte stays free for the NUL.
  const auto read_all = [&](auto& from, std::size_t first_capacity) {
    if (text.capacity_ < first_capacity) text.grow(first_capacity);
    for (;;) {
      if (text.size_ + 1 >= text.capacity_) text.grow(2 * text.capacity_);
      const std::size_t n = from.read(text.data_.get() + text.size_,
                                      std::min(text.capacity_ - 1 - text.size_, 16 * block_bytes));
      if (n == 0) break;
      text.size_ += n;
      if (text.size_ > limit) {
        throw FileError(fmt::format(
            "{}: holds more than {} bytes of text, the limit set by ReadOptions::max_text_bytes",
            source.name(), limit));
      }
    }
    text.data_.get()[text.size_] = '\0';
  };
  try {
    std::string head(512, '\0');
    head.resize(source.read(head.data(), head.size()));
    if (is_compressed(head)) {
      const bool gzip = is_gzip(head);
      Decompressor decompressor(source, std::move(head));
      read_all(decompressor, block_bytes);
      if (gzip) check_gzip_trailer(source, text.view());
    } else {
      const auto expected = static_cast<std::size_t>(std::max<std::int64_t>(source.size(), 0));
      text.grow(std::max(std::min(expected, limit), head.size()) + 2);
      std::memcpy(text.data_.get(), head.data(), head.size());
      text.size_ = head.size();
      read_all(source, 0);
    }
  } catch (const std::bad_alloc&) {
    throw FileError(source.name() + ": not enough memory to hold its text");
  }
  text.bytes_on_disk_ = source.bytes_read();
  return text;
}

OutputFile::OutputFile(const std::filesystem::path& path) : name_(path.string()), target_(path) {
  // Renaming onto a symbolic link would replace the link: follow it first.
  std::error_code ignored;
  if (std::filesystem::is_symlink(path, ignored)) {
    const auto resolved = std::filesystem::weakly_canonical(path, ignored);
    if (!ignored) target_ = resolved;
  }
  const auto status = std::filesystem::status(target_, ignored);
  if (std::filesystem::is_directory(status)) fail("cannot be written", EISDIR);
  // Renaming onto a device or a pipe would replace it by a file.
  const bool special = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  try {
    if (special) {
      file_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
      if (file_ < 0) fail("cannot be opened for writing", errno);
    } else {
      open_temporary();
      if (std::filesystem::exists(status)) {
        ::fchmod(file_, static_cast<mode_t>(status.permissions()) & 07777);
      }
    }
    buffer_.reserve(block_bytes);
    if (path.extension() == ".gz") open_gzip();
  } catch (...) {
    discard();
    throw;
  }
}

OutputFile::~OutputFile() { discard(); }

void OutputFile::open_temporary() {
  std::random_device random;
  const std::string stem = target_.filename().string();
  for (int attempt = 0; attempt < 100; ++attempt) {
    // The name may be as long as names can be already: keep room for the rest.
    temporary_ = target_;
    temporary_.replace_filename(fmt::format(".{:.200}.{:08x}.tmp", stem, random()));
    // 0666 and not mkstemp's 0600: the umask decides who may read the result.
    file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file_ >= 0) return;
    if (errno != EEXIST) break;
  }
  const int error_number = errno;
  temporary_.clear();
  fail("cannot be written", error_number);
}

void OutputFile::open_gzip() {
  gzip_ = archive_write_new();
  if (gzip_ == nullptr) throw std::bad_alloc();
  archive_write_add_filter_gzip(gzip_);
  // Without a time stamp the same numbers give the same file.
  archive_write_set_filter_option(gzip_, "gzip", "timestamp", nullptr);
  archive_write_set_format_raw(gzip_);
  archive_write_set_bytes_in_last_block(gzip_, 1);  // no padding behind the gzip trailer
  bool good = archive_write_open(gzip_, this, nullptr, gzip_sink, nullptr) == ARCHIVE_OK;
  archive_entry* entry = archive_entry_new();
  if (entry == nullptr) throw std::bad_alloc();
  archive_entry_set_filetype(entry, AE_IFREG);
  good = good && archive_write_header(gzip_, entry) == ARCHIVE_OK;
  archive_entry_free(entry);
  if (!good) fail_gzip();
}

void OutputFile::write(std::string_view text) {
  if (file_ < 0) throw FileError(name_ + ": nothing can be written after it was committed");
  if (buffer_.size() + text.size() > block_bytes) flush();
  if (text.size() >= block_bytes) {
    buffer_.assign(text);
    flush();
  } else {
    buffer_.append(text);
  }
}

void OutputFile::flush() {
  if (gzip_ == nullptr) {
    write_bytes(buffer_.data(), buffer_.size());
  } else if (!buffer_.empty() && archive_write_data(gzip_, buffer_.data(), buffer_.size()) < 0) {
    fail_gzip();
  }
  buffer_.clear();
}

void OutputFile::write_bytes(const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t n = ::write(file_, data, std::min(size, std::size_t{1} << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot be written", errno);
    data += n;
    size -= static_cast<std::size_t>(n);
  }
}

la_ssize_t OutputFile::gzip_sink(archive* gzip, void* self, const void* data, std::size_t size) {
  try {
    static_cast<OutputFile*>(self)->write_bytes(static_cast<const char*>(data), size);
  } catch (...) {
    // Kept for `fail_gzip`: an exception must not cross libarchive, which is C.
    static_cast<OutputFile*>(self)->write_error_ = std::current_exception();
    archive_set_error(gzip, EIO, "writing failed");
    return -1;
  }
  return static_cast<la_ssize_t>(size);
}

void OutputFile::close_gzip() {
  if (gzip_ == nullptr) return;
  if (archive_write_close(gzip_) != ARCHIVE_OK) fail_gzip();
  archive_write_free(gzip_);
  gzip_ = nullptr;
}

void OutputFile::commit() {
  if (file_ < 0) throw FileError(name_ + ": was committed already");
  flush();
  close_gzip();
  // Pipes and terminals cannot be synced; that is no error.
  if (::fsync(file_) != 0 && !temporary_.empty()) fail("cannot be written", errno);
  const int closed = ::close(file_);
  file_ = -1;
  if (closed != 0) fail("cannot be written", errno);
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot be renamed into", errno);
  temporary_.clear();
  // The new name lasts through a power failure once its folder is on the disk, where the file
  // system can do that.
  const auto folder = target_.has_parent_path() ? target_.parent_path() : ".";
  const int handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (handle >= 0) {
    ::fsync(handle);
    ::close(handle);
  }
}

void OutputFile::discard() noexcept {
  if (gzip_ != nullptr) {
    archive_write_fail(gzip_);  // do not flush what is thrown away
    archive_write_free(gzip_);
    gzip_ = nullptr;
  }
  if (file_ >= 0) ::close(file_);
  file_ = -1;
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void OutputFile::fail_gzip() const {
  if (write_error_) std::rethrow_exception(write_error_);
  const char* message = archive_error_string(gzip_);
  throw FileError(fmt::format("{}: cannot be compressed: {}", name_,
                              message != nullptr ? message : "no reason given"));
}

void OutputFile::fail(const std::string& what, int error_number) const {
  throw FileError(fmt::format("{}: {}: {}", name_, what, reason(error_number)));
}

}  // namespace krysol
