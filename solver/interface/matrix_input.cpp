// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/interface/matrix_input.hpp>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include <fmt/core.h>
#include <krysol/spmv/base/runtime.hpp>
#include <krysol/spmv/matrix/transpose.hpp>

namespace krysol {
namespace {

template <class... Arguments>
[[noreturn]] void refuse(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  throw std::invalid_argument("krysol: " +
                              fmt::format(text, std::forward<Arguments>(arguments)...));
}

/// What a compressed row and its entries are called in messages.
struct Words {
  std::string_view row;
  std::string_view col;
  std::string_view row_ptr;
};
Words words(const CsrArrays& a) {
  if (a.by_columns) return {"column", "row", "column pointers"};
  return {"row", "column", "row pointers"};
}

void check_shape(const CsrArrays& a) {
  constexpr auto most = std::int64_t{std::numeric_limits<Index>::max()};
  if (a.rows < 0 || a.cols < 0 || a.rows > most || a.cols > most) {
    refuse("a matrix of {} x {}; 0 to {} rows and columns are possible", a.rows, a.cols, most);
  }
  if (a.base != 0 && a.base != 1) {
    refuse("indices that count from {}; they may count from 0 or 1", a.base);
  }
  if (a.row_ptr.data == nullptr) {
    if (a.rows > 0) refuse("the {} of a matrix with {} rows are null", words(a).row_ptr, a.rows);
  } else if (a.row_ptr.count >= 0 && a.row_ptr.count != a.rows + 1) {
    refuse("{} {} of a matrix with {} {}s; there must be one more than {}s", a.row_ptr.count,
           words(a).row_ptr, a.rows, words(a).row, words(a).row);
  }
}

/// Entries of each row, and where they begin in the caller's arrays. Throws where pointers fall.
template <class T>
void take_row_ptr(const CsrArrays& a, MatrixInput<T>& out) {
  const auto n = static_cast<std::size_t>(a.rows);
  HostCsr<T>& csr = out.csr;
  if (a.row_ptr.data == nullptr) {
    csr.row_ptr = zeros<Offset>(Host{}, "csr.row_ptr", 1);
    return;
  }
  if (a.row_ptr[0] != a.base) {
    refuse("the {} begin with {}; indices that count from {} begin with {}", words(a).row_ptr,
           a.row_ptr[0], a.base, a.base);
  }
  for (std::int64_t i = 0; i < a.rows; ++i) {
    if (a.row_ptr[i + 1] < a.row_ptr[i]) {
      refuse("the {} fall from {} to {} at {} {} (counted from 0)", words(a).row_ptr, a.row_ptr[i],
             a.row_ptr[i + 1], words(a).row, i);
    }
    if (a.row_count.data != nullptr) {
      const std::int64_t room = a.row_ptr[i + 1] - a.row_ptr[i];
      if (a.row_count[i] < 0 || a.row_count[i] > room) {
        refuse("{} entries in {} {} (counted from 0), which has room for {}", a.row_count[i],
               words(a).row, i, room);
      }
      out.gaps = out.gaps || a.row_count[i] != room;
    }
  }
  if (a.row_ptr.wide && a.base == 0 && !out.gaps) {
    auto* shared = const_cast<Offset*>(static_cast<const Offset*>(a.row_ptr.data));
    csr.row_ptr = Kokkos::View<Offset*, Host>(shared, n + 1);
    return;
  }
  csr.row_ptr = allocate<decltype(csr.row_ptr)>("csr.row_ptr", n + 1);
  csr.row_ptr(0) = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const std::int64_t count = out.gaps ? a.row_count[at] : a.row_ptr[at + 1] - a.row_ptr[at];
    csr.row_ptr(i + 1) = csr.row_ptr(i) + count;
  }
  out.passes.push_back(fmt::format("{} converted: {}", words(a).row_ptr,
                                   a.base == 1 ? "they count from 1"
                                   : out.gaps  ? "there are gaps between them"
                                               : "32 bits"));
}

/// Where row i begins in the caller's arrays.
std::int64_t first_of(const CsrArrays& a, std::int64_t row) { return a.row_ptr[row] - a.base; }

void check_lengths(const CsrArrays& a, std::int64_t stored) {
  const auto check = [&](std::string_view what, const void* data, std::int64_t count) {
    if (stored > 0 && data == nullptr) refuse("the {} of {} entries are null", what, stored);
    // What has gaps may end in one.
    if (count >= 0 && (a.row_count.data == nullptr ? count != stored : count < stored)) {
      refuse("{} {} where the {} end at {} entries", count, what, words(a).row_ptr, stored);
    }
  };
  check("column indices", a.col_idx.data, a.col_idx.count);
  check("values", a.values.data, a.values.count);
}

/// The first row with a column outside the matrix or not above the one before it, or -1.
template <class I>
std::int64_t first_bad_row(const CsrArrays& a, const Offset* row_ptr, bool gaps) {
  std::int64_t first = a.rows;
  const auto* col_idx = static_cast<const I*>(a.col_idx.data);
  Kokkos::parallel_reduce(
      "krysol::check(input)", Kokkos::RangePolicy<Host, Kokkos::IndexType<std::int64_t>>(0, a.rows),
      [&](std::int64_t i, std::int64_t& least) {
        const std::int64_t begin = gaps ? first_of(a, i) : row_ptr[i];
        const std::int64_t count = row_ptr[i + 1] - row_ptr[i];
        std::int64_t before = a.base - 1;
        bool ascend = true;
        for (std::int64_t k = begin; k < begin + count; ++k) {
          const std::int64_t col = col_idx[k];
          ascend = ascend && col > before;
          before = col;
        }
        if (!ascend || before >= a.cols + a.base) least = std::min(least, i);
      },
      Kokkos::Min<std::int64_t>(first));
  return first < a.rows ? first : -1;
}

[[noreturn]] void refuse_row(const CsrArrays& a, std::int64_t row, std::int64_t count) {
  const Words w = words(a);
  const std::int64_t begin = first_of(a, row);
  for (std::int64_t k = begin; k < begin + count; ++k) {
    const std::int64_t col = a.col_idx[k] - a.base;
    if (col < 0 || col >= a.cols) {
      refuse("{} {} names {} {} of {} (counted from 0)", w.row, row, w.col, col, a.cols);
    }
  }
  std::int64_t k = begin + 1;
  while (k + 1 < begin + count && a.col_idx[k] > a.col_idx[k - 1]) ++k;
  const std::int64_t col = a.col_idx[k] - a.base;
  const std::int64_t before = a.col_idx[k - 1] - a.base;
  if (col == before) {
    refuse("{} {} names {} {} twice (counted from 0); krysol::to_csr sums such entries", w.row, row,
           w.col, col);
  }
  refuse(
      "{} {} names {} {} after {} {} (counted from 0); they must ascend, as krysol::to_csr "
      "sorts them",
      w.row, row, w.col, col, w.col, before);
}

template <class T>
void take_col_idx(const CsrArrays& a, std::int64_t nnz, MatrixInput<T>& out) {
  HostCsr<T>& csr = out.csr;
  if (!a.col_idx.wide && a.base == 0 && !out.gaps) {
    auto* shared = const_cast<Index*>(static_cast<const Index*>(a.col_idx.data));
    csr.col_idx = Kokkos::View<Index*, Host>(shared, static_cast<std::size_t>(nnz));
    return;
  }
  csr.col_idx = allocate<decltype(csr.col_idx)>("csr.col_idx", nnz);
  const Offset* row_ptr = csr.row_ptr.data();
  Index* to = csr.col_idx.data();
  host_for("krysol::input(columns)", a.rows, [&, to, row_ptr](std::int64_t i) {
    const std::int64_t from = first_of(a, i) - row_ptr[i];
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      to[k] = static_cast<Index>(a.col_idx[from + k] - a.base);
    }
  });
  out.passes.push_back(fmt::format("{} indices copied: {}", words(a).col,
                                   a.base == 1      ? "they count from 1"
                                   : a.col_idx.wide ? "64 bits"
                                                    : "there are gaps between rows"));
}

