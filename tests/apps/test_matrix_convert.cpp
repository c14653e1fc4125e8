// matrix_convert as its users meet it: what it writes, what it says, and what it refuses.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_paths.hpp"

#include "programs.hpp"

#ifdef KRYSOL_MATRIX_CONVERT
#include <gtest/gtest.h>

#include <complex>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <krysol/io/bytes/archive.hpp>
#include <krysol/io/bytes/file.hpp>
#include <krysol/io/harwell_boeing/harwell_boeing.hpp>
#include <krysol/io/matrix_market/matrix_market.hpp>
#include <krysol/io/read.hpp>

namespace {

using namespace krysol_tests;
using krysol::Field;
using krysol::Symmetry;
using Complex = std::complex<double>;

constexpr std::string_view small =
    "%%MatrixMarket matrix coordinate real general\n3 3 5\n"
    "3 1 0.1\n1 1 -4\n1 3 0.1\n2 2 0\n1 1 1e-300\n";

class MatrixConvert : public ProgramTest {
 protected:
  MatrixConvert() : ProgramTest(KRYSOL_MATRIX_CONVERT) {}

  /// Runs it, expects success, and returns what it printed.
  std::string convert(const Arguments& arguments) const {
    const Outcome o = run_exactly(arguments);
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(o.err, "");
    return o.out;
  }

  std::string converted(const std::string& name, Arguments arguments) const {
    arguments.insert(arguments.begin() + 1, in(name).string());
    convert(arguments);
    return text_of(in(name));
  }

  void expect_refused(const Arguments& arguments, const std::string& message) const {
    const auto before = files();
    const Outcome o = run_exactly(arguments);
    EXPECT_EQ(o.code, 2) << o.out;
    EXPECT_EQ(o.out, "");
    EXPECT_TRUE(o.err.starts_with("matrix_convert: error: ")) << o.err;
    EXPECT_TRUE(holds(o.err, message)) << o.err;
    EXPECT_EQ(files(), before);
  }

