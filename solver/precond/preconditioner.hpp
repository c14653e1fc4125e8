// What solvers take as preconditioners.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <krysol/spmv/matrix/host_csr.hpp>

namespace krysol {

/// z := M^-1 r with M symmetric (Hermitian) positive definite, the same linear map in each call
/// unless is_fixed says otherwise, which flexible methods alone take. r, z: [rows], not
/// overlapping; r is not written, and what z held is not read. apply may return before z is
/// complete: exec.fence() waits for it. A user's own type needs no more than apply. Optional:
///
///     double bytes() const                      that one application moves, with r and z
///     void update(const HostCsr<T>&)            other values in the same pattern
///     SetupNote setup_note() const              what the setup had to do differently
///     std::vector<SetupFact> report() const     a table of what was made
///     static constexpr bool can_smooth = true   see `smooth` (solver/precond/smooth.hpp)
///     bool is_fixed() const                     false: M^-1 is not the same linear map in each
///     call
template <class M, class T, class Exec>
concept Preconditioner = requires(const M& m, const Exec& exec, ConstVector<T, Exec> r,
                                  Vector<T, Exec> z) {
  m.apply(exec, r, z);
};

/// A preconditioner that multiplies each entry by a number. Solvers fuse it into their own loops
/// and never store z. An empty vector means M = I.
template <class M, class T, class Exec>
concept DiagonalPreconditioner = requires(const M& m) {
  { m.inverse_diagonal() } -> std::convertible_to<ConstVector<Real<T>, Exec>>;
};

/// z := r.
struct Identity {
  static constexpr std::string_view name = "none";

  template <class Exec, class T>
  void apply(const Exec& exec, const ConstVector<T, Exec>& r, const Vector<T, Exec>& z) const {
    Kokkos::deep_copy(exec, z, r);
  }
};

/// Where a setup departed from what was asked for: a part not built, a shift. Both empty: nowhere.
struct SetupNote {
  std::string refusal;  // what could not be built, and at which row; empty where all was
  std::string remedy;   // what is used in its place, or was done to build it
};

/// A line of the table that a preconditioner reports of itself: "blocks", "250".
struct SetupFact {
  std::string name;
  std::string value;
};

/// A number in such a table: "1", "1.3", "0.001".
std::string number_as_text(double v);

/// A preconditioner that cannot be built from these values; `what` names the row.
class PreconditionerRefusal : public std::invalid_argument {
 public:
  PreconditionerRefusal(const std::string& what, Index row)
      : std::invalid_argument(what), row_(row) {}
  Index row() const { return row_; }  // counted from 0

 private:
  Index row_;
};

/// Whether M^-1 is the same linear map in each call.
template <class M>
bool is_fixed(const M& m) {
  if constexpr (requires { m.is_fixed(); }) {
    return m.is_fixed();
  } else {
    return true;
  }
}

/// A preconditioner whose type is known at run time only. Several host threads may apply one at
/// once, to vectors of their own; update() is for one thread, while no other applies it.
template <class T, class Exec = Kokkos::DefaultExecutionSpace>
class AnyPreconditioner {
 public:
  virtual ~AnyPreconditioner() = default;
  virtual std::string_view name() const = 0;
  /// z := M^-1 r.
  virtual void apply(const Exec& exec, ConstVector<T, Exec> r, Vector<T, Exec> z) const = 0;
  /// Bytes that one application moves, with r and z.
  virtual double bytes() const = 0;
  /// True where M^-1 is diagonal; then inverse_diagonal() is what to fuse.
  virtual bool is_diagonal() const { return false; }
  virtual ConstVector<Real<T>, Exec> inverse_diagonal() const { return {}; }
  /// Takes other values in the same pattern, keeping what was found from the pattern; false where
  /// that is not offered. Throws std::invalid_argument, naming the row, where the pattern does not
  /// fit, and PreconditionerRefusal where the values do not; M is then as before.
  virtual bool update(const HostCsr<T>&) { return false; }
  virtual SetupNote setup_note() const { return {}; }
  /// What was made, for a report; empty where there is nothing to tell.
  virtual std::vector<SetupFact> report() const { return {}; }
  /// True where no eigenvalue of M^-1 A is above 2 for any symmetric positive definite A: then
  /// x := x + M^-1 (b - A x) never increases the error in the A-norm. See `smooth`.
  virtual bool can_smooth() const { return false; }
  /// False where z is no linear function of r, or another one in each call: where an iteration runs
  /// inside of M, for instance. See is_fixed (below).
  virtual bool is_fixed() const { return true; }

 protected:
  AnyPreconditioner() = default;
  AnyPreconditioner(const AnyPreconditioner&) = default;
  AnyPreconditioner& operator=(const AnyPreconditioner&) = default;
};

/// A preconditioner as AnyPreconditioner.
template <class M, class T, class Exec>
class PreconditionerOf final : public AnyPreconditioner<T, Exec> {
 public:
  explicit PreconditionerOf(M m) : m_(std::move(m)) {}

  std::string_view name() const override { return M::name; }
  void apply(const Exec& exec, ConstVector<T, Exec> r, Vector<T, Exec> z) const override {
    m_.apply(exec, r, z);
  }
  double bytes() const override {
    if constexpr (requires { m_.bytes(); }) return m_.bytes();
    return 0;
  }
  bool is_diagonal() const override {
    return DiagonalPreconditioner<M, T, Exec> || std::is_same_v<M, Identity>;
  }
  ConstVector<Real<T>, Exec> inverse_diagonal() const override {
    if constexpr (DiagonalPreconditioner<M, T, Exec>) return m_.inverse_diagonal();
    return {};
  }
  bool update(const HostCsr<T>& a) override {
    if constexpr (requires { m_.update(a); }) {
      m_.update(a);
      return true;
    } else {
      return std::is_same_v<M, Identity>;
    }
  }
  SetupNote setup_note() const override {
    if constexpr (requires { m_.setup_note(); }) return m_.setup_note();
    return {};
  }
  std::vector<SetupFact> report() const override {
    if constexpr (requires { m_.report(); }) return m_.report();
    return {};
  }
  bool can_smooth() const override {
    if constexpr (requires { M::can_smooth; }) return M::can_smooth;
    return false;
  }
  bool is_fixed() const override { return krysol::is_fixed(m_); }

 private:
  M m_;
};

}  // namespace krysol