template <class T, class S>
T number(const S& v, bool conjugated) {
  if constexpr (is_complex<S>) {
    const auto imaginary = static_cast<double>(v.imag());
    return T(static_cast<double>(v.real()), conjugated ? -imaginary : imaginary);
  } else {
    return T(static_cast<double>(v));
  }
}

/// Calls body with the values as a pointer to their type.
template <class T, class Body>
void with_type(const ScalarsRef& values, const Body& body) {
  switch (values.kind) {
    case ScalarKind::float32:
      return body(static_cast<const float*>(values.data));
    case ScalarKind::float64:
      return body(static_cast<const double*>(values.data));
    case ScalarKind::complex32:
      if constexpr (is_complex<T>) {
        return body(static_cast<const Kokkos::complex<float>*>(values.data));
      }
      break;
    case ScalarKind::complex64:
      if constexpr (is_complex<T>) {
        return body(static_cast<const Kokkos::complex<double>*>(values.data));
      }
      break;
  }
  refuse("complex values in a real matrix");
}

/// Row after row without gaps, row i from the place first(i) of the caller's.
template <class T, class First>
Kokkos::View<T*, Host> copied_values(const HostCsr<T>& csr, const ScalarsRef& values,
                                     bool conjugated, const First& first) {
  const auto rows = std::int64_t{csr.rows};
  const Offset* row_ptr = csr.row_ptr.data();
  auto view = allocate<Kokkos::View<T*, Host>>("csr.values", csr.col_idx.extent(0));
  T* to = view.data();
  with_type<T>(values, [&](const auto* from) {
    host_for("krysol::input(values)", rows, [=](std::int64_t i) {
      const std::int64_t shift = first(i) - row_ptr[i];
      for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
        to[k] = number<T>(from[shift + k], conjugated);
      }
    });
  });
  return view;
}

