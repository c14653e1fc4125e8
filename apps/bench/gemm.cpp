// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/gemm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "bench/gemm_peers.hpp"
#include "common/cli.hpp"
#include "krysol_version.hpp"

namespace krysol::apps {
namespace {

using Exec = Kokkos::DefaultExecutionSpace;

template <class T>
using HostBlock = Block<T, Host>;

template <class T>
HostBlock<T> make_block(const char* label, std::int64_t rows, std::int64_t cols,
                        std::uint64_t seed) {
  auto block = allocate<HostBlock<T>>(label, rows, cols);
  std::uint64_t state = seed;
  for (std::size_t i = 0; i < block.extent(0); ++i) {
    for (std::size_t j = 0; j < block.extent(1); ++j) {
      // D. Knuth's MMIX generator; its upper bits are the good ones.
      state = state * 6364136223846793005U + 1442695040888963407U;
      block(i, j) = static_cast<T>(static_cast<double>(state >> 11) * 0x1p-52 - 1);
    }
  }
  return block;
}

/// C = A B as the textbook has it, with the two inner loops exchanged so that entries are read as
/// they lie; on one thread. The reference of every speed-up.
template <class T>
void multiply_serially(const HostBlock<T>& a, const HostBlock<T>& b, const HostBlock<T>& c) {
  const std::size_t x = c.extent(0);
  const std::size_t y = b.extent(0);
  const std::size_t z = c.extent(1);
  for (std::size_t i = 0; i < x; ++i) {
    T* row = c.data() + i * z;
    std::fill_n(row, z, T(0));
    for (std::size_t k = 0; k < y; ++k) {
      const T aik = a.data()[i * y + k];
      const T* from = b.data() + k * z;
      for (std::size_t j = 0; j < z; ++j) row[j] += aik * from[j];
    }
  }
}

/// What a row of C is compared with: sums in a wider type, one after another in ascending k, and
/// the sums of the terms' absolute values. Rows are shared out among the threads, sums are not.
template <class T>
struct CompareRow {
  using Wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;
  HostBlock<T> a;
  HostBlock<T> b;
  HostBlock<T> c;
  double bound;
  double* error;  // [x] of the row
  int* wrong;     // [x]

