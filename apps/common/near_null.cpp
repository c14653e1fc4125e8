// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common/near_null.hpp"

#include <utility>
#include <vector>

#include <fmt/core.h>
#include "common/cli.hpp"

namespace krysol::apps {
namespace {

/// The numbers of a file, row by row.
std::vector<double> rows_of(const DenseFile& file, const std::string& name) {
  const auto rows = static_cast<std::size_t>(file.rows);
  const auto cols = static_cast<std::size_t>(file.cols);
  return std::visit(
      [&](const auto& values) -> std::vector<double> {
        using T = typename std::decay_t<decltype(values)>::value_type;
        std::vector<double> out(rows * cols);
        if constexpr (std::is_arithmetic_v<T>) {
          for (std::size_t j = 0; j < cols; ++j) {
            for (std::size_t i = 0; i < rows; ++i) {
              out[i * cols + j] = static_cast<double>(values[j * rows + i]);
            }
          }
          return out;
        } else {
          throw UsageError(fmt::format("{}: real numbers are needed, these are complex", name));
        }
      },
      file.values);
}

}  // namespace

std::shared_ptr<const NearNullVectors> near_null_from(const NearNullSource& from) {
  const std::string& name = from.vectors.empty() ? from.coordinates : from.vectors;
  if (name.empty()) return {};
  ReadOptions read = from.read;
  read.member.clear();  // names the matrix
  const DenseFile file = read_dense(name, read);
  std::vector<double> numbers = rows_of(file, name);
  if (!from.vectors.empty()) {
    return std::make_shared<const NearNullVectors>(
        NearNullVectors{.count = file.cols, .values = std::move(numbers)});
  }
  if (file.cols != 2 && file.cols != 3) {
    throw UsageError(
        fmt::format("{}: places of nodes have 2 or 3 columns, not {}", name, file.cols));
  }
  return std::make_shared<const NearNullVectors>(rigid_body_modes(numbers, file.cols));
}

}  // namespace krysol::apps
