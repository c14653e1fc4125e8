// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Caches of matrices: what comes out of them is what the source gives, to the bit, and one that is
// not of the source as it is now is found out. That of damaged and forged bytes is in
// test_cache_format.cpp.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include <fmt/core.h>

#include <krysol/io/bytes/parse_error.hpp>

#include "caching.hpp"
#include "messages.hpp"

namespace {

using namespace krysol_tests;
using krysol::MatrixFile;

/// `n` entries of an n x n matrix, as the field and symmetry allow, with values of many digits.
std::string text_of(const std::string& field, const std::string& symmetry, int n) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> value(-1e3, 1e3);
  std::string text = fmt::format("%%MatrixMarket matrix coordinate {} {}\n{} {} {}\n", field,
                                 symmetry, n + 1, n + 1, n);
  for (int k = 1; k <= n; ++k) {
    text += fmt::format("{} {}", k + 1, k);
    if (field == "integer") text += fmt::format(" {}", random() >> 1);
    if (field == "real") text += fmt::format(" {}", k % 5 == 0 ? -0.0 : value(random));
    if (field == "complex") text += fmt::format(" {} {}", value(random), -5e-324 * k);
    text += '\n';
  }
  return text;
}

void expect_round_trip(Caching& caching) {
  for (const int threads : {1, 4}) {
    caching.options.threads = threads;
    const MatrixFile parsed = caching.parse();
    fs::remove_all(caching.options.cache.folder);
    const MatrixFile first = caching.read();
    EXPECT_EQ(first.info.cache, "written to " + caching.place().string());
    const MatrixFile second = caching.read();
    EXPECT_EQ(second.info.cache, "read from " + caching.place().string());
    EXPECT_TRUE(same(first, parsed));
    EXPECT_TRUE(same(second, parsed));
  }
}

TEST(Cache, GivesEveryFieldAndSymmetryBitForBit) {
  for (const std::string field : {"real", "integer", "pattern", "complex"}) {
    for (const std::string symmetry : {"general", "symmetric", "skew-symmetric", "hermitian"}) {
      if (symmetry == "hermitian" && field != "complex") continue;
      if (symmetry == "skew-symmetric" && field == "pattern") continue;
      SCOPED_TRACE(fmt::format("{} {}", field, symmetry));
      Caching caching(text_of(field, symmetry, 100));
      expect_round_trip(caching);
    }
  }
}

TEST(Cache, GivesMatricesOfManyChunks) {
  for (const std::string field : {"real", "complex"}) {
    SCOPED_TRACE(field);
    Caching caching(text_of(field, "symmetric", 20 * 32768 + 5));
    expect_round_trip(caching);
    Caching whole(text_of(field, "general", 2 * 32768));
    expect_round_trip(whole);
  }
}

TEST(Cache, GivesMatricesWithoutEntriesAndArrays) {
  for (const char* text : {"%%MatrixMarket matrix coordinate real general\n5 7 0\n",
                           "%%MatrixMarket matrix coordinate complex symmetric\n3 3 0\n",
                           "%%MatrixMarket matrix array integer general\n2 2\n1\n0\n3\n4\n"}) {
    SCOPED_TRACE(text);
    Caching caching(text);
    expect_round_trip(caching);
  }
}

TEST(Cache, GivesMatricesWithoutRowsOrColumns) {
  for (const char* text : {"%%MatrixMarket matrix coordinate real general\n0 7 0\n",
                           "%%MatrixMarket matrix coordinate real general\n5 0 0\n",
                           "%%MatrixMarket matrix coordinate complex hermitian\n0 0 0\n"}) {
    SCOPED_TRACE(text);
    Caching caching(text);
    expect_round_trip(caching);
  }
}

TEST(Cache, KeepsWhatWasMendedAndRounded) {
  Caching caching(
      "%%MatrixMarket matrix coordinate integer general\n2 2 2\n0 0 9007199254740993\n"
      "1 1 3\n");
  caching.options.repair = true;
  expect_round_trip(caching);
  const MatrixFile file = caching.read();
  EXPECT_EQ(file.info.repairs.size(), 1u);
  EXPECT_EQ(file.info.rounded_integers, 1);
}

