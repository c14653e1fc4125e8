// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/formats/symmetric_bsr.hpp>

#include <algorithm>

#include <krysol/spmv/kernels/matrix_profile.hpp>

namespace krysol {

FormatEstimate estimate_symmetric_bsr(const MatrixProfile& matrix) {
  constexpr auto word = static_cast<std::int64_t>(sizeof(std::uint16_t));
  const std::int64_t entries = triangle_entries(matrix);
  std::string refusal = refuse_unsymmetric_sample(matrix);
  if (refusal.empty()) refusal = refuse_block_sample(matrix);
  return {.bytes = entries * matrix.entry_bytes() +
                   static_cast<std::int64_t>(choose_block(matrix).indices *
                                             static_cast<double>(entries * word)),
          .refusal = refusal,
          .cached = 2 * over_csr_in_lanes()};  // each entry is multiplied twice
}

namespace detail {
namespace {

/// Are the entries of b rows from their diagonal block on made of full, aligned blocks?
bool full(const UpperRows& upper, Index first, Index b) {
  const Index n = upper.length(first);
  if (n % b != 0) return false;
  const Index* top = upper.col_idx + upper.begin(first);
  for (Index k = 0; k < n; k += b) {
    if (top[k] % b != 0) return false;
    for (Index d = 1; d < b; ++d) {
      if (top[k + d] != top[k] + d) return false;
    }
  }
  const bool diagonal = n > 0 && top[0] == first;
  for (Index r = 1; r < b; ++r) {
    // The diagonal block of row r has r entries before the diagonal.
    const Offset begin = upper.begin(first + r) - (diagonal ? r : 0);
    if (begin < upper.row_ptr[first + r] || upper.end(first + r) - begin != n ||
        !std::equal(top, top + n, upper.col_idx + begin)) {
      return false;
    }
  }
  return true;
}

}  // namespace

UnitSize BlockRowRule::operator()(Index first, Index count) const {
  if (count == block && full(upper, first, block)) {
    const Offset blocks = upper.length(first) / block;
    return {true, 1 + blocks, blocks * block * block};
  }
  Offset entries = 0;
  for (Index r = 0; r < count; ++r) entries += upper.length(first + r);
  return {false, 1 + count + entries, entries};
}

}  // namespace detail
}  // namespace krysol
