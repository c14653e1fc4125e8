// The text of a file or of a part of one: its beginning at a glance, then all of it, once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <krysol/io/file.hpp>
#include <krysol/io/text_blocks.hpp>

namespace krysol {

/// What is read goes by in blocks, or is kept as a whole; either is done once. All but the
/// constructor of a derived class throw FileError, with the name, where the file cannot be read, is
/// cut or damaged, or holds more text than it may.
class Stream {
 public:
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  virtual ~Stream() = default;

  /// For messages.
  virtual const std::string& name() const = 0;

  /// The first bytes, all of them where the text is shorter than 1 KiB.
  virtual std::string_view head() const = 0;

  /// Lengthens `head()`, which it doubles at least; false where there is no more.
  virtual bool extend_head() = 0;

  /// Of the text; -1 where that is not known before its end.
  virtual std::int64_t text_bytes() const = 0;

  /// Of the file as it lies on disk, so far as it has been read.
  virtual std::int64_t file_bytes() const = 0;

  /// All of the text, and a NUL behind it.
  virtual FileText whole() = 0;

  /// What follows the first `header` bytes of `head()`, for threads that share it. After the last
  /// one `good_to_the_end()` says whether the file kept what its end promises.
  virtual std::unique_ptr<TextBlocks> blocks(std::size_t header) = 0;
  virtual bool good_to_the_end() = 0;

  /// The same text from its beginning; null where it cannot be read twice.
  virtual std::unique_ptr<Stream> again() const = 0;
};

}  // namespace krysol
