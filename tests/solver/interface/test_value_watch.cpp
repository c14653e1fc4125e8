// Arrays that are watched: no word of them changes unseen, and looks at a part take turns.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <krysol/solver/interface/value_watch.hpp>

namespace {

using krysol::ValueWatch;

constexpr std::size_t words_of_block = ValueWatch::block_bytes / sizeof(std::uint32_t);

std::vector<std::uint32_t> watched_words(std::size_t count) {
  std::vector<std::uint32_t> words(count);
  for (std::size_t k = 0; k < count; ++k) words[k] = static_cast<std::uint32_t>(k * 2654435761U);
  return words;
}

std::int64_t bytes_of_words(const std::vector<std::uint32_t>& words) {
  return static_cast<std::int64_t>(words.size() * sizeof(std::uint32_t));
}

TEST(ValueWatch, SeesAChangeOfAnyWord) {
  // Sizes on both sides of what is hashed at a time, and of a block.
  for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{8}, std::size_t{9},
                                  std::size_t{61}, words_of_block, words_of_block + 13}) {
    auto words = watched_words(count);
    const ValueWatch watch(words.data(), bytes_of_words(words));
    EXPECT_FALSE(watch.changed()) << count;
    for (std::size_t k = 0; k < count; ++k) {
      if (k > 40 && k + 40 < count) continue;  // of a block its ends
      for (const std::uint32_t bit : {1U, 1U << 31U}) {
        words[k] ^= bit;
        EXPECT_TRUE(watch.changed()) << "word " << k << " of " << count;
        words[k] ^= bit;
      }
    }
    EXPECT_FALSE(watch.changed()) << count;
  }
}

/// Words that end where a page ends; the next one may not be touched.
TEST(ValueWatch, ReadsNothingBehindTheLastWord) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const all =
      ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) GTEST_SKIP() << "no pages of its own";
  void* const edge = static_cast<char*>(all) + page;
  ASSERT_EQ(::mprotect(edge, page, PROT_NONE), 0);
  for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{8}, std::size_t{9},
                                  std::size_t{16}, std::size_t{61}}) {
    const auto from = watched_words(count);
    std::uint32_t* const words = static_cast<std::uint32_t*>(edge) - count;
    std::copy(from.begin(), from.end(), words);
    const ValueWatch watch(words, bytes_of_words(from));
    EXPECT_FALSE(watch.changed()) << count;
    words[count - 1] ^= 1U;
    EXPECT_TRUE(watch.changed()) << count;
  }
  ::munmap(all, 2 * page);
}

TEST(ValueWatch, LooksAtOneBlockAfterTheOther) {
  auto words = watched_words(3 * words_of_block);
  const ValueWatch watch(words.data(), bytes_of_words(words));
  words[2 * words_of_block + 5] += 1;
  for (int turn = 0; turn < 2; ++turn) {
    EXPECT_FALSE(watch.changed(1));
    EXPECT_FALSE(watch.changed(ValueWatch::block_bytes));
    EXPECT_TRUE(watch.changed(1));
  }
  EXPECT_TRUE(watch.changed());
}

TEST(ValueWatch, OfNothingSeesNothing) { EXPECT_FALSE(ValueWatch().changed()); }

}  // namespace