TEST(Cache, IsLeftAloneWhereNobodyAsksForIt) {
  const Environment none("KRYSOL_MATRIX_CACHE", nullptr);
  Caching caching;
  caching.options.cache.use = false;
  EXPECT_EQ(caching.read().info.cache, "");
  EXPECT_FALSE(fs::exists(caching.options.cache.folder));
}

TEST(Cache, IsStaleWhereTheSourceHasAnotherSizeTimeOrInode) {
  Caching caching;
  caching.made();
  EXPECT_EQ(caching.wrong(true), "");
  caching.write_source(std::string(small_text) + "% more\n");
  EXPECT_TRUE(holds(caching.wrong(true), "the one there: is stale, the source has another size"));
  age(caching.source, std::chrono::hours(2));
  EXPECT_TRUE(holds(caching.wrong(true), "the one there: is stale, the source was modified"));
  fs::copy_file(caching.source, caching.folder / "copy");
  age(caching.folder / "copy", std::chrono::hours(2));
  fs::rename(caching.folder / "copy", caching.source);
  EXPECT_TRUE(holds(caching.wrong(true), "the one there: is stale, the source was replaced"));
  EXPECT_EQ(caching.wrong(true), "");
}

// The time of the last change of an inode cannot be set back.
TEST(Cache, IsStaleWhereTheSourceWasChangedAndItsTimeSetBack) {
  Caching caching;
  caching.made();
  std::string text = small_text;
  text[text.size() - 2] = '5';
  caching.write_source(text);
  EXPECT_TRUE(holds(caching.wrong(true), "the one there: is stale, the source was"));
}

// Nothing but a forger can change the content of a source and none of its numbers: here the cache
// is forged.
TEST(Cache, ComparesTheContentWhereThatIsAskedFor) {
  Caching caching;
  auto other = krysol::identify_source(caching.source, caching.options, true);
  other.hash[5] ^= 1;
  caching.made();
  const MatrixFile file = caching.parse();
  krysol::OutputFile out(caching.place());
  krysol::write_cache(out, other, file, 1);
  out.commit();
  EXPECT_EQ(caching.wrong(true), "");
  caching.options.cache.verify = true;
  EXPECT_TRUE(holds(caching.wrong(true), "is stale, the source has another hash"));
  EXPECT_EQ(caching.wrong(true), "");
}

TEST(Cache, OfTheSameContentIsGoodAtAnyTimeWhereContentIsCompared) {
  Caching caching;
  caching.made();
  caching.options.cache.verify = true;
  age(caching.source, std::chrono::hours(3));
  EXPECT_EQ(caching.wrong(true), "");
  caching.options.cache.verify = false;
  EXPECT_NE(caching.wrong(true), "");
}

TEST(Cache, IsNotWrittenOfAFreshSource) {
  Caching caching;
  put(caching.source, small_text);
  EXPECT_EQ(caching.read().info.cache,
            "not written: the source was modified less than two seconds before it was read");
  age(caching.source, -std::chrono::hours(1));  // in the future, as from a clock that is ahead
  EXPECT_TRUE(starts_with(caching.read().info.cache, "not written: the source was modified"));
  EXPECT_FALSE(fs::exists(caching.place()));
}

