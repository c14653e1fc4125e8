// Rows parted into colours, no two of which are coupled.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include <krysol/spmv/matrix/host_csr.hpp>

namespace krysol {

/// [rows] colours from 0. Each row in turn takes the smallest that none of its neighbours has,
/// where rows are neighbours through an entry on either side of the diagonal. Instantiated in the
/// library for its entry types.
template <class T>
std::vector<Index> greedy_colours(const HostCsr<T>& a);

}  // namespace krysol
