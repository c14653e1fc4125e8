// Numbers as text: the inner loop of writing.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

namespace krysol {

/// The text of a number at most, and what the functions below may write after it.
inline constexpr std::size_t longest_number = 24;
inline constexpr std::size_t spare_bytes = 16;

/// Each writes a number at p and returns the place after it.
char* put_whole(char* p, std::uint64_t value);
char* put_whole(char* p, std::int64_t value);

/// The fewest digits that read back to the same bits, of those the nearest, with an exponent where
/// that is shorter: byte for byte as std::to_chars, at half its cost. `nan` and `inf` too.
char* put_real(char* p, double value);

/// The same digits as Fortran wants them: always a point, a digit on each side of it and an
/// exponent of two or three digits, as in -1.5E+00. Of a finite value.
char* put_scientific(char* p, double value);

}  // namespace krysol
