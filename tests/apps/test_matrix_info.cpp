// The program matrix_info as its user meets it, and its properties about a collection of matrices.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_paths.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <krysol/io/read.hpp>
#include "analysis/analysis.hpp"
#include "documented_json.hpp"
#include "problems.hpp"
#include "programs.hpp"

#ifdef KRYSOL_MATRIX_INFO
namespace {

using namespace krysol_tests;
using krysol::analysis::Verdict;

class MatrixInfo : public ProgramTest {
 protected:
  MatrixInfo() : ProgramTest(KRYSOL_MATRIX_INFO, false) {
    ::setenv("LC_ALL", "C", 1);  // letters are ASCII unless a test says otherwise
  }
  ~MatrixInfo() override { ::unsetenv("LC_ALL"); }

  static std::string data(const std::string& name) {
    return (fs::path(KRYSOL_DATA_DIR) / name).string();
  }
  static std::string valid(const std::string& name) {
    return (fs::path(KRYSOL_TEST_DIR) / "matrices" / "valid" / name).string();
  }
  /// The signature of a PNG file, and the sizes that it declares.
  static std::pair<unsigned, unsigned> png_size(const std::string& bytes) {
    EXPECT_TRUE(bytes.starts_with("\x89PNG\r\n\x1a\n"));
    const auto number = [&](std::size_t at) {
      unsigned n = 0;
      for (std::size_t k = at; k < at + 4; ++k)
        n = 256 * n + static_cast<unsigned char>(bytes.at(k));
      return n;
    };
    return {number(16), number(20)};
  }
  bool draws_png() const { return holds(run_exactly({"--list"}).out, "PNG, shaded by density"); }
};

TEST_F(MatrixInfo, TellsWhatIsKnownOfAGrid) {
  const Outcome o = run({data("gr_30_30.mtx")});
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(o.err, "");
  for (const char* part :
       {"coordinate integer symmetric", "900 x 900, 7 744 nonzeros, 0.956 % of all places; 4 322",
        "4 to 9 nonzeros; mean 8.60, median 9", "8-15          784  ###",
        "31 below the diagonal, 31 above", "connected, of 900 rows", "pattern symmetric",
        "values symmetric, exactly", "positive, 8", "strictly dominant in 116 rows",
        "2 different numbers; -1 most often, in 6 844 places", "infinity 16",
        "condition at least 195", "definite   positive definite: Hermitian"}) {
    EXPECT_TRUE(holds(o.out, part)) << part << "\n" << o.out;
  }
#if defined(KOKKOS_ENABLE_OPENMP) && !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP)
  EXPECT_TRUE(holds(o.out, "1 thread)")) << o.out;
#endif
  EXPECT_FALSE(holds(o.out, "+---")) << "no letters where the output is no terminal";
}

/// Of A(i,i) = the i-th prime, A(i,j) = 1 where |i - j| is a power of two: no. 2 of the hundred-
/// digit problems. The numbers are those of the collection's page.
TEST_F(MatrixInfo, AgreesWithTheCollectionOnTrefethen2000) {
  const Json j = report({data("Trefethen_2000.mtx")}, 0);
  EXPECT_EQ(j["rows"], 2000);
  EXPECT_EQ(j["nonzeros"], 41906);
  EXPECT_EQ(j["file"]["stored_entries"], 21953);
  EXPECT_EQ(j["file"]["declared_symmetry"], "symmetric");
  EXPECT_EQ(j["diagonal"]["smallest"], 2);
  EXPECT_EQ(j["diagonal"]["largest"], 17389);
  EXPECT_EQ(j["values"]["distinct"], 2001);
  EXPECT_EQ(j["values"]["most_frequent"]["value"], 1);
  EXPECT_EQ(j["values"]["most_frequent"]["places"], 39906);
  EXPECT_EQ(j["band"]["lower"], 1024);
  EXPECT_EQ(j["components"]["count"], 1);
  EXPECT_NE(j["positive_definite"]["verdict"], "no");
  const auto largest = j["spectrum"]["eigenvalues"]["largest"].get<double>();
  EXPECT_LE(largest, 17389 + 21) << "Gershgorin";
  EXPECT_GE(largest + j["spectrum"]["eigenvalues"]["largest_residual"].get<double>(), 17389);
}

TEST_F(MatrixInfo, SaysTheSameOnAnyNumberOfThreads) {
  ::setenv("OMP_WAIT_POLICY", "passive", 1);  // more threads than cores
  auto t = poisson2d(150, 150, 0.3);
  Random random(5);
  for (double& v : t.values) v *= 1 + 1e-3 * random.number();
  const auto matrix = write("a.mtx", t);
  std::vector<Json> reports;
  for (const char* threads : {"1", "2", "4"}) {
    Json j = report({matrix, "--threads", threads, "--lanczos-steps", "4"}, 0);
#ifdef KOKKOS_ENABLE_OPENMP
    EXPECT_EQ(j["threads"], std::atoi(threads));
#endif
    j.erase("threads");
    j.erase("seconds");
    reports.push_back(j);
  }
  ::unsetenv("OMP_WAIT_POLICY");
  EXPECT_EQ(reports[0], reports[1]);
  EXPECT_EQ(reports[0], reports[2]);
}

TEST_F(MatrixInfo, CountsWhatTheFileStoresApart) {
  const auto matrix = write("a.mtx",
                            "%%MatrixMarket matrix coordinate real general\n3 4 5\n"
                            "1 1 2\n1 1 3\n2 4 0\n1 3 -1.5\n2 2 1\n");
  const Json j = report({matrix}, 0);
  EXPECT_EQ(j["file"]["stored_entries"], 5);
  EXPECT_EQ(j["file"]["duplicates"], 1);
  EXPECT_EQ(j["file"]["explicit_zeros"], 1);
  EXPECT_EQ(j["nonzeros"], 4);
  EXPECT_EQ(j["values"]["zeros"], 1);
  EXPECT_EQ(j["values"]["largest"], 5);
  EXPECT_EQ(j["symmetry"], nullptr);
  EXPECT_EQ(j["row_lengths"]["empty"]["first"], 3);
  EXPECT_EQ(j["rank_at_most"], 2);
  EXPECT_EQ(j["positive_definite"]["reason"], "not_square");
  const std::string text = run({matrix}).out;
  EXPECT_TRUE(holds(text, "1 duplicate entry was summed")) << text;
  EXPECT_TRUE(holds(text, "1 row is empty (first 3): the rank is not full")) << text;
}

TEST_F(MatrixInfo, CallsNoRectangleOfFullRankDeficient) {
  const std::string wide = "%%MatrixMarket matrix coordinate real general\n";
  const auto full = run({write("wide.mtx", wide + "3 5 3\n1 1 1\n2 2 1\n3 5 1\n")}).out;
  EXPECT_TRUE(holds(full, "2 columns are empty (first 3)\n")) << full;
  const auto tall = run({write("tall.mtx", wide + "5 2 2\n1 1 1\n5 2 1\n")}).out;
  EXPECT_TRUE(holds(tall, "3 rows are empty (first 2)\n")) << tall;
  const auto less = run({write("less.mtx", wide + "3 5 2\n1 1 1\n3 5 1\n")}).out;
  EXPECT_TRUE(holds(less, "1 row is empty (first 2): the rank is not full")) << less;
  EXPECT_TRUE(holds(less, "3 columns are empty (first 2): the rank is not full")) << less;
}

TEST_F(MatrixInfo, SaysWhereADiagonalIsNotReal) {
  const auto a = write("c.mtx",
                       "%%MatrixMarket matrix coordinate complex general\n2 2 2\n1 1 2 1\n"
                       "2 2 3 0\n");
  EXPECT_TRUE(holds(run({a}).out, "entry (1, 1) on the diagonal is not real")) << run({a}).out;
}

TEST_F(MatrixInfo, TellsTheSymmetriesOfComplexMatrices) {
  const Json h = report({valid("complex_hermitian.mtx")}, 0);
  EXPECT_EQ(h["symmetry"]["hermitian"]["exact"], true);
  const Json s = report({valid("complex_symmetric.mtx")}, 0);
  EXPECT_EQ(s["symmetry"]["symmetric"]["exact"], true);
  EXPECT_EQ(s["values"]["smallest"], nullptr);
  const Json k = report({valid("integer_skew.mtx")}, 0);
  EXPECT_EQ(k["symmetry"]["skew_symmetric"]["exact"], true);
  EXPECT_EQ(k["positive_definite"]["verdict"], "no");
}

TEST_F(MatrixInfo, HasAnAnswerForEveryValidFile) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(KRYSOL_TEST_DIR) / "matrices/valid")) {
    const Outcome o = run({entry.path().string(), "--spy", "-"});
    EXPECT_EQ(o.code, 0) << entry.path() << o.err;
    EXPECT_TRUE(holds(o.out, "definite   ")) << entry.path() << o.out;
    EXPECT_FALSE(holds(o.out, " nan") || holds(o.out, "(nan")) << entry.path() << o.out;
    ++files;
  }
  EXPECT_GT(files, 20);
}

