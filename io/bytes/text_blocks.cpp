// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/bytes/text_blocks.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include <krysol/io/bytes/parse_error.hpp>

namespace krysol {
namespace {

/// Behind the first line end of [p, end); null where there is none.
const char* next_line(const char* p, const char* end) {
  const void* newline =
      p == end ? nullptr : std::memchr(p, '\n', static_cast<std::size_t>(end - p));
  return newline == nullptr ? nullptr : static_cast<const char*>(newline) + 1;
}

/// Behind the last line end of [begin, end); null where there is none.
const char* last_line_end(const char* begin, const char* end) {
  while (end > begin && end[-1] != '\n') --end;
  return end == begin ? nullptr : end;
}

void set_block(TextBlock& block, std::size_t begin, std::size_t end) {
  block.storage.resize(std::max(block.storage.size(), end + TextBlock::spare_bytes));
  std::fill_n(block.storage.begin() + static_cast<std::ptrdiff_t>(end), TextBlock::spare_bytes,
              '\0');
  block.begin = block.storage.data() + begin;
  block.end = block.storage.data() + end;
}

/// 20 to 100 ms of decompression.
constexpr std::size_t most_blocks_ahead = 32;

class MemoryBlocks : public TextBlocks {
 public:
  MemoryBlocks(std::string_view text, std::size_t block_bytes)
      : at_(text.data()), end_(text.data() + text.size()), block_bytes_(block_bytes) {}

  bool next(TextBlock& block) override {
    const std::lock_guard lock(mutex_);
    if (at_ == end_) return false;
    block.number = number_++;
    block.whole_lines = true;
    const char* cut = end_;
    if (static_cast<std::size_t>(end_ - at_) > block_bytes_) {
      const char* usual = at_ + block_bytes_;
      cut = last_line_end(at_, usual);
      if (cut == nullptr) cut = next_line(usual, end_);
      if (cut == nullptr) cut = end_;
    }
    if (static_cast<std::size_t>(end_ - cut) >= TextBlock::spare_bytes) {
      block.begin = at_;
      block.end = cut;
      at_ = cut;
      return true;
    }
    const auto left = static_cast<std::size_t>(end_ - at_);
    block.storage.resize(left + TextBlock::spare_bytes);
    std::copy(at_, end_, block.storage.begin());
    set_block(block, 0, left);
    at_ = end_;
    return true;
  }

 private:
  std::mutex mutex_;
  const char* at_;
  const char* end_;
  std::size_t block_bytes_;
  std::size_t number_ = 0;
};

/// Block k holds the lines that begin in its block_bytes bytes: it looks for the first of them from
/// the byte before, and reads on to the end of the last.
class FileBlocks : public TextBlocks {
 public:
  FileBlocks(int file, std::int64_t from, std::int64_t to, std::string name,
             std::size_t block_bytes)
      : file_(file), from_(from), to_(to), name_(std::move(name)), block_bytes_(block_bytes) {}

  bool next(TextBlock& block) override {
    block.number = next_++;
    block.whole_lines = true;
    const std::int64_t first =
        from_ + static_cast<std::int64_t>(block.number) * static_cast<std::int64_t>(block_bytes_);
    if (first >= to_) return false;
    const std::size_t before = block.number == 0 ? 0 : 1;
    std::size_t size = 0;  // of what was read, from `first - before`
    const auto read_until = [&](std::size_t wanted) {
      block.storage.resize(std::max(block.storage.size(), wanted + TextBlock::spare_bytes));
      const std::size_t got =
          read(block.storage.data() + size, wanted - size,
               first - static_cast<std::int64_t>(before) + static_cast<std::int64_t>(size));
      size += got;
      return size == wanted;
    };
    const std::size_t mine = before + block_bytes_;
    bool more = read_until(mine);
    std::size_t begin = 0;
    if (before > 0) {
      const char* const data = block.storage.data();
      const char* line = next_line(data, data + size);
      if (line == nullptr || line == data + mine) {  // no line begins here
        set_block(block, size, size);
        return true;
      }
      begin = static_cast<std::size_t>(line - data);
    }
    // The last line ends with the first line end from the last byte of this part on.
    std::size_t looked_at = size > 0 ? std::min(size, mine) - 1 : 0;
    for (;;) {
      const char* const data = block.storage.data();
      const char* end = next_line(data + looked_at, data + size);
      if (end != nullptr && size >= mine) {
        set_block(block, begin, static_cast<std::size_t>(end - data));
        return true;
      }
      if (!more || size >= mine + longest_plain_line) {
        block.whole_lines = !more;
        set_block(block, begin, size);
        return true;
      }
      looked_at = size;
      more = read_until(size + block_bytes_ / 8 + 64);
    }
  }

