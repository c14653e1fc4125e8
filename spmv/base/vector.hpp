// Vectors, and how kernels are cut into pieces on each execution space.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <vector>

#include <krysol/spmv/base/large_pages.hpp>
#include <krysol/spmv/base/memory.hpp>
#include <krysol/spmv/base/processor.hpp>
#include <krysol/spmv/base/runtime.hpp>

namespace krysol {

/// Contiguous entries in the memory of Exec.
template <class T, class Exec = Kokkos::DefaultExecutionSpace>
using Vector = Kokkos::View<T*, Exec>;
template <class T, class Exec = Kokkos::DefaultExecutionSpace>
using ConstVector = Kokkos::View<const T*, Exec>;

/// The space that files are read into and matrices are assembled in.
using Host = Kokkos::DefaultHostExecutionSpace;

/// True where kernels run on the host's cores.
template <class Exec>
inline constexpr bool on_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Exec::memory_space>::accessible&&
        std::is_same_v<typename Exec::memory_space, Kokkos::HostSpace>;

/// How a space takes a row loop. A block is what one team does, and what one partial sum covers, so
/// its size must not depend on the number of threads. On a host core a block is worked on in tiles
/// that stay in the first-level cache and fill vector registers; on a GPU each thread takes a row.
template <class Exec>
struct Tiles {
  static constexpr bool tiled = on_host<Exec>;
  static constexpr int rows = tiled ? 256 : 1;  // rows a call of a format's product is given
  static constexpr std::int64_t block = tiled ? 512 : 256;
  static constexpr int team = tiled ? 1 : 256;
};

template <class Exec>
using TeamMember = typename Kokkos::TeamPolicy<Exec>::member_type;

/// The threads that a team really has; where they are fewer than asked for, they must do all the
/// work. Only OpenMPTarget gives fewer (as many as the target has), while its team_size() returns
/// the number asked for.
template <class Member>
KOKKOS_INLINE_FUNCTION int threads_of_team(const Member& member) {
#ifdef KOKKOS_ENABLE_OPENMPTARGET
  if constexpr (std::is_same_v<Member, TeamMember<Kokkos::Experimental::OpenMPTarget>>) {
    return omp_get_num_threads();
  }
#endif
  return member.team_size();
}

/// The fewest threads that a team may be asked for.
template <class Exec>
constexpr int least_team() {
#ifdef KOKKOS_ENABLE_OPENMPTARGET
  if constexpr (std::is_same_v<Exec, Kokkos::Experimental::OpenMPTarget>) return 32;
#endif
  return 1;
}

/// In place of a team where one thread works on a block, as on a host: making teams costs as much
/// there as a twentieth of the block.
struct NoTeam {};

/// Who works on a block.
template <class Exec>
using Member = std::conditional_t<Tiles<Exec>::tiled, NoTeam, TeamMember<Exec>>;

template <class Work>
struct BlockByThread {
  Work work;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t b) const { work(b, NoTeam{}); }
};
template <class Exec, class Work>
struct BlockByTeam {
  Work work;
  KOKKOS_INLINE_FUNCTION void operator()(const TeamMember<Exec>& member) const {
    work(member.league_rank(), member);
  }
};

/// Runs work(b, member) for 0 <= b < blocks; `lanes` of a team's threads share a row on a GPU.
template <class Exec, class Work>
void for_each_block(const std::string& label, const Exec& exec, std::int64_t blocks, int lanes,
                    const Work& work) {
  if (blocks == 0) return;
  if constexpr (Tiles<Exec>::tiled) {
    Kokkos::parallel_for(
        label, Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, blocks),
        BlockByThread<Work>{work});
  } else {
    const int wanted = Tiles<Exec>::team / lanes;
    const int team = wanted > least_team<Exec>() ? wanted : least_team<Exec>();
    Kokkos::parallel_for(label,
                         Kokkos::TeamPolicy<Exec>(exec, static_cast<int>(blocks), team, lanes),
                         BlockByTeam<Exec, Work>{work});
  }
}

