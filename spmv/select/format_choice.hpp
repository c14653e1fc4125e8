// What `auto` measured and chose, as plain data, to be shown, saved and used again.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace krysol {

/// How a format fared, or why it was not tried.
struct FormatTrial {
  std::string name;  // as make_operator takes it
  bool measured = false;
  double seconds = 0;          // a multiplication: the best of a few, in turns with the best so far
  double convert_seconds = 0;  // from csr
  std::int64_t bytes = 0;      // of its arrays; from the row lengths where it was not made
  double break_even = 0;       // multiplications that repay the conversion; 0 for csr, Inf: never
  std::string remark;          // why it was not measured
};

struct FormatChoice {
  std::string name;                 // give this to make_operator to repeat the run
  std::vector<FormatTrial> trials;  // all formats
  double seconds = 0;               // spent on conversions and timings
  std::string reason;               // a sentence
  bool reused = false;              // it is a saved one, and nothing was measured
  bool used_earlier = false;        // what an earlier run found slow was not measured again
  std::string mismatch;             // why a saved one was not taken
};

/// What tells a matrix from others.
struct MatrixFingerprint {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  std::uint64_t pattern = 0;  // a hash of row_ptr and col_idx
  std::uint64_t values = 0;   // a hash of the values, for formats that depend on them; else 0
};

/// A choice, and what it was made for: enough to give it back in another run.
struct TuningRecord {
  std::string version;  // of the program that saves it; not compared
  std::string entry;    // float, double, complex<float>, complex<double>
  std::string space;    // OpenMP, Serial, Cuda, HIP, as Kokkos names them
  int threads = 0;      // of the host; compared by TuningMemory, not by mismatch()
  bool with_dot = false;
  std::string order =
      "none";  // of the rows, as reorder() takes it; its caller's to fill in and use
  std::string preconditioner;  // as SolveOptions takes it, what a solve was made with; empty: none
  MatrixFingerprint matrix;    // in that order
  FormatChoice choice;
};

/// Where measurements stay from one run to the next. What holds them is the caller's: files, as
/// krysol::report::tuning_files makes it, or anything else.
struct TuningMemory {
  /// What was kept with the same entry, space, threads, with_dot and matrix as `wanted`.
  std::function<std::optional<TuningRecord>(const TuningRecord& wanted)> recall{};
  std::function<void(const TuningRecord&)> keep{};
};

}  // namespace krysol
