// Blocks of whole lines: together they are the text, whatever their size, from memory, files and
// streams.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <krysol/io/bytes/text_blocks.hpp>

namespace {

using krysol::TextBlock;
using krysol::TextBlocks;

/// Lines of up to `longest` bytes; the last may lack its end.
std::string made_text(int lines, int longest, bool ended, unsigned seed) {
  std::mt19937_64 random(seed);
  std::string text;
  for (int k = 0; k < lines; ++k) {
    text += std::string(random() % static_cast<unsigned>(longest), static_cast<char>('a' + k % 26));
    text += '\n';
  }
  if (!ended) text += "the end";
  return text;
}

/// What threads get, in order. All but the last end with a line, and none begins within one.
std::string joined(TextBlocks& blocks, int threads) {
  std::mutex mutex;
  std::map<std::size_t, std::string> all;
  {
    std::vector<std::jthread> workers;
    for (int t = 0; t < threads; ++t) {
      workers.emplace_back([&] {
        TextBlock block;
        while (blocks.next(block)) {
          const std::lock_guard lock(mutex);
          EXPECT_TRUE(block.whole_lines);
          EXPECT_TRUE(all.emplace(block.number, std::string(block.begin, block.end)).second);
        }
      });
    }
  }
  std::string text;
  std::size_t number = 0;
  for (const auto& [k, part] : all) {
    EXPECT_EQ(k, number++);
    EXPECT_TRUE(text.empty() || part.empty() || text.back() == '\n') << k;
    text += part;
  }
  return text;
}

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text) : file_(std::tmpfile()) {
    std::fwrite(text.data(), 1, text.size(), file_);
    std::fflush(file_);
  }
  ~TemporaryFile() { std::fclose(file_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  int handle() const { return ::fileno(file_); }

 private:
  std::FILE* file_;
};

auto reader_of(const std::string& text, std::size_t most) {
  return [&text, most, at = std::size_t{0}](char* data, std::size_t size) mutable {
    const std::size_t n = std::min({size, most, text.size() - at});
    std::copy_n(text.begin() + static_cast<long>(at), n, data);
    at += n;
    return n;
  };
}

TEST(TextBlocks, AreTheText) {
  for (const bool ended : {true, false}) {
    for (const int longest : {1, 5, 40, 300}) {
      const std::string text = made_text(200, longest, ended, 1);
      const TemporaryFile file("head\n" + text);
      for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{7},
                                     std::size_t{64}, std::size_t{1000}, std::size_t{100000}}) {
        for (const int threads : {1, 3}) {
          SCOPED_TRACE(testing::Message() << "lines of " << longest << ", blocks of " << size);
          EXPECT_EQ(joined(*krysol::blocks_of_memory(text, size), threads), text);
          EXPECT_EQ(
              joined(*krysol::blocks_of_file(file.handle(), 5,
                                             5 + static_cast<std::int64_t>(text.size()), "f", size),
                     threads),
              text);
          const std::string head = text.substr(0, std::min<std::size_t>(text.size(), 100));
          const std::string rest = text.substr(head.size());
          for (const std::size_t most : {std::size_t{1}, std::size_t{33}, std::size_t{1} << 20}) {
            EXPECT_EQ(
                joined(*krysol::blocks_of_stream(head, reader_of(rest, most), threads, {}, size),
                       threads),
                text);
          }
        }
      }
    }
  }
}

TEST(TextBlocks, OfNothingAreNone) {
  TextBlock block;
  EXPECT_FALSE(krysol::blocks_of_memory("")->next(block));
  const TemporaryFile file("abc\n");
  EXPECT_FALSE(krysol::blocks_of_file(file.handle(), 4, 4, "f")->next(block));
  EXPECT_EQ(joined(*krysol::blocks_of_stream(
                       "", [](char*, std::size_t) { return 0U; }, 1),
                   1),
            "");
}

/// A file that is cut meanwhile: what is left of it.
TEST(TextBlocks, EndWithTheFile) {
  const std::string text = made_text(300, 40, true, 2);
  const TemporaryFile file(text);
  const auto blocks =
      krysol::blocks_of_file(file.handle(), 0, static_cast<std::int64_t>(text.size()), "f", 256);
  ASSERT_EQ(::ftruncate(file.handle(), 1000), 0);
  EXPECT_EQ(joined(*blocks, 2), text.substr(0, 1000));
}

