// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/kernels/distinct_values.hpp>

#include <algorithm>
#include <array>

#include <fmt/core.h>
#include <krysol/spmv/base/spaces.hpp>

namespace krysol {
namespace {

[[noreturn]] void refuse(std::string_view format, std::size_t distinct, Offset seen, Offset nnz) {
  throw FormatRefusal(
      fmt::format("{}: {} distinct values among {} of {} nonzeros; a table holds at most {}",
                  format, distinct, seen, nnz, most_values));
}

/// Counts values that differ, some thousands, by 32 bits of a hash, which two of them have in
/// common once in 10^9 pairs: a table of the values themselves takes longer to get its pages than
/// to fill.
template <class S>
class ValueCount {
 public:
  std::size_t count() const { return count_; }

  void add(const S& value) {
    const std::uint64_t hash = ValueBits<S>(value).hash();
    const auto mark = static_cast<std::uint32_t>(hash >> 32U) | 1U;
    std::size_t at = static_cast<std::size_t>(hash >> 40U) % slots;
    while (mark_[at] != mark && mark_[at] != 0) at = (at + 1) % slots;
    if (mark_[at] == 0) ++count_;
    mark_[at] = mark;
  }

  static constexpr std::size_t slots = 16384;

 private:
  std::array<std::uint32_t, slots> mark_{};  // 0: empty
  std::size_t count_ = 0;
};

}  // namespace

template <class S>
DistinctValues<S> find_values(std::string_view format, const HostCsr<S>& a) {
  const S* values = a.values.data();
  constexpr Offset shortest_piece = 1 << 16;
  const auto pieces =
      std::clamp<Offset>(a.nnz() / shortest_piece, 1, static_cast<Offset>(Host().concurrency()));
  const auto begin = [&](Offset p) { return a.nnz() / pieces * p + a.nnz() % pieces * p / pieces; };
  std::vector<DistinctValues<S>> of_piece(static_cast<std::size_t>(pieces));
  std::vector<Offset> stopped(static_cast<std::size_t>(pieces), -1);
  host_for("krysol::find_values", pieces, [&](std::int64_t p) {
    DistinctValues<S>& mine = of_piece[static_cast<std::size_t>(p)];
    const Offset last = begin(p + 1);
    for (Offset k = begin(p); k < last; ++k) {
      if (static_cast<std::size_t>(mine.add(values[k])) < most_values) continue;
      stopped[static_cast<std::size_t>(p)] = k;
      return;
    }
  });
  for (Offset p = 0; p < pieces; ++p) {
    const Offset k = stopped[static_cast<std::size_t>(p)];
    if (k >= 0) refuse(format, most_values + 1, k - begin(p) + 1, a.nnz());
  }
  DistinctValues<S> all = std::move(of_piece[0]);
  for (Offset p = 1; p < pieces; ++p) {
    for (const S& value : of_piece[static_cast<std::size_t>(p)].values()) all.add(value);
    if (all.values().size() > most_values) {
      refuse(format, all.values().size(), begin(p + 1), a.nnz());
    }
  }
  return all;
}

template <class S>
ValueSample sample_values(const HostCsr<S>& a) {
  constexpr Offset run = 64;
  ValueCount<S> found;
  ValueSample sample;
  const Offset step = std::max<Offset>(run, a.nnz() / run);
  const auto decided = static_cast<std::size_t>(std::min(a.nnz(), (a.nnz() / step + 1) * run) / 2);
  for (Offset first = 0; first < a.nnz() && found.count() <= decided; first += step) {
    const Offset last = std::min(a.nnz(), first + run);
    for (Offset k = first; k < last; ++k) found.add(a.values.data()[k]);
    sample.looked_at += last - first;
  }
  sample.distinct = static_cast<std::int64_t>(found.count());
  return sample;
}

const ValueSample& sample_values(const MatrixProfile& matrix) {
  return matrix.once(
      [&matrix] { return matrix.visit([](const auto& a) { return sample_values(a); }); });
}

#define KRYSOL_INSTANTIATE(S)                                                     \
  template DistinctValues<S> find_values<S>(std::string_view, const HostCsr<S>&); \
  template ValueSample sample_values<S>(const HostCsr<S>&);
KRYSOL_FOR_EACH_ENTRY(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
