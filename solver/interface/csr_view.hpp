// Matrices as other codes keep them: compressed rows or columns, seen through their pointers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <utility>

#include <krysol/spmv/base/scalar.hpp>
#include <krysol/spmv/matrix/host_csr.hpp>

namespace krysol {

/// The type of the numbers behind a pointer. complex32 is a pair of floats, complex64 a pair of
/// doubles: the 64- and 128-bit complex numbers of other libraries.
enum class ScalarKind { float32, float64, complex32, complex64 };
/// S is float, double, or std::complex or Kokkos::complex of either.
template <class S>
constexpr ScalarKind scalar_kind() {
  static_assert(std::is_same_v<Real<S>, float> || std::is_same_v<Real<S>, double>,
                "numbers must be float, double, or complex numbers of either");
  constexpr bool is_float = std::is_same_v<Real<S>, float>;
  if constexpr (is_complex<S>) {
    return is_float ? ScalarKind::complex32 : ScalarKind::complex64;
  } else {
    return is_float ? ScalarKind::float32 : ScalarKind::float64;
  }
}

/// Integers of 32 or 64 bits, not owned.
struct IntegersRef {
  const void* data = nullptr;
  bool wide = false;        // 64 bits
  std::int64_t count = -1;  // -1: not known

  std::int64_t operator[](std::int64_t i) const {
    return wide ? static_cast<const std::int64_t*>(data)[i]
                : static_cast<const std::int32_t*>(data)[i];
  }
};
/// Those of 64 bits that count bytes or nonzeros may be unsigned.
template <std::integral I>
IntegersRef integers_ref(const I* data, std::int64_t count = -1) {
  static_assert(sizeof(I) == 8 || (sizeof(I) == 4 && std::is_signed_v<I>),
                "indices must be integers of 64 bits, or signed ones of 32 bits");
  return {data, sizeof(I) == 8, count};
}

/// Numbers, not owned.
struct ScalarsRef {
  const void* data = nullptr;
  ScalarKind kind = ScalarKind::float64;
  std::int64_t count = -1;  // -1: not known
};
template <class S>
ScalarsRef scalars_ref(const S* data, std::int64_t count = -1) {
  return {data, scalar_kind<S>(), count};
}

/// Compressed rows on the host in the types of whoever made them; compressed columns where
/// `by_columns`: then "row" below is a column of the matrix. Row i holds the entries
/// row_ptr[i] - base <= k < row_ptr[i + 1] - base, or row_count[i] entries from there on.
struct CsrArrays {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  IntegersRef row_ptr{};    // [rows + 1]
  IntegersRef row_count{};  // [rows] entries in use of each row; no data: all up to the next row
  IntegersRef col_idx{};    // [nnz], ascending in each row
  ScalarsRef values{};      // [nnz]
  int base = 0;             // 0 or 1: what the first row, column and entry are called
  bool by_columns = false;
  std::shared_ptr<const void> keep{};  // what owns the arrays, where that can be shared
};

/// A matrix in arrays of pointers. They are not owned: see Solver for how long they must live.
template <class S>
struct CsrView {
  using value_type = S;
  CsrArrays arrays;
};

/// The n x n matrix with a(i, col_idx[k] - base) = values[k] for row_ptr[i] - base <= k <
/// row_ptr[i + 1] - base.
///
/// n        rows and columns
/// row_ptr  [n + 1] integers of 32 or 64 bits
/// col_idx  [nnz] integers of 32 or 64 bits, ascending in each row, none twice
/// values   [nnz] float, double, or std::complex or Kokkos::complex of either
/// base     0 or 1: the number of the first row, column and entry
///
/// Nothing is read here. What is shared and what is copied: see MatrixInput.
template <std::integral P, std::integral I, class S>
CsrView<S> csr_view(std::int64_t n, const P* row_ptr, const I* col_idx, const S* values,
                    int base = 0) {
  return {{.rows = n,
           .cols = n,
           .row_ptr = integers_ref(row_ptr, n + 1),
           .col_idx = integers_ref(col_idx),
           .values = scalars_ref(values),
           .base = base}};
}

/// The same with lengths, which are then checked against row_ptr.
template <std::integral P, std::integral I, class S>
CsrView<S> csr_view(std::int64_t n, std::span<const P> row_ptr, std::span<const I> col_idx,
                    std::span<const S> values, int base = 0) {
  const auto size = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
  return {{.rows = n,
           .cols = n,
           .row_ptr = integers_ref(row_ptr.data(), size(row_ptr)),
           .col_idx = integers_ref(col_idx.data(), size(col_idx)),
           .values = scalars_ref(values.data(), size(values)),
           .base = base}};
}
template <std::integral P, std::integral I, class S>
CsrView<S> csr_view(std::int64_t n, const std::vector<P>& row_ptr, const std::vector<I>& col_idx,
                    const std::vector<S>& values, int base = 0) {
  return csr_view(n, std::span<const P>(row_ptr), std::span<const I>(col_idx),
                  std::span<const S>(values), base);
}

/// The rows x cols matrix in Kokkos Views of any memory space. They are kept alive. Views in memory
/// that the host cannot read are copied to it: one pass.
template <class P, class... PP, class I, class... IP, class S, class... SP>
CsrView<std::remove_const_t<S>> csr_view(std::int64_t rows, std::int64_t cols,
                                         const Kokkos::View<P*, PP...>& row_ptr,
                                         const Kokkos::View<I*, IP...>& col_idx,
                                         const Kokkos::View<S*, SP...>& values, int base = 0) {
  const auto host =
      std::make_tuple(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, row_ptr),
                      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, col_idx),
                      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, values));
  const auto size = [](const auto& view) { return static_cast<std::int64_t>(view.extent(0)); };
  const auto& [p, i, v] = host;
  return {{.rows = rows,
           .cols = cols,
           .row_ptr = integers_ref(p.data(), size(p)),
           .col_idx = integers_ref(i.data(), size(i)),
           .values = scalars_ref(v.data(), size(v)),
           .base = base,
           .keep = std::make_shared<decltype(host)>(host)}};
}

