// Runs of the program spmv_bench.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "test_paths.hpp"

#include <utility>

#include <krysol/spmv/base/vector.hpp>
#include "programs.hpp"

#ifdef KRYSOL_SPMV_BENCH
namespace krysol_tests {

/// Two timed products each, which is enough to see what is said of them.
class SpmvBench : public ProgramTest {
 protected:
  SpmvBench() : ProgramTest(KRYSOL_SPMV_BENCH) {}

  Json bench(Arguments arguments, int code = 0) const {
    arguments.insert(arguments.end(), {"--iterations", "2", "--warm-up", "0"});
    return report(std::move(arguments), code);
  }
};

constexpr bool bench_on_host = krysol::on_host<Kokkos::DefaultExecutionSpace>;

}  // namespace krysol_tests
#endif
