// The limit of padding: when a padded format refuses a matrix.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>

#include <krysol/spmv/base/format_refusal.hpp>
#include <krysol/spmv/matrix/host_csr.hpp>

namespace krysol {

/// Padding that multiplies the memory of Csr by more than this is refused, unless all is small.
inline constexpr double max_padding_factor = 3.0;
inline constexpr std::int64_t always_allowed_bytes = std::int64_t{1} << 20;

/// Throws FormatRefusal where `slots` of `padded_bytes` in all take more than max_padding_factor
/// times the bytes of csr. `cause`: what makes them many, as in "the longest row has 9 entries".
void refuse_padding(std::string_view format, std::string_view cause, Offset slots, Offset nnz,
                    std::int64_t padded_bytes, std::int64_t csr_bytes);

/// The same for slots of an entry and its column each, or of `slot_bytes`, because of the longest
/// row.
template <class S>
void refuse_padding(std::string_view format, const HostCsr<S>& csr, Index longest, Offset slots,
                    std::size_t slot_bytes = sizeof(S) + sizeof(Index)) {
  refuse_padding(format, "the longest row has " + std::to_string(longest) + " entries", slots,
                 csr.nnz(), slots * static_cast<std::int64_t>(slot_bytes), bytes(csr));
}

/// The entries of the longest row.
template <class S>
Index longest_row(const HostCsr<S>& host) {
  Offset longest = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(host.rows); ++i) {
    longest = std::max(longest, host.row_ptr(i + 1) - host.row_ptr(i));
  }
  return static_cast<Index>(longest);  // at most cols entries where columns differ
}

}  // namespace krysol
