// The inputs of the fuzz targets, and all small files of the tests, through the same checks: what
// was found once stays found, under every compiler and sanitizer.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_paths.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>

#include "fuzz/archive.hpp"
#include "fuzz/cache.hpp"
#include "fuzz/fortran_format.hpp"
#include "fuzz/harwell_boeing.hpp"
#include "fuzz/matrix_market.hpp"

namespace {

namespace fs = std::filesystem;
using Target = std::function<void(std::string_view)>;

/// Returns the number of files.
int replay(const fs::path& folder, const Target& target) {
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ostringstream text;
    text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    EXPECT_NO_THROW(target(text.str())) << entry.path();
    ++files;
  }
  return files;
}

const fs::path tests = KRYSOL_TEST_DIR;
const fs::path corpus = tests / "fuzz/corpus";

TEST(FuzzCorpus, MatrixMarketTextsKeepAllPromises) {
  EXPECT_GT(replay(tests / "matrices/valid", krysol_fuzz::fuzz_matrix_market), 30);
  EXPECT_GT(replay(tests / "matrices/invalid", krysol_fuzz::fuzz_matrix_market), 70);
  EXPECT_GT(replay(corpus / "matrix_market", krysol_fuzz::fuzz_matrix_market), 0);
}

TEST(FuzzCorpus, HarwellBoeingTextsKeepAllPromises) {
  EXPECT_GT(replay(corpus / "harwell_boeing", krysol_fuzz::fuzz_harwell_boeing), 10);
}

TEST(FuzzCorpus, FilesOfAnyKindKeepAllPromises) {
  EXPECT_GT(replay(corpus / "archive", krysol_fuzz::fuzz_archive), 10);
  replay(corpus / "harwell_boeing", krysol_fuzz::fuzz_archive);
}

TEST(FuzzCorpus, FortranFormatsKeepAllPromises) {
  EXPECT_GT(replay(corpus / "fortran_format", krysol_fuzz::fuzz_fortran_format), 5);
}

TEST(FuzzCorpus, CachesKeepAllPromises) {
  EXPECT_GT(replay(corpus / "cache", krysol_fuzz::fuzz_cache), 3);
}

TEST(FuzzCorpus, EachTargetIsReplayed) {
  for (const auto& folder : fs::directory_iterator(corpus)) {
    const std::string name = folder.path().filename().string();
    EXPECT_TRUE(name == "archive" || name == "cache" || name == "fortran_format" ||
                name == "harwell_boeing" || name == "matrix_market")
        << name << " is not replayed here";
    EXPECT_TRUE(fs::exists(tests / "fuzz" / ("fuzz_" + name + ".cpp"))) << name;
  }
}

/// A promise that is broken is not taken for a file that is.
TEST(FuzzCorpus, ABrokenPromiseIsSeen) {
  krysol::Triplets<double> outside{2, 2, krysol::Symmetry::general, {2}, {0}, {1.0}};
  EXPECT_THROW(krysol_fuzz::require_sound(outside), krysol_fuzz::Broken);
  EXPECT_THROW(krysol_fuzz::outcome_of([]() -> int { throw krysol_fuzz::Broken("a promise"); }),
               krysol_fuzz::Broken);
}

}  // namespace
