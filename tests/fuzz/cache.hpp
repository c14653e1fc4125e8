// Caches of matrices: whatever the bytes, a sound matrix or an error, and there and back the same.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/io/bytes/file.hpp>
#include <krysol/io/bytes/hash.hpp>
#include <krysol/io/cache/cache_format.hpp>

#include "checks.hpp"

namespace krysol_fuzz {

/// Where the bytes hold a whole head: as if they had been written so, for a checksum that must
/// be guessed keeps everything after it untried.
inline std::string sealed(std::string_view bytes) {
  std::string text(bytes);
  constexpr std::size_t at_size = 24;
  if (text.size() < at_size + 16) return text;
  std::uint64_t head = 0;
  for (std::size_t k = 0; k < 8; ++k) {
    head |= std::uint64_t{static_cast<unsigned char>(text[at_size + k])} << (8 * k);
  }
  if (head < at_size + 16 || head > text.size()) return text;
  const std::uint64_t sum = krysol::hash64(std::string_view(text).substr(0, head - 8));
  for (std::size_t k = 0; k < 8; ++k) text[head - 8 + k] = static_cast<char>(sum >> (8 * k) & 0xff);
  return text;
}

/// As `require_sound`, but numbers may be any: a cache keeps what its options let pass.
template <class T>
void require_places(const krysol::Triplets<T>& a) {
  krysol::Triplets<double> places{a.rows, a.cols, a.symmetry, a.row_idx, a.col_idx, {}};
  places.values.resize(a.values.size(), 1.0);
  require_sound(places);
}

inline void fuzz_cache(std::string_view bytes) {
  for (const std::string& text : {std::string(bytes), sealed(bytes)}) {
    const auto cache = outcome_of([&] { return krysol::parse_cache(text, "cache"); });
    if (!cache.result) continue;
    std::visit([](const auto& a) { require_places(a); }, cache.result->file.matrix);
    const auto path = Scratch::put("cache", {});
    krysol::OutputFile out(path, {.sync = false});
    krysol::write_cache(out, cache.result->source, cache.result->file, 1);
    out.commit();
    const krysol::FileText again = krysol::read_text(path, std::int64_t{1} << 24);
    const auto back = krysol::parse_cache(again.view(), "cache");
    require(same(back.file, cache.result->file), "a cache keeps every bit");
    require(back.source.path == cache.result->source.path, "a cache keeps its source");
  }
}

}  // namespace krysol_fuzz
