// The text of a file or of a part of one: its first bytes to look at, then all of it, once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <krysol/io/bytes/file.hpp>
#include <krysol/io/bytes/text_blocks.hpp>

namespace krysol {

/// Text goes by once: in blocks, or kept as a whole. What is wrong with the file (it cannot be
/// read, is cut or damaged, holds more text than it may) is thrown as FileError with the name.
class Stream {
 public:
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  virtual ~Stream() = default;

  /// For messages: the file, and the member of an archive.
  const std::string& name() const { return name_; }

  /// The first bytes: all of them where the text is shorter than 64 KiB.
  std::string_view head() const { return head_; }

  /// Doubles `head()` at least; false where there is no more.
  bool extend_head();

  /// Of the text that has been read; of all of it where that is known before.
  virtual std::int64_t text_bytes() const { return text_bytes_; }
  virtual bool text_bytes_known() const { return false; }

  /// Of the file as it lies on disk; what has been read of it where that is not known.
  virtual std::int64_t file_bytes() const = 0;

  /// All of the text, and a NUL after it.
  virtual FileText whole() = 0;

  /// What follows the first `header` bytes of `head()`, for `threads` that share it; the stream
  /// must live as long.
  virtual std::unique_ptr<TextBlocks> blocks(std::size_t header, int threads) = 0;

  /// The same for one thread, where all bytes must come along in their order, lines or not.
  virtual std::unique_ptr<TextBlocks> blocks_in_turn(std::size_t header) = 0;

  /// After all blocks: false where the file's own check of what it holds fails, or cannot be made
  /// without the whole text.
  virtual bool is_as_promised() { return true; }

  /// The same text from its beginning; a pipe cannot be read twice.
  virtual bool is_repeatable() const = 0;
  virtual std::unique_ptr<Stream> again() const = 0;

 protected:
  Stream(std::string name, std::int64_t max_text_bytes)
      : name_(std::move(name)), limit_(max_text_bytes) {}

  /// The next bytes of the text, less than `wanted` only at its end.
  virtual std::size_t read_some(char* data, std::size_t wanted) = 0;

  /// `read_some`, counted. Throws where the text becomes longer than it may.
  std::size_t read(char* data, std::size_t wanted);

  std::int64_t limit() const { return limit_; }
  FileText rest_as_whole(std::int64_t expected);

 private:
  std::string name_;
  std::int64_t limit_;
  std::string head_;
  std::int64_t text_bytes_ = 0;
};

/// Of a file, plain or compressed by any means that `read_text` knows; `-` is standard input.
std::unique_ptr<Stream> open_stream(const std::filesystem::path& path, std::int64_t max_text_bytes);

}  // namespace krysol
