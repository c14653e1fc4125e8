// Rows whose products a team of a GPU makes side by side before it adds them up.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/base/vector.hpp>
#include <krysol/spmv/kernels/row_blocks.hpp>

namespace krysol {

// A thread a row reads entries that lie a row apart, and a few lanes a row some lines of eight rows
// at once: on an H200 half of what memory gives for rows of 14 and more. A team reads its entries
// side by side instead, leaves each product in scratch memory, and adds up rows there. J. L.
// Greathouse, M. Daga, SC '14, DOI 10.1109/SC.2014.68 (CSR-Stream).

/// True where products of that type are few bytes enough for several teams to share a processor.
template <class T, class Exec>
inline constexpr bool can_stage = !Tiles<Exec>::tiled && sizeof(T) <= 16;

/// An array of a team.
template <class T, class Exec>
using TeamArray =
    Kokkos::View<T*, typename Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// Entries of a matrix, one after another, and the vector that they multiply.
template <class S, class T>
struct EntriesTimesX {
  const S* values;
  const Index* col_idx;
  const T* x;

  KOKKOS_FORCEINLINE_FUNCTION T product(Offset k) const {
    return static_cast<T>(values[k]) * x[col_idx[k]];
  }

  /// The sum of the products of entries [begin, end), one after another.
  KOKKOS_FORCEINLINE_FUNCTION T sum(Offset begin, Offset end) const {
    T total = T(0);
    for (Offset k = begin; k < end; ++k) total += product(k);
    return total;
  }

  /// The sum of every `staging_threads`-th product from `begin` on.
  KOKKOS_FORCEINLINE_FUNCTION T sum_of_thread(Offset begin, Offset end) const {
    constexpr int each = 4;
    constexpr int step = each * staging_threads;
    T total = T(0);
    Offset k = begin;
    for (; k + step - staging_threads < end; k += step) {
      T term[each];
      for (int j = 0; j < each; ++j) term[j] = product(k + j * staging_threads);
      for (int j = 0; j < each; ++j) total += term[j];
    }
    for (; k < end; k += staging_threads) total += product(k);
    return total;
  }

  /// Sets products[w] to that of entry begin + w, for w < count <= staged_entries, by a whole team.
  /// Ends with a barrier.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void stage(const Member& member, Offset begin, int count,
                                    T* products) const {
    constexpr int each = staged_entries / staging_threads;
    const EntriesTimesX from = {values + begin, col_idx + begin, x};
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, int{staging_threads}), [&](int t) {
      S value[each];
      Index column[each];
      for (int j = 0; j < each; ++j) {
        const int w = t + j * staging_threads;
        value[j] = w < count ? from.values[w] : S(0);
        column[j] = w < count ? from.col_idx[w] : 0;
      }
      for (int j = 0; j < each; ++j) {
        const int w = t + j * staging_threads;
        if (w < count) products[w] = static_cast<T>(value[j]) * from.x[column[j]];
      }
    });
    member.team_barrier();
  }
};

/// Calls then(the sum of part[0 .. staging_threads)) in one thread of a team, which has written
/// them. part: [staging_threads + 16]. Kokkos' own reductions take twice the registers.
template <class T, class Member, class Then>
KOKKOS_INLINE_FUNCTION void sum_of_parts(const Member& member, T* part, const Then& then) {
  constexpr int some = 16;
  member.team_barrier();
  Kokkos::parallel_for(Kokkos::TeamThreadRange(member, some), [&](int t) {
    T total = T(0);
    for (int l = t; l < staging_threads; l += some) total += part[l];
    part[staging_threads + t] = total;
  });
  member.team_barrier();
  Kokkos::single(Kokkos::PerTeam(member), [&]() {
    T total = T(0);
    for (int l = 0; l < some; ++l) total += part[staging_threads + l];
    then(total);
  });
}

/// A team's scratch memory for one piece.
template <class T, class Exec>
struct StagedProducts {
  TeamArray<T, Exec> product;  // [staged_entries]
  TeamArray<T, Exec> part;     // of the rows' sums: one each thread, rows an entry apart

  /// With two lanes a row each third place stays free.
  static constexpr int parts = staging_threads + staging_threads / 2;

  KOKKOS_INLINE_FUNCTION explicit StagedProducts(const TeamMember<Exec>& member)
      : product(member.team_scratch(0), staged_entries), part(member.team_scratch(0), parts) {}

  static std::size_t bytes() {
    return TeamArray<T, Exec>::shmem_size(staged_entries) + TeamArray<T, Exec>::shmem_size(parts);
  }

  KOKKOS_FORCEINLINE_FUNCTION T sum(int begin, int end, int step) const {
    T total = T(0);
    for (int w = begin; w < end; w += step) total += product(w);
    return total;
  }

  /// Row w < rows of the piece sums the products [begin(w), begin(w + 1)); thread t of the team
  /// calls store(w, sum, t). Few rows are summed by several threads each. Call it with the whole
  /// team; a barrier must follow before the next piece.
  template <class Begin, class Store>
  KOKKOS_INLINE_FUNCTION void sum_rows(const TeamMember<Exec>& member, int rows, const Begin& begin,
                                       const Store& store) const {
    int shift = 0;  // 2^shift threads a row
    while (shift < 5 && (rows << (shift + 1)) <= staging_threads) ++shift;
    if (shift == 0) {
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, int{staging_threads}), [&](int t) {
        for (int w = t; w < rows; w += staging_threads) store(w, sum(begin(w), begin(w + 1), 1), t);
      });
      return;
    }
    const int lanes = 1 << shift;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, rows << shift), [&](int t) {
      const int w = t >> shift;
      part(t + w) = sum(begin(w) + (t & (lanes - 1)), begin(w + 1), lanes);
    });
    member.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, rows), [&](int w) {
      T total = T(0);
      for (int l = 0; l < lanes; ++l) total += part(w * (lanes + 1) + l);
      store(w, total, w);
    });
  }
};

/// Runs work(b, member) for 0 <= b < blocks, by teams of staging_threads with `scratch` bytes each.
/// So few registers a thread that `teams` share a processor: of an H200's 2048 threads, which hide
/// what each waits for, five teams leave out a third, and take 1.3 times as long as eight.
template <int teams, class Exec, class Work>
void for_each_staged(const std::string& label, const Exec& exec, std::int64_t blocks,
                     std::size_t scratch, const Work& work) {
  if (blocks == 0) return;
  Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<staging_threads, teams>> policy(
      exec, static_cast<int>(blocks), staging_threads);
  policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(scratch)));
  Kokkos::parallel_for(label, policy, BlockByTeam<Exec, Work>{work});
}

/// The teams whose registers are enough for products of that type.
template <class T>
inline constexpr int staging_teams = sizeof(T) <= 8 ? 8 : 4;

}  // namespace krysol
