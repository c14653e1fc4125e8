// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/composed/schwarz.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/core.h>
#include <krysol/solver/coarsening/row_builder.hpp>
#include <krysol/solver/precond/jacobi.hpp>
#include <krysol/spmv/base/memory.hpp>
#include <krysol/spmv/base/spaces.hpp>
#include <krysol/spmv/order/cuthill_mckee.hpp>
#include <krysol/spmv/order/partition.hpp>

namespace krysol {

#ifndef KRYSOL_FOR_FLOAT
namespace {

/// The rows of each part, without overlap.
std::vector<std::vector<Index>> rows_of_parts(const Offset* row_ptr, const Index* col_idx,
                                              Index rows, Index parts) {
  std::vector<std::vector<Index>> list(static_cast<std::size_t>(parts));
  if (parts > 1 && can_partition()) {
    const std::vector<Index> part = partition_rows(row_ptr, col_idx, rows, parts);
    for (Index i = 0; i < rows; ++i) {
      list[static_cast<std::size_t>(part[static_cast<std::size_t>(i)])].push_back(i);
    }
  } else {
    const Permutation order = reverse_cuthill_mckee(row_ptr, col_idx, rows);
    for (std::size_t k = 0; k < order.size(); ++k) {
      list[k * list.size() / order.size()].push_back(order[k]);
    }
  }
  std::erase_if(list, [](const std::vector<Index>& part) { return part.empty(); });
  return list;
}

/// Adds the neighbours of all rows of a list, once each.
class Neighbours {
 public:
  Neighbours(const Offset* row_ptr, const Index* col_idx, Index rows)
      : row_ptr_(row_ptr), col_idx_(col_idx), seen_(static_cast<std::size_t>(rows), 0) {}

  void add_to(std::vector<Index>& part, Index layers) {
    for (const Index i : part) seen_[static_cast<std::size_t>(i)] = 1;
    std::size_t first = 0;
    for (Index layer = 0; layer < layers; ++layer) {
      const std::size_t last = part.size();
      for (; first < last; ++first) {
        for (Offset k = row_ptr_[part[first]]; k < row_ptr_[part[first] + 1]; ++k) {
          char& seen = seen_[static_cast<std::size_t>(col_idx_[k])];
          if (seen != 0) continue;
          seen = 1;
          part.push_back(col_idx_[k]);
        }
      }
    }
    for (const Index i : part) seen_[static_cast<std::size_t>(i)] = 0;
    std::sort(part.begin(), part.end());
  }

 private:
  const Offset* row_ptr_;
  const Index* col_idx_;
  std::vector<char> seen_;
};

}  // namespace

SchwarzParts make_schwarz_parts(const Offset* row_ptr, const Index* col_idx, Index rows,
                                const SchwarzOptions& options) {
  const Index parts = std::max<Index>(1, rows / std::max<Index>(1, options.rows_per_part));
  SchwarzParts out;
  out.part_ptr.push_back(0);
  Neighbours neighbours(row_ptr, col_idx, rows);
  for (std::vector<Index>& part : rows_of_parts(row_ptr, col_idx, rows, parts)) {
    neighbours.add_to(part, options.overlap);
    constexpr double of_a_row = 24;         // bytes, with what is to come
    constexpr std::size_t often = 1 << 22;  // rows, until memory is looked at again
    const std::size_t rows_now = out.row.size() + part.size();
    if (rows_now / often > out.row.size() / often) {
      require_host_memory("schwarz.rows", of_a_row * static_cast<double>(rows_now));
    }
    if (out.row.size() + part.size() >
        static_cast<std::size_t>(std::numeric_limits<Index>::max())) {
      throw std::invalid_argument(
          fmt::format("schwarz: the parts have more than {} rows together; larger parts, or less "
                      "overlap, have fewer",
                      std::numeric_limits<Index>::max()));
    }
    out.row.insert(out.row.end(), part.begin(), part.end());
    out.part_ptr.push_back(static_cast<Index>(out.row.size()));
  }
  out.copy_ptr.assign(static_cast<std::size_t>(rows) + 1, 0);
  for (const Index i : out.row) ++out.copy_ptr[static_cast<std::size_t>(i) + 1];
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) {
    out.copy_ptr[i + 1] += out.copy_ptr[i];
  }
  std::vector<Index> next(out.copy_ptr.begin(), out.copy_ptr.end() - 1);
  out.copy.resize(out.row.size());
  for (std::size_t k = 0; k < out.row.size(); ++k) {
    out.copy[static_cast<std::size_t>(next[static_cast<std::size_t>(out.row[k])]++)] =
        static_cast<Index>(k);
  }
  return out;
}

void refuse_part(const SchwarzParts& parts, const PreconditionerRefusal& refused) {
  if (refused.row() < 0) throw PreconditionerRefusal(refused);
  const Index row = parts.row[static_cast<std::size_t>(refused.row())];
  throw PreconditionerRefusal(
      fmt::format("schwarz: the matrix of the part of row {} is not positive definite there",
                  row + 1),
      row);
}

SetupNote note_of_parts(SetupNote note) {
  if (!note.remedy.empty()) {
    note.remedy = fmt::format("schwarz, rows counted over all parts: {}", note.remedy);
  }
  return note;
}
#endif

