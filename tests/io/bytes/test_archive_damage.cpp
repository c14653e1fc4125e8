// Archives that are cut anywhere or have a byte changed: an error or the same matrix, never
// another. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <complex>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <krysol/io/bytes/file.hpp>
#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/read.hpp>

#include "reading.hpp"
#include "tar_texts.hpp"

namespace {

namespace fs = std::filesystem;
using krysol_tests::expanded;
using krysol_tests::Folder;
using krysol_tests::put;
using krysol_tests::tar_end;
using krysol_tests::tar_member;
using Complex = std::complex<double>;

const std::string whole_matrix =
    "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 2\n2 1 -1\n2 2 3\n";
const std::string whole_rhs = "%%MatrixMarket matrix array real general\n2 1\n5\n6\n";

std::string small_tar() {
  return tar_member("m/m.mtx", whole_matrix) + tar_member("m/m_b.mtx", whole_rhs) + tar_end();
}

std::string gzipped(const std::string& bytes) {
  const Folder folder;
  krysol::OutputFile file(folder / "a.gz");
  file.write(bytes);
  file.commit();
  std::ostringstream text;
  text << std::ifstream(folder / "a.gz", std::ios::binary).rdbuf();
  return text.str();
}

/// True where it reads as what was written, false where it is refused.
bool reads(const fs::path& path) {
  try {
    const auto file = krysol::read_matrix(path);
    EXPECT_EQ(expanded(file), (std::vector<Complex>{2, 0, -1, 3}));
    EXPECT_EQ(file.attached.rhs.cols, 1);
    return true;
  } catch (const krysol::FileError& error) {
    EXPECT_EQ(std::string(error.what()).rfind(path.string(), 0), 0U) << error.what();
    return false;
  }
}

TEST(ArchiveDamage, ACutArchiveIsReadOnlyWhereNothingButPaddingIsGone) {
  const Folder folder;
  const std::string tar = small_tar();
  const std::size_t marked = tar.size() - krysol_tests::tar_block;  // one of the two zero blocks
  for (std::size_t size = 0; size <= tar.size(); size += size < 1040 ? 13 : 64) {
    put(folder / "a.tar", tar.substr(0, size));
    EXPECT_EQ(reads(folder / "a.tar"), size >= marked) << size << " of " << tar.size();
  }
  for (const std::size_t size : {marked - 1, marked - 512, marked - 513, marked - 1024}) {
    put(folder / "a.tar", tar.substr(0, size));
    EXPECT_FALSE(reads(folder / "a.tar")) << size << " of " << tar.size();
  }
}

TEST(ArchiveDamage, ACutGzipFileIsRefused) {
  const Folder folder;
  const std::string zipped = gzipped(small_tar());
  put(folder / "a.tar.gz", zipped);
  EXPECT_TRUE(reads(folder / "a.tar.gz"));
  for (std::size_t size = 0; size < zipped.size(); ++size) {
    put(folder / "a.tar.gz", zipped.substr(0, size));
    EXPECT_FALSE(reads(folder / "a.tar.gz")) << size << " of " << zipped.size();
  }
}

TEST(ArchiveDamage, AByteThatDiffersIsFoundOrDoesNotMatter) {
  const Folder folder;
  const std::string zipped = gzipped(small_tar());
  std::size_t refused = 0;
  for (std::size_t k = 0; k < zipped.size(); ++k) {
    std::string damaged = zipped;
    damaged[k] = static_cast<char>(damaged[k] ^ (1 << (k % 8)));
    put(folder / "a.tar.gz", damaged);
    refused += reads(folder / "a.tar.gz") ? 0U : 1U;
  }
  // A few bytes of gzip's header say nothing of the text.
  EXPECT_GT(refused, zipped.size() - 10);
}

TEST(ArchiveDamage, GzipMembersBehindEachOtherAreOneText) {
  const Folder folder;
  const std::string tar = small_tar();
  std::string two = gzipped(tar.substr(0, 700)) + gzipped(tar.substr(700));
  put(folder / "a.tar.gz", two);
  EXPECT_TRUE(reads(folder / "a.tar.gz"));
  two[two.size() - 5] = static_cast<char>(two[two.size() - 5] ^ 1);  // the last checksum
  put(folder / "a.tar.gz", two);
  EXPECT_FALSE(reads(folder / "a.tar.gz"));
}

/// What stands after the end of compressed data is no part of it, and nobody knows what it is.
TEST(ArchiveDamage, WhatFollowsCompressedDataIsRefused) {
  const Folder folder;
  for (const std::string name : {"a.mtx.gz", "a.mtx.bz2", "a.mtx.xz", "a.mtx.zst"}) {
    krysol::OutputFile file(folder / name);
    file.write(whole_matrix);
    file.commit();
    std::ostringstream whole;
    whole << std::ifstream(folder / name, std::ios::binary).rdbuf();
    EXPECT_EQ(expanded(krysol::read_matrix(folder / name)), (std::vector<Complex>{2, 0, -1, 3}));
    for (const std::string& after : {std::string("x"), std::string("not of it\n"),
                                     std::string(3 << 20, '\x7f'), std::string(512, '\0')}) {
      if (name == "a.mtx.xz" && after[0] == '\0') continue;  // padding, by the format
      put(folder / name, whole.str() + after);
      std::string message;
      try {
        krysol::read_matrix(folder / name);
      } catch (const krysol::FileError& error) {
        message = error.what();
      }
      EXPECT_TRUE(message.starts_with((folder / name).string() + ": cannot be decompressed"))
          << name << ", " << after.size() << " bytes after: '" << message << "'";
      if (name != "a.mtx.gz" && name != "a.mtx.bz2") continue;
      EXPECT_NE(message.find(fmt::format(": byte {} is not of the ", whole.str().size() + 1)),
                std::string::npos)
          << message;
    }
  }
}

TEST(ArchiveDamage, CompressedTwiceIsSaid) {
  const Folder folder;
  put(folder / "a.mtx.gz", gzipped(gzipped(whole_matrix)));
  try {
    krysol::read_matrix(folder / "a.mtx.gz");
    ADD_FAILURE() << "was read";
  } catch (const krysol::FileError& error) {
    EXPECT_EQ(error.what(), (folder / "a.mtx.gz").string() +
                                ": is compressed twice, gzip inside gzip; decompress it once");
  }
}

std::string bytes_compressed_as(const std::string& ending, const std::string& bytes) {
  const Folder folder;
  const fs::path path = folder / ("a" + ending);
  krysol::OutputFile file(path);
  file.write(bytes);
  file.commit();
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

TEST(ArchiveDamage, WhatIsInsideWhatIsSaid) {
  const std::pair<std::string, std::string> formats[] = {
      {".gz", "gzip"}, {".bz2", "bzip2"}, {".xz", "xz"}};
  const Folder folder;
  for (const auto& [inner, inner_name] : formats) {
    for (const auto& [outer, outer_name] : formats) {
      const fs::path path = folder / ("a.mtx" + outer);
      put(path, bytes_compressed_as(outer, bytes_compressed_as(inner, whole_matrix)));
      EXPECT_EQ(krysol_tests::error_of([&] { krysol::read_matrix(path); }),
                fmt::format("{}: is compressed twice, {} inside {}; decompress it once",
                            path.string(), inner_name, outer_name));
    }
  }
}

/// A header may claim any size.
TEST(ArchiveDamage, AMemberIsNotLongerThanTheArchive) {
  const Folder folder;
  for (const std::size_t claim : {std::size_t{5000}, std::size_t{077777777777}}) {
    put(folder / "a.tar",
        krysol_tests::tar_header("m/m.mtx", claim) + whole_matrix + std::string(1024, '\0'));
    EXPECT_FALSE(reads(folder / "a.tar"));
    put(folder / "a.tar", tar_member("m/m.mtx", whole_matrix) +
                              krysol_tests::tar_header("m/m_b.mtx", claim) + whole_rhs);
    EXPECT_FALSE(reads(folder / "a.tar"));
  }
}

}  // namespace