/// How a type is read as a matrix: a specialisation has the entry type `scalar`, a function
/// `CsrArrays arrays(const M&)`, and `owned`, true where the arrays die with an M that nobody else
/// holds on to.
template <class M>
struct MatrixAdapter;

template <class S>
struct MatrixAdapter<CsrView<S>> {
  using scalar = S;
  static constexpr bool owned = false;
  static CsrArrays arrays(const CsrView<S>& a) { return a.arrays; }
};

template <class S>
struct MatrixAdapter<HostCsr<S>> {
  using scalar = S;
  static constexpr bool owned = false;
  static CsrArrays arrays(const HostCsr<S>& a) {
    return {
        .rows = a.rows,
        .cols = a.cols,
        .row_ptr = integers_ref(a.row_ptr.data(), static_cast<std::int64_t>(a.row_ptr.extent(0))),
        .col_idx = integers_ref(a.col_idx.data(), static_cast<std::int64_t>(a.col_idx.extent(0))),
        .values = scalars_ref(a.values.data(), a.nnz()),
        .keep = std::make_shared<const HostCsr<S>>(a)};
  }
};

/// True for types that Krysol can read as a matrix.
template <class M>
concept SystemMatrix = requires(const std::remove_cvref_t<M>& a) {
  typename MatrixAdapter<std::remove_cvref_t<M>>::scalar;
  { MatrixAdapter<std::remove_cvref_t<M>>::arrays(a) } -> std::same_as<CsrArrays>;
};

/// What systems of entries S are solved in: double or complex<double>.
template <class S>
using SolverScalar = std::conditional_t<is_complex<S>, Kokkos::complex<double>, double>;

}  // namespace krysol
