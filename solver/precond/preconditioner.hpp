// What solvers take as preconditioners.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <krysol/spmv/matrix/host_csr.hpp>

namespace krysol {

/// z := M^-1 r with M symmetric positive definite. A user's own type needs no more than this.
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

/// What the setup of a preconditioner had to do differently.
struct SetupNote {
  std::string refusal;  // what could not be built, and at which row; empty where all was
  std::string remedy;   // what is used in its place, or was done to build it
};

/// A preconditioner that cannot be built from these values; `what` names the row.
class PreconditionerRefusal : public std::invalid_argument {
 public:
  PreconditionerRefusal(const std::string& what, Index row)
      : std::invalid_argument(what), row_(row) {}
  Index row() const { return row_; }  // counted from 0

 private:
  Index row_;
};

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

 private:
  M m_;
};

}  // namespace krysol
