// Measurements of earlier runs, in files.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/report/tuning_files.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <krysol/io/bytes/temporary_folder.hpp>

namespace {

namespace fs = std::filesystem;
using krysol::TuningMemory;
using krysol::TuningRecord;
using krysol::report::tuning_files;

TuningRecord record_of(std::uint64_t pattern) {
  TuningRecord r;
  r.entry = "double";
  r.space = "OpenMP";
  r.threads = 2;
  r.with_dot = true;
  r.matrix = {100, 100, 5000, pattern, 0};
  r.choice.name = "ell";
  r.choice.reason = "1.50 times the speed of csr";
  r.choice.trials = {{"csr", true, 0.003, 0, 100, 0, ""},
                     {"ell", true, 0.002, 0.01, 90, 10, ""},
                     {"jds", false, 0, 0, 0, 0, "not tried"}};
  return r;
}

class TuningFiles : public testing::Test {
 protected:
  std::ptrdiff_t count() const {
    return fs::exists(path_) ? std::distance(fs::directory_iterator(path_), {}) : 0;
  }
  krysol::TemporaryFolder folder_{fs::temp_directory_path(), "krysol_tuning"};
  fs::path path_ = folder_.path() / "krysol" / "tuning";
};

TEST_F(TuningFiles, GiveBackWhatWasKept) {
  const TuningMemory memory = tuning_files(path_, "krysol 1");
  EXPECT_FALSE(memory.recall(record_of(7)));
  EXPECT_EQ(count(), 0) << "nothing is made where nothing is kept";
  memory.keep(record_of(7));
  EXPECT_EQ(count(), 1);
  const auto found = tuning_files(path_, "krysol 1").recall(record_of(7));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->choice.name, "ell");
  EXPECT_EQ(found->version, "krysol 1");
  EXPECT_EQ(found->matrix.pattern, 7);
  ASSERT_EQ(found->choice.trials.size(), 3);
  EXPECT_TRUE(found->choice.trials[1].measured);
  EXPECT_EQ(found->choice.trials[1].seconds, 0.002);
  EXPECT_FALSE(found->choice.trials[2].measured);
  memory.keep(record_of(7));
  EXPECT_EQ(count(), 1) << "the same file again";
}

TEST_F(TuningFiles, TellOneRunFromAnother) {
  const TuningMemory memory = tuning_files(path_, "krysol 1");
  memory.keep(record_of(7));
  EXPECT_FALSE(memory.recall(record_of(8)));
  EXPECT_FALSE(tuning_files(path_, "krysol 2").recall(record_of(7)));
  auto other = record_of(7);
  other.threads = 1;
  EXPECT_FALSE(memory.recall(other));
  other = record_of(7);
  other.entry = "float";
  EXPECT_FALSE(memory.recall(other));
  other = record_of(7);
  other.with_dot = false;
  EXPECT_FALSE(memory.recall(other));
}

TEST_F(TuningFiles, MayBeDamagedOrGone) {
  const TuningMemory memory = tuning_files(path_, "krysol 1");
  memory.keep(record_of(7));
  const fs::path file = fs::directory_iterator(path_)->path();
  for (const char* text : {"", "{", "[]", "{\"schema\": \"other\"}", "\x00\xff"}) {
    std::ofstream(file, std::ios::binary) << text;
    EXPECT_FALSE(memory.recall(record_of(7))) << text;
  }
  memory.keep(record_of(7));
  EXPECT_TRUE(memory.recall(record_of(7)));
  fs::remove_all(path_);
  EXPECT_FALSE(memory.recall(record_of(7)));
  memory.keep(record_of(7));
  EXPECT_TRUE(memory.recall(record_of(7)));
}

TEST_F(TuningFiles, AreLeftOutWhereTheyCannotBeWritten) {
  std::ofstream(folder_.path() / "krysol") << "a file where the folder would be";
  const TuningMemory memory = tuning_files(path_, "krysol 1");
  memory.keep(record_of(7));
  EXPECT_FALSE(memory.recall(record_of(7)));
  const TuningMemory none = tuning_files({}, "krysol 1");
  EXPECT_FALSE(none.recall);
  EXPECT_FALSE(none.keep);
}

TEST_F(TuningFiles, KeepTheNewest) {
  const TuningMemory memory = tuning_files(path_, "krysol 1");
  fs::create_directories(path_);
  std::ofstream(path_ / "notes.txt") << "somebody else's";
  memory.keep(record_of(0));
  const fs::path first = [&] {
    for (const auto& entry : fs::directory_iterator(path_)) {
      if (entry.path().filename() != "notes.txt") return entry.path();
    }
    return fs::path{};
  }();
  fs::last_write_time(first, fs::file_time_type::clock::now() - std::chrono::hours(1));
  for (std::uint64_t k = 1; k <= krysol::report::most_tuning_files; ++k) memory.keep(record_of(k));
  EXPECT_EQ(count(), krysol::report::most_tuning_files + 1);
  EXPECT_TRUE(fs::exists(path_ / "notes.txt"));
  EXPECT_FALSE(memory.recall(record_of(0)));
  EXPECT_TRUE(memory.recall(record_of(krysol::report::most_tuning_files)));
}

/// Sets a variable of the environment, or removes it, until the end of its block.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    had_ = std::getenv(name) != nullptr;
    if (value != nullptr) {
      setenv(name, value, 1);
    } else {
      unsetenv(name);
    }
  }
  ~Environment() {
    if (had_) {
      setenv(name_, old_.c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::string old_;
  bool had_ = false;
};

TEST(TuningFolder, IsTheUsersUnlessAnotherIsNamed) {
  const Environment caches("XDG_CACHE_HOME", "/caches");
  const Environment home("HOME", "/people/me");
  {
    const Environment wish("KRYSOL_TUNING_CACHE", nullptr);
    EXPECT_EQ(krysol::report::tuning_folder(), "/caches/krysol/tuning");
    {
      const Environment on("KRYSOL_TUNING_CACHE", "on");
      EXPECT_EQ(krysol::report::tuning_folder(), "/caches/krysol/tuning");
    }
    const Environment none("XDG_CACHE_HOME", nullptr);
    EXPECT_EQ(krysol::report::tuning_folder(), "/people/me/.cache/krysol/tuning");
    const Environment relative("HOME", "here");
    EXPECT_EQ(krysol::report::tuning_folder(), "");
  }
  const Environment off("KRYSOL_TUNING_CACHE", "off");
  EXPECT_EQ(krysol::report::tuning_folder(), "");
  const Environment named("KRYSOL_TUNING_CACHE", "/scratch/t");
  EXPECT_EQ(krysol::report::tuning_folder(), "/scratch/t");
}

}  // namespace