  const std::string grid_ = (fs::path(KRYSOL_DATA_DIR) / "gr_30_30.mtx").string();
};

krysol::MatrixFile read_rb(const fs::path& path) {
  const auto text = krysol::read_text(path, 1 << 26);
  return krysol::parse_harwell_boeing(text.view(), path.string(), {});
}

TEST_F(MatrixConvert, MakesProblemsWithoutAWordOfItsOwnMachinery) {
  EXPECT_NE(convert({"mesh:300", in("mesh.mtx").string(), "--threads", "2"}), "");
}

TEST_F(MatrixConvert, SaysInOneLineWhatItDid) {
  const auto out = in("grid.mtx").string();
  std::string said = convert({grid_, out});
  EXPECT_EQ(said,
            fmt::format("{}: 900 x 900, integer symmetric, 4322 entries, Matrix Market, {} bytes\n",
                        out, fs::file_size(out)));
  EXPECT_EQ(convert({grid_, out, "--quiet"}), "");
  said = convert({write("a.mtx", std::string(small)), out, "--sum-duplicates", "--drop-zeros"});
  EXPECT_EQ(said, fmt::format("{}: 3 x 3, real general, 3 entries, Matrix Market, {} bytes; "
                              "duplicates summed: 1; zeros dropped: 1\n",
                              out, fs::file_size(out)));
}

TEST_F(MatrixConvert, WritesTheSameMatrixInEveryFormat) {
  const auto original = krysol::read_matrix(grid_);
  const auto& a = std::get<Triplets<double>>(original.matrix);
  for (const char* compression : {"", ".gz", ".bz2", ".xz", ".zst"}) {
    SCOPED_TRACE(compression);
    const auto mtx = in(std::string("g.mtx") + compression);
    convert({grid_, mtx.string(), "--threads", "2"});
    const auto file = krysol::read_matrix(mtx);
    EXPECT_EQ(file.info.field, Field::integer);
    EXPECT_TRUE(std::get<Triplets<double>>(file.matrix).values == a.values);
    const auto rb = in(std::string("g.rb") + compression);
    convert({grid_, rb.string(), "--threads", "2"});
    const auto boeing = read_rb(rb);
    EXPECT_EQ(boeing.info.field, Field::integer);
    const auto& b = std::get<Triplets<double>>(boeing.matrix);
    EXPECT_EQ(b.symmetry, Symmetry::symmetric);
    EXPECT_TRUE(b.row_idx == a.row_idx);  // the file has its columns in order
    EXPECT_TRUE(b.col_idx == a.col_idx);
    EXPECT_TRUE(b.values == a.values);
  }
}

TEST_F(MatrixConvert, StandardOutputTakesTheFileAlone) {
  const Outcome o = run_exactly({write("a.mtx", std::string(small)), "-", "--to", "mtx"});
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(o.out, small);
  EXPECT_EQ(o.err, "standard output: 3 x 3, real general, 5 entries, Matrix Market\n");
  EXPECT_EQ(run_exactly({in("a.mtx"), "-", "--to", "mtx", "--quiet"}).err, "");
  EXPECT_TRUE(run_exactly({in("a.mtx"), "-", "--to", "rb.gz"}).out.starts_with("\x1f\x8b"));
}

TEST_F(MatrixConvert, ASuffixIsOverruled) {
  const auto a = write("a.mtx", std::string(small));
  EXPECT_TRUE(holds(converted("b.mtx", {a, "--to", "rb"}), "\nrua  "));
  EXPECT_TRUE(converted("b.mtx.gz", {a, "--to", "mtx"}).starts_with("\x1f\x8b"));
  EXPECT_TRUE(converted("b.dat", {a, "--to", "mtx.xz"}).starts_with("\xfd"));
}

TEST_F(MatrixConvert, CountsWhatRutherfordBoeingFilesHold) {
  const auto a = write("a.mtx",
                       "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 2\n1 1 3\n"
                       "2 2 1\n");
  const auto said = convert({a, in("a.rua").string()});
  EXPECT_TRUE(holds(said, "real general, 2 entries")) << said;
  EXPECT_TRUE(holds(said, "duplicates summed: 1")) << said;
}

TEST_F(MatrixConvert, SaysWhereItLeavesValuesOut) {
  const auto a = write("a.mtx", std::string(small));
  const auto by_name = convert({a, in("a.pua").string()});
  EXPECT_TRUE(holds(by_name, "; values left out")) << by_name;
  const auto asked = convert({a, in("p.mtx").string(), "--pattern"});
  EXPECT_TRUE(holds(asked, "; values left out")) << asked;
  const auto again = convert({in("p.mtx").string(), in("q.mtx").string()});
  EXPECT_FALSE(holds(again, "left out")) << again;
}

TEST_F(MatrixConvert, TypesInNamesAreKept) {
  EXPECT_TRUE(holds(converted("g.rsa", {grid_}), "\nrsa  "));
  EXPECT_TRUE(holds(converted("g.ISA", {grid_}), "\nisa  "));
  EXPECT_TRUE(holds(converted("g.psa.gz", {grid_, "--to", "psa", "--quiet"}), "\x1f\x8b"));
  EXPECT_TRUE(holds(converted("g.rua", {grid_, "--general"}), "\nrua  "));
  const auto wide =
      write("w.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 3\n");
  EXPECT_TRUE(holds(converted("w.pra", {wide}), "\npra  "));
  expect_refused({grid_, in("h.rua")}, "rua names another type than real symmetric");
  expect_refused({grid_, in("h.csa")}, "csa names another type than integer symmetric");
}

TEST_F(MatrixConvert, ExpandsAndTakesTriangles) {
  const auto a = write("a.mtx", std::string(small));
  const std::string lower = converted("s.mtx", {a, "--symmetric"});
  EXPECT_EQ(lower,
            "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 -4\n3 1 0.1\n2 2 0\n");
  EXPECT_EQ(converted("g.mtx", {in("s.mtx"), "--general"}),
            "%%MatrixMarket matrix coordinate real general\n3 3 4\n"
            "1 1 -4\n3 1 0.1\n1 3 0.1\n2 2 0\n");
  EXPECT_EQ(converted("t.mtx", {in("g.mtx"), "--symmetric"}), lower);
  EXPECT_EQ(converted("t.mtx", {in("s.mtx"), "--symmetric"}), lower);  // it is already

  const auto skew = write("k.mtx",
                          "%%MatrixMarket matrix coordinate integer general\n2 2 3\n"
                          "1 2 5\n2 1 -5\n2 2 0\n");
  EXPECT_EQ(converted("k2.mtx", {skew, "--skew"}),
            "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 -5\n");
  EXPECT_EQ(converted("k3.mtx", {in("k2.mtx"), "--general"}),
            "%%MatrixMarket matrix coordinate integer general\n2 2 2\n2 1 -5\n1 2 5\n");
  const auto hermitian = write("h.mtx",
                               "%%MatrixMarket matrix coordinate complex general\n2 2 3\n"
                               "1 2 5 1\n2 1 5 -1\n2 2 3 0\n");
  EXPECT_EQ(converted("h2.mtx", {hermitian, "--hermitian"}),
            "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n2 1 5 -1\n2 2 3 0\n");
}

TEST_F(MatrixConvert, SaysWhereAMatrixIsNotSymmetric) {
  const auto write_general = [&](const std::string& entries) {
    return write("a.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 3\n" + entries);
  };
  const std::string out = in("s.mtx");
  expect_refused({write_general("1 1 1\n3 2 0.5\n2 3 0.25\n"), out, "--symmetric"},
                 "not symmetric: entry (3, 2) is 0.5, entry (2, 3) is 0.25");
  expect_refused({write_general("1 1 1\n2 3 0.5\n3 3 1\n"), out, "--symmetric"},
                 "not symmetric: entry (3, 2) is 0, entry (2, 3) is 0.5");
  expect_refused({write_general("1 1 0\n2 3 0.5\n3 2 0.5\n"), out, "--skew"},
                 "not skew-symmetric: entry (3, 2) is 0.5, entry (2, 3) is 0.5");
  expect_refused({write_general("1 1 2\n2 3 0.5\n3 2 -0.5\n"), out, "--skew"},
                 "not skew-symmetric: entry (1, 1) is 2");
  expect_refused({grid_, out, "--hermitian"}, "--symmetric, not --hermitian");
  expect_refused({write("w.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 3 1\n"),
                  out, "--symmetric"},
                 "the matrix is not symmetric: it is 2 x 3");
}

TEST_F(MatrixConvert, PatternsHoldNoValues) {
  const auto a = write("a.mtx", std::string(small));
  EXPECT_EQ(converted("p.mtx", {a, "--pattern", "--sort"}),
            "%%MatrixMarket matrix coordinate pattern general\n3 3 5\n1 1\n1 1\n3 1\n2 2\n1 3\n");
  EXPECT_EQ(converted("q.mtx", {in("p.mtx")}), text_of(in("p.mtx")));
  const auto skew =
      write("k.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 -5\n");
  EXPECT_EQ(converted("k2.mtx", {skew, "--pattern"}),
            "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n");
}

TEST_F(MatrixConvert, SortsAndKeepsDuplicates) {
  EXPECT_EQ(converted("b.mtx", {write("a.mtx", std::string(small)), "--sort"}),
            "%%MatrixMarket matrix coordinate real general\n3 3 5\n"
            "1 1 -4\n1 1 1e-300\n3 1 0.1\n2 2 0\n1 3 0.1\n");
}

TEST_F(MatrixConvert, WritesTitleKeyAndRightHandSide) {
  const auto a = write("a.mtx", std::string(small));
  const std::string text = converted("a.rb", {a, "--title", "a title", "--key", "KEY", "--rhs",
                                              write_vector("b.mtx", {1, 0.1, -3})});
  EXPECT_TRUE(text.starts_with(fmt::format("{:<72}{:<8}\n", "a title", "KEY")));
  const auto file = read_rb(in("a.rb"));
  EXPECT_EQ(std::get<std::vector<double>>(file.attached.rhs.values),
            (std::vector<double>{1, 0.1, -3}));
  EXPECT_TRUE(holds(converted("c.mtx", {a, "--title", "a title"}), "general\n% a title\n3 3 5\n"));
  EXPECT_TRUE(converted("a_long_name.rb", {a})
                  .starts_with(fmt::format("{:<72}{:<8}\n", "a_long_name", "a_long_n")));
  expect_refused({a, in("d.mtx"), "--key", "KEY"}, "--key goes with Rutherford-Boeing");
  expect_refused({a, in("d.rb"), "--key", "LONGER THAN 8"}, "a key has at most 8 bytes");
  expect_refused({a, in("d.rb"), "--rhs", write_vector("b2.mtx", {1, 2})},
                 "the right-hand side has 2 rows; the matrix has 3 rows");
}

std::vector<std::string> members_of(const fs::path& path) {
  krysol::Archive archive(path, 1 << 26);
  std::vector<std::string> names;
  while (const auto member = archive.next()) names.push_back(member->name);
  return names;
}

TEST_F(MatrixConvert, WritesArchivesLikeTheCollections) {
  const auto out = in("grid.tar.gz");
  const std::string said = convert({grid_, out.string()});
  EXPECT_EQ(said,
            fmt::format("{}: 900 x 900, integer symmetric, 4322 entries, Matrix Market in a tar "
                        "archive, {} bytes\n",
                        out.string(), fs::file_size(out)));
  EXPECT_EQ(files(), std::set<std::string>{"grid.tar.gz"});
  EXPECT_TRUE(text_of(out).starts_with("\x1f\x8b"));
  EXPECT_EQ(members_of(out), std::vector<std::string>{"grid/grid.mtx"});
  const auto before = krysol::read_matrix(grid_);
  const auto after = krysol::read_matrix(out);
  const auto& a = std::get<Triplets<double>>(before.matrix);
  const auto& b = std::get<Triplets<double>>(after.matrix);
  EXPECT_EQ(b.symmetry, Symmetry::symmetric);
  EXPECT_TRUE(b.row_idx == a.row_idx && b.col_idx == a.col_idx && b.values == a.values);
  EXPECT_EQ(after.attached.rhs.cols, 0);
  const std::string once = text_of(out);
  convert({out.string(), out.string()});
  EXPECT_EQ(text_of(out), once);  // no time stands in it
  EXPECT_EQ(run_exactly({grid_, "-", "--to", "tar"}).out.substr(0, 18),
            std::string("matrix/matrix.mtx") + '\0');
}

/// All printable characters of a file's name are kept, a blank among them; others are underscores.
TEST_F(MatrixConvert, NamesAMatrixByWhatIsPrintableOfItsFile) {
  const auto a = write("a.mtx", std::string(small));
  const std::pair<std::string, std::string> names[] = {{"a b~!", "a b~!"},
                                                       {"c\x1f"
                                                        "d\x7f",
                                                        "c_d_"},
                                                       {"e\tf", "e_f"},
                                                       {"g\xc3\xa9", "g__"}};
  for (const auto& [name, printable] : names) {
    EXPECT_TRUE(converted(name + ".rb", {a})
                    .starts_with(fmt::format("{:<72}{:<8}\n", printable, printable)))
        << printable;
    convert({a, in(name + ".tar").string()});
    EXPECT_EQ(members_of(in(name + ".tar")),
              std::vector<std::string>{printable + "/" + printable + ".mtx"});
  }
}

TEST_F(MatrixConvert, KeepsRightHandSidesInArchives) {
  const auto a = write("a.mtx", std::string(small));
  convert({a, in("a.rb").string(), "--rhs", write_vector("b.mtx", {1, 0.1, -3})});
  EXPECT_FALSE(holds(convert({in("a.rb").string(), in("a.tar.xz").string()}), "left out"));
  const std::vector<std::string> both = {"a/a.mtx", "a/a_b.mtx"};
  EXPECT_EQ(members_of(in("a.tar.xz")), both);
  EXPECT_EQ(std::get<std::vector<double>>(krysol::read_matrix(in("a.tar.xz")).attached.rhs.values),
            (std::vector<double>{1, 0.1, -3}));
  convert({a, in("c.tar").string(), "--rhs", in("b.mtx").string()});
  EXPECT_EQ(std::get<std::vector<double>>(krysol::read_matrix(in("c.tar")).attached.rhs.values),
            (std::vector<double>{1, 0.1, -3}));
}

/// Not the time of writing: the first of 1980, which is the first day that zip knows.
TEST_F(MatrixConvert, GivesAllMembersOfArchivesTheSameTime) {
  const auto a = write("a.mtx", std::string(small));
  convert({a, in("a.tar").string(), "--rhs", write_vector("b.mtx", {1, 0.1, -3})});
  const std::string tar = text_of(in("a.tar"));
  const auto octal_at = [&tar](std::size_t at) {
    return std::stoll(tar.substr(at, 11), nullptr, 8);
  };
  constexpr std::size_t block = 512;
  int members = 0;
  for (std::size_t at = 0; at + block <= tar.size() && tar[at] != '\0'; ++members) {
    EXPECT_EQ(octal_at(at + 136), 315532800) << members;  // the time, in seconds from 1970 on
    const auto size = static_cast<std::size_t>(octal_at(at + 124));
    at += block + (size + block - 1) / block * block;
  }
  EXPECT_EQ(members, 2);
}

TEST_F(MatrixConvert, NamesTheMemberThatItCannotWrite) {
  const auto bad =
      write("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 nan\n");
  expect_refused({bad, in("n.tar.gz"), "--not-finite", "keep"}, "n.tar.gz(n/n.mtx): ");
  expect_refused({grid_, in("k.tar"), "--key", "KEY"}, "--key goes with Rutherford-Boeing");
  expect_refused({grid_, "/dev/full", "--to", "tar"}, "/dev/full: cannot be written");
}

TEST_F(MatrixConvert, MayWriteTheFileThatItReads) {
  const auto a = write("a.mtx", std::string(small));
  convert({a, a, "--sort"});
  EXPECT_EQ(std::get<Triplets<double>>(krysol::read_matrix(a).matrix).values.size(), 5U);
  EXPECT_EQ(files(), std::set<std::string>{"a.mtx"});
}

TEST_F(MatrixConvert, RepairsWhereAsked) {
  const auto broken = write("a.mtx", "2 2 1\n1 1 4\n");
  expect_refused({broken, in("b.mtx")}, "a.mtx:1:1:");
  EXPECT_TRUE(holds(convert({broken, in("b.mtx"), "--repair"}), "; repaired: "));
  EXPECT_EQ(text_of(in("b.mtx")), "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 4\n");
}

TEST_F(MatrixConvert, SaysNothingOfRepairsAndRoundingWhereThereWereNone) {
  EXPECT_FALSE(holds(convert({grid_, in("b.mtx")}), ";"));
}

TEST_F(MatrixConvert, IntegersThatDoubleRoundsAreReported) {
  const auto large = write("a.mtx",
                           "%%MatrixMarket matrix coordinate integer general\n1 2 2\n"
                           "1 1 9007199254740993\n1 2 9223372036854775807\n");
  EXPECT_TRUE(holds(convert({large, in("b.mtx")}), "; integers beyond 2^53 rounded: 2"));
  EXPECT_EQ(text_of(in("b.mtx")),  // 2^63 is no integer of 64 bits any more
            "%%MatrixMarket matrix coordinate real general\n1 2 2\n"
            "1 1 9007199254740992\n1 2 9223372036854775808\n");
}

TEST_F(MatrixConvert, CountsTheIntegersThatDoubleRounds) {
  for (const int rounded : {1, 2, 3}) {
    std::string text = "%%MatrixMarket matrix coordinate integer general\n1 3 3\n";
    for (int col = 1; col <= 3; ++col) {
      text += "1 " + std::to_string(col) + (col <= rounded ? " 9007199254740993\n" : " 5\n");
    }
    const std::string number = std::to_string(rounded);
    const std::string said =
        convert({write("a" + number + ".mtx", text), in("b" + number + ".mtx")});
    EXPECT_TRUE(said.ends_with("; integers beyond 2^53 rounded: " + number + "\n")) << said;
  }
}

/// -2^63 fits 64 bits, and double holds it.
TEST_F(MatrixConvert, IntegersOf64BitsStayIntegers) {
  const std::string text =
      "%%MatrixMarket matrix coordinate integer general\n1 3 3\n"
      "1 1 -9223372036854775808\n1 2 9223372036854774784\n1 3 0\n";
  const std::string said = convert({write("a.mtx", text), in("b.mtx")});
  EXPECT_FALSE(holds(said, ";")) << said;
  EXPECT_EQ(text_of(in("b.mtx")), text);
}

TEST_F(MatrixConvert, RefusesBadUsageWithASentence) {
  expect_refused({}, "in is required");
  expect_refused({grid_}, "out is required");
  expect_refused({grid_, in("a.dat")}, "a.dat: its name does not say the format. Known are .mtx");
  expect_refused({grid_, in("a")}, "its name does not say the format");
  expect_refused({grid_, "-"}, "standard output has no suffix: add --to mtx");
  expect_refused({grid_, in("a.mtx"), "--to", "elk"}, "--to takes mtx, rb or tar");
  expect_refused({grid_, in("a.mtx"), "--general", "--symmetric"}, "--general");
  expect_refused({grid_, in("a.mtx"), "--threads", "0"}, "--threads");
  expect_refused({in("none.mtx"), in("a.mtx")}, "none.mtx: cannot be opened");
  expect_refused({in("none.mtx"), in("missing/a.mtx")}, "missing/a.mtx");
}

TEST_F(MatrixConvert, EveryOptionIsDocumented) {
  const std::string help = run_exactly({"--help"}).out;
  const std::string text =
      text_of(fs::path(KRYSOL_DATA_DIR).parent_path() / "docs" / "matrix_convert.md");
  int options = 0;
  for (auto at = help.find("\n  --"); at != std::string::npos; at = help.find("\n  --", at + 1)) {
    const std::string option = help.substr(at + 3, help.find_first_of(" \n", at + 3) - at - 3);
    EXPECT_TRUE(holds(text, "`" + option)) << option;
    ++options;
  }
  EXPECT_GT(options, 15);
}

TEST_F(MatrixConvert, SaysSoWhenTheDiskIsFull) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  expect_refused({grid_, "/dev/full", "--to", "rb"}, "/dev/full: cannot be written");
  const Outcome o = run_exactly({grid_, "-", "--to", "mtx"}, KRYSOL_MATRIX_CONVERT, "/dev/full");
  EXPECT_EQ(o.code, 2);
  EXPECT_TRUE(holds(o.err, "standard output: cannot be written: ")) << o.err;
}

TEST_F(MatrixConvert, WritesAProblemByItsName) {
  EXPECT_EQ(run_exactly({"neumann2d:2", in("n.mtx"), "--quiet"}).code, 0);
  EXPECT_EQ(text_of(in("n.mtx")),
            "%%MatrixMarket matrix coordinate real symmetric\n4 4 8\n"
            "1 1 2\n2 1 -1\n2 2 2\n3 1 -1\n3 3 2\n4 2 -1\n4 3 -1\n4 4 2\n");
  expect_refused({"neumann2d:2", in("o.mtx"), "--member", "a"}, "--member: neumann2d:2 is made");
}

}  // namespace
#endif
