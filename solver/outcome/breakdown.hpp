// What can be told before a solve: that a method cannot work on this matrix, and where that is
// seen.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>

#include <krysol/solver/outcome/advice.hpp>
#include <krysol/spmv/matrix/properties.hpp>

namespace krysol {

/// A result with Status not_finite, not_symmetric (where the method needs symmetry) or
/// indefinite_matrix (where it needs definiteness: a diagonal entry that is not positive,
/// e_i'A e_i = a(i,i) <= 0), or nothing where no such evidence was found. A is square.
template <class S>
std::optional<SolveResult> find_breakdown(const MatrixProperties<S>& f,
                                          const MethodTraits& method = cg_traits) {
  const auto complex = [](const S& v) {
    return std::complex<double>(static_cast<double>(real_part(v)),
                                static_cast<double>(imaginary_part(v)));
  };
  SolveResult r;
  r.method = method;
  BreakdownCertificate& e = r.breakdown;
  e.complex_entries = is_complex<S>;
  if (f.not_finite_row >= 0) {
    r.status = Status::not_finite;
    e.row = f.not_finite_row;
    e.col = f.not_finite_col;
  } else if (method.needs_symmetry && !f.symmetric) {
    r.status = Status::not_symmetric;
    e.row = f.asymmetric_row;
    e.col = f.asymmetric_col;
    e.value = complex(f.asymmetric_value);
    e.mirrored_value = complex(f.asymmetric_mirror);
  } else if (method.needs_definiteness && f.first_not_positive >= 0) {
    r.status = Status::indefinite_matrix;
    e.row = e.col = f.first_not_positive;
    e.value = e.mirrored_value = complex(f.first_not_positive_value);
    e.curvature = e.value.real();
    e.direction.assign(static_cast<std::size_t>(f.rows), 0.0);
    e.direction[static_cast<std::size_t>(e.row)] = 1.0;
    e.largest = {{e.row, 1.0}};
  } else {
    return std::nullopt;
  }
  r.advice = advice(r);
  return r;
}

}  // namespace krysol