template <class T>
bool same_type(const ScalarsRef& values) {
  return values.kind == scalar_kind<T>();
}

template <class T>
Kokkos::View<T*, Host> shared_values(const ScalarsRef& values, std::int64_t nnz) {
  auto* data = const_cast<T*>(static_cast<const T*>(values.data));
  return Kokkos::View<T*, Host>(data, static_cast<std::size_t>(nnz));
}

template <class T>
void take_values(const CsrArrays& a, MatrixInput<T>& out) {
  const std::int64_t nnz = static_cast<std::int64_t>(out.csr.col_idx.extent(0));
  const bool conjugated = out.adjoint && is_complex<T>;
  out.values = a.values;
  out.values.count = nnz;
  out.shares_values = same_type<T>(a.values) && !out.gaps && !conjugated;
  if (out.shares_values) {
    out.csr.values = shared_values<T>(a.values, nnz);
    return;
  }
  out.csr.values =
      copied_values(out.csr, a.values, conjugated, [&a](std::int64_t i) { return first_of(a, i); });
  out.passes.push_back(fmt::format("values copied: {}", !same_type<T>(a.values) ? "of another type"
                                                        : out.gaps
                                                            ? "there are gaps between rows"
                                                            : "conjugated, they stand by columns"));
}

}  // namespace

template <class T>
MatrixInput<T> matrix_input(const CsrArrays& a) {
  ensure_kokkos();
  check_shape(a);
  MatrixInput<T> out;
  out.adjoint = a.by_columns;
  out.keep = a.keep;
  out.csr.rows = static_cast<Index>(a.rows);
  out.csr.cols = static_cast<Index>(a.cols);
  take_row_ptr(a, out);
  const std::int64_t nnz = out.csr.row_ptr(static_cast<std::size_t>(a.rows));
  check_lengths(a, out.gaps ? a.row_ptr[a.rows] - a.base : nnz);
  const std::int64_t bad = a.col_idx.wide
                               ? first_bad_row<std::int64_t>(a, out.csr.row_ptr.data(), out.gaps)
                               : first_bad_row<std::int32_t>(a, out.csr.row_ptr.data(), out.gaps);
  if (bad >= 0) {
    const auto row = static_cast<std::size_t>(bad);
    refuse_row(a, bad, out.csr.row_ptr(row + 1) - out.csr.row_ptr(row));
  }
  take_col_idx(a, nnz, out);
  take_values(a, out);
  return out;
}

template <class T>
Kokkos::View<T*, Host> converted_values(const MatrixInput<T>& input, const ScalarsRef& values,
                                        bool share) {
  const auto nnz = static_cast<std::int64_t>(input.csr.col_idx.extent(0));
  if (input.gaps) {
    refuse("the matrix was given with gaps between its rows: update it by a matrix, not by values");
  }
  if (values.count >= 0 && values.count != nnz) {
    refuse("{} values for a matrix of {} entries", values.count, nnz);
  }
  const bool conjugated = input.adjoint && is_complex<T>;
  if (share && same_type<T>(values) && !conjugated) return shared_values<T>(values, nnz);
  const Offset* row_ptr = input.csr.row_ptr.data();
  return copied_values(input.csr, values, conjugated,
                       [row_ptr](std::int64_t i) { return row_ptr[i]; });
}

template <class T>
HostCsr<T> adjoint_of(const HostCsr<T>& a) {
  HostCsr<T> to = transposed(a);
  if constexpr (is_complex<T>) {
    T* values = to.values.data();
    host_for("krysol::adjoint", to.nnz(),
             [=](std::int64_t k) { values[k] = conjugate(values[k]); });
  }
  return to;
}

#define KRYSOL_INSTANTIATE(T)                                                                \
  template MatrixInput<T> matrix_input(const CsrArrays&);                                    \
  template Kokkos::View<T*, Host> converted_values(const MatrixInput<T>&, const ScalarsRef&, \
                                                   bool);                                    \
  template HostCsr<T> adjoint_of(const HostCsr<T>&);
KRYSOL_INSTANTIATE(double)
KRYSOL_INSTANTIATE(Kokkos::complex<double>)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
