// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes of caches: as docs/matrix-cache.md has them, and refused where they are damaged, cut or
// forged, whatever they are.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include <fmt/core.h>

#include <krysol/io/bytes/hash.hpp>
#include <krysol/io/bytes/parse_error.hpp>

#include "caching.hpp"
#include "messages.hpp"

namespace {

using namespace krysol_tests;
using krysol::CachedMatrix;
using krysol::Triplets;

/// Little-endian, as the document says.
std::uint64_t number_at(const std::string& bytes, std::size_t at, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t k = size; k-- > 0;) {
    number = number << 8 | static_cast<unsigned char>(bytes.at(at + k));
  }
  return number;
}

void set_number(std::string& bytes, std::size_t at, std::size_t size, std::uint64_t number) {
  for (std::size_t k = 0; k < size; ++k) {
    bytes.at(at + k) = static_cast<char>(number >> (8 * k) & 0xff);
  }
}

/// Where things are in a cache of three sections, of a chunk each, and no repairs.
struct Places {
  explicit Places(const std::string& bytes) {
    head_end = number_at(bytes, 24, 8);
    const std::size_t options = 176 + number_at(bytes, 168, 8);
    table = options;
    for (int text = 0; text < 4; ++text) table += 8 + number_at(bytes, table, 8);
    table += 24;  // no vectors
    checksums = table + 3 * 32;
    for (std::size_t k = 0; k < 3; ++k) section[k] = number_at(bytes, table + 32 * k + 8, 8);
  }
  std::size_t head_end, table, checksums;
  std::size_t section[3];
};

/// Makes the checksum of the head right, as a forger would.
void seal_head(std::string& bytes) {
  const std::size_t end = number_at(bytes, 24, 8) - 8;
  set_number(bytes, end, 8, krysol::hash64(std::string_view(bytes).substr(0, end)));
}

/// All checksums, of sections that are a chunk each.
void seal(std::string& bytes) {
  const Places at(bytes);
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t size = number_at(bytes, at.table + 32 * k + 16, 8);
    set_number(bytes, at.checksums + 8 * k, 8, krysol::hash64(bytes.substr(at.section[k], size)));
  }
  seal_head(bytes);
}

/// What parsing says; "good" where there is nothing wrong.
std::string verdict(const std::string& bytes) {
  try {
    krysol::parse_cache(bytes, "c");
    return "good";
  } catch (const krysol::FileError& e) {
    return e.what();
  }
}

TEST(Hash, IsXxh3) {
  EXPECT_EQ(krysol::hash64(""), 0x2d06800538d394c2u);
  EXPECT_EQ(krysol::hex(krysol::hash128("")), "99aa06d3014798d86001c324468d497f");
}

TEST(Hash, OfAFileIsThatOfItsBytes) {
  const Caching caching(std::string(1000000, 'x'));
  std::FILE* file = std::fopen(caching.source.c_str(), "rb");
  ASSERT_NE(file, nullptr);
  const auto hash = krysol::hash128_of_file(::fileno(file), "x");
  std::fclose(file);
  EXPECT_EQ(hash, krysol::hash128(std::string(1000000, 'x')));
}

