// A matrix with all of its entries. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace krysol_tests {

/// rows x cols entries, zero where nothing else is given.
template <class E>
struct Dense {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::vector<E> entries{};  // [rows, cols] row by row

  Dense() = default;
  Dense(std::size_t r, std::size_t c) : rows(r), cols(c), entries(r * c) {}
  Dense(std::size_t r, std::size_t c, std::vector<E> e) : rows(r), cols(c), entries(std::move(e)) {}

  E& operator()(std::size_t i, std::size_t j) { return entries[i * cols + j]; }
  const E& operator()(std::size_t i, std::size_t j) const { return entries[i * cols + j]; }
};

}  // namespace krysol_tests
