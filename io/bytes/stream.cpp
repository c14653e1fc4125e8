// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/bytes/stream.hpp>

#include <algorithm>
#include <mutex>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/bytes/source.hpp>

namespace krysol {
namespace {

/// What gzip says at its end of the text must hold: CRC-32 and length modulo 2^32 of the last
/// member (RFC 1952). Files of one member, nearly all, are so compared in full.
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

class FileStream : public Stream {
 public:
  FileStream(const std::filesystem::path& path, std::int64_t max_text_bytes)
      : Stream(Source::name_of(path), max_text_bytes), path_(path), source_(path) {
    std::string start(Source::longest_magic, '\0');
    start.resize(source_.read(start.data(), start.size()));
    if (is_compressed(start)) {
      gzip_ = is_gzip(start);
      decompressor_.emplace(source_, std::move(start));
    } else {
      start_ = std::move(start);
    }
    extend_head();
  }

  bool text_bytes_known() const override { return !decompressor_ && source_.is_regular(); }
  std::int64_t text_bytes() const override {
    return text_bytes_known() ? source_.size() : Stream::text_bytes();
  }
  std::int64_t file_bytes() const override {
    return source_.is_regular() ? source_.size() : source_.bytes_read();
  }

  FileText whole() override {
    FileText text = rest_as_whole(decompressor_ ? 0 : source_.size());
    if (gzip_) check_gzip_trailer(source_, text.view());
    return text;
  }

  std::unique_ptr<TextBlocks> blocks(std::size_t header, int threads) override {
    if (text_bytes_known()) {
      return blocks_of_file(source_.handle(), static_cast<std::int64_t>(header), source_.size(),
                            name());
    }
    return blocks_as_read(header, threads);
  }

  std::unique_ptr<TextBlocks> blocks_in_turn(std::size_t header) override {
    return blocks_as_read(header, 1);
  }

  // Not known of files with several members, which is false as well.
  bool is_as_promised() override {
    if (!gzip_) return true;
    std::uint32_t crc = header_crc_;
    for (const Part& part : parts_) crc = crc32_of_both(crc, part.crc, part.bytes);
    return static_cast<std::uint32_t>(text_bytes()) == source_.gzip_length() &&
           crc == source_.gzip_crc();
  }

  bool is_repeatable() const override { return source_.is_regular(); }
  std::unique_ptr<Stream> again() const override { return open_stream(path_, limit()); }

 private:
  struct Part {
    std::uint32_t crc = 0;
    std::uint64_t bytes = 0;
  };

  std::unique_ptr<TextBlocks> blocks_as_read(std::size_t header, int threads) {
    header_crc_ = crc32(head().substr(0, header));
    return blocks_of_stream(
        std::string(head().substr(header)),
        [this](char* data, std::size_t size) { return read(data, size); }, threads,
        [this](const TextBlock& block) { note(block); });
  }

  std::size_t read_some(char* data, std::size_t wanted) override {
    if (decompressor_) return decompressor_->read(data, wanted);
    const std::size_t first = std::min(start_.size(), wanted);
    std::copy_n(start_.begin(), first, data);
    start_.erase(0, first);
    return first + source_.read(data + first, wanted - first);
  }

  /// The threads that parse compute the checksum of what they hold in their caches anyway.
  void note(const TextBlock& block) {
    if (!gzip_) return;
    const std::string_view text(block.begin, static_cast<std::size_t>(block.end - block.begin));
    const Part part{crc32(text), text.size()};
    const std::lock_guard lock(mutex_);
    if (parts_.size() <= block.number) parts_.resize(block.number + 1);
    parts_[block.number] = part;
  }

  std::filesystem::path path_;
  Source source_;
  std::string start_;  // read to see whether it is compressed, and not yet delivered
  std::optional<Decompressor> decompressor_;
  bool gzip_ = false;
  std::uint32_t header_crc_ = 0;
  std::mutex mutex_;
  std::vector<Part> parts_;  // of the text after the header
};

}  // namespace

std::size_t Stream::read(char* data, std::size_t wanted) {
  const std::size_t got = read_some(data, wanted);
  text_bytes_ += static_cast<std::int64_t>(got);
  if (text_bytes_ > limit_) fail_too_long(name_, limit_);
  return got;
}

bool Stream::extend_head() {
  constexpr std::size_t first_bytes = std::size_t{1} << 16;
  const std::size_t before = head_.size();
  head_.resize(before + std::max(before, first_bytes));
  std::size_t size = before;
  while (size < head_.size()) {
    const std::size_t got = read(head_.data() + size, head_.size() - size);
    if (got == 0) break;
    size += got;
  }
  head_.resize(size);
  return size > before;
}

FileText Stream::rest_as_whole(std::int64_t expected) {
  try {
    FileText text(head_, std::min(expected, limit_));
    head_ = {};
    while (text.append([this](char* data, std::size_t size) { return read(data, size); })) {
    }
    text.set_bytes_on_disk(file_bytes());
    return text;
  } catch (const std::bad_alloc&) {
    throw FileError(name_ + ": not enough memory to hold its text");
  }
}

std::unique_ptr<Stream> open_stream(const std::filesystem::path& path,
                                    std::int64_t max_text_bytes) {
  return std::make_unique<FileStream>(path, max_text_bytes);
}

FileText read_text(const std::filesystem::path& path, std::int64_t max_text_bytes) {
  return open_stream(path, max_text_bytes)->whole();
}

}  // namespace krysol
