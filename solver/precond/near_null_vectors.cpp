// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/precond/near_null_vectors.hpp>

#include <array>
#include <cmath>
#include <stdexcept>

#include <fmt/core.h>
#include <krysol/spmv/base/finite.hpp>

namespace krysol {

NearNullVectors rigid_body_modes(const std::vector<double>& coordinates, Index dimensions) {
  if (dimensions != 2 && dimensions != 3) {
    throw std::invalid_argument(fmt::format(
        "rigid_body_modes: coordinates in {} dimensions; there must be 2 or 3", dimensions));
  }
  const auto d = static_cast<std::size_t>(dimensions);
  const std::size_t nodes = coordinates.size() / d;
  if (nodes * d != coordinates.size()) {
    throw std::invalid_argument(
        fmt::format("rigid_body_modes: {} coordinates do not make up nodes in {} dimensions",
                    coordinates.size(), dimensions));
  }
  std::array<double, 3> middle{};
  for (std::size_t k = 0; k < coordinates.size(); ++k) {
    if (!is_finite(coordinates[k])) {
      throw std::invalid_argument(fmt::format(
          "rigid_body_modes: coordinate {} of node {} is not finite", k % d + 1, k / d + 1));
    }
    middle[k % d] += coordinates[k] / static_cast<double>(nodes);
  }
  double square = 0;  // the mean over nodes
  for (std::size_t k = 0; k < coordinates.size(); ++k) {
    const double x = coordinates[k] - middle[k % d];
    square += x * x / static_cast<double>(nodes);
  }
  const double scale = square > 0 ? 1 / std::sqrt(square) : 1;
  NearNullVectors out;
  out.block = dimensions;
  out.count = dimensions == 2 ? 3 : 6;
  const auto count = static_cast<std::size_t>(out.count);
  out.values.assign(nodes * d * count, 0);
  for (std::size_t node = 0; node < nodes; ++node) {
    double* const rows = out.values.data() + node * d * count;
    for (std::size_t u = 0; u < d; ++u) rows[u * count + u] = 1;
    std::size_t mode = d;
    for (std::size_t p = 0; p < d; ++p) {
      for (std::size_t q = p + 1; q < d; ++q, ++mode) {
        rows[p * count + mode] = -scale * (coordinates[node * d + q] - middle[q]);
        rows[q * count + mode] = scale * (coordinates[node * d + p] - middle[p]);
      }
    }
  }
  return out;
}

void check_near_null(const NearNullVectors& v, Index rows) {
  constexpr Index most = most_near_null_vectors;
  if (v.count < 1 || v.count > most) {
    throw std::invalid_argument(
        fmt::format("near-null vectors: {} of them; there must be 1 to {}", v.count, most));
  }
  const auto count = static_cast<std::size_t>(v.count);
  if (v.values.size() != static_cast<std::size_t>(rows) * count) {
    throw std::invalid_argument(
        fmt::format("near-null vectors: {} of {} rows for a matrix of {} rows", v.count,
                    v.values.size() / count, rows));
  }
  if (v.block < 0 || (v.block > 0 && rows % v.block != 0)) {
    throw std::invalid_argument(fmt::format(
        "near-null vectors: nodes of {} rows do not make up a matrix of {}", v.block, rows));
  }
  for (std::size_t k = 0; k < v.values.size(); ++k) {
    if (is_finite(v.values[k])) continue;
    throw std::invalid_argument(fmt::format("near-null vectors: row {} of vector {} is not finite",
                                            k / count + 1, k % count + 1));
  }
}

NearNullVectors reordered(const NearNullVectors& v, const std::vector<Index>& order) {
  NearNullVectors out;
  out.count = v.count;
  const auto count = static_cast<std::size_t>(v.count);
  out.values.reserve(v.values.size());
  for (const Index row : order) {
    const auto from =
        v.values.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(row) * count);
    out.values.insert(out.values.end(), from, from + v.count);
  }
  return out;
}

}  // namespace krysol