TEST(CacheFormat, IsAsDocumented) {
  Caching caching;
  const std::string bytes = caching.made();
  const auto source = krysol::identify_source(caching.source, caching.options, true);
  EXPECT_EQ(bytes.substr(0, 8), "\x89KMX\r\n\x1a\n");
  EXPECT_EQ(bytes.substr(8, 4), "\x04\x03\x02\x01");
  const auto u32 = [&](std::size_t at) { return number_at(bytes, at, 4); };
  const auto u64 = [&](std::size_t at) { return number_at(bytes, at, 8); };
  EXPECT_EQ(u32(12), 1u);
  EXPECT_EQ(u64(16), bytes.size());
  EXPECT_EQ(u32(36), 3u);
  EXPECT_EQ(u64(40), std::string_view(small_text).size());
  EXPECT_EQ(u64(48), static_cast<std::uint64_t>(source.modified));
  EXPECT_EQ(u64(56), static_cast<std::uint64_t>(source.changed));
  EXPECT_EQ(u64(64), source.inode);
  EXPECT_EQ(source.hash, krysol::hash128(small_text));
  EXPECT_EQ(bytes.substr(72, 16), std::string(source.hash.begin(), source.hash.end()));
  EXPECT_EQ(u32(88), 0u);   // real
  EXPECT_EQ(u32(92), 0u);   // general
  EXPECT_EQ(u32(96), 0u);   // no array
  EXPECT_EQ(u32(100), 0u);  // repairs
  EXPECT_EQ(u64(104), 4u);  // entries in the file
  EXPECT_EQ(u64(112), 0u);  // rounded integers
  EXPECT_EQ(u64(120), std::string_view(small_text).size());
  EXPECT_EQ(u64(128), std::string_view(small_text).size());
  EXPECT_EQ(u64(136), 0u);  // general, and four bytes that are not used
  EXPECT_EQ(u64(144), 3u);  // rows
  EXPECT_EQ(u64(152), 4u);  // cols
  EXPECT_EQ(u64(160), 4u);  // entries
  const std::size_t path_size = u64(168);
  EXPECT_EQ(bytes.substr(176, path_size), fs::canonical(caching.source).string());
  const Places at(bytes);
  const std::uint64_t types[] = {1, 1, 2}, sizes[] = {4, 4, 8};
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(u32(at.table + 32 * k), k + 1);
    EXPECT_EQ(u32(at.table + 32 * k + 4), types[k]);
    EXPECT_EQ(at.section[k] % 64, 0u);
    EXPECT_EQ(u64(at.table + 32 * k + 16), 4 * sizes[k]);
    EXPECT_EQ(u64(at.table + 32 * k + 24), 32768 * sizes[k]);
    const std::string section = bytes.substr(at.section[k], 4 * sizes[k]);
    EXPECT_EQ(u64(at.checksums + 8 * k), krysol::hash64(section));
  }
  EXPECT_EQ(at.checksums + 32, at.head_end);
  EXPECT_EQ(u32(at.section[0] + 4), 2u);  // the row of the second entry
  EXPECT_EQ(u32(at.section[1] + 4), 3u);
  EXPECT_EQ(u64(at.section[2]), 0x3fe0000000000000u);  // 0.5
}

TEST(CacheFormat, GivesTheSourceAndTheMatrixOfBytesInMemory) {
  Caching caching;
  const CachedMatrix cached = krysol::parse_cache(caching.made(), "c");
  const auto source = krysol::identify_source(caching.source, caching.options, true);
  EXPECT_TRUE(same(cached.file, caching.parse()));
  EXPECT_EQ(cached.source.path, source.path);
  EXPECT_EQ(cached.source.options, source.options);
  EXPECT_EQ(cached.source.hash, source.hash);
  EXPECT_EQ(cached.source.modified, source.modified);
}

TEST(CacheFormat, OfWhichAnyBitIsChangedIsRefused) {
  Caching caching;
  const std::string good = caching.made();
  ASSERT_EQ(verdict(good), "good");
  for (std::size_t k = 0; k < good.size(); ++k) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = good;
      bytes[k] = static_cast<char>(bytes[k] ^ (1 << bit));
      ASSERT_NE(verdict(bytes), "good") << "bit " << bit << " of byte " << k;
    }
  }
}

// Some file systems write a file to the disk when it replaces another, so not every byte takes this
// way.
constexpr std::size_t stride = 19;

TEST(CacheFormat, OfWhichAByteIsChangedIsReplaced) {
  Caching caching;
  const std::string good = caching.made();
  for (std::size_t k = 0; k < good.size(); k += stride) {
    std::string bytes = good;
    bytes[k] = static_cast<char>(~bytes[k]);
    put(caching.place(), bytes);
    ASSERT_EQ(caching.wrong(false), "") << "byte " << k;
    ASSERT_EQ(bytes_of(caching.place()), good) << "byte " << k;
  }
}

