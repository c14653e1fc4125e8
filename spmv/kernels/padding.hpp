// When padding is too much.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string_view>

#include <krysol/spmv/base/format_refusal.hpp>
#include <krysol/spmv/matrix/host_csr.hpp>

namespace krysol {

/// Padding that multiplies the memory of Csr by more than this is refused, unless all is small.
inline constexpr double max_padding_factor = 3.0;
inline constexpr std::int64_t always_allowed_bytes = std::int64_t{1} << 20;

/// Throws FormatRefusal where `slots`, each an entry and its column, take more bytes than
/// max_padding_factor times the matrix as csr.
template <class S>
void refuse_padding(std::string_view format, const HostCsr<S>& csr, Index longest, Offset slots);

/// The entries of the longest row.
template <class S>
Index longest_row(const HostCsr<S>& host) {
  Offset longest = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(host.rows); ++i) {
    longest = std::max(longest, host.row_ptr(i + 1) - host.row_ptr(i));
  }
  return static_cast<Index>(longest);  // at most cols entries where columns differ
}

namespace detail {
void refuse_padding(std::string_view format, Index longest, Offset slots, Offset nnz,
                    std::int64_t padded_bytes, std::int64_t csr_bytes);
}  // namespace detail

template <class S>
void refuse_padding(std::string_view format, const HostCsr<S>& csr, Index longest, Offset slots) {
  detail::refuse_padding(format, longest, slots, csr.nnz(),
                         slots * static_cast<std::int64_t>(sizeof(S) + sizeof(Index)), bytes(csr));
}

}  // namespace krysol
