// The numbers of a sparse Cholesky factorization.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

#include <krysol/solver/cholesky/elimination.hpp>
#include <krysol/spmv/base/large_pages.hpp>

namespace krysol::sparse_cholesky {

/// Numbers that begin at a multiple of 64 bytes, unspecified at first: loops over several at a time
/// then take them in the same groups wherever they lie, and give the same bits.
struct FreeNumbers {
  void operator()(void* p) const noexcept { ::operator delete (p, std::align_val_t{64}); }
};
template <class W>
using Numbers = std::unique_ptr<W[], FreeNumbers>;
template <class W>
Numbers<W> numbers(std::size_t n) {
  static_assert(std::is_trivially_copyable_v<W>);
  void* const p = ::operator new (n * sizeof(W), std::align_val_t{64});
  use_large_pages(p, n * sizeof(W));
  return Numbers<W>(static_cast<W*>(p));
}

/// L of P A P' + sum over the lost pivots of e_k e_k' = L L^H. W: double or std::complex<double>.
template <class W>
struct Factors {
  Numbers<W> values{};    // as Elimination has them
  Index lost = 0;         // pivots that were nothing but rounding
  Index first_lost = -1;  // row of A
};

/// Multifrontal, supernode after supernode; several subtrees at a time, and tiles of large fronts.
/// The bits do not depend on the number of threads.
///
/// values  [nnz of A] as the pattern that was given to `eliminate`: entries with a column
///         eliminated no earlier than their row are read; where one has no mirror it counts if L
///         has an entry there
/// scale   [rows] S A S is factored, S = diag(scale), with ones on its diagonal
///
/// A pivot below 1e-14 is nothing but what rounding left of 0; 1 is put in its place, with nothing
/// below it, as if 1 had been added to A there. So an A that is singular, and positive
/// semidefinite, gets a positive definite L L^H that differs from it by as many directions as it
/// lacks. Throws PreconditionerRefusal, naming the row, where a pivot is below -1e-11 or not
/// finite; OutOfMemory, with the bytes of L and of fronts under way, where it is known that they do
/// not fit, else std::bad_alloc. Duff & Reid, ACM Trans. Math. Softw. 9(3), 1983,
/// DOI 10.1145/356044.356047; Liu, SIAM Review 34(1), 1992, DOI 10.1137/1034004.
template <class W>
Factors<W> numeric_factors(const Elimination& e, const Offset* row_ptr, const Index* col_idx,
                           const W* values, const double* scale);

/// x := (L L^H)^-1 x, with x in the order of elimination, at a multiple of 64 bytes.
template <class W>
void solve(const Elimination& e, const Factors<W>& factors, W* x);

}  // namespace krysol::sparse_cholesky