TEST(Cache, IsNotWrittenOfASourceThatChangesWhileItIsRead) {
  Caching caching;
  const auto file = krysol::read_through_cache(caching.source, caching.options, [&] {
    MatrixFile read = caching.parse();
    caching.write_source("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
    return read;
  });
  EXPECT_EQ(file.info.cache, "not written: the source changed while it was read");
  EXPECT_FALSE(fs::exists(caching.place()));
}

TEST(Cache, IsNotWrittenOfASourceThatChangesWithinItsSize) {
  Caching caching;
  const auto file = krysol::read_through_cache(caching.source, caching.options, [&] {
    MatrixFile read = caching.parse();
    std::string other = small_text;
    std::replace(other.begin(), other.end(), '2', '1');
    caching.write_source(other);  // with the same time of modification
    return read;
  });
  EXPECT_EQ(file.info.cache, "not written: the source changed while it was read");
  EXPECT_FALSE(fs::exists(caching.place()));
}

TEST(Cache, IsNotUsedForWhatIsNoRegularFile) {
  Caching caching;
  const fs::path pipe = caching.folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const fs::path& source : {pipe, fs::path("-"), caching.folder / "absent"}) {
    const auto file =
        krysol::read_through_cache(source, caching.options, [&] { return caching.parse(); });
    EXPECT_EQ(file.info.cache, "not used: " + source.string() + ": is no regular file");
  }
}

TEST(Cache, LeavesErrorsOfTheSourceAsTheyAre) {
  Caching caching("%%MatrixMarket matrix coordinate real general\n1 1 1\n2 1 2\n");
  EXPECT_THROW(caching.read(), krysol::ParseError);
  EXPECT_FALSE(fs::exists(caching.place()));
}

TEST(Cache, DoesNotPassTheLimitOfText) {
  Caching caching(text_of("real", "general", 100));
  caching.made();
  caching.options.max_text_bytes = 1000;
  EXPECT_THROW(caching.read(), krysol::FileError);
}

TEST(Cache, OfOtherOptionsIsAnotherFile) {
  Caching caching;
  const fs::path strict = caching.place();
  krysol::ReadOptions others = caching.options;
  others.threads = 3;
  others.cache.verify = true;
  EXPECT_EQ(krysol::cache_path(caching.source, others), strict);
  others.repair = true;
  EXPECT_NE(krysol::cache_path(caching.source, others), strict);
  EXPECT_NE(krysol::options_key(caching.options), krysol::options_key(others));
}

/// Each option that changes what is read makes a file of its own.
TEST(Cache, EveryOptionOfReadingIsInItsName) {
  using krysol::ReadOptions;
  const Caching caching;
  std::vector<ReadOptions> all;
  const auto with = [&](const auto& set) {
    all.push_back(caching.options);
    set(all.back());
  };
  with([](ReadOptions&) {});
  with([](ReadOptions& o) { o.repair = true; });
  with([](ReadOptions& o) { o.member = "a.mtx"; });
  for (int k = 1; k < 4; ++k) {
    with([k](ReadOptions& o) { o.index_base = static_cast<krysol::IndexBase>(k); });
    with([k](ReadOptions& o) { o.not_finite = static_cast<krysol::NotFinite>(k); });
    with([k](ReadOptions& o) { o.duplicates = static_cast<krysol::Duplicates>(k); });
    if (k == 3) continue;
    with([k](ReadOptions& o) { o.wrong_triangle = static_cast<krysol::Policy>(k); });
    with([k](ReadOptions& o) { o.junk = static_cast<krysol::Policy>(k); });
  }
  std::set<fs::path> places;
  std::set<std::string> keys;
  for (const ReadOptions& o : all) {
    places.insert(krysol::cache_path(caching.source, o));
    keys.insert(krysol::options_key(o));
  }
  EXPECT_EQ(places.size(), all.size());
  EXPECT_EQ(keys.size(), all.size());
}

TEST(Cache, OfAnotherSourceOrOtherOptionsUnderThisNameIsFoundOut) {
  Caching caching;
  const fs::path place = caching.place();
  caching.options.repair = true;
  caching.made();
  fs::rename(caching.place(), place);
  caching.options.repair = false;
  EXPECT_TRUE(holds(caching.wrong(true), "the one there: was made by other options"));
  fs::copy_file(caching.source, caching.folder / "b.mtx");
  Caching other;
  other.source = caching.folder / "b.mtx";
  age(other.source);
  other.options = caching.options;
  other.made();
  fs::rename(other.place(), place);
  EXPECT_TRUE(holds(caching.wrong(true), "the one there: is of another source"));
}

