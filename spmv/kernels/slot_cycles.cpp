// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/kernels/slot_cycles.hpp>

#include <krysol/spmv/base/processor.hpp>
#include <krysol/spmv/kernels/gathers.hpp>

namespace krysol {

double cached_slots(const MatrixProfile& matrix, const SlotCounts& slots, std::int64_t bytes) {
  constexpr double lanes = pack_width;
  // Processors that gather one by one are slower at windows, too: Zen 4 loads 64 bytes in two
  // cycles.
  const bool gathers = gathers_pay<double>();
  const double of_any_columns = gathers ? cycles_of_any_columns : 6.5;
  const double of_window = (gathers ? 1 : 1.35) * cycles_of_window;
  double of_slice = slots.sorted ? cycles_of_sorted_slice : cycles_of_slice;
  // Where much is padding slices are unlike each other, and the ends of their loops mispredicted.
  const double filled =
      lanes * (slots.neighbours + slots.partial + slots.windows + slots.scattered);
  constexpr double much_padding = 1.4;
  const bool uneven = filled > much_padding * static_cast<double>(matrix.nnz());
  if (slots.windows > 0 && uneven) of_slice += 20;
  constexpr double waiting = 1.3;                            // for values
  constexpr double waiting_more = wide_registers ? 1 : 1.3;  // where loads of x take little time
  const double of_loads = waiting_more * (cycles_of_neighbours * slots.neighbours +
                                          cycles_of_some_neighbours * slots.partial);
  const double cycles = waiting * (of_loads + of_window * slots.windows +
                                   of_any_columns * slots.scattered + of_slice * slots.slices);
  const double by_csr =
      1.25 * static_cast<double>(matrix.nnz()) + 4 * static_cast<double>(matrix.rows());
  double time = by_csr > 0 ? cycles / by_csr : 1;
  if (matrix.csr_bytes() > cache_sizes().second) {
    time = std::max(time, matrix.reading_share() * static_cast<double>(bytes) /
                              static_cast<double>(matrix.csr_bytes()));
  }
  return matrix.per_byte(time, bytes);
}

}  // namespace krysol