TEST(CacheFormat, ThatIsCutOrLongerIsReplaced) {
  Caching caching;
  const std::string good = caching.made();
  for (std::size_t size = 0; size < good.size(); ++size) {
    ASSERT_NE(verdict(good.substr(0, size)), "good") << size;
    if (size % stride != 0) continue;
    put(caching.place(), good.substr(0, size));
    ASSERT_EQ(caching.wrong(false), "") << size;
  }
  put(caching.place(), good + '\0');
  EXPECT_EQ(caching.wrong(false), "");
  EXPECT_EQ(caching.wrong(true), "");
}

TEST(CacheFormat, OfAnotherKindIsRefused) {
  Caching caching;
  const std::string good = caching.made();
  EXPECT_EQ(verdict(small_text), "c: is no cache of a matrix");
  EXPECT_EQ(verdict(""), "c: is too short for a cache");
  const auto changed = [&](std::size_t at, std::size_t size, std::uint64_t number) {
    std::string bytes = good;
    set_number(bytes, at, size, number);
    seal_head(bytes);
    return verdict(bytes);
  };
  EXPECT_EQ(changed(8, 4, 0x04030201), "c: has another order of bytes");
  EXPECT_EQ(changed(12, 4, 2), "c: is of version 2 of the format, 1 was expected");
  EXPECT_EQ(changed(32, 4, 0), "c: was made by a library that reads matrices differently");
  EXPECT_EQ(changed(88, 4, 4), "c: the field is 4, at most 3 was expected");
  EXPECT_EQ(changed(144, 8, std::uint64_t{1} << 31),
            "c: the number of rows is 2147483648, at most 2147483647 was expected");
}

/// From its fields without texts up to the whole file: what is shorter or longer is not looked at.
TEST(CacheFormat, OfAHeadThatIsTooShortOrTooLongIsRefused) {
  Caching caching;
  const std::string good = caching.made();
  constexpr std::size_t shortest = 176;  // the first text's length would follow at 168
  ASSERT_GT(good.size(), shortest);
  for (const std::size_t size : {std::size_t{0}, std::size_t{31}, shortest - 1, good.size() + 1}) {
    std::string bytes = good;
    set_number(bytes, 24, 8, size);
    EXPECT_EQ(verdict(bytes), fmt::format("c: its head cannot have {} bytes", size));
  }
  std::string bytes = good;
  set_number(bytes, 24, 8, shortest);
  EXPECT_EQ(verdict(bytes), "c: is damaged: the checksum of its head differs");
  seal_head(bytes);
  EXPECT_EQ(verdict(bytes), "c: its head ends in the middle of a field");
  bytes = good;
  set_number(bytes, 24, 8, good.size());
  seal_head(bytes);
  EXPECT_EQ(verdict(bytes), "c: its head is too long");
}

TEST(CacheFormat, ThatPromisesMoreThanItHasIsRefusedWithoutMemoryForIt) {
  Caching caching;
  const std::string good = caching.made();
  const Places at(good);
  constexpr std::uint64_t huge = std::uint64_t{1} << 60;
  std::string bytes = good;
  set_number(bytes, 160, 8, huge);  // entries, but sections of four
  seal_head(bytes);
  EXPECT_TRUE(holds(verdict(bytes), "does not hold 1152921504606846976 entries"));
  for (std::size_t k = 0; k < 3; ++k) {  // and sections of as many, in one chunk
    set_number(bytes, at.table + 32 * k + 16, 8, huge * (k == 2 ? 8 : 4));
    set_number(bytes, at.table + 32 * k + 24, 8, huge * 8);
  }
  seal_head(bytes);
  EXPECT_EQ(verdict(bytes), "c: a section is not where it should be");
  for (std::size_t k = 0; k < 3; ++k) set_number(bytes, at.table + 32 * k + 24, 8, 1);
  seal_head(bytes);
  EXPECT_EQ(verdict(bytes), "c: its head has too few checksums");
  const std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
  for (const std::size_t field : {at.table + 8, at.table + 16, at.table + 24, std::size_t{24},
                                  std::size_t{168}, std::size_t{16}}) {
    for (const std::uint64_t number : {huge, all, all - 63, std::uint64_t{0}}) {
      bytes = good;
      set_number(bytes, field, 8, number);
      if (field != 24) seal_head(bytes);
      EXPECT_NE(verdict(bytes), "good") << field << " " << number;
    }
  }
  for (const std::size_t field : {std::size_t{36}, std::size_t{100}}) {
    bytes = good;
    set_number(bytes, field, 4, 0xffffffff);
    seal_head(bytes);
    EXPECT_EQ(verdict(bytes), "c: its head ends in the middle of a field");
  }
}

