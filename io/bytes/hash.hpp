// Fast hashes (XXH3), to find out whether bytes have changed.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace krysol {

/// The bytes in the order in which `xxhsum -H2` prints them.
using Hash128 = std::array<std::uint8_t, 16>;

/// XXH3 of 64 bits, seed 0: against accidents, not against enemies. Some 20 to 50 GB/s a core.
std::uint64_t hash64(std::string_view bytes);

/// XXH3 of 128 bits, seed 0.
Hash128 hash128(std::string_view bytes);

/// That of all bytes of an open file, wherever it has been read to. Throws FileError of `name`
/// where it cannot be read.
Hash128 hash128_of_file(int file, const std::string& name);

/// 32 digits.
std::string hex(const Hash128& hash);

}  // namespace krysol
