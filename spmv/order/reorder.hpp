// Permutes rows and columns so that neighbours stand near each other.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <string_view>

#include <krysol/spmv/matrix/host_csr.hpp>
#include <krysol/spmv/order/order_choice.hpp>

namespace krysol {

/// The orders that reorder() knows, as `--reorder` names them.
struct OrderInfo {
  std::string_view name;
  std::string_view good_for;
};
std::vector<OrderInfo> list_orders();

/// Reverse Cuthill-McKee: breadth first from a pseudo-peripheral row of each component, neighbours
/// by ascending degree, and all of it backwards. Rows that name each other come near each other, so
/// that a multiplication finds its entries of x in the cache, and triangles a short reach.
/// Neighbours of a row are the columns that it names. row_ptr: [rows + 1], col_idx: [nnz], of a
/// square matrix. Serial; O(nnz + sum of degree log degree). Cuthill & McKee, ACM '69, DOI
/// 10.1145/800195.805928; George & Liu, ACM TOMS 5(3), 1979, DOI 10.1145/355841.355845.
Permutation reverse_cuthill_mckee(const Offset* row_ptr, const Index* col_idx, Index rows);

/// The mean distance of an entry from the diagonal, |i - j|, in rows.
double mean_bandwidth(const Offset* row_ptr, const Index* col_idx, Index rows);

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

/// What an order may save, against what it costs, seconds.
struct OrderBudget {
  double saved = 0;  // (product - reading) products: waiting for x is all that an order can spare
  double cost = 0;   // 50 ns an entry to find it and to move the matrix
  bool pays() const { return saved >= cost; }
};

/// `product_seconds`: of a multiplication by csr; `reading_seconds`: of the same arrays without x.
/// Where reading took longer, which is noise, nothing is saved.
OrderBudget order_budget(double product_seconds, double reading_seconds, double products,
                         Offset nnz);

/// Whether an order that was found is kept: where csr multiplies at least 5 % faster in it.
bool is_worth_keeping(double speed_up);

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
/// which takes rcm where a multiplication by csr was measured to wait for x so much that finding
/// the order pays within `products` multiplications. Throws std::invalid_argument for another name
/// and for a matrix that is not square. Instantiated in the library for float, double and complex
/// of both.
template <class S>
HostCsr<S> reorder(std::string_view name, const HostCsr<S>& a, double products,
                   OrderChoice& choice);
/// The same by another clock, which is asked on any execution space.
template <class S>
HostCsr<S> reorder(std::string_view name, const HostCsr<S>& a, double products, OrderChoice& choice,
                   const OrderClock<S>& clock);

namespace detail {
/// Throws std::invalid_argument with the list of names for one that is unknown.
void check_order_name(std::string_view name);
}  // namespace detail

}  // namespace krysol
