// What the writer and the reader of caches share: the numbers of docs/matrix-cache.md, and what
// must hold of entries.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <string_view>

#include <krysol/io/model/matrix_file.hpp>
#include <krysol/spmv/matrix/triplets.hpp>

namespace krysol::cache_layout {

inline constexpr std::string_view magic{"\x89KMX\r\n\x1a\n", 8};
inline constexpr std::uint32_t byte_order = 0x01020304;  // 04 03 02 01 in the file
inline constexpr std::uint32_t version = 1;

/// To be raised whenever the same source and options give another matrix or FileInfo than before.
inline constexpr std::uint32_t readers = 1;

inline constexpr std::size_t start_bytes = 32;   // magic to length of the head
inline constexpr std::size_t fixed_bytes = 168;  // of the head, in front of its texts
inline constexpr std::size_t section_bytes = 32;
inline constexpr std::uint64_t alignment = 64;  // of a section, in bytes

/// A chunk of both indices and of values fits a core's second cache.
inline constexpr std::uint64_t chunk_entries = std::uint64_t{1} << 15;

inline constexpr std::uint32_t section_row_idx = 1;
inline constexpr std::uint32_t section_col_idx = 2;
inline constexpr std::uint32_t section_values = 3;
inline constexpr std::uint32_t section_vector = 4;  // the first of `attached_vectors`

/// What their entries are: 1 a signed number of 32 bits, 2 an IEEE double, 3 two of them.
template <class T>
inline constexpr std::uint32_t type_of = 0;
template <>
inline constexpr std::uint32_t type_of<Index> = 1;
template <>
inline constexpr std::uint32_t type_of<double> = 2;
template <>
inline constexpr std::uint32_t type_of<std::complex<double>> = 3;

/// The vectors that come with a matrix, in the order of their sections.
inline constexpr DenseFile AttachedVectors::*attached_vectors[] = {
    &AttachedVectors::rhs, &AttachedVectors::guess, &AttachedVectors::solution};

constexpr std::uint64_t aligned(std::uint64_t offset) {
  return (offset + alignment - 1) / alignment * alignment;
}
constexpr std::uint64_t chunks_of(std::uint64_t bytes, std::uint64_t chunk_bytes) {
  return bytes / chunk_bytes + (bytes % chunk_bytes != 0 ? 1 : 0);
}

/// True where all `n` entries are inside the matrix, and not above its diagonal where `symmetry`
/// stores one triangle (nor on it where that is skew).
bool entries_fit(const Index* row_idx, const Index* col_idx, std::size_t n, Index rows, Index cols,
                 Symmetry symmetry);

/// `work(k)` for k in [0, chunks), by so many threads, no more than one for 8 chunks. What it
/// throws ends the work of all and is thrown.
void for_chunks(std::uint64_t chunks, int threads, const std::function<void(std::uint64_t)>& work);

}  // namespace krysol::cache_layout
