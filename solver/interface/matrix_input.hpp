// From anybody's compressed rows to the rows that Krysol works on.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include <krysol/solver/interface/csr_view.hpp>
#include <krysol/spmv/matrix/host_csr.hpp>

namespace krysol {

/// A matrix in the caller's arrays, where their types agree, and in copies of the others.
///
/// | array   | shared where                                      | else                         |
/// |---------|---------------------------------------------------|------------------------------|
/// | row_ptr | 64 bits, from 0                                   | one pass over n + 1 integers |
/// | col_idx | 32 bits, from 0, no gaps between rows             | one pass                     |
/// | values  | double or complex<double>, no gaps between rows   | one pass                     |
///
/// Compressed columns of A are the rows of A'; complex values are conjugated, in one pass, which
/// makes them the rows of A^H. That is A where A is symmetric (Hermitian); only where it is not, to
/// the last bit, does the Solver transpose. `passes` lists the copies that were made.
template <class T>
struct MatrixInput {
  HostCsr<T> csr;        // A, or A^H where `adjoint`
  bool adjoint = false;  // the arrays were compressed columns
  bool gaps = false;     // rows of the caller's arrays end before the next one begins
  bool shares_values = false;
  ScalarsRef values{};  // the caller's
  std::shared_ptr<const void> keep{};
  std::vector<std::string> passes{};
};

/// Throws std::invalid_argument, naming the place from 0, where row pointers do not ascend from
/// `base` to the number of entries, a column is outside the matrix, or the columns of a row do not
/// ascend. Bytes moved: 4 a nonzero and 8 a row to check, and the passes of MatrixInput.
/// Instantiated in the library for double and Kokkos::complex<double>.
template <class T>
MatrixInput<T> matrix_input(const CsrArrays& arrays);

/// Other values of the same matrix, in the order of the caller's arrays, as values of input.csr.
/// A copy, or an array that is shared where `share` is true and the types agree.
/// Throws std::invalid_argument where there are not as many, or the input has gaps.
template <class T>
Kokkos::View<T*, Host> converted_values(const MatrixInput<T>& input, const ScalarsRef& values,
                                        bool share);

/// A^H in rows, for an input that was compressed columns of an A that is not Hermitian.
template <class T>
HostCsr<T> adjoint_of(const HostCsr<T>& a);

}  // namespace krysol