/// A checksum too few, or many: they are counted before there is room for them.
TEST(CacheFormat, WithFewerChecksumsThanChunksIsRefused) {
  Caching caching;
  const std::string good = caching.made();
  const Places at(good);
  const auto with_chunks = [&](std::size_t section, std::uint64_t chunk_bytes) {
    std::string bytes = good;
    set_number(bytes, at.table + 32 * section + 24, 8, chunk_bytes);
    seal_head(bytes);
    return verdict(bytes);
  };
  for (std::size_t section = 0; section < 3; ++section) {
    for (const std::uint64_t chunk_bytes : {1U, 2U, 4U, 8U}) {
      EXPECT_EQ(with_chunks(section, chunk_bytes), "c: its head has too few checksums")
          << section << ", chunks of " << chunk_bytes;
    }
    EXPECT_EQ(with_chunks(section, 0), "c: a section has chunks of no bytes") << section;
  }
}

TEST(CacheFormat, OfEntriesOutsideTheMatrixIsRefused) {
  Caching caching("%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 5\n3 3 4\n");
  const std::string good = caching.made();
  const Places at(good);
  const auto changed = [&](std::size_t section, std::int32_t index) {
    std::string bytes = good;
    set_number(bytes, at.section[section], 4, static_cast<std::uint32_t>(index));
    seal(bytes);
    return verdict(bytes);
  };
  EXPECT_EQ(changed(0, 2), "good");
  for (const std::int32_t index : {3, -1, std::numeric_limits<std::int32_t>::min()}) {
    EXPECT_EQ(changed(0, index), "c: an entry is where the matrix has none") << index;
    EXPECT_EQ(changed(1, index), "c: an entry is where the matrix has none") << index;
  }
  EXPECT_EQ(changed(1, 1), "good");
  EXPECT_EQ(changed(1, 2), "c: an entry is where the matrix has none");  // above the diagonal
  std::string bytes = good;
  set_number(bytes, 136, 4, 2);  // skew-symmetric, with an entry on the diagonal
  seal(bytes);
  EXPECT_EQ(verdict(bytes), "c: an entry is where the matrix has none");
  bytes = good;
  set_number(bytes, 152, 8, 4);
  seal(bytes);
  EXPECT_EQ(verdict(bytes), "c: its matrix is not square");
}

