// Sums whose bits do not depend on the number of threads.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <functional>

#include <krysol/spmv/base/vector.hpp>

namespace krysol {

/// K sums that grow together; device code adds them up across a team.
template <int K>
struct Terms {
  double value[K];

  KOKKOS_INLINE_FUNCTION Terms() {
    for (int k = 0; k < K; ++k) value[k] = 0;
  }
  KOKKOS_INLINE_FUNCTION Terms& operator+=(const Terms& other) {
    for (int k = 0; k < K; ++k) value[k] += other.value[k];
    return *this;
  }
};

/// The sum of term[0..count) in eight interleaved chains: an order that vector registers can follow
/// and that a different machine repeats.
KOKKOS_INLINE_FUNCTION double sum_of_tile(const double* term, int count) {
  constexpr int lanes = 8;
  double chain[lanes] = {};
  int w = 0;
  for (; w + lanes <= count; w += lanes) {
#pragma omp simd
    for (int l = 0; l < lanes; ++l) chain[l] += term[w + l];
  }
  for (int l = 0; w + l < count; ++l) chain[l] += term[w + l];
  return ((chain[0] + chain[4]) + (chain[2] + chain[6])) +
         ((chain[1] + chain[5]) + (chain[3] + chain[7]));
}

/// How values of all processes become one, where a vector's rows are spread over several. Each
/// function replaces values[0..count) by the sum (the largest) of what every process passes, with
/// the same bits for all of them: methods take their branches by these numbers. Every process calls
/// them in the same order. Empty: one process has all rows. With MPI:
///
///     sums.all_reduce.sum = [](double* v, int n) {
///       MPI_Allreduce(MPI_IN_PLACE, v, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
///     };
struct AllReduce {
  std::function<void(double* values, int count)> sum{};
  std::function<void(double* values, int count)> max{};

  /// True where rows are spread over processes; then both are set.
  bool spread() const { return sum || max; }
};

/// Where a device leaves sums for the host: in memory of the host that it can write, where there is
/// such, because a copy takes as long as a sum.
#if defined(KOKKOS_HAS_SHARED_HOST_PINNED_SPACE)
template <class Exec>
using ResultSpace =
    std::conditional_t<on_host<Exec>, Kokkos::HostSpace, Kokkos::SharedHostPinnedSpace>;
#else
template <class Exec>
using ResultSpace = typename Exec::memory_space;
#endif

/// Partial sums that are added first where there are so many, on a device, that one team would take
/// longer than a second pass.
inline constexpr std::int64_t partials_of_group = 1024;

/// The groups of them; 0: one pass is enough.
template <class Exec>
constexpr std::int64_t groups_of_partials(std::int64_t blocks) {
  constexpr std::int64_t most = 16384;
  return on_host<Exec> || blocks <= most ? 0 : (blocks + partials_of_group - 1) / partials_of_group;
}

/// Where blocks leave their partial sums, and the second pass that adds them up. Kept by the caller
/// across many sums, so that an iteration allocates nothing. One object serves one stream of work.
template <class Exec>
struct ReductionWorkspace {
  Vector<double, Exec> partial;                     // [k blocks + b] sum k of block b; then groups'
  Kokkos::View<double*, ResultSpace<Exec>> result;  // [K] that a device writes
  typename decltype(result)::HostMirror
      result_on_host;      // the same array where the host can read it
  AllReduce all_reduce{};  // what `finish` ends each sum with

  /// Room for K sums over `blocks` blocks each; keeps what is there when it suffices.
  double* reserve(const Exec& exec, std::int64_t blocks, int k);
};

template <class Exec>
double* ReductionWorkspace<Exec>::reserve(const Exec& exec, std::int64_t blocks, int k) {
  const auto needed = static_cast<std::size_t>(blocks + groups_of_partials<Exec>(blocks)) *
                      static_cast<std::size_t>(k);
  if (partial.extent(0) < needed) {
    partial = uninitialized<double>(exec, "krysol.partial_sums", static_cast<std::int64_t>(needed));
  }
  if (!on_host<Exec> && result.extent(0) < static_cast<std::size_t>(k)) {
    result = allocate<Kokkos::View<double*, ResultSpace<Exec>>>("krysol.sums", k);
    result_on_host = Kokkos::create_mirror_view(result);
  }
  return partial.data();
}

/// result[k groups + g] = the sum of the g-th `count` of partial[k blocks + b], b < blocks, each by
/// one team whose size is fixed.
template <class Exec>
struct SumPartials {
  const double* partial;  // [K blocks]
  double* result;         // [K groups]
  std::int64_t blocks;
  std::int64_t groups;
  std::int64_t count;  // of a group

  KOKKOS_INLINE_FUNCTION void operator()(const TeamMember<Exec>& member) const {
    const std::int64_t first = member.league_rank() % groups * count;
    const std::int64_t rest = blocks - first;
    const double* mine = partial + member.league_rank() / groups * blocks + first;
    double total = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(member, rest < count ? rest : count),
        [&](std::int64_t b, double& sum) { sum += mine[b]; }, total);
    Kokkos::single(Kokkos::PerTeam(member), [&]() { result[member.league_rank()] = total; });
  }
};

