// The number types that every folder shares.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace krysol {

/// A row or column number, 0-based. 32 bits: a matrix has at most 2^31 - 1 rows and columns.
using Index = std::int32_t;

/// A position among the nonzeros. 64 bits: 3 x 10^9 nonzeros must not overflow.
using Offset = std::int64_t;

}  // namespace krysol
