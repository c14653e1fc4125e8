// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/kernels/padding.hpp>

#include <fmt/core.h>

namespace krysol {

void refuse_padding(std::string_view format, std::string_view cause, Offset slots, Offset nnz,
                    std::int64_t padded_bytes, std::int64_t csr_bytes) {
  if (padded_bytes <= always_allowed_bytes) return;
  if (static_cast<double>(padded_bytes) <= max_padding_factor * static_cast<double>(csr_bytes)) {
    return;
  }
  throw FormatRefusal(fmt::format(
      "format '{}' would store {} slots for {} nonzeros, because {}: "
      "{:.1f} MB where csr takes {:.1f} MB; more than {} times csr is refused. Try csr or hyb",
      format, slots, nnz, cause, static_cast<double>(padded_bytes) / 1e6,
      static_cast<double>(csr_bytes) / 1e6, max_padding_factor));
}

}  // namespace krysol
