// Tar archives: which member is the matrix, what comes along, and from where bytes may come.
// tests/io/bytes/test_archive_damage.cpp has those that are cut or damaged.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_paths.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <complex>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <krysol/io/bytes/archive.hpp>
#include <krysol/io/bytes/file.hpp>
#include <krysol/io/read.hpp>

#include "boeing.hpp"
#include "reading.hpp"
#include "tar_texts.hpp"

namespace {

namespace fs = std::filesystem;
using krysol::read_dense;
using krysol::read_matrix;
using krysol::ReadOptions;
using krysol_tests::bytes_of;
using krysol_tests::error_of;
using krysol_tests::expanded;
using krysol_tests::Folder;
using krysol_tests::put;
using krysol_tests::tar_end;
using krysol_tests::tar_header;
using krysol_tests::tar_member;
using Complex = std::complex<double>;

const std::string matrix =
    "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2\n2 1 -1\n2 2 3\n";
const std::vector<Complex> dense{2, -1, -1, 3};
const std::string other = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 7\n";
const std::string rhs = "%%MatrixMarket matrix array real general\n2 1\n5\n6\n";

/// Writes a file, compressed where its name says so.
fs::path write(const Folder& folder, const std::string& name, const std::string& bytes) {
  krysol::OutputFile file(folder / name);
  file.write(bytes);
  file.commit();
  return folder / name;
}

std::vector<double> numbers(const krysol::DenseFile& file) {
  return std::get<std::vector<double>>(file.values);
}

std::string message_without(const fs::path& folder_of_file, const std::string& message) {
  const std::string prefix = folder_of_file.parent_path().string() + "/";
  return message.rfind(prefix, 0) == 0 ? message.substr(prefix.size()) : message;
}

std::string error_from(const fs::path& path, const ReadOptions& options = {}) {
  return message_without(path, error_of([&] { read_matrix(path, options); }));
}

ReadOptions member(const std::string& name) {
  ReadOptions options;
  options.member = name;
  return options;
}

TEST(Archive, TheMatrixIsTheFileNamedAsItsFolder) {
  const Folder folder;
  const std::string a = tar_member("m/m.mtx", matrix);
  const std::string b = tar_member("m/m_b.mtx", rhs);
  const std::string more = tar_header("m/", 0, '5') + tar_member("m/m_x.mtx", other) +
                           tar_member("m/m_coord.mtx", other) + tar_member("README", "words\n");
  for (const std::string& members : {a + b + more, b + a + more, more + b + a, more + a + b}) {
    for (const std::string name : {"a.tar", "a.tar.gz", "no_suffix"}) {
      const auto file = read_matrix(write(folder, name, members + tar_end()));
      EXPECT_EQ(expanded(file), dense);
      EXPECT_EQ(file.info.member, "m/m.mtx");
      EXPECT_EQ(file.info.bytes, static_cast<std::int64_t>(fs::file_size(folder / name)));
      EXPECT_EQ(numbers(file.attached.rhs), (std::vector<double>{5, 6}));
      EXPECT_EQ(numbers(read_dense(folder / name)), (std::vector<double>{5, 6}));
    }
  }
}

TEST(Archive, FoldersAboveTheLastDoNotCount) {
  const Folder folder;
  const auto file = read_matrix(
      write(folder, "a.tar",
            tar_member("x/y/m/m.mtx", matrix) + tar_member("x/y/m/m_b.mtx", rhs) + tar_end()));
  EXPECT_EQ(file.info.member, "x/y/m/m.mtx");
  EXPECT_EQ(file.attached.rhs.cols, 1);
}

TEST(Archive, TheOnlyMatrixNeedsNoCertainName) {
  const Folder folder;
  for (const std::string name : {"k.mtx", "m/k.mtx", "./k", "a/b/c.txt"}) {
    const auto path = write(folder, "a.tar.gz",
                            tar_member("README", "words\n") + tar_member(name, matrix) + tar_end());
    const auto file = read_matrix(path);
    EXPECT_EQ(expanded(file), dense);
    EXPECT_EQ(file.info.member, name);
  }
  const auto with_rhs = read_matrix(
      write(folder, "b.tar", tar_member("k_b.mtx", rhs) + tar_member("k.mtx", matrix) + tar_end()));
  EXPECT_EQ(expanded(with_rhs), dense);
  EXPECT_EQ(numbers(with_rhs.attached.rhs), (std::vector<double>{5, 6}));
}

TEST(Archive, OfSeveralMatricesOneMustBeNamed) {
  const Folder folder;
  const auto path = write(folder, "a.tar",
                          tar_member("a/x.mtx", matrix) + tar_member("a/y.mtx", other) + tar_end());
  EXPECT_EQ(error_from(path),
            "a.tar: holds several matrices (a/x.mtx, a/y.mtx); name one of them (--member)");
  EXPECT_EQ(expanded(read_matrix(path, member("a/x.mtx"))), dense);
  EXPECT_EQ(expanded(read_matrix(path, member("a/y.mtx"))), std::vector<Complex>{7});
  EXPECT_EQ(error_from(path, member("x.mtx")), "a.tar: holds no file x.mtx, only a/x.mtx, a/y.mtx");
  std::string many;
  for (int k = 0; k < 10; ++k) many += tar_member("a/" + std::to_string(k) + ".mtx", matrix);
  EXPECT_EQ(error_from(write(folder, "b.tar", many + tar_end())),
            "b.tar: holds several matrices (a/0.mtx, a/1.mtx, a/2.mtx, a/3.mtx, a/4.mtx, a/5.mtx, "
            "a/6.mtx, a/7.mtx and 2 more); name one of them (--member)");
}

/// As of two archives of the collection that were joined.
TEST(Archive, OfSeveralMainMatricesOneMustBeNamed) {
  const Folder folder;
  const auto path = write(folder, "a.tar",
                          tar_member("m/m.mtx", matrix) + tar_member("n/n.mtx", other) + tar_end());
  EXPECT_EQ(error_from(path),
            "a.tar: holds several matrices (m/m.mtx, n/n.mtx); name one of them (--member)");
  EXPECT_EQ(expanded(read_matrix(path, member("n/n.mtx"))), std::vector<Complex>{7});
  const auto beside = write(
      folder, "b.tar", tar_member("m/m.mtx", matrix) + tar_member("m/m_C.mtx", other) + tar_end());
  EXPECT_EQ(read_matrix(beside).info.member, "m/m.mtx");
}

/// A right-hand side has the whole name of its matrix, in a folder or in none.
TEST(Archive, AVectorOfAnotherNameIsNoRightHandSide) {
  const Folder folder;
  for (const std::string in : {"", "m/", "a/b/"}) {
    SCOPED_TRACE(in);
    const auto path =
        write(folder, "a.tar",
              tar_member(in + "k.mtx", matrix) + tar_member(in + "l_b.mtx", rhs) + tar_end());
    EXPECT_EQ(error_from(path), "a.tar: holds several matrices (" + in + "k.mtx, " + in +
                                    "l_b.mtx); name one of them (--member)");
    EXPECT_EQ(read_matrix(path, member(in + "k.mtx")).attached.rhs.cols, 0);
    EXPECT_EQ(message_without(path, error_of([&] { read_dense(path); })),
              "a.tar: expected an archive with NAME/NAME_b.mtx, found " + in + "k.mtx, " + in +
                  "l_b.mtx");
  }
}

TEST(Archive, AMemberIsAskedOfArchivesOnly) {
  const Folder folder;
  for (const std::string name : {"a.mtx", "a.mtx.gz"}) {
    const auto path = write(folder, name, matrix);
    EXPECT_EQ(error_from(path, member("m/m.mtx")),
              name + ": is no tar archive, so there is no file m/m.mtx in it (--member)");
    EXPECT_EQ(message_without(path, error_of([&] { read_dense(path, member("b")); })),
              name + ": is no tar archive, so there is no file b in it (--member)");
  }
}

TEST(Archive, AMemberThatIsNamedMayBeAnyFile) {
  const Folder folder;
  const auto path =
      write(folder, "a.tar.gz",
            tar_member("m/m.mtx", matrix) + tar_member("m/m_coord.mtx", other) +
                tar_member("m/m_b.mtx", rhs) + tar_member("words", "one") + tar_end());
  const auto coord = read_matrix(path, member("m/m_coord.mtx"));
  EXPECT_EQ(expanded(coord), std::vector<Complex>{7});
  EXPECT_EQ(coord.attached.rhs.cols, 0);
  EXPECT_EQ(expanded(read_matrix(path, member("m/m_b.mtx"))), (std::vector<Complex>{5, 6}));
  EXPECT_EQ(numbers(read_dense(path, member("m/m_coord.mtx"))), std::vector<double>{7});
  EXPECT_EQ(error_from(path, member("words")),
            "a.tar.gz(words):1:1: expected the banner '%%MatrixMarket matrix ...', found 'one'");
}

TEST(Archive, WithoutAMatrixItSaysWhatItHolds) {
  const Folder folder;
  EXPECT_EQ(error_from(write(folder, "a.tar", tar_member("README", "x") + tar_end())),
            "a.tar: expected an archive with a matrix, found README");
  EXPECT_EQ(error_from(write(folder, "a.tar", tar_header("m/", 0, '5') + tar_end())),
            "a.tar: is an archive without any file");
  const auto path = write(folder, "a.tar", tar_member("m/m.mtx", matrix) + tar_end());
  EXPECT_EQ(message_without(path, error_of([&] { read_dense(path); })),
            "a.tar: expected an archive with NAME/NAME_b.mtx, found m/m.mtx");
}

TEST(Archive, HarwellBoeingFilesAreMatricesToo) {
  krysol_tests::Boeing boeing;
  boeing.rows = boeing.cols = 2;
  boeing.pointers = {1, 2, 3};
  boeing.indices = {2, 1};
  boeing.values = {3, 4};
  boeing.vector_type = "F";
  boeing.vectors = 1;
  boeing.vector_values = {1, 2};
  const Folder folder;
  for (const std::string name : {"m/m.rua", "m.rb", "boeing"}) {
    const auto path = write(folder, "a.tar.gz", tar_member(name, boeing.text()) + tar_end());
    const auto file = read_matrix(path);
    EXPECT_EQ(expanded(file), (std::vector<Complex>{0, 4, 3, 0}));
    EXPECT_EQ(numbers(file.attached.rhs), (std::vector<double>{1, 2}));
    EXPECT_EQ(numbers(read_dense(path, member(name))), (std::vector<double>{1, 2}));
  }
}

TEST(Archive, MessagesNameArchiveMemberAndPlace) {
  const Folder folder;
  std::string wrong = matrix;
  wrong.replace(wrong.find("2 1 -1"), 6, "2 1 x1");
  std::string long_rhs = rhs + "7\n";
  const auto a = write(folder, "a.tar.gz", tar_member("m/m.mtx", wrong) + tar_end());
  EXPECT_EQ(error_from(a), "a.tar.gz(m/m.mtx):4:5: expected a value, found 'x1'");
  for (const bool first : {true, false}) {
    const std::string b = tar_member("m/m_b.mtx", long_rhs);
    const std::string m = tar_member("m/m.mtx", matrix);
    EXPECT_EQ(error_from(write(folder, "b.tar", (first ? b + m : m + b) + tar_end())),
              "b.tar(m/m_b.mtx):5:1: expected the end of the file after 2 declared values, found "
              "'7'");
  }
}

TEST(Archive, ALimitOfTextHoldsForTheWholeArchive) {
  const Folder folder;
  const std::string zeros(4 << 20, '%');
  ReadOptions options;
  options.max_text_bytes = 1 << 20;
  // Less than a hundredth of its text, and not in the member that is wanted.
  for (const std::string& members : {tar_member("bomb", zeros) + tar_member("m/m.mtx", matrix),
                                     tar_member("m/m.mtx", matrix) + tar_member("bomb", zeros),
                                     tar_member("m/m.mtx", matrix + zeros)}) {
    const auto path = write(folder, "a.tar.gz", members + tar_end());
    EXPECT_LT(fs::file_size(path), 20000U);
    EXPECT_EQ(error_from(path, options).substr(0, 8), "a.tar.gz");
    EXPECT_TRUE(error_from(path, options)
                    .ends_with(": holds more than 1048576 bytes of text, the limit set by "
                               "ReadOptions::max_text_bytes"))
        << error_from(path, options);
  }
}

/// Of files made by the programs of these names; the library asks for a program where its own
/// decompressor was left out when it was built.
TEST(Archive, AnyOfTheUsualCompressionsWillDo) {
  std::string missing;
  for (const std::string suffix : {"bz2", "lz4", "xz", "zst"}) {
    for (const std::string name : {"folder.tar.", "matrix."}) {
      const fs::path path = fs::path(KRYSOL_TEST_DIR) / "fuzz/corpus/archive" / (name + suffix);
      ASSERT_TRUE(fs::exists(path)) << path;
      try {
        const auto file = read_matrix(path);
        EXPECT_EQ(expanded(file), (std::vector<Complex>{2, -1, -1, 0})) << path;
        EXPECT_EQ(file.attached.rhs.cols, name == "matrix." ? 0 : 1) << path;
      } catch (const krysol::FileError& error) {
        const std::string message = error.what();
        EXPECT_NE(message.find("program"), std::string::npos) << message;
        missing += " " + suffix;
      }
    }
  }
  if (!missing.empty()) GTEST_SKIP() << "libarchive was built without" << missing;
}

// ---- pipes

/// Bytes that arrive through a pipe, in pieces.
class Pipe {
 public:
  explicit Pipe(std::string bytes) {
    std::signal(SIGPIPE, SIG_IGN);  // who reads may stop early
    int ends[2];
    if (::pipe(ends) != 0) return;
    out_ = ends[0];
    writer_ = std::thread([bytes = std::move(bytes), in = ends[1]] {
      for (std::size_t at = 0; at < bytes.size();) {
        const ssize_t n =
            ::write(in, bytes.data() + at, std::min<std::size_t>(700, bytes.size() - at));
        if (n <= 0) break;
        at += static_cast<std::size_t>(n);
      }
      ::close(in);
    });
  }
  ~Pipe() {
    ::close(out_);
    if (writer_.joinable()) writer_.join();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int out() const { return out_; }

 private:
  int out_ = -1;
  std::thread writer_;
};

/// Standard input is another file for as long as this lives.
class StandardInput {
 public:
  explicit StandardInput(int file) : before_(::dup(STDIN_FILENO)) { ::dup2(file, STDIN_FILENO); }
  ~StandardInput() {
    ::dup2(before_, STDIN_FILENO);
    ::close(before_);
  }
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;

