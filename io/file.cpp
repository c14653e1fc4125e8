// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <system_error>

#include <fmt/format.h>

#include <krysol/io/file.hpp>
#include <krysol/io/parse_error.hpp>
#include <krysol/io/source.hpp>

namespace krysol {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20;

/// The trailer of the last member must fit the end of the text: its CRC-32 and its length modulo
/// 2^32 (RFC 1952). Files of one member, nearly all, are so compared in full.
void check_gzip_trailer(const Source& source, std::string_view text) {
  const std::uint32_t crc = source.gzip_crc();
  const std::uint32_t length = source.gzip_length();
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

void fail_too_long(const std::string& name, std::int64_t max_text_bytes) {
  throw FileError(fmt::format(
      "{}: holds more than {} bytes of text, the limit set by ReadOptions::max_text_bytes", name,
      std::max<std::int64_t>(max_text_bytes, 0)));
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
      if (text.size_ > limit) fail_too_long(source.name(), max_text_bytes);
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

OutputFile::OutputFile(const std::filesystem::path& path, std::optional<Compression> compression)
    : name_(path.string()),
      target_(path),
      compression_(compression.value_or(compression_of(path))) {
  if (name_ == "-") {
    name_ = "standard output";
    target_.clear();
  }
  // Renaming onto a symbolic link would replace the link: follow it first.
  std::error_code ignored;
  if (std::filesystem::is_symlink(target_, ignored)) {
    const auto resolved = std::filesystem::weakly_canonical(path, ignored);
    if (!ignored) target_ = resolved;
  }
  const auto status = std::filesystem::status(target_, ignored);
  if (std::filesystem::is_directory(status)) fail("cannot be written", EISDIR);
  // Renaming onto a device or a pipe would replace it by a file.
  const bool special = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  try {
    open(special);
    if (!temporary_.empty() && std::filesystem::exists(status)) {
      ::fchmod(file_, static_cast<mode_t>(status.permissions()) & 07777);
    }
    buffer_.reserve(block_bytes);
  } catch (...) {
    discard();
    throw;
  }
}

OutputFile::~OutputFile() { discard(); }

void OutputFile::open(bool special) {
  if (target_.empty()) {
    file_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);  // so that closing it leaves the other open
  } else if (special) {
    file_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    open_temporary();
  }
  if (file_ < 0) fail("cannot be opened for writing", errno);
}

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

void OutputFile::write(std::string_view text) {
  if (file_ < 0) throw FileError(name_ + ": nothing can be written after it was committed");
  if (buffer_.size() + text.size() > block_bytes) flush();
  if (text.size() >= block_bytes / 16) {  // gathering saves nothing any more
    flush();
    put(text);
  } else {
    buffer_.append(text);
  }
}

void OutputFile::write_packed(std::string_view packed) {
  if (file_ < 0) throw FileError(name_ + ": nothing can be written after it was committed");
  flush();
  end_stream();
  write_bytes(packed);
}

void OutputFile::flush() {
  if (!buffer_.empty()) put(buffer_);
  buffer_.clear();
}

void OutputFile::put(std::string_view text) {
  if (compression_ == Compression::none) {
    write_bytes(text);
    return;
  }
  with_name([&] {
    if (stream_ == nullptr) {
      stream_ = std::make_unique<Compressor>(
          compression_, [this](std::string_view bytes) { write_bytes(bytes); });
    }
    stream_->write(text);
  });
}

void OutputFile::end_stream() {
  if (stream_ == nullptr) return;
  with_name([&] { stream_->close(); });
  stream_.reset();
}

/// A compressor does not know whose bytes it has.
template <class Work>
void OutputFile::with_name(const Work& work) const {
  try {
    work();
  } catch (const FileError& e) {
    const std::string what = e.what();
    if (what.starts_with(name_ + ": ")) throw;
    throw FileError(name_ + ": " + what);
  }
}

void OutputFile::write_bytes(std::string_view bytes) {
  bytes_written_ += static_cast<std::int64_t>(bytes.size());
  while (!bytes.empty()) {
    const ssize_t n = ::write(file_, bytes.data(), std::min(bytes.size(), std::size_t{1} << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot be written", errno);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void OutputFile::commit() {
  if (file_ < 0) throw FileError(name_ + ": was committed already");
  flush();
  if (bytes_written_ == 0) put({});  // of no text too there is a compressed form
  end_stream();
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
  stream_.reset();
  if (file_ >= 0) ::close(file_);
  file_ = -1;
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void OutputFile::fail(const std::string& what, int error_number) const {
  throw FileError(fmt::format("{}: {}: {}", name_, what, reason(error_number)));
}

}  // namespace krysol