TEST_F(MatrixInfo, WritesEveryFieldThatIsDocumentedAndNoOther) {
  const PathTypes table = documented("matrix_info.md");
  ASSERT_GT(table.size(), 80U);
  std::set<std::string> named;
  for (const auto& [path, types] : table) named.insert(path);
  PathTypes seen;
  const auto indefinite = write("i.mtx",
                                "%%MatrixMarket matrix coordinate real symmetric\n3 3 6\n"
                                "1 1 2\n2 1 -1.5\n2 2 2\n3 1 -1.5\n3 2 -1.5\n3 3 2\n");
  const auto broken = write("b.mtx",
                            "%%MatrixMarket matrix coordinate real general\n2 2 3\n"
                            "1 1 2 \n1 2 1\n2 2 nan\n");
  for (const Arguments& arguments : {Arguments{data("gr_30_30.mtx")},
                                     {indefinite},
                                     {data("gr_30_30.mtx"), "--no-lanczos"},
                                     {valid("complex_general.mtx")},
                                     {valid("empty_0x3.mtx")},
                                     {broken, "--repair"},
                                     {valid("coordinate_real_general.mtx")}}) {
    collect(report(arguments, 0), "", named, seen);
  }
  expect_documented(seen, table);
  for (const auto& [path, types] : table) EXPECT_EQ(seen.count(path), 1U) << path << " never came";
}

