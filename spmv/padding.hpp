// When padding is too much.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <stdexcept>
#include <string_view>

#include <krysol/spmv/csr.hpp>

namespace krysol {

/// Padding that multiplies the memory of Csr by more than this is refused, unless all is small.
inline constexpr double max_padding_factor = 3.0;
inline constexpr std::int64_t always_allowed_bytes = std::int64_t{1} << 20;

/// A format that cannot reasonably hold a matrix. The message holds the numbers that rule it out.
class FormatRefusal : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// Throws FormatRefusal where `places`, each an entry and its column, take more bytes than
/// max_padding_factor times the matrix as csr.
template <class S>
void refuse_padding(std::string_view format, const HostCsr<S>& csr, Index longest, Offset places);

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
void refuse_padding(std::string_view format, Index longest, Offset places, Offset nnz,
                    std::int64_t padded_bytes, std::int64_t csr_bytes);
}  // namespace detail

template <class S>
void refuse_padding(std::string_view format, const HostCsr<S>& csr, Index longest, Offset places) {
  detail::refuse_padding(format, longest, places, csr.nnz(),
                         places * static_cast<std::int64_t>(sizeof(S) + sizeof(Index)), bytes(csr));
}

}  // namespace krysol
