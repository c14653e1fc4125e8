// cg_solve on what files and archives bring along, and the options that decide how they are read.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_paths.hpp"

#include "programs.hpp"

#include <krysol/io/harwell_boeing/harwell_boeing.hpp>
#include <krysol/io/read.hpp>

#include "tar_texts.hpp"

#ifdef KRYSOL_CG_SOLVE
namespace {

using namespace krysol_tests;

class CgSolveFiles : public ProgramTest {
 protected:
  CgSolveFiles() : ProgramTest(KRYSOL_CG_SOLVE) {}

  std::vector<double> solution(Arguments arguments) const {
    const fs::path x = in("x.mtx");
    arguments.insert(arguments.end(), {"--output", x.string(), "--quiet"});
    const Outcome o = run(arguments);
    EXPECT_EQ(o.code, 0) << o.err;
    if (o.code != 0) return {};
    auto values = std::get<std::vector<double>>(krysol::read_dense(x).values);
    fs::remove(x);
    return values;
  }
};

const std::string diagonal =
    "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 2\n2 2 4\n";

std::string vector_text(const std::string& numbers) {
  return "%%MatrixMarket matrix array real general\n2 1\n" + numbers + "\n";
}

TEST_F(CgSolveFiles, TakesTheRightHandSideOfAnArchive) {
  const std::string tar =
      tar_member("a/a_b.mtx", vector_text("2\n8")) + tar_member("a/a.mtx", diagonal) + tar_end();
  const auto archive = write("a.tar", tar);
  EXPECT_EQ(solution({archive}), (std::vector<double>{1, 2}));
  EXPECT_EQ(report({archive}, 0)["rhs"], "attached (found with the matrix)");
  EXPECT_EQ(report({archive, "--rhs", "attached"}, 0)["rhs"], "attached");
  EXPECT_EQ(solution({archive, "--rhs", "A*ones"}), (std::vector<double>{1, 1}));
  const auto bare = write("bare.tar", tar_member("a/a.mtx", diagonal) + tar_end());
  EXPECT_EQ(report({bare}, 0)["rhs"], "A*random:1");
  expect_refusal({bare, "--rhs", "attached"}, "the right-hand side: the file holds none");
  expect_refusal({bare, "--member", "b.mtx"}, "holds no file b.mtx, only a/a.mtx");
}

TEST_F(CgSolveFiles, ErrorsInArchivesNameTheMember) {
  const auto archive = write("a.tar", tar_member("a/a.mtx", diagonal + "junk\n") + tar_end());
  expect_refusal({archive}, "a.tar(a/a.mtx):5:1: expected the end of the file");
}

TEST_F(CgSolveFiles, TakesVectorsOfAHarwellBoeingFile) {
  krysol::Triplets<double> a;
  a.rows = a.cols = 2;
  a.symmetry = krysol::Symmetry::symmetric;
  a.add(0, 0, 2);
  a.add(1, 1, 4);
  const auto path = in("a.rsa");
  krysol::write_rutherford_boeing(path, a, {}, {4, 4});
  EXPECT_EQ(solution({path.string()}), (std::vector<double>{2, 1}));
  expect_refusal({path.string(), "--x0", "attached"}, "the starting guess: the file holds none");
}

TEST_F(CgSolveFiles, ReadsStandardInput) {
  const auto matrix = write("a.mtx", diagonal);
  const Outcome o =
      run_exactly({"-c", fmt::format("'{}' - --rhs ones --quiet --no-bandwidth --json '{}' < '{}'",
                                     program_, in("r.json").string(), matrix)},
                  "/bin/sh");
  EXPECT_EQ(o.code, 0) << o.err;
  const Json j = Json::parse(text_of(in("r.json")));
  EXPECT_EQ(j["matrix"]["rows"], 2);
  EXPECT_EQ(j["matrix"]["file"], "-");
}

TEST_F(CgSolveFiles, PoliciesDecideAboutBrokenFiles) {
  const auto twice = write("a.mtx",
                           "%%MatrixMarket matrix coordinate real symmetric\n"
                           "2 2 3\n1 1 2\n2 2 4\n1 1 6\n");
  EXPECT_EQ(solution({twice, "--rhs", "ones"}), (std::vector<double>{1.0 / 8, 1.0 / 4}));
  EXPECT_EQ(solution({twice, "--rhs", "ones", "--duplicates", "first"}),
            (std::vector<double>{1.0 / 2, 1.0 / 4}));
  expect_refusal({twice, "--duplicates", "reject"},
                 "a.mtx:5:1: entry (1, 1) is there already, on line 3");
  const auto from_zero = write("z.mtx",
                               "%%MatrixMarket matrix coordinate real symmetric\n"
                               "2 2 2\n0 0 2\n1 1 4\n");
  expect_refusal({from_zero}, "z.mtx:3:1: row index 0");
  const Json j = report({from_zero, "--index-base", "zero", "--rhs", "ones"}, 0);
  EXPECT_EQ(j["matrix"]["repairs"].size(), 1U);
  const Outcome o = run({twice, "--duplicates", "none"});
  EXPECT_EQ(o.code, 2);
}

TEST_F(CgSolveFiles, KeepsTheParsedMatrix) {
  const auto matrix = write("a.mtx", diagonal);
  const auto caches = in("caches");
  fs::last_write_time(matrix, fs::last_write_time(matrix) - std::chrono::hours(1));
  const auto note = [&](const Arguments& more) {
    Arguments arguments = {matrix, "--cache-folder", caches.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Json notes = report(arguments, 0)["notes"];
    return notes.empty() ? std::string() : notes.at(0).get<std::string>();
  };
  EXPECT_TRUE(holds(note({}), "written to " + caches.string()));
  EXPECT_TRUE(holds(note({}), "read from " + caches.string()));
  EXPECT_TRUE(holds(note({"--verify-cache"}), "read from "));
  EXPECT_TRUE(holds(note({"--low-memory"}), "not used"));
  write("a.mtx", diagonal + "\n");
  EXPECT_FALSE(holds(note({}), "read from "));
}

}  // namespace
#endif
