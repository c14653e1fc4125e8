// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/bandwidth.hpp"

#include <unistd.h>

#include <algorithm>

#include <krysol/spmv/base/reduction.hpp>

namespace krysol::apps {
namespace {

struct Fill {
  double value;
  double* a;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { a[i] = value; }
};

struct Triad {
  double s;
  const double* b;
  const double* c;
  double* a;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { a[i] = b[i] + s * c[i]; }
};

/// The sum of one array. On a host the next block is fetched while one is summed, as SpMV does with
/// the matrix; on a GPU it is the sum that solvers use.
struct Sum {
  const double* a;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, double* term) const { term[0] = a[i]; }
};

struct SumBlocks {
  static constexpr int block = 512;
  const double* a;
  [[maybe_unused]] KOKKOS_INLINE_FUNCTION void operator()(std::int64_t b, double& total) const {
    const double* mine = a + b * block;
    for (int k = 0; k < block; k += 8) prefetch(mine + block + k);
    total += sum_of_tile(mine, block);
  }
};

template <class Exec>
double sum(const Exec& exec, std::int64_t n, const double* a, ReductionWorkspace<Exec>& sums) {
  if constexpr (on_host<Exec>) {
    double total = 0;
    Kokkos::parallel_reduce(
        "read",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, n / SumBlocks::block),
        SumBlocks{a}, total);
    return total;
  } else {
    return sum_over<1>("read", exec, n, sums, Sum{a})[0];
  }
}

/// Of an entry: three arrays, and on a host the lines of `a`, which are read before they are
/// written.
constexpr double triad_bytes = on_host<Kokkos::DefaultExecutionSpace> ? 32 : 24;

constexpr std::int64_t least_array_bytes = 64 << 20;

std::int64_t array_bytes() {
  std::int64_t cache = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
  cache = std::max<std::int64_t>(sysconf(_SC_LEVEL3_CACHE_SIZE), 0);
#endif
  std::int64_t bytes = std::clamp<std::int64_t>(4 * cache, least_array_bytes, 256 << 20);
  if constexpr (on_host<Kokkos::DefaultExecutionSpace>) {
    if (const auto free = free_host_bytes()) {
      bytes = std::clamp<std::int64_t>(*free / 16, 1 << 20, bytes);
    }
  } else {
    bytes = std::int64_t{256} << 20;
  }
  return bytes;
}

}  // namespace

Bandwidth measure_bandwidth(int repeats, double seconds) {
  Kokkos::Timer all;
  const Kokkos::DefaultExecutionSpace exec{};
  constexpr auto entry = static_cast<std::int64_t>(sizeof(double));
  const std::int64_t most = array_bytes() / entry;
  const auto a = uninitialized<double>(exec, "bandwidth.a", most);
  const auto b = uninitialized<double>(exec, "bandwidth.b", most);
  const auto c = uninitialized<double>(exec, "bandwidth.c", most);
  const auto fill = [&](std::int64_t from, std::int64_t to) {
    for_each("fill", exec, to - from, Fill{0, a.data() + from});
    for_each("fill", exec, to - from, Fill{1, b.data() + from});
    for_each("fill", exec, to - from, Fill{2, c.data() + from});
    exec.fence();
  };
  // Memory that a virtual machine has not had before may take 2 s for all of it.
  const std::int64_t least = std::min(most, least_array_bytes / entry);
  fill(0, least);
  const double fits = seconds / std::max(all.seconds(), 1e-9) * static_cast<double>(least);
  const auto n = static_cast<std::int64_t>(
      std::clamp(fits, static_cast<double>(least), static_cast<double>(most)));
  fill(least, n);
  Bandwidth out;
  out.array_bytes = n * entry;
  ReductionWorkspace<Kokkos::DefaultExecutionSpace> sums;
  all.reset();
  for (int k = 0; k < repeats; ++k) {
    Kokkos::Timer timer;
    for_each("triad", exec, n, Triad{3, b.data(), c.data(), a.data()});
    exec.fence();
    out.triad = std::max(out.triad, triad_bytes * 1e-9 * static_cast<double>(n) / timer.seconds());
    timer.reset();
    if (sum(exec, n, b.data(), sums) < 0) break;  // used, so that it is not optimised away
    out.read = std::max(out.read, 8e-9 * static_cast<double>(n) / timer.seconds());
    if (k > 0 && all.seconds() > seconds) break;
  }
  return out;
}

}  // namespace krysol::apps
