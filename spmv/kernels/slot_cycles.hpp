// What a core takes for slots of eight rows, by which the formats of slices are put in order before
// any of them is timed.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/base/registers.hpp>
#include <krysol/spmv/kernels/matrix_profile.hpp>

namespace krysol {

/// About the cycles that a core takes for a slot in this build, as seen on a Xeon with AMX: loads
/// of neighbours, of some of them; out of a window two loads and a permutation with AVX-512, a
/// gather elsewhere (and for float); a gather. Registers of four numbers take each in two halves.
/// Only ratios matter.
constexpr bool wide_registers = register_bytes >= 64;
constexpr double cycles_of_neighbours = wide_registers ? 2 : 3;
constexpr double cycles_of_some_neighbours = wide_registers ? 2.3 : 3.4;
constexpr double cycles_of_window = wide_registers ? 3.5 : 6.2;
constexpr double cycles_of_any_columns = wide_registers ? 6 : 6.6;
constexpr double cycles_of_slice = 8;
constexpr double cycles_of_sorted_slice = 14;  // results go to rows here and there

/// Slots of a matrix, by how their eight entries of x are read.
struct SlotCounts {
  double neighbours = 0;  // as they lie
  double partial = 0;     // the same, some of the eight
  double windows = 0;     // out of window_entries neighbours, in any order
  double scattered = 0;   // from anywhere
  double slices = 0;      // of eight rows
  bool sorted = false;    // rows are not in their order
};

/// FormatEstimate::cached of a format with such slots, and of so many bytes: cycles, as seen on a
/// Xeon with AMX in builds with AVX-512 and AVX2, over those of csr; but where csr leaves the
/// second-level caches no less than bytes let expect.
double cached_slots(const MatrixProfile& matrix, const SlotCounts& slots, std::int64_t bytes);

}  // namespace krysol