TEST(Cache, IsOneForAllNamesOfASource) {
  Caching caching;
  fs::create_symlink(caching.source, caching.folder / "link.mtx");
  EXPECT_EQ(krysol::cache_path(caching.folder / "link.mtx", caching.options), caching.place());
}

TEST(Cache, HasANameForAnySource) {
  Caching caching;
  const fs::path odd = caching.folder / (std::string(240, 'a') + "\xff \n");
  fs::rename(caching.source, odd);
  caching.source = odd;
  EXPECT_EQ(caching.place().filename().string().substr(0, 81), std::string(80, 'a') + "-");
  caching.made();
  EXPECT_EQ(caching.wrong(true), "");
}

TEST(Cache, ThatCannotBeWrittenIsNoError) {
  Caching caching;
  caching.options.cache.folder = caching.source / "below a file";
  const MatrixFile file = caching.read();
  EXPECT_TRUE(starts_with(file.info.cache, "not written: the folder ")) << file.info.cache;
  EXPECT_TRUE(same(file, caching.parse()));
}

TEST(Cache, IsPrivate) {
  Caching caching;
  caching.made();
  const auto others = fs::perms::group_all | fs::perms::others_all;
  EXPECT_EQ(fs::status(caching.place()).permissions() & others, fs::perms::none);
  EXPECT_EQ(fs::status(caching.options.cache.folder).permissions() & others, fs::perms::none);
}

TEST(Cache, OfAnotherUserIsNotTrusted) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a file of another user";
  Caching caching;
  caching.made();
  ASSERT_EQ(::chown(caching.place().c_str(), 12345, 12345), 0);
  EXPECT_TRUE(holds(caching.wrong(true), "the one there: is the file of another user"));
}

TEST(Cache, IsNeitherFollowedNorWaitedForWhereItIsNoRegularFile) {
  Caching caching;
  const std::string good = caching.made();
  const fs::path place = caching.place();
  fs::rename(place, caching.folder / "elsewhere");
  fs::create_symlink(caching.folder / "elsewhere", place);
  EXPECT_TRUE(holds(caching.wrong(true), "is no regular file"));
  EXPECT_EQ(bytes_of(caching.folder / "elsewhere"), good);
  fs::remove(place);
  ASSERT_EQ(::mkfifo(place.c_str(), 0600), 0);
  EXPECT_TRUE(holds(caching.wrong(true), "is no regular file"));
  fs::remove(place);
  fs::create_directory(place);
  EXPECT_TRUE(holds(caching.wrong(true), "is no regular file"));
}

TEST(Cache, IsSwitchedByTheEnvironment) {
  Caching caching;
  caching.options.cache = {};
  const std::string folder = (caching.folder / "of the variable").string();
  const Environment home("HOME", caching.folder.c_str());
  const Environment xdg("XDG_CACHE_HOME", nullptr);
  {
    const Environment off("KRYSOL_MATRIX_CACHE", "off");
    EXPECT_EQ(caching.read().info.cache, "");
    EXPECT_EQ(caching.place().parent_path(), caching.folder / ".cache/krysol/matrices");
    caching.options.cache.use = true;  // a program's own option counts
    EXPECT_TRUE(starts_with(caching.read().info.cache, "written to "));
    caching.options.cache.use = false;
  }
  {
    const Environment there("KRYSOL_MATRIX_CACHE", folder.c_str());
    EXPECT_EQ(caching.place().parent_path(), folder);
    EXPECT_TRUE(starts_with(caching.read().info.cache, "written to " + folder));
    caching.options.cache.folder = caching.folder / "of the option";
    EXPECT_EQ(caching.place().parent_path(), caching.folder / "of the option");
    caching.options.cache.folder.clear();
  }
  const Environment on("KRYSOL_MATRIX_CACHE", "on");
  EXPECT_TRUE(starts_with(caching.read().info.cache, "read from "));
  const Environment caches("XDG_CACHE_HOME", folder.c_str());
  EXPECT_EQ(caching.place().parent_path(), fs::path(folder) / "krysol/matrices");
  const Environment relative("XDG_CACHE_HOME", "relative");  // to be ignored, says the standard
  EXPECT_EQ(caching.place().parent_path(), caching.folder / ".cache/krysol/matrices");
  const Environment nowhere("HOME", nullptr);
  EXPECT_TRUE(starts_with(caching.read().info.cache, "not used: there is no folder for caches"));
}

