// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/dense/dense.hpp>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include <fmt/core.h>

#include <krysol/spmv/base/reduction.hpp>
#include <krysol/spmv/base/spaces.hpp>
#include <krysol/spmv/dense/dense_register.hpp>
#include <krysol/spmv/dense/dense_tiled.hpp>

namespace krysol {
namespace {

template <class View>
std::string shape(const View& v) {
  return fmt::format("{} x {}", v.rows, v.cols);
}

template <class T, class Memory>
void check_product(const DenseView<const T, Memory>& a, const DenseView<const T, Memory>& b,
                   const DenseView<T, Memory>& c) {
  if (a.cols != b.rows || c.rows != a.rows || c.cols != b.cols) {
    throw std::invalid_argument(fmt::format(
        "krysol::gemm: C ({}) := A ({}) B ({}) does not fit: C must be {} x {}, and A have "
        "as many columns as B has rows",
        shape(c), shape(a), shape(b), a.rows, b.cols));
  }
  if (c.conjugated) {
    throw std::invalid_argument("krysol::gemm: C may be a transpose, but not an adjoint");
  }
  const bool empty = c.rows == 0 || c.cols == 0 || a.cols == 0;
  if (!empty && (c.data == a.data || c.data == b.data)) {
    throw std::invalid_argument(
        "krysol::gemm: C begins where A or B does; products need a C of their own");
  }
}

// ---- the sum over k

/// C := beta C.
template <class T>
struct ScaleBlock {
  DenseProduct<T> product;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t place) const {
    const Offset i = place % product.rows;
    const Offset j = place / product.rows;
    T& c = *product.entry(0, i, j);
    c = product.beta == T(0) ? T(0) : product.beta * c;
  }
};

/// C := alpha (the sum of the pieces) + beta C. Bytes: 1 entry a piece, and C.
template <class T>
struct AddPieces {
  DenseProduct<T> product;
  const T* partial;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t place) const {
    const Offset count = product.rows * product.cols;
    T sum = T(0);
    for (Offset piece = 0; piece < product.pieces; ++piece) sum += partial[piece * count + place];
    product.store(0, place % product.rows, place / product.rows, sum);
  }
};

/// Where C is small and k long, the sum is cut into pieces, so that there is work for all cores.
/// Their size must depend on nothing but the shape.
template <class T>
void cut(DenseProduct<T>& p) {
  constexpr Offset small = 256;
  constexpr Offset shortest = 2048;
  constexpr Offset most = 256;
  p.step = p.depth;
  if (p.rows > small || p.cols > small || p.depth < 2 * shortest) return;
  const Offset even = (p.depth + most - 1) / most;
  p.step = std::max(shortest, (even + small - 1) / small * small);
  p.pieces = (p.depth + p.step - 1) / p.step;
}

// ---- kernels

template <class T, class Exec>
T* reserve(DenseWork<T, Exec>& work, Offset entries) {
  if (work.entries.extent(0) < static_cast<std::size_t>(entries)) {
    work.entries = {};
    work.entries = allocate<Vector<T, Exec>>("krysol.gemm.work", entries);
  }
  return work.entries.data();
}

template <class Exec>
int league(Offset teams) {
  if (teams > std::numeric_limits<int>::max()) {
    throw std::invalid_argument(fmt::format(
        "krysol::gemm: {} tiles of C are more than a kernel can have; take a larger block", teams));
  }
  return static_cast<int>(teams);
}

template <class T, class Exec>
void multiply_tiled(const Exec& exec, const DenseProduct<T>& product, int block) {
  if (block < 1 || block > 1024) {
    throw std::invalid_argument(
        fmt::format("krysol::gemm: a block of 1 to 1024 rows and columns, not {}", block));
  }
  TeamTiles<T, Exec> tiles(product, block);
  using Policy = Kokkos::TeamPolicy<Exec>;
  const int team = on_host<Exec> ? 1 : std::clamp(block * block, least_team<Exec>(), 256);
  Policy policy(exec, league<Exec>(tiles.teams()), team);
  const auto needed = static_cast<Offset>(tiles.scratch_bytes());
  const auto fits = [&](int level) { return needed <= Policy::scratch_size_max(level); };
  // Both levels are ordinary memory on a host, and the first is what Kokkos thinks of its caches.
  tiles.scratch_level = on_host<Exec> && !fits(0) ? 1 : 0;
  if (!fits(tiles.scratch_level)) {
    throw std::invalid_argument(
        fmt::format("krysol::gemm: tiles of block {} take {} bytes of a team's scratch memory, "
                    "which has {}; take "
                    "a smaller block",
                    block, needed, Policy::scratch_size_max(tiles.scratch_level)));
  }
  policy.set_scratch_size(tiles.scratch_level, Kokkos::PerTeam(static_cast<int>(needed)));
  Kokkos::parallel_for("krysol::gemm(tiled)", policy, tiles);
}

