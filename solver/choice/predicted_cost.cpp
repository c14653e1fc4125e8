// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/choice/predicted_cost.hpp>

#include <algorithm>

#include <krysol/spmv/base/processor.hpp>

namespace krysol::choice {
namespace {

// Found on two cores of a Xeon with AVX-512 (22 GB/s) over matrices of 10^3 to 10^6 rows, as bytes;
// most are within a factor of 1.5 there (docs/performance.md).
constexpr double start_of_iteration = 2.5e5;  // what the start of its kernels takes
constexpr double start_of_cycle = 1.5e6;      // likewise, of those on all levels
constexpr double start_of_multigrid = 8e7;    // of its setup
constexpr double passes_of_setup = 120;       // over the matrix in compressed rows
constexpr double passes_of_grids = 45;        // likewise, where levels are grids
constexpr double setup_of_row = 2500;
constexpr double grids_in_caches = 0.8;  // times as long a setup
constexpr double passes_of_cycle = 1.2;
constexpr double cycle_of_row = 200;
constexpr double computed_entry = 2.5;      // of a product, however few bytes it reads
constexpr double from_second_level = 0.25;  // of the time for bytes from memory
constexpr double from_caches = 0.45;
constexpr double order_of_row = 8000;
constexpr double order_of_nonzero = 1000;
constexpr double order_in_caches = 0.6;    // times as long
constexpr double assembly_of_entry = 120;  // of L
constexpr double of_one_core = 2;          // what one core moves, all together could move this much
constexpr double applications = 3;  // of an exact factorization: one, and what checks it takes
#if defined(__AVX512F__)
constexpr double multiplication = 0.6;  // and an addition
#elif defined(__AVX__)
constexpr double multiplication = 1.2;
#else
constexpr double multiplication = 4;
#endif
constexpr double host_beside_device = 100;  // setups are made by the host's cores

double scale(const SystemSize& size) { return size.on_host ? 1 : host_beside_device; }

/// Of what passing over arrays of so many bytes takes from memory, where the caches keep them.
double share_of_time(const SystemSize& size, double bytes) {
  if (!size.on_host) return 1;
  const CacheSizes& caches = cache_sizes();
  if (bytes <= static_cast<double>(caches.second)) return from_second_level;
  return bytes <= static_cast<double>(caches.stays) ? from_caches : 1;
}

double compressed_rows(const SystemSize& size) {
  return size.nnz * (size.scalar_bytes + 4) + size.rows * 8;
}

bool stays_in_caches(const SystemSize& size) {
  return compressed_rows(size) <= static_cast<double>(cache_sizes().stays);
}

}  // namespace

double iteration_cost(const SystemSize& size, double preconditioner_bytes) {
  constexpr double passed = 13;  // vectors that are read or written, with those of the product
  constexpr double held = 6;
  const double vector = size.scalar_bytes * size.rows;
  const double share =
      share_of_time(size, size.operator_bytes + held * vector + preconditioner_bytes);
  const double product =
      std::max(share * size.operator_bytes, computed_entry * size.scalar_bytes / 8 * size.nnz);
  return product + share * (passed * vector + preconditioner_bytes) + start_of_iteration;
}

Cost multigrid_cost(const SystemSize& size) {
  constexpr double few = 0.05;
  const bool scalar = size.positive_off_diagonal < few;
  const double matrix = compressed_rows(size);
  const double wide = size.scalar_bytes / 8;
  const bool grid = size.grid > 0;
  double iterations = scalar ? 20 : 60;
  if (grid) iterations = size.grid > 1 ? 12 : scalar ? 10 : 24;
  const double setup = (grid && stays_in_caches(size) ? grids_in_caches : 1) *
                       ((grid ? passes_of_grids : passes_of_setup) * matrix +
                        setup_of_row * wide * size.rows + start_of_multigrid);
  const double cycle = passes_of_cycle * matrix + cycle_of_row * wide * size.rows + start_of_cycle;
  return {scale(size) * setup, iteration_cost(size, 0) + cycle, iterations};
}

double elimination_cost(const SystemSize& size) {
  return (stays_in_caches(size) ? order_in_caches : 1) * scale(size) *
         (order_of_row * size.rows + order_of_nonzero * size.nnz);
}

double multiplications_cost(const SystemSize& size, double multiplications) {
  const double wide = size.scalar_bytes / 8;  // complex: four times as many
  return scale(size) * multiplication * wide * wide * multiplications;
}

Cost cholesky_cost(const SystemSize& size, const sparse_cholesky::Elimination& elimination) {
  const double wide = size.scalar_bytes / 8;
  const double setup = scale(size) * assembly_of_entry * wide * elimination.entries() +
                       multiplications_cost(size, elimination.flops);
  const double application = of_one_core * 2 * size.scalar_bytes * elimination.entries();
  return {setup, iteration_cost(size, scale(size) * application), applications};
}

double price_of(double cost, double spent) {
  constexpr double least = 0.4;
  return std::max(cost - spent, least * cost);
}

double entries_worth(const SystemSize& size, double cost) {
  const double wide = size.scalar_bytes / 8;
  const double entry =
      assembly_of_entry * wide + applications * of_one_core * 2 * size.scalar_bytes;
  return cost / (scale(size) * entry);
}

}  // namespace krysol::choice
