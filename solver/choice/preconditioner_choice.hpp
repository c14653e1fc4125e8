// The preconditioner `auto`: chosen while CG runs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <krysol/solver/choice/preconditioner_stages.hpp>
#include <krysol/solver/choice/preconditioner_trial.hpp>
#include <krysol/solver/choice/predicted_cost.hpp>
#include <krysol/solver/registry.hpp>
#include <krysol/spmv/select/late_format.hpp>

namespace krysol {

/// A solve by `auto`.
struct ChosenSolve {
  SolveResult result{};  // without the seconds of setups
  std::vector<PreconditionerTrial> trials{};
  double setup_seconds = 0;   // of what was made meanwhile
  double format_seconds = 0;  // of choosing a format meanwhile
  std::string used{};         // what the last iterations were made with
  std::vector<SetupFact> facts{};
};

/// Conjugate gradients whose preconditioner is chosen while they run. They start with jacobi, which
/// costs next to nothing. Now and then, the iterations still predicted are compared with what
/// others are predicted to cost, setups included (choice::Cost); where one of them costs less it is
/// made, and CG goes on with it from the x so far. So a solve that jacobi does quickly has lost
/// nothing, and one that would take it long has lost about a tenth of what the other takes. A
/// preconditioner that turns out slower than predicted is left in the same way, for another, or for
/// the one before. What a solve ended with, the next one begins with. Where none costs less, the
/// matrix is told how many multiplications are ahead (LateFormat).
///
/// Nothing is decided by a clock: each run on a processor makes the same choices, for any number of
/// threads, unless formats were chosen differently.
///
/// Several threads may call solve at once.
template <class T>
class PreconditionerChoice {
 public:
  using Exec = Kokkos::DefaultExecutionSpace;
  using Made = MadePreconditioner<T, Exec>;

  /// a: kept, with its arrays, for what is made later. late: `op`, where that is one; else null.
  /// stages: to be taken in place of a choice. near_null: for amg; may be null.
  PreconditionerChoice(const HostCsr<T>& a, std::shared_ptr<const Operator<T>> op,
                       std::shared_ptr<LateFormat<T>> late, std::vector<PreconditionerStage> stages,
                       bool strict = false, std::shared_ptr<const NearNullVectors> near_null = {});

  /// x: the starting guess, and then the solution. Throws as krysol::solve by name does, and with
  /// `strict` std::invalid_argument for a stage that cannot be made. A time limit or a number of
  /// iterations that is nearly used up keeps others from being made.
  ChosenSolve solve(const ConstVector<T, Exec>& b, const Vector<T, Exec>& x,
                    const StoppingCriteria& stop, const Observer& observer,
                    const NamedOptions& options);

  /// Takes other values in the same pattern; what was in use stays in use, where it can be made and
  /// there is memory for it. All is as before where it throws.
  void update(const HostCsr<T>& a, std::shared_ptr<const Operator<T>> op,
              std::shared_ptr<LateFormat<T>> late);

  /// What solves begin with: jacobi, or the first stage.
  const Made& first() const { return *first_; }

 private:
  /// A preconditioner, and what an iteration with it costs.
  struct InUse {
    std::shared_ptr<Made> made;
    double iteration = 0;
  };
  /// What is known of one that may be taken.
  struct Candidate {
    std::string name;
    choice::Cost cost{};
    bool out = false;  // refused, or left
    InUse made{};      // empty: not made
  };
  class Watch;

  choice::SystemSize size() const;
  InUse in_use(std::shared_ptr<Made> made) const;
  InUse made_now(Candidate& c, PreconditionerTrial& trial);
  InUse better_than(double remaining, double spent, double most_setup, const InUse& now,
                    std::vector<PreconditionerTrial>& trials);
  void order_rows(double remaining, std::vector<PreconditionerTrial>& trials);
  bool may_be_ordered(double remaining) const;
  double least_of_factorization() const;
  double products_ahead(double remaining, double spent, const InUse& now);
  std::shared_ptr<Made> stage(std::size_t s);
  ChosenSolve solve_by_stages(const ConstVector<T, Exec>& b, const Vector<T, Exec>& x,
                              const StoppingCriteria& stop, const Observer& observer,
                              const NamedOptions& options);

  HostCsr<T> a_;
  std::shared_ptr<const Operator<T>> op_;
  std::shared_ptr<LateFormat<T>> late_;
  std::vector<PreconditionerStage> stages_;
  bool strict_ = false;
  std::shared_ptr<const NearNullVectors> near_null_;
  std::shared_ptr<Made> first_;  // jacobi, or the first stage

  std::mutex mutex_;  // of what follows
  InUse current_;     // what the last solve ended with
  std::vector<Candidate> candidates_;
  /// What costs depend on and takes a pass over the matrix: seen when there is something to decide.
  struct Seen {
    double positive_off_diagonal = 0;
    double least_flops = 0;     // of a factorization; 0 where it may be cheap
    int grid = 0;               // see SystemSize
    bool knows_meshes = false;  // least_flops is of any mesh, not of grids alone
  };
  std::optional<Seen> seen_;
  std::optional<sparse_cholesky::Elimination> elimination_;
  double too_much_fill_at_ = 0;                  // what remained when the order showed too much
  std::vector<std::shared_ptr<Made>> of_stage_;  // as far as they have been made
};

/// The share of positive entries in the sum of |a_ij| over i != j; real parts of complex ones.
template <class T>
double positive_off_diagonal(const HostCsr<T>& a);

}  // namespace krysol