template <class T, class Exec>
void multiply_by_threads(const Exec& exec, const DenseProduct<T>& product) {
  using Tiles = ThreadTiles<T, Exec>;
  const Tiles tiles(product);
  Kokkos::TeamPolicy<Exec> policy(exec, league<Exec>(tiles.teams()), Tiles::team);
  policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(Tiles::scratch_bytes())));
  Kokkos::parallel_for("krysol::gemm(register)", policy, tiles);
}

template <class T, class Exec>
void run(const Exec& exec, const PanelTasks<T, Exec>& tasks) {
  Kokkos::TeamPolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>> policy(
      exec, league<Exec>(tasks.tasks()), 1);
  policy.set_scratch_size(1, Kokkos::PerTeam(static_cast<int>(tasks.scratch_bytes())));
  Kokkos::parallel_for("krysol::gemm(register)", policy, tasks);
}

/// Which task takes which panels depends on the number of threads; how an entry is summed does not.
template <class T, class Exec>
void multiply_by_panels(const Exec& exec, const DenseProduct<T>& product,
                        DenseWork<T, Exec>& work) {
  using Tasks = PanelTasks<T, Exec>;
  using R = Real<T>;
  const PanelShape tile = panel_shape<R, parts_of<T>>();
  Tasks tasks;
  tasks.product = product;
  tasks.rows = {product.a, product.rows, tile.rows, tile.lanes};
  tasks.cols = {product.b, product.cols, tile.cols, tile.cols};
  tasks.rows_are_longer = product.rows >= product.cols;
  const PanelSide<T>& longer = tasks.longer();
  const PanelSide<T>& shorter = tasks.shorter();
  const Offset depth = std::min(product.step, Tasks::deepest);
  const Offset panel_bytes = longer.room(depth) * static_cast<Offset>(sizeof(R));
  const Offset panels_a_task = std::max<Offset>(1, Tasks::block_bytes / panel_bytes);
  const Offset threads = exec.concurrency();

  // As many tasks as fill the second-level cache, at least four a thread, and the same number for
  // each; the panels of a task should be worth its packing.
  const auto round_up = [](Offset n, Offset to) { return (n + to - 1) / to * to; };
  Offset wanted = (longer.panels() + panels_a_task - 1) / panels_a_task;
  if (product.pieces == 1) {
    const Offset useful = (longer.panels() + 1) / 2;
    wanted = std::max(wanted, std::min(4 * threads, useful));
    wanted = std::min(round_up(wanted, threads), longer.panels());
  }
  tasks.tasks_longer = wanted;
  tasks.shorter_last = shorter.panels();
  const Offset entries = shorter.lines * std::min(product.depth, Tasks::deepest);
  constexpr Offset few = 4096;
  if (product.pieces > 1 || entries <= few || wanted == 1) {
    run(exec, tasks);
    return;
  }
  if (wanted < 2 * threads) {
    tasks.tasks_shorter = std::min((2 * threads + wanted - 1) / wanted, shorter.panels());
  }
  // The shorter side is packed for all, as much at once as the last cache keeps.
  constexpr Offset packed_bytes = 8 << 20;
  const Offset room = shorter.room(depth);
  const Offset at_once = std::clamp<Offset>(packed_bytes / (room * static_cast<Offset>(sizeof(R))),
                                            1, shorter.panels());
  constexpr Offset align = 64 / sizeof(R);
  T* buffer = reserve(work, at_once * room / parts_of<T> + align);
  auto* packed = reinterpret_cast<R*>(buffer);
  while (reinterpret_cast<std::uintptr_t>(packed) % 64 != 0) ++packed;
  tasks.packed = packed;
  for (Offset first = 0; first < shorter.panels(); first += at_once) {
    tasks.shorter_first = first;
    tasks.shorter_last = std::min(first + at_once, shorter.panels());
    for (Offset k = 0; k < product.depth; k += depth) {
      tasks.k_first = k;
      tasks.k_last = std::min(k + depth, product.depth);
      Kokkos::parallel_for("krysol::gemm(pack)",
                           Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                               exec, 0, tasks.shorter_last - first),
                           PackPanels<T>{shorter, first, k, tasks.k_last - k, packed});
      run(exec, tasks);
    }
  }
}

}  // namespace