TEST(Cache, RemovesWhatWritersLeftBehindThatWereKilled) {
  Caching caching;
  caching.made();
  const std::string stem = "." + caching.place().filename().string() + ".";
  const auto left = [&](const std::string& name) { return caching.place().parent_path() / name; };
  for (const std::string& name :
       {stem + "0123abcd.tmp", stem + "89abcdef.tmp", std::string(".other.1.tmp")}) {
    put(left(name), "x");
  }
  age(left(stem + "0123abcd.tmp"), std::chrono::hours(2));
  age(left(".other.1.tmp"), std::chrono::hours(2));
  fs::remove(caching.place());
  EXPECT_NE(caching.wrong(true), "");
  EXPECT_FALSE(fs::exists(left(stem + "0123abcd.tmp")));
  EXPECT_TRUE(fs::exists(left(stem + "89abcdef.tmp")));
  EXPECT_TRUE(fs::exists(left(".other.1.tmp")));
}

/// Runs `body` in another process; its exit status.
template <class Body>
pid_t in_another_process(const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  return child;
}

TEST(Cache, IsWrittenAndReadByManyAtOnce) {
  Caching caching(text_of("real", "general", 5000));
  const MatrixFile expected = caching.parse();
  const auto reads = [&] {
    int wrong = 0;
    for (int k = 0; k < 40; ++k) {
      if (k % 4 == 0) fs::remove(caching.place());
      const auto file = krysol::read_through_cache(caching.source, caching.options,
                                                   [&] { return caching.parse(); });
      const std::string& what = file.info.cache;
      const bool told = starts_with(what, "read from ") || starts_with(what, "written to ");
      wrong += !told || !same(file, expected) ? 1 : 0;
    }
    return wrong;
  };
  caching.options.threads = 1;
  std::vector<pid_t> children;
  for (int k = 0; k < 3; ++k) children.push_back(in_another_process(reads));
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (int k = 0; k < 3; ++k) threads.emplace_back([&] { wrong += reads(); });
  }
  EXPECT_EQ(wrong, 0);
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(caching.options.cache.folder), {}), 1);
}

// The file itself is cut, grown and overwritten, not replaced, under the reader's hands.
TEST(Cache, ThatIsCutOrChangedWhileItIsReadNeverGivesAWrongMatrix) {
  Caching caching(text_of("complex", "general", 100000));
  const std::string good = caching.made();
  MatrixFile expected = caching.parse();
  std::atomic<bool> done{false};
  std::jthread vandal([&, place = caching.place()] {
    std::mt19937_64 random(3);
    while (!done) {
      std::error_code ignored;
      fs::resize_file(place, random() % good.size(), ignored);
      fs::resize_file(place, good.size(), ignored);
      std::fstream file(place, std::ios::binary | std::ios::in | std::ios::out);
      file << good;
    }
  });
  int reads = 0;
  for (int k = 0; k < 60; ++k) {
    const MatrixFile file = krysol::read_through_cache(caching.source, caching.options,
                                                       [&]() -> MatrixFile { return {expected}; });
    EXPECT_TRUE(same(file, expected)) << file.info.cache;  // no ASSERT: the vandal must end
    reads += starts_with(file.info.cache, "read from ") ? 1 : 0;
  }
  done = true;
  RecordProperty("good_caches", reads);
}

}  // namespace