TEST_F(MatrixInfo, DrawsPicturesOfTheSizeAskedFor) {
  if (!draws_png()) GTEST_SKIP() << "this build has no libpng";
  const auto small = in("small.png").string();
  const auto large = in("large.png").string();
  const Outcome o =
      run({data("Trefethen_2000.mtx"), "--spy", small, "--spy-size", "200", "--quiet"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, "");
  EXPECT_EQ(run({data("Trefethen_2000.mtx"), "--spy", large, "--quiet"}).code, 0);
  const auto [small_width, small_height] = png_size(text_of(small));
  const auto [large_width, large_height] = png_size(text_of(large));
  EXPECT_GT(small_width, 200U);
  EXPECT_LT(small_width, 400U);
  EXPECT_GT(large_width, 800U);
  EXPECT_LT(large_width, 1000U);
  EXPECT_GT(large_height, 800U);
  EXPECT_LT(small_height, large_height);
  EXPECT_EQ(files(), (std::set<std::string>{"large.png", "small.png"})) << "nothing is left after";
}

TEST_F(MatrixInfo, DrawsInLettersThatTheTerminalKnows) {
  const auto matrix = data("Trefethen_20b.mtx");
  const Outcome ascii = run({matrix, "--spy", "-", "--quiet"});
  EXPECT_EQ(lines_of(ascii.out).size(), 22U);
  EXPECT_TRUE(holds(ascii.out, "| # # # . #")) << ascii.out;
  ::setenv("LC_ALL", "C.UTF-8", 1);
  const Outcome unicode = run({matrix, "--spy", "-", "--quiet"});
  EXPECT_TRUE(holds(unicode.out, "│ ■ ■ ■ · ■")) << unicode.out;
  EXPECT_EQ(run({matrix, "--spy", "-", "--quiet", "--ascii"}).out, ascii.out);
  const Outcome both = run({matrix, "--spy", "-", "--ascii"});
  EXPECT_TRUE(both.out.ends_with("\n" + ascii.out)) << both.out;
}

TEST_F(MatrixInfo, LeavesTheSpectrumOutOnRequest) {
  const Json j = report({data("Trefethen_2000.mtx"), "--no-lanczos"}, 0);
  EXPECT_EQ(j["spectrum"]["eigenvalues"], nullptr);
  EXPECT_EQ(j["spectrum"]["condition_at_least"], nullptr);
  const Json few = report({data("Trefethen_2000.mtx"), "--lanczos-steps", "5"}, 0);
  EXPECT_EQ(few["spectrum"]["eigenvalues"]["steps"], 5);
}

TEST_F(MatrixInfo, RefusesWhatCannotBe) {
  const auto matrix = data("gr_30_30.mtx");
  expect_refusal({}, "matrix is required");
  expect_refusal({in("none.mtx").string()}, "none.mtx");
  expect_refusal({matrix, "--spy", "a.svg"}, "a name that ends in .png, or -, not 'a.svg'");
  expect_refusal({matrix, "--spy-size", "3"}, "--spy-size");
  expect_refusal({matrix, "--json", "-"}, "add --quiet");
  expect_refusal({matrix, "--json", "-", "--quiet", "--spy", "-"}, "would mix");
  expect_refusal({matrix, "--json", in("no/such/folder.json").string()}, "folder.json");
  expect_refusal({matrix, "--lanczos-steps", "0"}, "--lanczos-steps");
  const auto broken =
      write("b.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n");
  expect_refusal({broken}, "b.mtx:3:1: ");
}

TEST_F(MatrixInfo, SaysThatRowsHaveNoRoomBeforeItAsksForThem) {
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  if (memory > 160e9) GTEST_SKIP() << "this machine has room for 2^31 rows";
  const auto matrix = write("a.mtx",
                            "%%MatrixMarket matrix coordinate real general\n"
                            "2147483647 2147483647 1\n2147483647 1 1\n");
  const Outcome o = run({matrix});
  EXPECT_EQ(o.code, 3) << o.out;
  EXPECT_TRUE(holds(o.err, "not enough memory")) << o.err;
}

TEST_F(MatrixInfo, MendsFilesOnRequest) {
  const auto broken =
      write("b.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 nan\n");
  EXPECT_EQ(run({broken}).code, 2);
  const Json j = report({broken, "--repair"}, 0);
  EXPECT_EQ(j["file"]["repairs"].size(), 1U);
  EXPECT_EQ(j["nonzeros"], 1);
}

TEST_F(MatrixInfo, TellsOfAProblemByItsName) {
  const Json j = report({"anisotropy:6"}, 0);
  EXPECT_EQ(j["rows"], 36);
  EXPECT_EQ(j["nonzeros"], 36 + 2 * 2 * 6 * 5);
}

TEST_F(MatrixInfo, TellsItsVersionItsOptionsAndItsReasons) {
  const Outcome version = run_exactly({"--version"});
  EXPECT_TRUE(version.out.starts_with("krysol ")) << version.out;
  const Outcome help = run_exactly({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const char* option :
       {"--spy", "--spy-size", "--ascii", "--json", "--lanczos-steps", "--no-lanczos", "--repair",
        "--quiet", "--threads", "--device", "--list", "--version", "Exit code"}) {
    EXPECT_TRUE(holds(help.out, option)) << option;
  }
  EXPECT_FALSE(holds(help.out, "--no-bandwidth"));
  const Outcome list = run_exactly({"--list"});
  for (const auto& reason : krysol::analysis::list_reasons()) {
    EXPECT_TRUE(holds(list.out, "  " + reason.name + " ")) << reason.name;
  }
}

// ---- a collection of matrices, and what its index says of them

struct Indexed {
  fs::path file;
  std::vector<std::string> cells;  // file name rows cols stored expanded field symmetry spd ...
};

std::vector<Indexed> indexed_matrices() {
  const fs::path folder = fs::path(KRYSOL_SHARED_DIR) / "matrices";
  std::ifstream in(folder / "INDEX.tsv");
  std::vector<Indexed> list;
  for (std::string line; std::getline(in, line);) {
    Indexed entry;
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, '\t');) entry.cells.push_back(cell);
    if (entry.cells.size() < 9 || entry.cells[0].find(".mtx") == std::string::npos) continue;
    if (entry.cells[7] == "rhs" || entry.cells[7] == "solution") continue;
    entry.file = folder / entry.cells[0];
    list.push_back(entry);
  }
  return list;
}