/// Pieces of equal size: block b holds the rows [b size, (b + 1) size).
struct EqualBlocks {
  std::int64_t rows = 0;
  std::int64_t size = 1;

  KOKKOS_INLINE_FUNCTION std::int64_t count() const { return (rows + size - 1) / size; }
  KOKKOS_INLINE_FUNCTION std::int64_t first(std::int64_t b) const { return b * size; }
  KOKKOS_INLINE_FUNCTION std::int64_t last(std::int64_t b) const {
    return (b + 1) * size < rows ? (b + 1) * size : rows;
  }
};

/// Rows of a block. On a host as many as stay in the first cache; on a device more where there are
/// more rows, so that there are some 8192 blocks at most: each ends with a sum over its team, and
/// all of them with a sum over blocks. By the number of rows alone, as all sums are.
template <class Exec>
constexpr std::int64_t rows_of_block(std::int64_t rows) {
  constexpr std::int64_t step = Tiles<Exec>::block;
  if constexpr (Tiles<Exec>::tiled) {
    return step;
  } else {
    constexpr std::int64_t blocks = 8192;
    constexpr std::int64_t most = 8192;  // rows
    const std::int64_t wanted = (rows / blocks + step - 1) / step * step;
    return wanted < step ? step : wanted > most ? most : wanted;
  }
}

/// Asks a host core for the cache line at p, which need not exist. Matrix arrays are read once and
/// in order, but the cores' own prefetching stops at each page; on two cores of an EPYC 9005 this
/// made csr 1.6 times as fast. How far ahead is what a core reads while it waits for memory once
/// (Little's law): 90 to 130 ns at 20 to 40 GB/s, so 2 to 5 KiB, on the servers of ten years.
KOKKOS_FORCEINLINE_FUNCTION void prefetch(const void* p) {
#if defined(__GNUC__)
  KOKKOS_IF_ON_HOST((__builtin_prefetch(p);))
#endif
  (void)p;
}

/// The same for a line that will be written: it need not be asked for again to own it.
KOKKOS_FORCEINLINE_FUNCTION void prefetch_to_write(const void* p) {
#if defined(__GNUC__)
  KOKKOS_IF_ON_HOST((__builtin_prefetch(p, 1);))
#endif
  (void)p;
}

/// True where so many bytes, read again and again, do not stay in the caches.
inline bool beyond_cache(std::int64_t bytes) { return bytes > cache_sizes().stays; }

/// The same of a matrix of so many bytes and its x. Prefetching arrays that stay there costs time
/// for nothing, some 10 to 20 % of a multiplication.
template <class T, class Exec>
bool reads_beyond_cache(std::int64_t matrix, const Kokkos::View<const T*, Exec>& x) {
  return beyond_cache(matrix + static_cast<std::int64_t>(x.extent(0) * sizeof(T)));
}

/// Writes a byte to each large page of an array, in a loop of the host's cores. Where two cores
/// touch a page first, at the same time, the operating system clears two and throws one away, which
/// a loop that hands out short pieces of an array makes it do for each page.
void touch_large_pages(void* begin, std::size_t bytes);