TEST(TextBlocks, SayWhereALineIsLongerThanAny) {
  const std::string text = "1 1 1\n" + std::string(3 << 20, '7') + "\n2 2 2\n";
  const TemporaryFile file(text);
  const auto any = [](TextBlocks& blocks) {
    TextBlock block;
    while (blocks.next(block)) {
      if (!block.whole_lines) return true;
    }
    return false;
  };
  EXPECT_TRUE(any(*krysol::blocks_of_file(file.handle(), 0, static_cast<std::int64_t>(text.size()),
                                          "f", 4096)));
  EXPECT_TRUE(any(*krysol::blocks_of_stream("", reader_of(text, 1 << 16), 1, {}, 4096)));
}

TEST(TextBlocks, OfAStreamAreReadAheadForOthers) {
  const std::string text = made_text(20000, 40, true, 4);
  for (const int threads : {1, 2}) {
    std::size_t bytes = 0;
    std::size_t looked_at = 0;
    const auto read = [&, from = reader_of(text, 100)](char* data, std::size_t size) mutable {
      const std::size_t n = from(data, size);
      bytes += n;
      return n;
    };
    const auto blocks = krysol::blocks_of_stream(
        "", read, threads, [&](const TextBlock&) { ++looked_at; }, 1000);
    TextBlock block;
    ASSERT_TRUE(blocks->next(block));
    // Blocks are 1000 bytes and what reading takes to a line's end.
    EXPECT_GE(bytes, threads == 1 ? 1000U : 32U * 900);
    EXPECT_LE(bytes, threads == 1 ? 1200U : 32U * 1200);
    std::string all(block.begin, block.end);
    std::size_t number = 1;
    for (; blocks->next(block); ++number) {
      EXPECT_EQ(block.number, number);
      all.append(block.begin, block.end);
    }
    EXPECT_EQ(all, text);
    EXPECT_EQ(looked_at, number);
    EXPECT_FALSE(blocks->next(block));
  }
}

/// One thread gets the error, and none waits for ever for what will not come.
TEST(TextBlocks, EndWithTheErrorOfAStream) {
  const std::string text = made_text(5000, 40, true, 5);
  for (const std::size_t fails_at : {std::size_t{0}, std::size_t{5000}, text.size() / 2}) {
    for (const int threads : {1, 2, 4}) {
      std::size_t bytes = 0;
      const auto read = [&, from = reader_of(text, 100)](char* data, std::size_t size) mutable {
        if (bytes >= fails_at) throw std::runtime_error("damaged");
        const std::size_t n = from(data, size);
        bytes += n;
        return n;
      };
      const auto blocks = krysol::blocks_of_stream("", read, threads, {}, 200);
      std::atomic<int> errors{0};
      std::atomic<std::size_t> taken{0};
      {
        std::vector<std::jthread> workers;
        for (int t = 0; t < threads; ++t) {
          workers.emplace_back([&] {
            TextBlock block;
            try {
              while (blocks->next(block))
                taken += static_cast<std::size_t>(block.end - block.begin);
            } catch (const std::runtime_error&) {
              ++errors;
            }
          });
        }
      }
      EXPECT_EQ(errors, 1);
      EXPECT_LE(taken, bytes);
      EXPECT_LT(bytes, fails_at + 100);
    }
  }
}

TEST(TextBlocks, HaveBytesToSpare) {
  const std::string text = made_text(50, 20, false, 3);
  const auto blocks = krysol::blocks_of_memory(text, 64);
  TextBlock block;
  while (blocks->next(block)) {
    for (std::size_t k = 0; k < TextBlock::spare_bytes; ++k) {
      EXPECT_TRUE(block.end[k] == '\0' ||
                  (block.end + k >= text.data() && block.end + k < text.data() + text.size()));
    }
  }
}

/// Whatever the storage held before.
TEST(TextBlocks, EndWithZerosInAStorageThatIsUsedAgain) {
  const std::string text = made_text(50, 20, false, 3);
  const TemporaryFile file(text);
  const auto expect_zeros = [&](TextBlocks& blocks) {
    TextBlock block;
    block.storage.assign(4096, '7');
    int in_storage = 0;
    while (blocks.next(block)) {
      if (block.end >= text.data() && block.end < text.data() + text.size()) continue;
      ++in_storage;
      for (std::size_t k = 0; k < TextBlock::spare_bytes; ++k) EXPECT_EQ(block.end[k], '\0') << k;
    }
    EXPECT_GT(in_storage, 0);
  };
  expect_zeros(*krysol::blocks_of_memory(text, 64));
  expect_zeros(
      *krysol::blocks_of_file(file.handle(), 0, static_cast<std::int64_t>(text.size()), "f", 64));
  expect_zeros(*krysol::blocks_of_stream("", reader_of(text, 33), 1, {}, 64));
}

}  // namespace
