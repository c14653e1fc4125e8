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
      for (int j = 0; j < each; ++j) term[j] = product(k + Offset{j} * staging_threads);
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

/// A team's scratch memory for the sums of rows. Kokkos' own reductions take twice the registers.
template <class T, class Exec>
struct PartsOfSums {
  /// False for packs of complex numbers, of which a team's memory holds too few.
  static constexpr bool shared_rows = sizeof(T) <= 64;
  static constexpr int last_parts = 16;  // of a sum over the team

  /// One for each thread, and a free place behind those of each row: two threads a row at the
  /// least.
  static constexpr int parts = shared_rows ? staging_threads + staging_threads / 2 : 0;
  static_assert(parts == 0 || parts >= staging_threads + last_parts);

  TeamArray<T, Exec> part;  // [parts]

  KOKKOS_INLINE_FUNCTION explicit PartsOfSums(const TeamMember<Exec>& member)
      : part(member.team_scratch(0), static_cast<std::size_t>(parts)) {}

  static std::size_t bytes() {
    return TeamArray<T, Exec>::shmem_size(static_cast<std::size_t>(parts));
  }

  /// Calls then(part[0] + ... + part[staging_threads - 1]) in one thread of the team.
  template <class Then>
  KOKKOS_INLINE_FUNCTION void sum_of_team(const TeamMember<Exec>& member, const Then& then) const {
    member.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, int{last_parts}), [&](int t) {
      T total = T(0);
      for (int l = t; l < staging_threads; l += last_parts) total += part(l);
      part(staging_threads + t) = total;
    });
    member.team_barrier();
    Kokkos::single(Kokkos::PerTeam(member), [&]() {
      T total = T(0);
      for (int l = 0; l < last_parts; ++l) total += part(staging_threads + l);
      then(total);
    });
  }

  template <class Term>
  KOKKOS_FORCEINLINE_FUNCTION static T sum(const Term& term, int begin, int end, int step) {
    T total = T(0);
    for (int w = begin; w < end; w += step) total += term(w);
    return total;
  }

  /// Row w < rows <= staged_entries + 1 of a piece sums term(begin(w)) to term(begin(w + 1) - 1);
  /// thread t of the team calls store(w, sum, t). Few rows are summed by several threads each.
  template <class Begin, class Term, class Store>
  KOKKOS_INLINE_FUNCTION void sum_rows(const TeamMember<Exec>& member, int rows, const Begin& begin,
                                       const Term& term, const Store& store) const {
    int shift = 0;  // 2^shift threads a row
    while (shared_rows && shift < 5 && (rows << (shift + 1)) <= staging_threads) ++shift;
    if (shift == 0) {
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, int{staging_threads}), [&](int t) {
        for (int w = t; w < rows; w += staging_threads) {
          store(w, sum(term, begin(w), begin(w + 1), 1), t);
        }
      });
      return;
    }
    const int lanes = 1 << shift;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, rows << shift), [&](int t) {
      const int w = t >> shift;
      part(t + w) = sum(term, begin(w) + (t & (lanes - 1)), begin(w + 1), lanes);
    });
    member.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, rows), [&](int w) {
      T total = T(0);
      for (int l = 0; l < lanes; ++l) total += part(w * (lanes + 1) + l);
      store(w, total, w);
    });
  }
};

/// The work of a team on a piece. Teams of OpenMPTarget go on to other pieces with the same scratch
/// memory.
template <class Exec, class Work>
struct PieceByTeam {
  Work work;
  KOKKOS_INLINE_FUNCTION void operator()(const TeamMember<Exec>& member) const {
    work(member.league_rank(), member);
#ifdef KOKKOS_ENABLE_OPENMPTARGET
    member.team_barrier();
#endif
  }
};

/// False, and nothing done, where a processor has no room for so many teams.
template <int teams, class Exec, class Work>
bool launch_staged(const std::string& label, const Exec& exec, int pieces, const Work& work) {
  Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<staging_threads, teams>> policy(exec, pieces,
                                                                                staging_threads);
  policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(Work::scratch())));
  const PieceByTeam<Exec, Work> by_team{work};
  if constexpr (teams > 1) {
    static const bool fits =
        policy.team_size_max(by_team, Kokkos::ParallelForTag{}) >= staging_threads;
    if (!fits) return false;
  }
  Kokkos::parallel_for(label, policy, by_team);
  return true;
}

/// Runs work(p, member) for 0 <= p < pieces, by teams of staging_threads with Work::scratch() bytes
/// each. On NVIDIA's processors with registers and memory enough (A100, H100, H200) a thread has so
/// few registers that eight teams, 2048 threads, share a processor, or four where T is wide: with
/// five of eight an H200 takes 1.3 times as long, because fewer threads hide what each waits for.
template <class T, class Exec, class Work>
void for_each_piece(const std::string& label, const Exec& exec, std::int64_t pieces,
                    const Work& work) {
  if (pieces == 0) return;
  const auto count = static_cast<int>(pieces);
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same_v<Exec, Kokkos::Cuda>) {
    if (launch_staged<(sizeof(T) <= 8 ? 8 : 4)>(label, exec, count, work)) return;
  }
#endif
  launch_staged<1>(label, exec, count, work);
}

}  // namespace krysol
