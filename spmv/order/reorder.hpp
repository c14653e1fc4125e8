// Permutes rows and columns so that neighbours stand near each other.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <string_view>

#include <krysol/spmv/matrix/host_csr.hpp>
#include <krysol/spmv/order/cuthill_mckee.hpp>
#include <krysol/spmv/order/order_choice.hpp>

namespace krysol {

/// P A P', columns of a row ascending; schedule and blocks are found anew. Throws
/// std::invalid_argument where A is not square or `order` is none of its rows.
template <class S>
HostCsr<S> reordered(const HostCsr<S>& a, const Permutation& order);

/// to[i] := v[from[i]], P v.
template <class T>
std::vector<T> permute(const Permutation& from, const std::vector<T>& v) {
  std::vector<T> to(v.size());
  for (std::size_t i = 0; i < v.size(); ++i) to[i] = v[static_cast<std::size_t>(from[i])];
  return to;
}
/// The way back: to[from[i]] := v[i], P' v.
template <class T>
std::vector<T> inverse_permute(const Permutation& from, const std::vector<T>& v) {
  std::vector<T> to(v.size());
  for (std::size_t i = 0; i < v.size(); ++i) to[static_cast<std::size_t>(from[i])] = v[i];
  return to;
}

/// How `auto` measures, in seconds; callers may replace these functions (tests do).
template <class S>
struct OrderClock {
  std::function<double(const HostCsr<S>&)> product;  // of a multiplication by csr, on the host
  std::function<double(const HostCsr<S>&)> reading;  // of its arrays from end to end, without x
};
/// The least of a few runs of each.
template <class S>
OrderClock<S> measuring_clock();

/// The matrix in the order of that name: `none`, `rcm`, `metis` (see partition.hpp), or `auto`,
/// which takes rcm where more than a tenth of the reads of x miss (missed_reads) and a
/// multiplication by csr was measured to wait for x so much that finding the order pays within
/// `products` multiplications. Throws std::invalid_argument for another name and for a matrix that
/// is not square. Instantiated in the library for float, double and complex of both.
template <class S>
HostCsr<S> reorder(std::string_view name, const HostCsr<S>& a, double products,
                   OrderChoice& choice);
/// The same by another clock, which is asked on any execution space.
template <class S>
HostCsr<S> reorder(std::string_view name, const HostCsr<S>& a, double products, OrderChoice& choice,
                   const OrderClock<S>& clock);

}  // namespace krysol
