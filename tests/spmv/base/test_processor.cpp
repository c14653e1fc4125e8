// How many cores this process may use: control groups of both versions, from folders made here.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <vector>

#include <krysol/spmv/base/processor.hpp>
#include "files.hpp"

namespace {

namespace fs = std::filesystem;
using krysol::detail::cpu_quota;

constexpr double none = std::numeric_limits<double>::infinity();

/// A folder with the files of the system.
class SystemFiles : public testing::Test {
 protected:
  fs::path in(const std::string& path) const { return folder_ / path; }
  void write(const std::string& path, const std::string& text) {
    const fs::path file = in(path);
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

 private:
  krysol_tests::Folder folder_;
};

using Caches = SystemFiles;
using CpuQuota = SystemFiles;

TEST_F(Caches, AreThoseOfTheCoresInUse) {
  constexpr std::int64_t mib = 1 << 20;
  const auto cache = [this](int index, const std::string& level, const std::string& size,
                            const std::string& cpus) {
    const std::string at = "cpu0/cache/index" + std::to_string(index) + "/";
    write(at + "level", level + "\n");
    write(at + "size", size + "\n");
    write(at + "shared_cpu_list", cpus + "\n");
  };
  // Nothing is known: 1 MiB and 16 MiB a core.
  EXPECT_EQ(krysol::detail::caches_of(in(""), 2).second, 2 * mib);
  EXPECT_EQ(krysol::detail::caches_of(in(""), 2).stays, 18 * mib);
  cache(0, "1", "32K", "0");
  cache(2, "2", "512K", "0");
  cache(3, "3", "16384K", "0-2,8");  // four cores to a cache
  EXPECT_EQ(krysol::detail::caches_of(in(""), 1).second, mib / 2);
  EXPECT_EQ(krysol::detail::caches_of(in(""), 1).stays, mib / 2 + 8 * mib);
  EXPECT_EQ(krysol::detail::caches_of(in(""), 4).stays, 2 * mib + 8 * mib);
  EXPECT_EQ(krysol::detail::caches_of(in(""), 6).stays, 3 * mib + 16 * mib);
  cache(2, "2", "512K", "0,4");  // two processors of one core
  EXPECT_EQ(krysol::detail::caches_of(in(""), 4).second, 1 * mib);
  cache(2, "2", "512K", "0");
  cache(3, "3", "105M", "0-1");  // more than two cores can count on
  EXPECT_EQ(krysol::detail::caches_of(in(""), 2).stays, 1 * mib + 16 * mib);
  cache(3, "3", "none", "x-");
  EXPECT_EQ(krysol::detail::caches_of(in(""), 1).stays, mib / 2 + 8 * mib);
}

TEST(CachesHere, AreMoreThanNothing) {
  EXPECT_GE(krysol::cache_sizes().second, 64 << 10);
  EXPECT_GE(krysol::cache_sizes().stays, krysol::cache_sizes().second);
}

TEST(Processor, IsTheSameEachTimeItIsAskedFor) {
  EXPECT_FALSE(krysol::processor_identity().empty());
  EXPECT_EQ(krysol::processor_identity(), krysol::processor_identity());
}

TEST_F(CpuQuota, OfVersion2IsTheLeastUpToTheRoot) {
  write("a/b/cpu.max", "max 100000\n");
  write("a/cpu.max", "150000 100000\n");
  EXPECT_EQ(cpu_quota(in(""), "0::/a/b\n"), 1.5);
  EXPECT_EQ(cpu_quota(in(""), "0::/a\n"), 1.5);
  EXPECT_EQ(cpu_quota(in(""), "0::/\n"), none);
  write("a/b/cpu.max", "50000 100000\n");
  EXPECT_EQ(cpu_quota(in(""), "0::/a/b\n"), 0.5);
}

TEST_F(CpuQuota, InAContainerIsThatOfTheMount) {
  write("cpu.max", "200000 100000\n");
  EXPECT_EQ(cpu_quota(in(""), "0::/of/the/host\n"), 2);
}

TEST_F(CpuQuota, OfVersion1HasFilesOfItsOwn) {
  write("cpu/job/cpu.cfs_quota_us", "100000\n");
  write("cpu/job/cpu.cfs_period_us", "100000\n");
  write("cpu/free/cpu.cfs_quota_us", "-1\n");
  write("cpu/free/cpu.cfs_period_us", "100000\n");
  write("memory/job/cpu.cfs_quota_us", "1000\n");
  write("memory/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cpu_quota(in(""), "9:memory:/job\n4:cpu:/job\n0::/\n"), 1);
  EXPECT_EQ(cpu_quota(in(""), "4:cpu:/free"), none);
  write("cpu,cpuacct/job/cpu.cfs_quota_us", "25000\n");
  write("cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cpu_quota(in(""), "4:cpu,cpuacct:/job\n"), 0.25);
}

TEST_F(CpuQuota, OfNonsenseIsNone) {
  write("cpu.max", "");
  for (const char* groups : {"", "\n", "0", "0:", "::", "0::", "4:cpu:/../../x\n"}) {
    EXPECT_EQ(cpu_quota(in(""), groups), none) << groups;
  }
  write("cpu.max", "0 0\n");
  EXPECT_EQ(cpu_quota(in(""), "0::/"), none);
  write("cpu.max", "many few\n");
  EXPECT_EQ(cpu_quota(in(""), "0::/"), none);
}

TEST(UsableCores, IsOneAtLeastAndBoundsTheDefault) {
  EXPECT_GE(krysol::usable_cores(), 1);
  EXPECT_LE(krysol::default_threads(), krysol::usable_cores());
}

TEST(DropFromCaches, KeepsTheValuesOfAnArray) {
  std::vector<int> numbers(100000);
  std::iota(numbers.begin(), numbers.end(), 0);
  const std::vector<int> before = numbers;
  krysol::drop_from_caches(numbers.data() + 3, 4 * 99990);  // from the middle of a line to another
  krysol::drop_from_caches(nullptr, 0);
  EXPECT_EQ(numbers, before);
}

}  // namespace