template <class T>
HostCsr<T> matrix_of_parts(const SchwarzParts& parts, const HostCsr<T>& a) {
  const auto rows = static_cast<Index>(parts.row.size());
  const Index* const col_idx = a.col_idx.data();
  const auto threads = static_cast<std::int64_t>(Host{}.concurrency());
  const EqualBlocks shares{parts.parts(),
                           std::max<std::int64_t>(1, (parts.parts() + threads - 1) / threads)};
  require_host_memory("schwarz.places", sizeof(Index) * static_cast<double>(threads) * a.rows);
  HostCsr<T> b;
  b.rows = b.cols = rows;
  b.row_ptr = multigrid::host_array<Offset>("schwarz.row_ptr", static_cast<std::size_t>(rows) + 1);
  Offset* const row_ptr = b.row_ptr.data();
  row_ptr[0] = 0;
  // visit(k, place): for each row k of a share, with the place of each column of A among the rows
  // of its part, or -1.
  const auto for_rows = [&](const char* label, const auto& visit) {
    host_for(label, shares.count(), [&](std::int64_t s) {
      std::vector<Index> place(static_cast<std::size_t>(a.rows), -1);
      for (std::int64_t p = shares.first(s); p < shares.last(s); ++p) {
        const Index first = parts.part_ptr[static_cast<std::size_t>(p)];
        const Index last = parts.part_ptr[static_cast<std::size_t>(p) + 1];
        const auto row = [&](Index k) {
          return static_cast<std::size_t>(parts.row[static_cast<std::size_t>(k)]);
        };
        for (Index k = first; k < last; ++k) place[row(k)] = k;
        for (Index k = first; k < last; ++k) visit(k, place);
        for (Index k = first; k < last; ++k) place[row(k)] = -1;
      }
    });
  };
  for_rows("krysol::schwarz(count)", [&](Index k, const std::vector<Index>& place) {
    const auto i = static_cast<std::size_t>(parts.row[static_cast<std::size_t>(k)]);
    Offset count = 0;
    for (Offset e = a.row_ptr(i); e < a.row_ptr(i + 1); ++e) {
      if (place[static_cast<std::size_t>(col_idx[e])] >= 0) ++count;
    }
    row_ptr[k + 1] = count;
  });
  for (Index k = 0; k < rows; ++k) row_ptr[k + 1] += row_ptr[k];
  const auto nnz = static_cast<std::size_t>(row_ptr[rows]);
  require_host_memory("schwarz.parts", static_cast<double>(nnz) * (sizeof(T) + sizeof(Index)));
  b.col_idx = multigrid::host_array<Index>("schwarz.col_idx", nnz);
  b.values = multigrid::host_array<T>("schwarz.values", nnz);
  for_rows("krysol::schwarz(fill)", [&](Index k, const std::vector<Index>& place) {
    const auto i = static_cast<std::size_t>(parts.row[static_cast<std::size_t>(k)]);
    Offset to = row_ptr[k];
    for (Offset e = a.row_ptr(i); e < a.row_ptr(i + 1); ++e) {
      const Index j = place[static_cast<std::size_t>(col_idx[e])];
      if (j < 0) continue;
      b.col_idx.data()[to] = j;
      b.values.data()[to++] = a.values.data()[e];
    }
  });
  return b;
}

template <class T, class Exec>
Schwarz<T, Exec>::Schwarz(SchwarzParts parts, std::shared_ptr<Local> local)
    : parts_(std::make_shared<const SchwarzParts>(std::move(parts))), local_(std::move(local)) {
  const SchwarzParts& p = *parts_;
  const auto rows = static_cast<std::int64_t>(p.copy_ptr.size()) - 1;
  const auto weight = allocate<Kokkos::View<Real<T>*, Kokkos::HostSpace>>("schwarz.weight", rows);
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) {
    weight(i) =
        static_cast<Real<T>>(1 / std::sqrt(static_cast<double>(p.copy_ptr[i + 1] - p.copy_ptr[i])));
  }
  weight_ = in_memory_of<Exec>(weight);
  row_ = to_device<Exec>("schwarz.row", p.row);
  copy_ptr_ = to_device<Exec>("schwarz.copy_ptr", p.copy_ptr);
  copy_ = to_device<Exec>("schwarz.copy", p.copy);
  pool_.take(Exec{}, [this] { return make_work(); });  // here: no application allocates it
}

template <class T, class Exec>
void Schwarz<T, Exec>::update(const HostCsr<T>& a) {
  check_rows(name, weight_.extent(0), a);
  const auto refuse_pattern = [] {
    throw std::invalid_argument(
        "schwarz: the matrix has nonzeros at other places than when its parts were made");
  };
  if (a.cols != a.rows) refuse_pattern();
  try {
    local_->update(matrix_of_parts(*parts_, a));
  } catch (const PreconditionerRefusal& refused) {
    refuse_part(*parts_, refused);
  } catch (const std::invalid_argument&) {  // which names a row of the parts
    refuse_pattern();
  }
}

#define KRYSOL_INSTANTIATE(T) \
  template HostCsr<T> matrix_of_parts(const SchwarzParts&, const HostCsr<T>&);
KRYSOL_FOR_EACH_SOLVED_ENTRY(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE
#define KRYSOL_INSTANTIATE(T, Exec) template class Schwarz<T, Exec>;
KRYSOL_FOR_EACH_SOLVED_ENTRY_AND_SPACE(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
