// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/formats/symmetric.hpp>

#include <krysol/spmv/kernels/matrix_profile.hpp>

namespace krysol {

FormatEstimate estimate_symmetric(const MatrixProfile& matrix) {
  const std::int64_t entries = triangle_entries(matrix);
  return {.bytes =
              entries * matrix.entry_bytes() + entries / Symmetric<double, Host>::slice *
                                                   static_cast<std::int64_t>(sizeof(std::uint16_t)),
          .refusal = refuse_unsymmetric_sample(matrix),
          .cached = 2.6 * over_csr_in_lanes()};  // each entry is multiplied twice, and added to y
                                                 // where its column says
}

namespace detail {

UnitSize SliceRule::operator()(Index first, Index count) const {
  constexpr Index C = Symmetric<double, Host>::slice;
  const Index n = upper.length(first);
  const Index* top = upper.col_idx + upper.begin(first);
  Offset entries = n;
  bool same = count == C;
  for (Index l = 1; l < count; ++l) {
    const Index length = upper.length(first + l);
    entries += length;
    if (!same || length != n) {
      same = false;
      continue;
    }
    const Index* row = upper.col_idx + upper.begin(first + l);
    Index differ = 0;
    for (Index k = 0; k < n; ++k) differ |= (row[k] - top[k]) ^ l;
    same = differ == 0;
  }
  return {same, 1 + (same ? n : count + entries), entries};
}

}  // namespace detail
}  // namespace krysol
