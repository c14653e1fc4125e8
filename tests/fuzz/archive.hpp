// Files of any kind: through decompression and tar, as they are, with the checksums of tar headers
// made right (which chance never does), and compressed.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include <krysol/io/bytes/file.hpp>
#include <krysol/io/read.hpp>

#include "checks.hpp"

namespace krysol_fuzz {

/// The sum of a tar header, its own field taken for blanks, as tar writes it.
inline void repair_tar_header(std::string& bytes, std::size_t at) {
  constexpr std::size_t field = 148;
  constexpr std::size_t width = 8;
  constexpr std::size_t header = 512;
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at + field), width, ' ');
  unsigned sum = 0;
  for (std::size_t k = 0; k < header; ++k) sum += static_cast<unsigned char>(bytes[at + k]);
  for (std::size_t k = 6; k-- > 0; sum /= 8) {
    bytes[at + field + k] = static_cast<char>('0' + sum % 8);
  }
  bytes[at + field + 6] = '\0';
}

/// All headers, found by the sizes of the members before them.
inline std::string with_mended_tar_headers(std::string bytes) {
  constexpr std::size_t header = 512;
  for (std::size_t at = 0; at + header <= bytes.size() && bytes[at] != '\0';) {
    repair_tar_header(bytes, at);
    std::size_t size = 0;
    for (std::size_t k = at + 124; k < at + 136; ++k) {
      if (bytes[k] >= '0' && bytes[k] <= '7') {
        size = 8 * size + static_cast<std::size_t>(bytes[k] - '0');
      }
    }
    if (size > bytes.size()) break;
    at += header + (size + header - 1) / header * header;
  }
  return bytes;
}

inline Outcome<krysol::MatrixFile> read_any(const std::filesystem::path& path, bool repair) {
  const auto matrix = outcome_of([&] { return krysol::read_matrix(path, small_options(repair)); });
  if (matrix.result) require_sound(*matrix.result);
  const auto dense = outcome_of([&] { return krysol::read_dense(path, small_options(repair)); });
  if (dense.result) require_sound(*dense.result);
  return matrix;
}

inline void fuzz_archive(std::string_view bytes) {
  const bool repair = whim(bytes) % 2 != 0;
  read_any(Scratch::put("bytes", bytes), repair);
  if (krysol::is_compressed(bytes)) return;
  const std::string tar = with_mended_tar_headers(std::string(bytes));
  auto plain = read_any(Scratch::put("tar", tar), repair);
  if (whim(bytes) / 2 % 4 != 0) return;
  const auto path = Scratch::file("tar.gz");
  krysol::OutputFile file(path);
  file.write(tar);
  file.commit();
  const auto zipped = read_any(path, repair);
  require(plain.result.has_value() == zipped.result.has_value(), "compressed or not is the same");
  if (plain.result) require(same(*plain.result, *zipped.result), "compressed or not is the same");
}

}  // namespace krysol_fuzz
