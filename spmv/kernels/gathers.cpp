// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/kernels/gathers.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

#include <krysol/spmv/kernels/slots.hpp>

namespace krysol::detail {
namespace {

#ifdef KRYSOL_VECTOR_TYPES

template <class T>
constexpr bool gathers_by_instruction = has_gather<T, pack_width> || has_gather<T, pack_width / 2>;

/// Entries of a matrix within the first cache, and x.
template <class T>
struct GatherTrial {
  static constexpr int entries = 1024;
  static constexpr int cols = 512;
  Index col[entries];
  T value[entries];
  T x[cols];

  GatherTrial() {
    for (int k = 0; k < entries; ++k) {
      col[k] = k * 197 % cols;  // no two neighbours side by side
      value[k] = T(1);
    }
    for (T& entry : x) entry = T(1);
  }

  KRYSOL_KEEP_APART T sum(bool gathers) const {
    constexpr int chains = 4;  // additions do not wait for each other
    EightSums<T> total[chains] = {};
    for (int k = 0; k < entries; k += chains * pack_width) {
      for (int c = 0; c < chains; ++c) {
        const int at = k + c * pack_width;
        add_eight_entries(col + at, value + at, x, gathers, total[c]);
      }
    }
    for (int c = 1; c < chains; ++c) total[0] += total[c];
    return total[0].sum();
  }
};

template <class T>
bool measure() {
  if (!gathers_by_instruction<T>) return false;
  using Clock = std::chrono::steady_clock;
  const GatherTrial<T> trial;
  constexpr int turns = 12;
  std::chrono::nanoseconds least[2] = {std::chrono::nanoseconds::max(),
                                       std::chrono::nanoseconds::max()};
  T sum{};
  for (int turn = 0; turn < turns; ++turn) {
    for (int gathers = 0; gathers < 2; ++gathers) {
      const auto begin = Clock::now();
      sum += trial.sum(gathers != 0);
      const auto end = Clock::now();
      least[gathers] = std::min(least[gathers], std::chrono::nanoseconds(end - begin));
    }
  }
  constexpr double clearly =
      0.98;  // whole products gain more than this trial: 0.92 where it says 0.94
  const auto by_loads = static_cast<double>(least[0].count());
  return sum > 0 && static_cast<double>(least[1].count()) < clearly * by_loads;
}

#else
template <class T>
bool measure() {
  return false;
}
#endif

}  // namespace

bool gathers_of_double_pay() {
  static const bool pay = measure<double>();
  return pay;
}

bool gathers_of_float_pay() {
  static const bool pay = measure<float>();
  return pay;
}

}  // namespace krysol::detail
