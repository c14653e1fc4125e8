// Products of sparse matrices on the host, by all of its cores.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/coarsening/row_builder.hpp>

namespace krysol::multigrid {

/// R A P by rows: each is a sum of multiples of rows, in the order of the entries. No bit depends
/// on the number of threads. Columns of a row stand in the order in which they were met. R: coarse
/// x rows, A: rows x rows, P: rows x coarse. Throws std::invalid_argument where these do not fit,
/// OutOfMemory. Bytes beside the result: those of A P, of the result once more, and 8 a column of P
/// and thread. Gustavson, ACM TOMS 4(3), 1978, DOI 10.1145/355791.355796.
/// Both are instantiated in the library for double and complex<double>.
template <class S>
HostCsr<S> triple_product(const HostCsr<S>& r, const HostCsr<S>& a, const HostCsr<S>& p,
                          RowMemory<S>& memory);

/// The values of R A P where `to` has its pattern: for matrices of the patterns that `to` was made
/// from. Throws std::logic_error where an entry has no place.
template <class S>
void triple_product_values(const HostCsr<S>& r, const HostCsr<S>& a, const HostCsr<S>& p,
                           RowMemory<S>& memory, HostCsr<S>& to);

/// A B likewise.
template <class S>
HostCsr<S> product(const HostCsr<S>& a, const HostCsr<S>& b, RowMemory<S>& memory);

/// A', conjugated where complex. Columns ascend in its rows. Bytes beside it: 8 a row and thread.
template <class S>
HostCsr<S> adjoint_of_rows(const HostCsr<S>& a);

}  // namespace krysol::multigrid
