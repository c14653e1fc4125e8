// Compressed sparse rows in host memory: what files, assembly and all conversions go through.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/base/scalar.hpp>
#include <krysol/spmv/base/vector.hpp>
#include <krysol/spmv/matrix/triplets.hpp>

namespace krysol {

/// A(i, col_idx[k]) = values[k] for row_ptr[i] <= k < row_ptr[i+1]: the container alone, without a
/// product. Columns ascend in a row where functions say so.
template <class S>
struct HostCsr {
  using value_type = S;

  Index rows = 0;
  Index cols = 0;
  Kokkos::View<Offset*, Host> row_ptr;  // [rows + 1] where each row begins; row_ptr[rows] = nnz
  Kokkos::View<Index*, Host> col_idx;   // [nnz] column of each entry
  Kokkos::View<S*, Host> values;        // [nnz]

  Offset nnz() const { return static_cast<Offset>(values.extent(0)); }
};

/// Bytes of the three arrays.
template <class S>
std::int64_t bytes(const HostCsr<S>& a) {
  return a.nnz() * static_cast<std::int64_t>(sizeof(S) + sizeof(Index)) +
         static_cast<std::int64_t>(a.row_ptr.extent(0) * sizeof(Offset));
}

/// A matrix from triplets, and what was found on the way.
template <class S>
struct Assembled {
  HostCsr<S> matrix;
  std::int64_t duplicates = 0;      // stored entries that were added to an earlier one
  std::int64_t explicit_zeros = 0;  // stored entries that are zero; they are kept
};

/// A(i, j) = sum of the values at (i, j), and of those that the symmetry mirrors there: rows sorted
/// by column, duplicates summed in the order in which they stand. Explicit zeros are kept.
///
/// A list with a symmetry gives one triangle, upper or lower. One with entries on both sides of the
/// diagonal is refused, because mirroring would double them: where they are meant, `given` is
/// `Triangles::both`. Whether they agree is not compared then; solvers do that.
///
/// Throws std::invalid_argument where arrays differ in length, an index is outside the matrix, a
/// matrix with a symmetry is not square or has entries on both sides of its diagonal (unless
/// `both`), and for what no diagonal may hold: an imaginary part where Hermitian, anything but 0
/// where skew-symmetric. Messages count from 0. std::logic_error after Kokkos::finalize.
template <class T>
Assembled<DeviceScalar<T>> to_csr(const Triplets<T>& entries, Triangles given = Triangles::one);

/// Throws std::invalid_argument, naming the place, unless row_ptr ascends from 0 to nnz and all
/// columns are inside the matrix.
template <class S>
void check(const HostCsr<S>& a);

/// True where a and b have entries at the same places, in the same order: shape, row_ptr and
/// col_idx agree. By all threads of the host; arrays that are shared are not read.
template <class S>
bool same_pattern(const HostCsr<S>& a, const HostCsr<S>& b);

}  // namespace krysol