/// Adds up what a kernel left in `sums`, over all processes where there are several. Waits for it.
/// Bytes: 8 a block and sum, against 512 rows or so that a block covers.
template <int K, class Exec>
std::array<double, K> finish(const Exec& exec, ReductionWorkspace<Exec>& sums,
                             std::int64_t blocks) {
  std::array<double, K> total{};
  if constexpr (on_host<Exec>) {
    exec.fence("krysol::finish(sums)");
    constexpr std::int64_t step = 1 << 20;  // sum_of_tile counts in int
    for (int k = 0; k < K; ++k) {
      const double* mine = sums.partial.data() + k * blocks;
      for (std::int64_t b = 0; b < blocks; b += step) {
        total[static_cast<std::size_t>(k)] +=
            sum_of_tile(mine + b, static_cast<int>(blocks - b < step ? blocks - b : step));
      }
    }
  } else {
    using Teams = Kokkos::TeamPolicy<Exec>;
    constexpr int team = 2 * Tiles<Exec>::team;
    const double* partial = sums.partial.data();
    if (const std::int64_t groups = groups_of_partials<Exec>(blocks); groups > 0) {
      double* const fewer = sums.partial.data() + K * blocks;
      Kokkos::parallel_for("krysol::finish(partial sums)",
                           Teams(exec, static_cast<int>(K * groups), team),
                           SumPartials<Exec>{partial, fewer, blocks, groups, partials_of_group});
      partial = fewer;
      blocks = groups;
    }
    Kokkos::parallel_for("krysol::finish(sums)", Teams(exec, K, team),
                         SumPartials<Exec>{partial, sums.result.data(), blocks, 1, blocks});
    if (sums.result_on_host.data() != sums.result.data()) {
      Kokkos::deep_copy(exec, sums.result_on_host, sums.result);
    }
    exec.fence("krysol::finish(sums)");
    for (int k = 0; k < K; ++k) {
      total[static_cast<std::size_t>(k)] = sums.result_on_host(static_cast<std::size_t>(k));
    }
  }
  if (sums.all_reduce.sum) sums.all_reduce.sum(total.data(), K);
  return total;
}

/// One pass over n places: body(i, term) does its work at place i and sets term[0..K).
template <int K, class Exec, class Body>
struct ElementLoop {
  Body body;
  EqualBlocks blocks;
  double* partial;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t b, const Member<Exec>& member) const {
    const std::int64_t first = blocks.first(b);
    const auto count = static_cast<int>(blocks.last(b) - first);
    if constexpr (Tiles<Exec>::tiled) {
      double term[K > 0 ? K : 1][Tiles<Exec>::block];
      const Body mine = body;  // a local copy: its pointers stay in registers
#pragma omp simd
      for (int w = 0; w < count; ++w) {
        double t[K > 0 ? K : 1];
        mine(first + w, t);
        for (int k = 0; k < K; ++k) term[k][w] = t[k];
      }
      for (int k = 0; k < K; ++k) partial[k * blocks.count() + b] = sum_of_tile(term[k], count);
    } else {
      Terms<K> total;
      Kokkos::parallel_reduce(
          Kokkos::TeamThreadRange(member, count),
          [&](int w, Terms<K>& sum) {
            Terms<K> t;
            body(first + w, t.value);
            sum += t;
          },
          total);
      Kokkos::single(Kokkos::PerTeam(member), [&]() {
        for (int k = 0; k < K; ++k) partial[k * blocks.count() + b] = total.value[k];
      });
    }
  }
};

/// Runs body over [0, n) and returns the K sums of its terms, in an order fixed by n and the space.
template <int K, class Exec, class Body>
std::array<double, K> sum_over(const char* label, const Exec& exec, std::int64_t n,
                               ReductionWorkspace<Exec>& sums, const Body& body) {
  const EqualBlocks blocks{n, rows_of_block<Exec>(n)};
  if (n == 0 && !sums.all_reduce.sum) return {};
  double* partial = sums.reserve(exec, blocks.count(), K);
  for_each_block(label, exec, blocks.count(), 1, ElementLoop<K, Exec, Body>{body, blocks, partial});
  return finish<K>(exec, sums, blocks.count());
}

/// The same without sums.
template <class Exec, class Body>
struct PlainLoop {
  Body body;
  EqualBlocks blocks;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t b, const Member<Exec>& member) const {
    const std::int64_t first = blocks.first(b);
    const auto count = static_cast<int>(blocks.last(b) - first);
    if constexpr (Tiles<Exec>::tiled) {
      const Body mine = body;
#pragma omp simd
      for (int w = 0; w < count; ++w) mine(first + w);
    } else {
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, count), [&](int w) { body(first + w); });
    }
  }
};

/// Runs body(i) over [0, n); the calls are independent.
template <class Exec, class Body>
void for_each(const char* label, const Exec& exec, std::int64_t n, const Body& body) {
  if (n == 0) return;
  const EqualBlocks blocks{n, Tiles<Exec>::block};
  for_each_block(label, exec, blocks.count(), 1, PlainLoop<Exec, Body>{body, blocks});
}

}  // namespace krysol

template <int K>
struct Kokkos::reduction_identity<krysol::Terms<K>> {
  KOKKOS_FORCEINLINE_FUNCTION static krysol::Terms<K> sum() { return {}; }
};
