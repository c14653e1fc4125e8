// Arrays that are watched: no word of them changes unseen, and looks at a part take turns.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

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
