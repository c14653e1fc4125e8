// A factorized sparse approximate inverse.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/precond/jacobi.hpp>
#include <krysol/spmv/base/scratch_pool.hpp>
#include <krysol/spmv/formats/csr.hpp>
#include <krysol/spmv/operator.hpp>

namespace krysol {

/// G on the host, and what its setup had to do differently.
template <class T>
struct FsaiFactor {
  HostCsr<T> g;
  HostCsr<T> adjoint;       // G^H
  Index fallback_rows = 0;  // whose blocks are not positive definite
  Index first_fallback = -1;
  Index cut_rows = 0;  // that kept their largest entries only
};

/// G, lower triangular with the pattern of A's lower triangle, such that G A G^H is the identity at
/// the places of that pattern: row i of G holds conj(y_k) / sqrt(y_i) where A(J, J) y = e_i for the
/// columns J of row i up to i. It is the G with ones on the diagonal of G A G^H that is nearest to
/// the inverse of A's Cholesky factor. Of rows with more than 128 entries below the diagonal the
/// largest are taken, over the root of the diagonal. A block that is not positive definite gives
/// way to its diagonal entry. Throws PreconditionerRefusal where a diagonal entry is not positive
/// and finite. Rows are independent of each other. Kolotilina & Yeremin, SIAM J. Matrix Anal. Appl.
/// 14(1), 1993, DOI 10.1137/0614004. Instantiated in the library for its entry types.
template <class T>
FsaiFactor<T> make_fsai_factor(const HostCsr<T>& a);

SetupNote fsai_note(Index fallback_rows, Index first_fallback);

/// z := G^H G r. Bytes: those of G and G^H in csr, and of four vectors.
template <class T, class Exec = Kokkos::DefaultExecutionSpace>
struct Fsai {
  static constexpr std::string_view name = "fsai";

  Csr<T, Exec> g;
  Csr<T, Exec> adjoint;
  Index fallback_rows = 0;
  Index first_fallback = -1;
  Index cut_rows = 0;
  ScratchPool<Vector<T, Exec>, Exec> y;  // [rows] one for each solve that runs

  void apply(const Exec& exec, const ConstVector<T, Exec>& r, const Vector<T, Exec>& z) const {
    const auto lease = y.take(exec, [this] { return fresh_y(); });
    krysol::apply(exec, T(1), g, r, T(0), *lease);
    krysol::apply(exec, T(1), adjoint, ConstVector<T, Exec>(*lease), T(0), z);
  }
  Vector<T, Exec> fresh_y() const { return uninitialized<T>(Exec{}, "fsai.y", g.rows); }
  double bytes() const {
    return static_cast<double>(krysol::bytes(g) + krysol::bytes(adjoint)) +
           4.0 * g.rows * static_cast<double>(sizeof(T));
  }
  SetupNote setup_note() const { return fsai_note(fallback_rows, first_fallback); }
  std::vector<SetupFact> report() const {
    return {{"entries of G", std::to_string(g.nnz())},
            {"rows that kept their largest entries", std::to_string(cut_rows)},
            {"rows whose block is not positive definite", std::to_string(fallback_rows)}};
  }
  /// Throws as make_fsai_factor does, and std::invalid_argument where A has other rows; M is then
  /// as before.
  void update(const HostCsr<T>& a) {
    check_rows(name, static_cast<std::size_t>(g.rows), a);
    take(make_fsai_factor(a));
  }
  void take(const FsaiFactor<T>& f) {
    Csr<T, Exec> made;
    Csr<T, Exec> made_adjoint;
    from_csr(f.g, made);
    from_csr(f.adjoint, made_adjoint);
    g = std::move(made);
    adjoint = std::move(made_adjoint);
    fallback_rows = f.fallback_rows;
    first_fallback = f.first_fallback;
    cut_rows = f.cut_rows;
  }
};

template <class Exec = Kokkos::DefaultExecutionSpace, class T>
Fsai<T, Exec> make_fsai(const HostCsr<T>& a) {
  Fsai<T, Exec> m;
  m.take(make_fsai_factor(a));
  m.y.take(Exec{}, [&m] { return m.fresh_y(); });  // here, so that no application allocates it
  return m;
}

}  // namespace krysol