 private:
  std::size_t read(char* data, std::size_t wanted, std::int64_t at) const {
    if (at >= to_) return 0;
    wanted = static_cast<std::size_t>(std::min(static_cast<std::int64_t>(wanted), to_ - at));
    std::size_t got = 0;
    while (got < wanted) {
      const ssize_t n = ::pread(file_, data + got, wanted - got,
                                static_cast<off_t>(at + static_cast<std::int64_t>(got)));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        throw FileError(name_ + ": cannot be read: " + std::generic_category().message(errno));
      }
      if (n == 0) break;
      got += static_cast<std::size_t>(n);
    }
    return got;
  }

  int file_;
  std::int64_t from_;
  std::int64_t to_;
  std::string name_;
  std::size_t block_bytes_;
  std::atomic<std::size_t> next_{0};
};

/// One of several threads reads, and the others take its blocks: what decompresses stays on one
/// core and does not wait for those that are held up by new pages of memory. Far ahead of them, it
/// takes a block as well.
class StreamBlocks : public TextBlocks {
 public:
  StreamBlocks(std::string head, std::function<std::size_t(char*, std::size_t)> read, int threads,
               std::function<void(const TextBlock&)> look, std::size_t block_bytes)
      : rest_(std::move(head)),
        read_(std::move(read)),
        look_(std::move(look)),
        most_ready_(threads > 1 ? most_blocks_ahead : 1),
        block_bytes_(block_bytes) {}

  bool next(TextBlock& block) override {
    if (!take(block)) return false;
    if (look_) look_(block);
    return true;
  }

 private:
  bool take(TextBlock& block) {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (!ready_.empty() && (being_read_ || ended_ || ready_.size() >= most_ready_)) {
        std::swap(block, ready_.front());
        spare_.push_back(std::move(ready_.front()));
        ready_.pop_front();
        return true;
      }
      if (being_read_) {
        changed_.wait(lock);
      } else if (ended_) {
        return false;
      } else {
        read_one(lock);
      }
    }
  }

  /// Holds the lock when it returns or throws, but not meanwhile.
  void read_one(std::unique_lock<std::mutex>& lock) {
    TextBlock block;
    if (!spare_.empty()) {
      block = std::move(spare_.back());
      spare_.pop_back();
    }
    being_read_ = true;
    lock.unlock();
    std::exception_ptr error;
    bool any = false;
    try {
      any = read_block(block);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    being_read_ = false;
    ended_ = !any || (at_end_ && rest_.empty());
    if (any) ready_.push_back(std::move(block));
    if (ended_) {
      changed_.notify_all();
    } else {
      changed_.notify_one();
    }
    if (error) std::rethrow_exception(error);
  }

  /// By one thread at a time.
  bool read_block(TextBlock& block) {
    std::size_t size = rest_.size();
    block.number = number_;
    block.whole_lines = true;
    block.storage.resize(std::max(block.storage.size(), size + TextBlock::spare_bytes));
    std::copy(rest_.begin(), rest_.end(), block.storage.begin());
    const char* cut = nullptr;
    for (;;) {
      const char* const data = block.storage.data();
      if (size >= block_bytes_) cut = last_line_end(data, data + size);
      if (cut != nullptr || at_end_) break;
      if (size >= block_bytes_ + longest_plain_line) {
        block.whole_lines = false;
        break;
      }
      const std::size_t wanted = size < block_bytes_ ? block_bytes_ - size : block_bytes_ / 8 + 1;
      block.storage.resize(std::max(block.storage.size(), size + wanted + TextBlock::spare_bytes));
      const std::size_t got = read_(block.storage.data() + size, wanted);
      at_end_ = got == 0;
      size += got;
    }
    if (size == 0) return false;
    const std::size_t end =
        cut == nullptr ? size : static_cast<std::size_t>(cut - block.storage.data());
    rest_.assign(block.storage.data() + end, size - end);
    set_block(block, 0, end);
    ++number_;
    return true;
  }

  // Of the thread that reads.
  std::string rest_;  // of the last line that was read
  std::function<std::size_t(char*, std::size_t)> read_;
  std::size_t number_ = 0;
  bool at_end_ = false;

  std::function<void(const TextBlock&)> look_;
  const std::size_t most_ready_;
  const std::size_t block_bytes_;

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<TextBlock> ready_;
  std::vector<TextBlock> spare_;  // their storage is used again
  bool being_read_ = false;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<TextBlocks> blocks_of_memory(std::string_view text, std::size_t block_bytes) {
  return std::make_unique<MemoryBlocks>(text, block_bytes);
}

std::unique_ptr<TextBlocks> blocks_of_file(int file, std::int64_t from, std::int64_t to,
                                           const std::string& name, std::size_t block_bytes) {
  return std::make_unique<FileBlocks>(file, from, to, name, block_bytes);
}

std::unique_ptr<TextBlocks> blocks_of_stream(std::string head,
                                             std::function<std::size_t(char*, std::size_t)> read,
                                             int threads,
                                             std::function<void(const TextBlock&)> look,
                                             std::size_t block_bytes) {
  return std::make_unique<StreamBlocks>(std::move(head), std::move(read), threads, std::move(look),
                                        block_bytes);
}

}  // namespace krysol
