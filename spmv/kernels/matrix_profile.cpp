// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/kernels/matrix_profile.hpp>

#include <algorithm>

#include <fmt/core.h>
#include <krysol/spmv/kernels/gathers.hpp>
#include <krysol/spmv/kernels/padding.hpp>
#include <krysol/spmv/kernels/row_lanes.hpp>

namespace krysol {
namespace {

struct LongestRow {
  Index entries = 0;
};

}  // namespace

double over_csr_in_lanes() {
  if (!has_row_lanes<double, double>) return 1;
  if (gathers_pay<double>()) return 1.3;
  return register_bytes >= 64 ? 1.2 : 1.5;
}

const Offset* MatrixProfile::row_ptr() const {
  return visit([](const auto& a) -> const Offset* { return a.row_ptr.data(); });
}

const Index* MatrixProfile::col_idx() const {
  return visit([](const auto& a) -> const Index* { return a.col_idx.data(); });
}

double MatrixProfile::mean_row() const {
  return static_cast<double>(nnz_) / std::max<Index>(rows_, 1);
}

Index MatrixProfile::longest_row() const {
  return once([this] {
           return LongestRow{visit([](const auto& a) { return krysol::longest_row(a); })};
         })
      .entries;
}

std::string in_megabytes(std::int64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

std::string refuse_more_than(std::int64_t mine, double factor, std::int64_t other,
                             std::string_view whose) {
  if (static_cast<double>(mine) <= factor * static_cast<double>(other)) return {};
  return fmt::format("{} against {} of {}", in_megabytes(mine), in_megabytes(other), whose);
}

}  // namespace krysol
