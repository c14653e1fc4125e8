// How many cores this process may use: control groups of both versions, from folders made here.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include <krysol/spmv/base/processor.hpp>
#include "files.hpp"

namespace {

namespace fs = std::filesystem;
using krysol::detail::cpu_quota;

constexpr double none = std::numeric_limits<double>::infinity();

class CpuQuota : public testing::Test {
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

}  // namespace