/// An array with unspecified content. The extents are those of View's constructor. Throws
/// OutOfMemory, with the bytes asked for, where there is no room; std::logic_error after
/// Kokkos::finalize. Kokkos is initialized where it was not (`ensure_kokkos`). Not for bodies of
/// loops: on the host the pages are touched in a loop of its own.
template <class View, class... Extents>
View allocate(const char* label, Extents... extents) {
  ensure_kokkos();
  using Space = typename View::memory_space;
  constexpr bool of_host = std::is_same_v<Space, Kokkos::HostSpace>;
  const double bytes =
      (static_cast<double>(sizeof(typename View::value_type)) * ... * static_cast<double>(extents));
  const auto free_bytes = of_host ? free_host_bytes : free_device_bytes;
  if (!(bytes < detail::too_many_bytes)) {  // the product of the extents would wrap around
    detail::throw_out_of_memory(label, bytes, Space::name(), free_bytes(), {});
  }
  if constexpr (of_host) require_host_memory(label, bytes);
  View view;
  try {
    view = View(Kokkos::view_alloc(Kokkos::WithoutInitializing, std::string(label)),
                static_cast<std::size_t>(extents)...);
  } catch (const std::exception& e) {  // std::runtime_error or std::bad_alloc
    detail::throw_out_of_memory(label, bytes, Space::name(), free_bytes(), e.what());
  }
  if constexpr (on_host<typename View::execution_space>) {
    const std::size_t length = view.span() * sizeof(typename View::value_type);
    use_large_pages(view.data(), length);
    touch_large_pages(view.data(), length);
  }
  return view;
}

/// A fresh vector of zeros (or, for the second, of whatever is there).
template <class T, class Exec>
Vector<T, Exec> zeros(const Exec& exec, const char* label, std::int64_t n) {
  auto v = allocate<Vector<T, Exec>>(label, n);
  Kokkos::deep_copy(exec, v, T(0));
  return v;
}
template <class T, class Exec>
Vector<T, Exec> uninitialized(const Exec&, const char* label, std::int64_t n) {
  return allocate<Vector<T, Exec>>(label, n);
}

/// A list of the host in the memory of Exec.
template <class Exec, class T>
Vector<T, Exec> to_device(const char* label, const std::vector<T>& list) {
  auto v = allocate<Vector<T, Exec>>(label, list.size());
  Kokkos::deep_copy(v, ConstVector<T, Kokkos::HostSpace>(list.data(), list.size()));
  return v;
}

/// An array in the memory of Exec: a copy, or the array itself where it lies there. Throws
/// OutOfMemory.
template <class Exec, class T, class... Properties>
Vector<T, Exec> in_memory_of(const Kokkos::View<T*, Properties...>& from) {
  using From = Kokkos::View<T*, Properties...>;
  if constexpr (std::is_same_v<typename Exec::memory_space, typename From::memory_space>) {
    return from;
  } else {
    auto v = allocate<Vector<T, Exec>>(from.label().c_str(), from.extent(0));
    Kokkos::deep_copy(v, from);
    return v;
  }
}

/// What the bodies of a loop have thrown, which must not leave their threads.
class ThrownByBodies {
 public:
  /// The exception being handled, if it is the first.
  void keep() noexcept;
  /// Throws it again, if there is one.
  void rethrow() const;

 private:
  std::mutex mutex_;
  std::exception_ptr first_;
};

template <class Body>
struct CatchingBody {
  const Body& body;
  ThrownByBodies& thrown;

  void operator()(std::int64_t i) const {
    try {
      body(i);
    } catch (...) {
      thrown.keep();
    }
  }
};

/// Runs body(i) for 0 <= i < n on the host's cores; for the conversions between formats, which are
/// plain host code. What a body throws, of several the first, is thrown again once all are done.
template <class Body>
void host_for(const char* label, std::int64_t n, const Body& body) {
  ThrownByBodies thrown;
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Host, Kokkos::IndexType<std::int64_t>>(0, n),
                       CatchingBody<Body>{body, thrown});
  thrown.rethrow();
}

/// The same where some i take longer than others: each core takes the next.
template <class Body>
void host_for_uneven(const char* label, std::int64_t n, const Body& body) {
  using Uneven =
      Kokkos::RangePolicy<Host, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<std::int64_t>>;
  ThrownByBodies thrown;
  Kokkos::parallel_for(label, Uneven(0, n, Kokkos::ChunkSize(1)), CatchingBody<Body>{body, thrown});
  thrown.rethrow();
}

}  // namespace krysol
