// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/choice/predicted_cost.hpp>

namespace krysol::choice {
namespace {

// Found on two cores of a Xeon with AVX-512 (20 GB/s) over matrices of 10^3 to 10^6 rows, as bytes;
// most are within a factor of 1.5 there (docs/performance.md).
constexpr double start_of_iteration = 1e5;  // what the start of its kernels takes
constexpr double start_of_cycle = 5e6;      // likewise, of those on all levels
constexpr double start_of_multigrid = 1e8;  // of its setup
constexpr double passes_of_setup = 160;     // over the matrix in compressed rows
constexpr double passes_of_grids = 50;      // likewise, where levels are grids
constexpr double passes_of_cycle = 5;       // likewise
constexpr double passes_of_grid_cycle = 4;
constexpr double order_of_row = 8000;
constexpr double order_of_nonzero = 1000;
constexpr double assembly_of_entry = 160;  // of L
constexpr double of_one_core = 2;          // what one core moves, all together could move this much
constexpr double applications = 3;  // of an exact factorization: one, and what checks it takes
#if defined(__AVX512F__)
constexpr double multiplication = 0.8;  // and an addition
#elif defined(__AVX__)
constexpr double multiplication = 1.6;
#else
constexpr double multiplication = 5;
#endif
constexpr double host_beside_device = 100;  // setups are made by the host's cores

double scale(const SystemSize& size) { return size.on_host ? 1 : host_beside_device; }

double compressed_rows(const SystemSize& size) {
  return size.nnz * (size.scalar_bytes + 4) + size.rows * 8;
}

}  // namespace

double iteration_cost(const SystemSize& size, double preconditioner_bytes) {
  constexpr double vectors = 13;  // read or written a row, with those of the product
  return size.operator_bytes + vectors * size.scalar_bytes * size.rows + preconditioner_bytes +
         start_of_iteration;
}

Cost multigrid_cost(const SystemSize& size) {
  constexpr double few = 0.05;
  const bool scalar = size.positive_off_diagonal < few;
  const double matrix = compressed_rows(size);
  double setup = passes_of_setup;
  double cycle = passes_of_cycle;
  double iterations = scalar ? 20 : 60;
  if (size.grid > 0) {
    setup = passes_of_grids;
    cycle = passes_of_grid_cycle;
    iterations = size.grid > 1 ? 20 : scalar ? 10 : 40;
  }
  return {scale(size) * (setup * matrix + start_of_multigrid),
          iteration_cost(size, cycle * matrix + start_of_cycle), iterations};
}

double elimination_cost(const SystemSize& size) {
  return scale(size) * (order_of_row * size.rows + order_of_nonzero * size.nnz);
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

double entries_worth(const SystemSize& size, double cost) {
  const double wide = size.scalar_bytes / 8;
  const double entry =
      assembly_of_entry * wide + applications * of_one_core * 2 * size.scalar_bytes;
  return cost / (scale(size) * entry);
}

}  // namespace krysol::choice
