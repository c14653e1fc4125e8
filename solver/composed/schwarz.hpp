// Additive Schwarz: a system for each of some parts of the rows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <krysol/solver/precond/preconditioner.hpp>
#include <krysol/spmv/base/reduction.hpp>
#include <krysol/spmv/base/scratch_pool.hpp>

namespace krysol {

struct SchwarzOptions {
  Index rows_per_part = 1000;  // before parts overlap, about
  Index overlap = 1;           // layers of neighbours that a part has beside its own rows
};

/// Which rows the parts have. The rows of all parts, one after the other, are those of a block
/// diagonal matrix.
struct SchwarzParts {
  std::vector<Index> part_ptr;  // [parts + 1] where those of each part begin
  std::vector<Index> row;       // [part_ptr[parts]] of A; ascending in a part
  std::vector<Index> copy_ptr;  // [rows + 1] where the copies of each row of A begin
  std::vector<Index> copy;      // [part_ptr[parts]] their places in `row`, ascending

  Index parts() const { return static_cast<Index>(part_ptr.size()) - 1; }
};

/// Parts by METIS where Krysol has it, else neighbouring rows in a Cuthill-McKee order; then
/// `overlap` times the neighbours of all their rows are added to each. row_ptr, col_idx: of a
/// square matrix with a symmetric pattern. Throws OutOfMemory where parts would take more memory
/// than there is, std::invalid_argument where they have more rows together than Index counts.
SchwarzParts make_schwarz_parts(const Offset* row_ptr, const Index* col_idx, Index rows,
                                const SchwarzOptions& options);

/// The block diagonal matrix of A(rows of a part, rows of the same part). Columns ascend where
/// those of A do. Instantiated in the library for its entry types.
template <class T>
HostCsr<T> matrix_of_parts(const SchwarzParts& parts, const HostCsr<T>& a);

/// Throws what a preconditioner of the block diagonal matrix refused as a refusal of A's row.
[[noreturn]] void refuse_part(const SchwarzParts& parts, const PreconditionerRefusal& refused);

/// What was done differently for that matrix, whose rows are no rows of A.
SetupNote note_of_parts(SetupNote note);

/// local(k) := weight(row of k) r(row of k).
template <class T>
struct ToParts {
  const Index* row;
  const Real<T>* weight;
  const T* r;
  T* local;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    local[k] = weight[row[k]] * r[row[k]];
  }
};

/// z(i) := weight(i) times the sum of its copies, in the order of the parts.
template <class T>
struct FromParts {
  const Index* copy_ptr;
  const Index* copy;
  const Real<T>* weight;
  const T* local;
  T* z;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    T sum = T(0);
    for (Index c = copy_ptr[i]; c < copy_ptr[i + 1]; ++c) sum += local[copy[c]];
    z[i] = weight[i] * sum;
  }
};

/// z := sum over the parts of W R' (R A R')^-1 R W r, where R takes the rows of a part, and W is
/// the diagonal matrix of one over the root of the number of parts that a row is in: symmetric
/// positive definite where A is. In place of the inverses, any preconditioner of the block diagonal
/// matrix of all R A R', which does all parts at once. Iterations grow with the number of parts:
/// there is no coarse level. Smith, Bjorstad & Gropp, Domain Decomposition, 1996, chapter 1. Bytes
/// of an application: those of that preconditioner, and in double 48 a row of the parts and 28 a
/// row.
template <class T, class Exec = Kokkos::DefaultExecutionSpace>
class Schwarz {
 public:
  static constexpr std::string_view name = "schwarz";
  using Local = AnyPreconditioner<T, Exec>;

  /// local: made from matrix_of_parts(parts, A).
  Schwarz(SchwarzParts parts, std::shared_ptr<Local> local);

  void apply(const Exec& exec, const ConstVector<T, Exec>& r, const Vector<T, Exec>& z) const {
    const auto lease = pool_.take(exec, [this] { return make_work(); });
    for_each("krysol::schwarz(r)", exec, static_cast<std::int64_t>(row_.extent(0)),
             ToParts<T>{row_.data(), weight_.data(), r.data(), lease->r.data()});
    local_->apply(exec, ConstVector<T, Exec>(lease->r), lease->z);
    for_each(
        "krysol::schwarz(z)", exec, static_cast<std::int64_t>(weight_.extent(0)),
        FromParts<T>{copy_ptr_.data(), copy_.data(), weight_.data(), lease->z.data(), z.data()});
  }
  double bytes() const {
    return local_->bytes() +
           static_cast<double>(row_.extent(0)) *
               (4 * sizeof(T) + sizeof(Real<T>) + 2 * sizeof(Index)) +
           static_cast<double>(weight_.extent(0)) *
               (2 * sizeof(T) + sizeof(Real<T>) + sizeof(Index));
  }
  bool is_fixed() const { return local_->is_fixed(); }
  SetupNote setup_note() const { return note_of_parts(local_->setup_note()); }
  std::vector<SetupFact> report() const {
    std::vector<SetupFact> facts = {
        {"parts", std::to_string(parts_->parts())},
        {"rows of all parts over those of A",
         number_as_text(weight_.extent(0) > 0 ? static_cast<double>(row_.extent(0)) /
                                                    static_cast<double>(weight_.extent(0))
                                              : 1)},
        {"of the parts", std::string(local_->name())}};
    for (SetupFact& fact : local_->report()) facts.push_back(std::move(fact));
    return facts;
  }
  /// Throws PreconditionerRefusal, naming A's row, and std::invalid_argument where A has another
  /// pattern; M is then as before.
  void update(const HostCsr<T>& a);

 private:
  struct Work {
    Vector<T, Exec> r;  // [rows of the parts] each
    Vector<T, Exec> z;
  };
  Work make_work() const {
    const auto n = static_cast<std::int64_t>(row_.extent(0));
    return {uninitialized<T>(Exec{}, "schwarz.r", n), uninitialized<T>(Exec{}, "schwarz.z", n)};
  }

  std::shared_ptr<const SchwarzParts> parts_;
  std::shared_ptr<Local> local_;
  Vector<Index, Exec> row_;
  Vector<Index, Exec> copy_ptr_;
  Vector<Index, Exec> copy_;
  Vector<Real<T>, Exec> weight_;  // [rows of A]
  ScratchPool<Work, Exec> pool_;
};

}  // namespace krysol
