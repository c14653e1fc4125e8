// Algebraic multigrid as a preconditioner.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include <krysol/solver/multigrid/cycle.hpp>
#include <krysol/solver/multigrid/device_update.hpp>
#include <krysol/solver/multigrid/hierarchy_update.hpp>
#include <krysol/solver/outcome/named_options.hpp>
#include <krysol/solver/precond/preconditioner.hpp>

namespace krysol {

/// What multigrid is made with, as `amg:cycle=w,degree=3` says it.
struct MultigridOptions {
  multigrid::HierarchyOptions levels{};
  multigrid::CycleOptions cycle{};
  bool in_double = false;  // levels are stored in double, else in float; complex alike
  Index vectors = 0;       // near-null vectors to look for at most; of real matrices

  /// cycle (v, w, k), smoother (see multigrid::Smoother), degree (1 to 16), strength, block,
  /// coarsest (1 to 2000), precision (float, double), coarsening (auto, aggregates, classical),
  /// aggressive (1 to 10, of classical), vectors (1 to 8). Throws as OptionReader does.
  static MultigridOptions read(std::string_view name, const NamedOptions& options);
};

/// z := M^-1 r with one cycle over the levels of A, grids or made by smoothed aggregation. M is
/// symmetric positive definite where A is, as far as rounding lets it be: a W-cycle in float needs
/// the eigenvalues of the last levels, scaled to ones on the diagonal, above 1e-6 or so. Bytes: see
/// multigrid::Hierarchy. The setup is done in double, on the host; where Exec is a device,
/// the large levels of real matrices are made there (device_levels.hpp), unless the smoother is
/// not chebyshev or the device has no room; grids for given near-null vectors are left to the host.
/// T: double, float, complex alike.
///
/// options.vectors: as long as 12 steps of x := x - M^-1 A x from a pseudo-random x leave more than
/// 0.3 of its A-norm a step, what is left is added to the near-null vectors, so many times at most,
/// and the levels are made again; those are kept that reduce an error most for the bytes that they
/// move (adaptive smoothed aggregation, Brezina, Falgout, MacLachlan, Manteuffel, McCormick & Ruge,
/// SISC 25(6), 2004, DOI 10.1137/S1064827502418598). Each costs a setup and 12 cycles.
template <class T, class Exec = Kokkos::DefaultExecutionSpace>
class Multigrid {
 public:
  static constexpr std::string_view name = "amg";

  /// format: what A is multiplied in, by its name, where that is known. keep: what later updates
  /// need. Throws as
  /// multigrid::make_hierarchy does.
  Multigrid(const HostCsr<T>& a, const MultigridOptions& options, std::string_view format,
            bool keep = false);

  void apply(const Exec& exec, const ConstVector<T, Exec>& r, const Vector<T, Exec>& z) const;
  double bytes() const;
  /// False for a K-cycle.
  bool is_fixed() const { return !options_.cycle.krylov; }
  SetupNote setup_note() const { return note_; }
  std::vector<SetupFact> report() const {
    std::vector<SetupFact> all = facts_;
    all.insert(all.end(), found_.begin(), found_.end());
    return all;
  }
  /// The first makes all anew, as the constructor does, and keeps it where it was made; later ones
  /// take its aggregates, grids or sets, and its interpolation, as long as A has the same pattern:
  /// where values change so much that other entries are strong, make another. Throws as the
  /// constructor does, and is then as before; std::invalid_argument where A has other rows.
  void update(const HostCsr<T>& a);

 private:
  using Stored = std::conditional_t<is_complex<T>, Kokkos::complex<float>, float>;
  using StoredInDouble = std::conditional_t<is_complex<T>, Kokkos::complex<double>, double>;
  /// What cycles leave of a pseudo-random vector, and the share of its A-norm that one leaves.
  struct Slow {
    Vector<T, Exec> x;
    double rate = 0;
  };

  Multigrid(const HostCsr<T>& a, const MultigridOptions& options, std::string_view format,
            bool keep, bool host_alone);
  void set_up(const HostCsr<T>& a, const multigrid::HierarchyOptions& levels, bool keep);
  using DeviceLevels = multigrid::DeviceLevels<StoredInDouble, Exec>;
  using DeviceUpdate = multigrid::DeviceUpdate<StoredInDouble, Exec>;
  void set_values(const HostCsr<StoredInDouble>& a,
                  multigrid::HierarchyUpdate<StoredInDouble>& kept, DeviceUpdate* on_device);
  void store(multigrid::HostHierarchy<StoredInDouble>& host, bool same_patterns,
             const DeviceLevels& on_device = {});
  Slow slowest(const Csr<T, Exec>& a) const;
  void find_vectors(const HostCsr<T>& a, bool keep);

  MultigridOptions options_;
  Index block_ = 1;
  std::shared_ptr<multigrid::HierarchyUpdate<StoredInDouble>> kept_;
  std::shared_ptr<DeviceUpdate> kept_on_device_;  // or null
  bool grid_ = false;
  bool host_alone_ = false;  // makes levels: a device had no room for them
  std::shared_ptr<const multigrid::Hierarchy<Stored, Exec>> levels_;
  std::shared_ptr<const multigrid::Hierarchy<StoredInDouble, Exec>> in_double_;
  SetupNote note_;
  std::vector<SetupFact> facts_;
  std::vector<SetupFact> found_;  // of the search for vectors
};

}  // namespace krysol