TEST(CacheFormat, MayHaveSectionsOfUnknownKindsButAllKnownOnes) {
  Caching caching;
  std::string bytes = caching.made();
  const Places at(bytes);
  // A fourth entry of the table, and its checksum, fill what was zero up to the first section.
  std::string head = bytes.substr(0, at.checksums);
  const std::string sums = bytes.substr(at.checksums, 24);
  std::string sections = bytes.substr(at.section[0]);
  const std::size_t head_end = at.head_end + 40;
  const std::size_t first = (head_end + 63) / 64 * 64;
  for (std::size_t k = 0; k < 3; ++k) {
    set_number(head, at.table + 32 * k + 8, 8, at.section[k] - at.section[0] + first);
  }
  sections.resize((sections.size() + 63) / 64 * 64, '\0');
  const std::size_t fourth = first + sections.size();
  std::string row(40, '\0');
  set_number(row, 0, 4, 77);
  set_number(row, 4, 4, 99);
  set_number(row, 8, 8, fourth);
  set_number(row, 16, 8, 5);
  set_number(row, 24, 8, 16);
  head += row.substr(0, 32) + sums + row.substr(32) + std::string(8, '\0');
  set_number(head, 36, 4, 4);
  set_number(head, 24, 8, head_end);
  ASSERT_EQ(head.size(), head_end);
  head.resize(first, '\0');
  bytes = head + sections + "hello";
  set_number(bytes, 16, 8, bytes.size());
  seal_head(bytes);
  EXPECT_TRUE(same(krysol::parse_cache(bytes, "c").file, caching.parse()));
  for (const std::uint32_t kind : {1U, 2U, 3U, 77U}) {
    std::string other = bytes;
    set_number(other, at.table + 64, 4, kind);  // of the values
    seal_head(other);
    EXPECT_EQ(verdict(other), kind == 3    ? "good"
                              : kind == 77 ? "c: section 3 is missing"
                                           : fmt::format("c: section {} is there twice", kind));
  }
}

TEST(CacheFormat, SurvivesAnyForgedField) {
  Caching caching;
  const std::string good = caching.made();
  const Places at(good);
  std::mt19937_64 random(11);
  int refused = 0;
  for (int k = 0; k < 20000; ++k) {
    std::string bytes = good;
    for (std::uint64_t changes = random() % 3 + 1; changes > 0; --changes) {
      const std::size_t where = 32 + random() % (at.head_end - 48);
      const std::uint64_t number = random() >> random() % 64;
      if (random() % 2 == 0) {
        set_number(bytes, where, 8, number);
      } else {
        bytes[where] = static_cast<char>(number);
      }
    }
    seal_head(bytes);
    refused += verdict(bytes) != "good" ? 1 : 0;
  }
  EXPECT_GT(refused, 0);
}

TEST(CacheFormat, KeepsVectorsAndNames) {
  Caching caching;
  krysol::MatrixFile file = caching.parse();
  file.info.format = "Harwell-Boeing";
  file.info.member = "a/a.rb";
  file.info.title = "a matrix";
  krysol::DenseFile& rhs = file.attached.rhs;
  rhs.rows = 3;
  rhs.cols = 2;
  rhs.values = std::vector<double>{1, -0.0, 3, 4e300, 5, 6};
  rhs.info.array = true;
  rhs.info.repairs = {"one", "two"};
  krysol::DenseFile& solution = file.attached.solution;
  solution.rows = 4;
  solution.cols = 1;
  solution.values = std::vector<std::complex<double>>{{1, 2}, {3, 4}, {5, 6}, {7, 8}};
  const auto identity = krysol::identify_source(caching.source, caching.options, true);
  krysol::OutputFile out(caching.folder / "c");
  krysol::write_cache(out, identity, file, 2);
  out.commit();
  const std::string bytes = bytes_of(caching.folder / "c");
  const krysol::MatrixFile back = krysol::parse_cache(bytes, "c", 2).file;
  EXPECT_EQ(back.info.format, file.info.format);
  EXPECT_EQ(back.info.member, file.info.member);
  EXPECT_EQ(back.info.title, file.info.title);
  EXPECT_TRUE(same(back, file));
  EXPECT_EQ(back.attached.rhs.rows, 3);
  EXPECT_EQ(back.attached.rhs.cols, 2);
  EXPECT_EQ(back.attached.rhs.values, rhs.values);
  EXPECT_TRUE(back.attached.rhs.info.array);
  EXPECT_EQ(back.attached.rhs.info.repairs, rhs.info.repairs);
  EXPECT_EQ(back.attached.guess.cols, 0);
  EXPECT_EQ(back.attached.solution.values, solution.values);
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    std::string other = bytes;
    other[k] = static_cast<char>(other[k] ^ 0x10);
    EXPECT_THROW(krysol::parse_cache(other, "c"), krysol::FileError) << k;
  }
  rhs.cols = 3;
  krysol::OutputFile wrong(caching.folder / "d");
  EXPECT_THROW(krysol::write_cache(wrong, identity, file, 1), std::invalid_argument);
}

