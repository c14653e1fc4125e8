// Text in blocks of whole lines, for threads that each take the next one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <krysol/spmv/base/array.hpp>

namespace krysol {

struct TextBlock {
  /// Bytes after `end` that may be looked at, whatever they are.
  static constexpr std::size_t spare_bytes = 8;

  std::size_t number = 0;  // from 0, in the order of the text
  const char* begin = nullptr;
  const char* end = nullptr;
  bool whole_lines = true;  // false where a line of more than longest_plain_line is cut
  Array<char> storage;      // holds the block unless the text was in memory
};

class TextBlocks {
 public:
  TextBlocks() = default;
  TextBlocks(const TextBlocks&) = delete;
  TextBlocks& operator=(const TextBlocks&) = delete;
  virtual ~TextBlocks() = default;

  /// Makes `block` the next one of the text, which is empty where no line begins in its part; false
  /// at the end. Any thread may call it, with a block of its own, whose storage is used again.
  virtual bool next(TextBlock& block) = 0;
};

/// A line of 40 bytes makes 16 to 24 bytes of entries, so both fit a core's second cache of 1 MiB.
inline constexpr std::size_t usual_block_bytes = std::size_t{512} << 10;

/// A longer line is not plain.
inline constexpr std::size_t longest_plain_line = std::size_t{1} << 20;

/// Of text that outlives them.
std::unique_ptr<TextBlocks> blocks_of_memory(std::string_view text,
                                             std::size_t block_bytes = usual_block_bytes);

/// Of the bytes [from, to) of an open file, which each thread reads for itself; `from` begins a
/// line. They end early where the file turns out to be shorter. Reading fails as FileError of
/// `name`. The file must stay open.
std::unique_ptr<TextBlocks> blocks_of_file(int file, std::int64_t from, std::int64_t to,
                                           const std::string& name,
                                           std::size_t block_bytes = usual_block_bytes);

/// Of `head`, and what `read(data, size)` then delivers, until that is 0 bytes; one thread at a
/// time calls it. Where several `threads` ask for blocks, it is called for up to 32 blocks ahead.
/// `look(block)` is called by the thread that gets the block.
std::unique_ptr<TextBlocks> blocks_of_stream(std::string head,
                                             std::function<std::size_t(char*, std::size_t)> read,
                                             int threads,
                                             std::function<void(const TextBlock&)> look = {},
                                             std::size_t block_bytes = usual_block_bytes);

}  // namespace krysol