  void operator()(std::int64_t row) const {
    const auto i = static_cast<std::size_t>(row);
    const std::size_t z = c.extent(1);
    std::vector<Wide> sum(z);
    std::vector<Wide> size(z);
    for (std::size_t k = 0; k < b.extent(0); ++k) {
      const Wide aik = a(i, k);
      for (std::size_t j = 0; j < z; ++j) {
        const Wide term = aik * static_cast<Wide>(b(k, j));
        sum[j] += term;
        size[j] += std::abs(term);
      }
    }
    for (std::size_t j = 0; j < z; ++j) {
      const Wide difference = std::abs(static_cast<Wide>(c(i, j)) - sum[j]);
      if (size[j] > 0) error[i] = std::max(error[i], static_cast<double>(difference / size[j]));
      // Not "greater": a NaN is wrong as well.
      if (!(difference <= static_cast<Wide>(bound) * size[j])) wrong[i] = 1;
    }
  }
};

template <class T>
void verify(const HostBlock<T>& a, const HostBlock<T>& b, const HostBlock<T>& c, double bound,
            GemmLine& line) {
  std::vector<double> error(c.extent(0));
  std::vector<int> wrong(c.extent(0));
  host_for("gemm_bench.verify", static_cast<std::int64_t>(c.extent(0)),
           CompareRow<T>{a, b, c, bound, error.data(), wrong.data()});
  for (const double e : error) line.error = std::max(line.error, e);
  line.wrong = std::find(wrong.begin(), wrong.end(), 1) != wrong.end();
}

}  // namespace

template <class T>
GemmReport run_gemm_bench(const GemmBenchOptions& options) {
  GemmReport report;
  report.x = options.x;
  report.y = options.y;
  report.z = options.z;
  report.block = options.block;
  report.scalar = std::is_same_v<T, float> ? "float" : "double";
  report.where = machine_as_text(version::backend, Host().concurrency(), device_name());
  report.verified = options.verify;
  // That of krysol::gemm for alpha = 1 and beta = 0, which is no less than that of a sum term by
  // term.
  report.error_bound = 2 * static_cast<double>(options.y + 8) *
                       static_cast<double>(std::numeric_limits<T>::epsilon());
  report.transfers = options.transfers;
  report.turns = options.turns;

  const HostBlock<T> host_a = make_block<T>("A", options.x, options.y, 1);
  const HostBlock<T> host_b = make_block<T>("B", options.y, options.z, 2);
  const auto host_c = allocate<HostBlock<T>>("C", options.x, options.z);
  const auto a = allocate<Block<T>>("device.A", options.x, options.y);
  const auto b = allocate<Block<T>>("device.B", options.y, options.z);
  const auto c = allocate<Block<T>>("device.C", options.x, options.z);
  Kokkos::deep_copy(a, host_a);
  Kokkos::deep_copy(b, host_b);
  DenseWork<T, Exec> work;

  std::vector<Candidate> candidates;
  std::optional<std::size_t> reference;
  for (const std::string& name : options.kernels) {
    GemmLine line;
    line.name = name;
    Candidate candidate;
    candidate.line = report.lines.size();
    const bool serial = name == serial_kernel;
    if (serial) {
      reference = candidate.line;
      candidate.multiply = [=] { multiply_serially(host_a, host_b, host_c); };
    } else {
      const GemmOptions how{dense_kernel(name), options.block};
      candidate.multiply = [=, &work] {
        gemm(Exec(), T(1), a, b, T(0), c, work, how);
        Exec().fence();
      };
      if (options.transfers) {
        candidate.with_transfers = [=, &work] {
          Kokkos::deep_copy(a, host_a);
          Kokkos::deep_copy(b, host_b);
          gemm(Exec(), T(1), a, b, T(0), c, work, how);
          Kokkos::deep_copy(host_c, c);
        };
      }
    }
    try {
      Kokkos::deep_copy(c, T(NAN));
      Kokkos::deep_copy(host_c, T(NAN));
      if (options.verify || !serial) candidate.multiply();
    } catch (const std::invalid_argument& refusal) {  // a block that a team's memory cannot hold
      line.refused = refusal.what();
      report.lines.push_back(line);
      continue;
    }
    if (options.verify) {
      if (!serial) Kokkos::deep_copy(host_c, c);
      verify(host_a, host_b, host_c, report.error_bound, line);
    }
    report.lines.push_back(line);
    candidates.push_back(std::move(candidate));
  }
  if constexpr (on_host<Exec>) {
    std::vector<GemmPeer> peers;
    if (options.peers) peers = make_gemm_peers<T>(a, b, c);
    for (GemmPeer& peer : peers) {
      GemmLine line;
      line.name = peer.name;
      line.peer = true;
      Candidate candidate;
      candidate.line = report.lines.size();
      candidate.multiply = std::move(peer.multiply);
      report.lines.push_back(line);
      candidates.push_back(std::move(candidate));
    }
  }

  time_interleaved(candidates, options.warm_up, options.turns);
  for (const Candidate& candidate : candidates) {
    GemmLine& line = report.lines[candidate.line];
    line.product = spread(candidate.seconds);
    line.with_transfers = spread(candidate.transfer_seconds);
  }
  for (GemmLine& line : report.lines) {
    if (reference && line.product.median > 0) {
      line.speed_up = report.lines[*reference].product.median / line.product.median;
    }
  }
  return report;
}

#ifdef KRYSOL_HAVE_FLOAT
template GemmReport run_gemm_bench<float>(const GemmBenchOptions&);
#endif
template GemmReport run_gemm_bench<double>(const GemmBenchOptions&);

}  // namespace krysol::apps
