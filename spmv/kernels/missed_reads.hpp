// How a matrix's rows read x: from lines that are at hand, or from all over.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include <krysol/spmv/base/types.hpp>

namespace krysol {

/// Of the entries of x that a multiplication row by row reads, the share that would not be found in
/// a cache of 512 lines of 64 bytes, by a sample: 0.05 on a grid of seven points, nearly 1 where
/// columns are random. col_idx: [nnz]; x has entries of so many bytes. 0.1 ms.
double missed_reads(const Index* col_idx, Offset nnz, std::int64_t entry_bytes);

}  // namespace krysol
