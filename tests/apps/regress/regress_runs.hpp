// Runs of the program regress.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "test_paths.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "apps/cg_solve_runs.hpp"

#if defined(KRYSOL_REGRESS) && defined(KRYSOL_CG_SOLVE)
namespace krysol_tests {

/// Runs of regress, each in a folder of its own.
class Regress : public ProgramTest {
 protected:
  Regress() : ProgramTest(KRYSOL_REGRESS, false) {}

  /// A run of the places given, without times.
  Outcome run_regress(Arguments arguments, const std::string& output = "run.json") const {
    arguments.insert(arguments.end(),
                     {"--turns", "0", "--jobs", "2", "--output", in(output).string()});
    return run_exactly(arguments);
  }
  /// The address sanitizer's memory differs by a factor of two from run to run.
  void leave_out_unsteady_memory([[maybe_unused]] const std::string& output) const {
#if defined(__SANITIZE_ADDRESS__)
    Json run = result(output);
    for (Json& e : run["solves"]) e["peak_bytes"] = 0;
    write(output, run.dump());
#endif
  }
  /// Exit code 2, nothing on standard output, one sentence that says so.
  void expect_refused(const Arguments& arguments, const std::string& why) const {
    const Outcome o = run_exactly(arguments);
    EXPECT_EQ(o.code, 2) << why;
    EXPECT_EQ(o.out, "");
    EXPECT_TRUE(o.err.starts_with("regress: error: ")) << o.err;
    EXPECT_TRUE(holds(o.err, why)) << o.err;
  }
  Json result(const std::string& output = "run.json") const {
    return Json::parse(text_of(in(output)));
  }

  /// A folder of a few small matrices.
  std::string matrices() const {
    fs::create_directories(in("m/GROUP"));
    krysol::write_matrix(in("m/chain.mtx"), chain(30));
    krysol::write_matrix(in("m/GROUP/other.mtx.gz"), chain(40));
    write("m/indefinite.mtx", indefinite);
    write("m/unsymmetric.mtx", unsymmetric);
    write("m/hermitian.mtx", hermitian);
    write("m/broken.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 x 3\n");
    write("m/notes.txt", "no matrix\n");
    write_vector("m/chain_b.mtx", std::vector<double>(30, 1.0));
    return in("m").string();
  }
  /// A folder of one matrix, whose right-hand side is 0.
  std::string matrix_without_load() const {
    fs::create_directories(in("m"));
    krysol::write_matrix(in("m/zero.mtx"), chain(9));
    write_vector("m/zero_b.mtx", std::vector<double>(9, 0.0));
    return in("m").string();
  }
  /// Of what --list printed, each with a blank behind it.
  static std::string names_in(const std::string& listing) {
    std::string names;
    for (const std::string& line : lines_of(listing))
      names += line.substr(0, line.find('\t')) + " ";
    return names;
  }
  std::string outcome_of(const Json& run, const std::string& matrix,
                         const char* key = "outcome") const {
    for (const Json& e : run["solves"]) {
      if (e["matrix"] == matrix)
        return e[key].is_string() ? e[key].get<std::string>() : e[key].dump();
    }
    return "no such solve";
  }
};

}  // namespace krysol_tests
#endif