/// As docs/matrix-cache.md numbers them, whichever vectors are there.
TEST(CacheFormat, NumbersItsSectionsAsDocumented) {
  Caching caching;
  const auto identity = krysol::identify_source(caching.source, caching.options, true);
  for (unsigned there = 0; there < 8; ++there) {
    SCOPED_TRACE(there);
    krysol::MatrixFile file = caching.parse();
    krysol::AttachedVectors& v = file.attached;
    std::vector<std::uint64_t> kinds = {1, 2, 3};
    const std::vector<krysol::DenseFile*> vectors = {&v.rhs, &v.guess, &v.solution};
    for (std::size_t k = 0; k < vectors.size(); ++k) {
      if ((there >> k & 1U) == 0) continue;
      vectors[k]->rows = k == 0 ? 3 : 4;
      vectors[k]->cols = 1;
      vectors[k]->values = std::vector<double>(k == 0 ? 3U : 4U, 0.5 + static_cast<double>(k));
      kinds.push_back(4 + k);
    }
    const auto path = caching.folder / ("c" + std::to_string(there));
    krysol::OutputFile out(path);
    krysol::write_cache(out, identity, file, 1);
    out.commit();
    const std::string bytes = bytes_of(path);
    // Each of them is a chunk: the head ends with its table, a checksum for each, and its own.
    ASSERT_EQ(number_at(bytes, 36, 4), kinds.size());
    const std::size_t table = number_at(bytes, 24, 8) - 8 - kinds.size() * (8 + 32);
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      EXPECT_EQ(number_at(bytes, table + 32 * k, 4), kinds[k]) << k;
      EXPECT_EQ(number_at(bytes, table + 32 * k + 4, 4), k < 2 ? 1U : 2U) << k;
    }
    const krysol::MatrixFile back = krysol::parse_cache(bytes, "c").file;
    EXPECT_EQ(back.attached.rhs.values, v.rhs.values);
    EXPECT_EQ(back.attached.guess.values, v.guess.values);
    EXPECT_EQ(back.attached.solution.values, v.solution.values);
  }
}

TEST(CacheFormat, IsNotMadeOfAMatrixThatNoFileHolds) {
  Caching caching;
  const auto source = krysol::identify_source(caching.source, caching.options, true);
  const auto wrong = [&](const auto& matrix, krysol::Field field) {
    krysol::MatrixFile file;
    file.info.field = field;
    file.matrix = matrix;
    return message_of([&] {
      krysol::OutputFile out(caching.folder / "c.kmx");
      krysol::write_cache(out, source, file, 1);
    });
  };
  Triplets<double> a{2, 2, krysol::Symmetry::general, {}, {}, {}};
  a.add(0, 1, 3.0);
  EXPECT_EQ(wrong(a, krysol::Field::real), "nothing was thrown");
  EXPECT_TRUE(holds(wrong(a, krysol::Field::complex), "not of the source's field"));
  a.symmetry = krysol::Symmetry::symmetric;
  EXPECT_TRUE(holds(wrong(a, krysol::Field::real), "where the matrix has none"));
  a.symmetry = krysol::Symmetry::general;
  a.add(2, 0, 1.0);
  EXPECT_TRUE(holds(wrong(a, krysol::Field::real), "where the matrix has none"));
  a.values.pop_back();
  EXPECT_TRUE(holds(wrong(a, krysol::Field::real), "different lengths"));
  EXPECT_FALSE(fs::exists(caching.folder / "c.kmx"));
}

}  // namespace
