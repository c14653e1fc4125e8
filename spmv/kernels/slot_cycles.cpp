// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/kernels/slot_cycles.hpp>

#include <krysol/spmv/base/processor.hpp>
#include <krysol/spmv/base/registers.hpp>
#include <krysol/spmv/kernels/gathers.hpp>

namespace krysol {

double cached_slots(const MatrixProfile& matrix, const SlotCounts& slots, std::int64_t bytes) {
  constexpr double lanes = pack_width;
  // Registers of four numbers are loaded twice for a slot, and a window is gathered.
  constexpr bool wide = register_bytes >= 64;
  constexpr double of_neighbours = wide ? 2 : 4;
  constexpr double of_window = wide ? 3.5 : 5.8;
  const double of_scattered = !gathers_pay<double>() ? 6.5 : wide ? 6 : 7.5;
  double of_slice = slots.sorted ? 14 : 8;
  // Where much is padding slices are unlike each other, and the ends of their loops mispredicted.
  const double filled = lanes * (slots.neighbours + slots.windows + slots.scattered);
  constexpr double much_padding = 1.35;
  const bool uneven = filled > much_padding * static_cast<double>(matrix.nnz());
  if (slots.windows > 0 && uneven) of_slice += 20;
  constexpr double waiting = 1.3;  // for values
  const double cycles = waiting * (of_neighbours * slots.neighbours + of_window * slots.windows +
                                   of_scattered * slots.scattered + of_slice * slots.slices);
  const double by_csr =
      1.25 * static_cast<double>(matrix.nnz()) + 4 * static_cast<double>(matrix.rows());
  double time = by_csr > 0 ? cycles / by_csr : 1;
  if (matrix.csr_bytes() > cache_sizes().second) {
    constexpr double of_bytes = 0.8;
    time = std::max(
        time, of_bytes * static_cast<double>(bytes) / static_cast<double>(matrix.csr_bytes()));
  }
  return matrix.per_byte(time, bytes);
}

double over_gathering_csr() { return gathers_pay<double>() ? 1.3 : 1; }

}  // namespace krysol
