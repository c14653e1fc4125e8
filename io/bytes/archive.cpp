// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/bytes/archive.hpp>

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <new>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <krysol/io/bytes/parse_error.hpp>

namespace krysol {
namespace {

constexpr std::size_t header_bytes = 512;

/// A number in octal digits, with blanks or NULs around it; -1 where it is none.
int octal(std::string_view field) {
  int value = 0;
  bool any = false;
  for (const char c : field) {
    if (c == ' ' || c == '\0') {
      if (any) break;
    } else if (c >= '0' && c <= '7') {
      value = 8 * value + (c - '0');
      any = true;
    } else {
      return -1;
    }
  }
  return any ? value : -1;
}

}  // namespace

bool is_tar(std::string_view head) {
  constexpr std::size_t sum_at = 148;
  constexpr std::size_t sum_bytes = 8;
  if (head.size() < header_bytes || head[0] == '\0') return false;
  int sum = 0;
  for (std::size_t k = 0; k < header_bytes; ++k) {
    const bool blank = k >= sum_at && k < sum_at + sum_bytes;
    sum += blank ? ' ' : static_cast<unsigned char>(head[k]);
  }
  return octal(head.substr(sum_at, sum_bytes)) == sum;
}

/// libarchive takes the blocks of a stream apart. That decompresses, counts and compares checksums,
/// which libarchive's own filters do not.
class Archive::Tar {
 public:
  Tar(std::unique_ptr<Stream> stream, std::filesystem::path path, std::int64_t max_text_bytes)
      : path_(std::move(path)),
        limit_(max_text_bytes),
        stream_(std::move(stream)),
        blocks_(stream_->blocks_in_turn(0)),
        handle_(archive_read_new()) {
    if (handle_ == nullptr) throw std::bad_alloc();
    archive_read_support_format_tar(handle_.get());
    if (archive_read_open(handle_.get(), this, nullptr, next_block, nullptr) != ARCHIVE_OK) fail();
  }
  Tar(const Tar&) = delete;
  Tar& operator=(const Tar&) = delete;

  std::optional<Member> next() {
    archive_entry* entry = nullptr;
    for (;;) {
      const int status = archive_read_next_header(handle_.get(), &entry);
      if (status == ARCHIVE_EOF) break;
      if (status != ARCHIVE_OK && status != ARCHIVE_WARN) fail();
      if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) != nullptr) {
        continue;
      }
      const char* name = archive_entry_pathname(entry);
      member_ = {name != nullptr ? name : "", archive_entry_size(entry), member_.number + 1};
      return member_;
    }
    const std::int64_t end = archive_read_header_position(handle_.get());
    while (next_text()) {  // what is after the last member
    }
    // The mark is a block of zeros. libarchive takes its absence for an end as well.
    if (text_bytes_ < end + static_cast<std::int64_t>(header_bytes)) {
      throw FileError(stream_->name() + ": is cut: the mark of the end of an archive is missing");
    }
    if (!stream_->is_as_promised()) check_as_a_whole();
    return std::nullopt;
  }

  std::size_t read(char* data, std::size_t wanted) {
    std::size_t got = 0;
    while (got < wanted) {
      const la_ssize_t n = archive_read_data(handle_.get(), data + got, wanted - got);
      if (n < 0) fail();
      if (n == 0) break;
      got += static_cast<std::size_t>(n);
    }
    return got;
  }

  const std::filesystem::path& path() const { return path_; }
  std::int64_t limit() const { return limit_; }
  const Stream& stream() const { return *stream_; }
  const Member& member() const { return member_; }

 private:
  struct Free {
    void operator()(archive* a) const { archive_read_free(a); }
  };

  // Exceptions must not cross libarchive, which is C: they are kept and thrown by `fail`.
  static la_ssize_t next_block(archive* a, void* self, const void** data) noexcept {
    auto& me = *static_cast<Tar*>(self);
    try {
      do {
        if (!me.next_text()) return 0;
      } while (me.block_.begin == me.block_.end);
    } catch (...) {
      me.read_error_ = std::current_exception();
      archive_set_error(a, EIO, "reading failed");
      return -1;
    }
    *data = me.block_.begin;
    return me.block_.end - me.block_.begin;
  }

  bool next_text() {
    if (!blocks_->next(block_)) return false;
    text_bytes_ += block_.end - block_.begin;
    return true;
  }

  /// Files of several gzip members have no sum of the whole: the slow way compares the last one.
  void check_as_a_whole() {
    if (!stream_->is_repeatable()) {
      throw FileError(stream_->name() +
                      ": cannot be decompressed, it is damaged: the gzip checksum differs; or it "
                      "has several gzip members, which cannot be compared in a pipe");
    }
    read_text(path_, limit_);
  }

  [[noreturn]] void fail() {
    if (read_error_) std::rethrow_exception(read_error_);
    const char* message = archive_error_string(handle_.get());
    throw FileError(fmt::format("{}: cannot be unpacked, it is cut or damaged: {}", stream_->name(),
                                message != nullptr ? message : "no reason given"));
  }

  std::filesystem::path path_;
  std::int64_t limit_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<TextBlocks> blocks_;
  TextBlock block_;
  std::int64_t text_bytes_ = 0;  // taken from the blocks
  std::exception_ptr read_error_;
  Member member_{{}, 0, -1};
  std::unique_ptr<archive, Free> handle_;
};

class Archive::MemberStream : public Stream {
 public:
  explicit MemberStream(std::shared_ptr<Tar> tar)
      : Stream(fmt::format("{}({})", tar->stream().name(), tar->member().name), tar->limit()),
        tar_(std::move(tar)),
        member_(tar_->member()) {
    extend_head();
  }

  std::int64_t file_bytes() const override { return tar_->stream().file_bytes(); }
  FileText whole() override { return rest_as_whole(0); }
  std::unique_ptr<TextBlocks> blocks(std::size_t header, int threads) override {
    return blocks_of_stream(
        std::string(head().substr(header)),
        [this](char* data, std::size_t size) { return read(data, size); }, threads);
  }
  std::unique_ptr<TextBlocks> blocks_in_turn(std::size_t header) override {
    return blocks(header, 1);
  }
  bool is_repeatable() const override { return tar_->stream().is_repeatable(); }
  std::unique_ptr<Stream> again() const override {
    Archive archive(tar_->path(), limit());
    for (;;) {
      const auto member = archive.next();
      if (!member) throw FileError(name() + ": has been removed from the archive");
      if (member->number == member_.number) return archive.text();
    }
  }

 private:
  std::size_t read_some(char* data, std::size_t wanted) override {
    return tar_->read(data, wanted);
  }

  std::shared_ptr<Tar> tar_;
  Member member_;
};

Archive::Archive(const std::filesystem::path& path, std::int64_t max_text_bytes)
    : Archive(open_stream(path, max_text_bytes), path, max_text_bytes) {}

Archive::Archive(std::unique_ptr<Stream> stream, const std::filesystem::path& path,
                 std::int64_t max_text_bytes)
    : tar_(std::make_shared<Tar>(std::move(stream), path, max_text_bytes)) {}

std::optional<Archive::Member> Archive::next() { return tar_->next(); }
std::unique_ptr<Stream> Archive::text() { return std::make_unique<MemberStream>(tar_); }
std::int64_t Archive::file_bytes() const { return tar_->stream().file_bytes(); }
bool Archive::is_repeatable() const { return tar_->stream().is_repeatable(); }

}  // namespace krysol