#ifndef KRYSOL_FOR_FLOAT
std::vector<DenseKernelInfo> list_dense_kernels() {
  return {{"register", "any block: tiles of C in registers, packed panels on a host",
           DenseKernel::registers},
          {"tiled", "comparison, and GPUs: square tiles in a team's scratch memory",
           DenseKernel::tiled}};
}

DenseKernel dense_kernel(std::string_view name) {
  std::string known;
  for (const DenseKernelInfo& k : list_dense_kernels()) {
    if (k.name == name) return k.kernel;
    known += fmt::format(" {}", k.name);
  }
  throw std::invalid_argument(fmt::format("unknown kernel '{}'; known:{}", name, known));
}
#endif

template <class T, class Exec>
void gemm_of_views(const Exec& exec, T alpha,
                   const DenseView<const T, typename Exec::memory_space>& a,
                   const DenseView<const T, typename Exec::memory_space>& b, T beta,
                   const DenseView<T, typename Exec::memory_space>& c, DenseWork<T, Exec>& work,
                   const GemmOptions& options) {
  check_product<T>(a, b, c);
  DenseProduct<T> product;
  product.a = {a.data, a.row_stride, a.col_stride, a.conjugated};
  product.b = {b.data, b.col_stride, b.row_stride, b.conjugated};
  product.c = c.data;
  product.rows = c.rows;
  product.cols = c.cols;
  product.row_stride = c.row_stride;
  product.col_stride = c.col_stride;
  product.depth = a.cols;
  product.alpha = alpha;
  product.beta = beta;
  const Offset count = c.rows * c.cols;
  if (count == 0) return;
  if (product.depth == 0 || alpha == T(0)) {
    for_each("krysol::gemm(scale)", exec, count, ScaleBlock<T>{product});
    return;
  }
  // Entries that lie side by side are to be neighbours in a register: C^T = B^T A^T where those are
  // rows of C.
  if (c.row_stride != 1 && c.col_stride == 1) {
    std::swap(product.a, product.b);
    std::swap(product.rows, product.cols);
    std::swap(product.row_stride, product.col_stride);
  }
  cut(product);
  DenseProduct<T> pieces = product;
  if (product.pieces > 1) {
    pieces.c = reserve(work, count * product.pieces);
    pieces.row_stride = 1;
    pieces.col_stride = product.rows;
    pieces.piece_stride = count;
    pieces.alpha = T(1);
    pieces.beta = T(0);
  }
  if (options.kernel == DenseKernel::tiled) {
    multiply_tiled(exec, pieces, options.block);
  } else if constexpr (on_host<Exec>) {
    multiply_by_panels(exec, pieces, work);
  } else {
    multiply_by_threads(exec, pieces);
  }
  if (product.pieces > 1) {
    for_each("krysol::gemm(pieces)", exec, count, AddPieces<T>{product, pieces.c});
  }
}

#define KRYSOL_GEMM(T, Exec)                                                                 \
  template void gemm_of_views(const Exec&, T, const DenseView<const T, Exec::memory_space>&, \
                              const DenseView<const T, Exec::memory_space>&, T,              \
                              const DenseView<T, Exec::memory_space>&, DenseWork<T, Exec>&,  \
                              const GemmOptions&);
KRYSOL_FOR_EACH_SOLVED_ENTRY_AND_SPACE(KRYSOL_GEMM)
#undef KRYSOL_GEMM

}  // namespace krysol