 private:
  int before_;
};

TEST(Archive, AFileOfAnyKindComesThroughAPipe) {
  const Folder folder;
  const std::string padding = tar_member("README", std::string(100000, 'x'));
  const std::string tar = tar_member("m/m_b.mtx", rhs) + tar_member("m/m.mtx", matrix) + padding;
  for (const std::string name : {"a.tar", "a.tar.gz", "a.mtx", "a.mtx.gz"}) {
    SCOPED_TRACE(name);
    const bool is_tar = name.find("tar") != std::string::npos;
    const std::string bytes = bytes_of(write(folder, name, is_tar ? tar + tar_end() : matrix));
    {
      const Pipe pipe(bytes);
      const auto file = read_matrix("/dev/fd/" + std::to_string(pipe.out()));
      EXPECT_EQ(expanded(file), dense);
      EXPECT_EQ(file.attached.rhs.cols, is_tar ? 1 : 0);
    }
    {
      const Pipe pipe(bytes);
      const StandardInput input(pipe.out());
      EXPECT_EQ(expanded(read_matrix("-")), dense);
    }
    {
      const int file = ::open((folder / name).c_str(), O_RDONLY);
      const StandardInput input(file);
      EXPECT_EQ(expanded(read_matrix("-")), dense);
      ::close(file);
    }
    if (is_tar) {
      const Pipe pipe(bytes);
      const StandardInput input(pipe.out());
      EXPECT_EQ(numbers(read_dense("-")), (std::vector<double>{5, 6}));
    }
  }
}

TEST(Archive, ANamedPipeIsReadOnce) {
  const Folder folder;
  const fs::path path = folder / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { put(path, tar_member("m/m.mtx", matrix) + tar_end()); });
  EXPECT_EQ(expanded(read_matrix(path)), dense);
  writer.join();
}

TEST(Archive, APipeDoesNotBringAnUnknownNameTwice) {
  const std::string tar = tar_member("k.mtx", matrix) + tar_end();
  {
    const Pipe pipe(tar);
    const StandardInput input(pipe.out());
    EXPECT_EQ(error_of([] { read_matrix("-"); }),
              "standard input: holds k.mtx, which a pipe does not bring twice; name it (--member)");
  }
  const Pipe pipe(tar);
  const StandardInput input(pipe.out());
  EXPECT_EQ(expanded(read_matrix("-", member("k.mtx"))), dense);
}

TEST(Archive, StandardInputHasItsNameInMessages) {
  const Pipe pipe("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 2 3\n");
  const StandardInput input(pipe.out());
  EXPECT_EQ(error_of([] { read_matrix("-"); }),
            "standard input:3:3: column index 2 is outside 1..1");
}

TEST(Archive, IsKnownByTheSumOfItsFirstHeader) {
  const std::string tar = tar_member("m/m.mtx", matrix) + tar_end();
  EXPECT_TRUE(krysol::is_tar(tar));
  EXPECT_FALSE(krysol::is_tar(tar.substr(0, 511)));
  for (std::size_t k = 0; k < 512; ++k) {
    std::string other_byte = tar;
    other_byte[k] = static_cast<char>(other_byte[k] ^ 1);
    if (k < 148 || k >= 156) {
      EXPECT_FALSE(krysol::is_tar(other_byte)) << k;
    }
  }
  EXPECT_FALSE(krysol::is_tar(std::string(1024, '\0')));
  EXPECT_FALSE(krysol::is_tar(std::string(1024, ' ')));
}

}  // namespace