struct VerdictTally {
  int matrices = 0;
  int definite = 0;  // marked so
  int proved = 0;    // of those
  int others = 0;    // symmetric ones that are not marked so
  int refuted = 0;   // of those
};

void compare(const Indexed& entry, const krysol::MatrixFile& file,
             const krysol::analysis::MatrixReport& p, VerdictTally& tally) {
  const auto& cells = entry.cells;
  EXPECT_EQ(std::to_string(p.rows), cells[2]);
  EXPECT_EQ(std::to_string(p.cols), cells[3]);
  EXPECT_EQ(std::to_string(file.info.stored_entries), cells[4]);
  EXPECT_EQ(std::string(to_string(file.info.field)), cells[6]);
  EXPECT_EQ(std::string(to_string(file.info.symmetry)), cells[7]);
  EXPECT_EQ(std::to_string(p.nnz), cells[5]);
  EXPECT_TRUE(p.symmetry.symmetric.exact() || cells[7] != "symmetric");
  EXPECT_TRUE(p.symmetry.hermitian.exact() || cells[7] != "hermitian");
  EXPECT_TRUE(p.symmetry.skew.exact() || cells[7] != "skew-symmetric");
  ++tally.matrices;
  if (cells[8] == "yes") {
    ++tally.definite;
    EXPECT_NE(p.definite.verdict, Verdict::no) << p.definite.text;
    if (p.definite.verdict == Verdict::yes) ++tally.proved;
  } else if (p.symmetry.nearly_hermitian) {
    ++tally.others;
    EXPECT_NE(p.definite.verdict, Verdict::yes) << p.definite.text;
    if (p.definite.verdict == Verdict::no) ++tally.refuted;
  }
}

TEST(MatrixInfoCollection, NeverContradictsTheIndex) {
  const auto list = indexed_matrices();
  if (list.empty()) GTEST_SKIP() << "no folder of matrices: set KRYSOL_SHARED_DIR";
  VerdictTally tally;
  for (const Indexed& entry : list) {
    if (std::stoll(entry.cells[5]) > 30000) continue;  // seconds for the rest, minutes for all
    SCOPED_TRACE(entry.cells[0]);
    const auto file = krysol::read_matrix(entry.file);
    const auto matrix_report = std::visit(
        [](const auto& t) { return krysol::analysis::matrix_report_of(krysol::to_csr(t).matrix); },
        file.matrix);
    compare(entry, file, matrix_report, tally);
  }
  std::cout << tally.matrices << " matrices; of " << tally.definite
            << " positive definite ones proved: " << tally.proved << "; of " << tally.others
            << " other symmetric ones refuted: " << tally.refuted << "\n";
  EXPECT_GT(tally.matrices, 200);
  EXPECT_GT(tally.proved, 5);
  EXPECT_GT(tally.refuted, tally.others * 9 / 10);
}

}  // namespace
#endif
