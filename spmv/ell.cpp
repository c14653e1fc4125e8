// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/ell.hpp>

#include <fmt/format.h>

namespace krysol {

void refuse_padding(std::string_view format, Index rows, Index width, Offset nnz,
                    std::int64_t padded, std::int64_t csr) {
  if (padded <= always_allowed_bytes) return;
  if (static_cast<double>(padded) <= max_padding_factor * static_cast<double>(csr)) return;
  throw FormatRefusal(fmt::format(
      "format '{}' would pad all {} rows to the longest, {} entries: {} places for {} nonzeros, "
      "{:.1f} MB where csr takes {:.1f} MB; more than {} times csr is refused. Try csr or hyb",
      format, rows, width, static_cast<Offset>(rows) * width, nnz,
      static_cast<double>(padded) / 1e6, static_cast<double>(csr) / 1e6, max_padding_factor));
}

}  // namespace krysol
