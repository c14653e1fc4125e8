// The vectors that a solve works with, kept from one solve to the next.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include <krysol/spmv/base/reduction.hpp>

namespace krysol {

/// Given to a method, it makes repeated solves of one size free of allocations, with the same bits
/// as without. It serves one solve at a time, of any method and any size in turn.
///
///     krysol::Workspace<double> work;
///     for (...) krysol::cg(exec, a, b, x, m, stop, {}, {}, &work);
///
/// Where rows are spread over processes, `sums.all_reduce` joins their sums: each process gives its
/// own rows of b and x, and an operator whose `apply` exchanges what it needs of x. Row numbers in
/// a result are then those of the process. All processes take the same branches, and a time limit
/// or an observer of one of them ends the solve of all.
template <class T, class Exec = Kokkos::DefaultExecutionSpace>
struct Workspace {
  ReductionWorkspace<Exec> sums{};
  std::vector<Vector<T, Exec>> vectors{};  // each [rows], or empty where not used so far

  /// Vector number k with room for n entries, whatever they are. Throws OutOfMemory.
  Vector<T, Exec> vector(const Exec& exec, std::size_t k, const char* label, std::int64_t n) {
    if (vectors.size() <= k) vectors.resize(k + 1);
    Vector<T, Exec>& v = vectors[k];
    if (v.extent(0) != static_cast<std::size_t>(n)) {
      v = {};  // before the new one, which then fits where the two together would not
      v = uninitialized<T>(exec, label, n);
    }
    return v;
  }
};

}  // namespace krysol
