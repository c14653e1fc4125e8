// Dense blocks where a core's or a thread's registers hold a tile of C.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/base/vector.hpp>
#include <krysol/spmv/dense/dense_panels.hpp>
#include <krysol/spmv/dense/dense_product.hpp>

namespace krysol {

/// On a GPU: `rows` x `cols` entries of C a team, `each` x `each` of them a thread, and tiles of A
/// and B, `depth` deep, in scratch memory. V. Volkov, J. Demmel: Benchmarking GPUs to tune dense
/// linear algebra. SC 2008. DOI 10.1109/SC.2008.5214359
struct ThreadTileShape {
  static constexpr int rows = 64;
  static constexpr int cols = 64;
  static constexpr int depth = 16;
  static constexpr int each = 4;
};

/// Bytes a tile of C: depth (rows + cols) entries of A and B, and C. A thread reads 2 each numbers
/// of scratch memory for each^2 products.
template <class T, class Exec, class Shape = ThreadTileShape>
struct ThreadTiles {
  static constexpr int row_threads = Shape::rows / Shape::each;
  static constexpr int col_threads = Shape::cols / Shape::each;
  static constexpr int team = row_threads * col_threads;
  // One number more than a tile has lines: threads that write along k hit different banks.
  template <int lines>
  using Tile =
      Kokkos::View<T[Shape::depth][lines + 1], Kokkos::LayoutRight,
                   typename Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  DenseProduct<T> product;
  Offset row_tiles;
  Offset col_tiles;

  explicit ThreadTiles(const DenseProduct<T>& p)
      : product(p),
        row_tiles((p.rows + Shape::rows - 1) / Shape::rows),
        col_tiles((p.cols + Shape::cols - 1) / Shape::cols) {}

  Offset teams() const { return row_tiles * col_tiles * product.pieces; }
  static std::size_t scratch_bytes() {
    return Tile<Shape::rows>::shmem_size() + Tile<Shape::cols>::shmem_size();
  }

  /// By `threads` threads, of which this is number `thread`.
  template <int lines>
  KOKKOS_INLINE_FUNCTION static void fill(int thread, int threads, const DenseLines<T>& from,
                                          Offset line, Offset end, Offset k, Offset depth,
                                          const Tile<lines>& tile) {
    const bool lines_adjacent = from.across == 1;
    for (int place = thread; place < lines * Shape::depth; place += threads) {
      const int l = lines_adjacent ? place % lines : place / Shape::depth;
      const int m = lines_adjacent ? place / lines : place % Shape::depth;
      tile(m, l) = line + l < end && k + m < depth ? from(line + l, k + m) : T(0);
    }
  }

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const Offset rank = member.league_rank();
    const Offset i0 = rank % row_tiles * Offset{Shape::rows};
    const Offset j0 = rank / row_tiles % col_tiles * Offset{Shape::cols};
    const Offset piece = rank / (row_tiles * col_tiles);
    const Tile<Shape::rows> a(member.team_scratch(0));
    const Tile<Shape::cols> b(member.team_scratch(0));
    // Once, but for a team of fewer threads than were asked for.
    const int threads = threads_of_team(member);
    for (int before = 0; before < team; before += threads) {
      multiply(member, threads, before + member.team_rank(), {i0, j0, piece}, a, b);
    }
  }

 private:
  struct Corner {
    Offset i;
    Offset j;
    Offset piece;
  };

  /// The entries of one place in the team; a thread without one (`place` >= team) helps to fill.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void multiply(const Member& member, int threads, int place,
                                       const Corner& at, const Tile<Shape::rows>& a,
                                       const Tile<Shape::cols>& b) const {
    const bool has_place = place < team;
    const int ti = has_place ? place % row_threads : 0;
    const int tj = has_place ? place / row_threads : 0;
    const int thread = member.team_rank();
    T sum[Shape::each][Shape::each];
    for (auto& column : sum) {
      for (T& s : column) s = T(0);
    }
    const Offset last = product.last(at.piece);
    for (Offset k0 = product.first(at.piece); k0 < last; k0 += Shape::depth) {
      fill<Shape::rows>(thread, threads, product.a, at.i, product.rows, k0, last, a);
      fill<Shape::cols>(thread, threads, product.b, at.j, product.cols, k0, last, b);
      member.team_barrier();
      for (int k = 0; k < Shape::depth; ++k) {
        T x[Shape::each];
        T y[Shape::each];
        for (int r = 0; r < Shape::each; ++r) x[r] = a(k, ti + r * row_threads);
        for (int s = 0; s < Shape::each; ++s) y[s] = b(k, tj + s * col_threads);
        for (int s = 0; s < Shape::each; ++s) {
          for (int r = 0; r < Shape::each; ++r) add_product(sum[s][r], x[r], y[s]);
        }
      }
      member.team_barrier();
    }
    if (!has_place) return;
    for (int s = 0; s < Shape::each; ++s) {
      for (int r = 0; r < Shape::each; ++r) {
        const Offset i = at.i + ti + Offset{r} * row_threads;
        const Offset j = at.j + tj + Offset{s} * col_threads;
        if (i < product.rows && j < product.cols) product.store(at.piece, i, j, sum[s][r]);
      }
    }
  }
};

/// The number of parts of an entry, as panels know it.
template <class T>
inline constexpr int parts_of = is_complex<T> ? 2 : 1;

/// One side of a product on a host: its lines in panels of `width`.
template <class T>
struct PanelSide {
  using R = Real<T>;
  static constexpr int parts = parts_of<T>;

  DenseLines<T> from;
  Offset lines = 0;
  int width = 1;  // of a full panel
  int unit = 1;   // a multiple of this is what the last one has

  Offset panels() const { return (lines + width - 1) / width; }
  int lines_of(Offset panel) const {
    const Offset left = lines - panel * width;
    return static_cast<int>(left < width ? left : width);
  }
  int width_of(Offset panel) const { return (lines_of(panel) + unit - 1) / unit * unit; }
  /// Numbers that a packed panel of that depth has room for.
  std::int64_t room(Offset depth) const { return depth * width * parts; }
  const R* begin(Offset panel, Offset k) const {
    return reinterpret_cast<const R*>(from.data + panel * width * from.across + k * from.along);
  }
  void pack(Offset panel, Offset k, Offset depth, R* to) const {
    pack_panel<R, parts>({begin(panel, k), from.across, from.along, from.conjugated},
                         lines_of(panel), width_of(panel), depth, to);
  }
  PanelLines<R> packed(Offset panel, const R* at) const { return {at, 1, parts * width_of(panel)}; }
  /// Whether a panel of columns can be multiplied as it lies.
  bool ready(Offset panel) const { return parts == 1 && lines_of(panel) == width; }
  PanelLines<R> as_it_lies(Offset panel, Offset k) const {
    return {begin(panel, k), from.across, from.along};
  }
};

/// The panels of the shorter side, packed once for all tasks. Bytes: two entries each.
template <class T>
struct PackPanels {
  PanelSide<T> side;
  Offset first = 0;  // panel
  Offset k = 0;
  Offset depth = 0;
  Real<T>* to = nullptr;
  void operator()(std::int64_t panel) const {
    side.pack(first + panel, k, depth, to + panel * side.room(depth));
  }
};

/// On a host: a task packs panels of the longer side into memory of its thread, which stays in the
/// second-level cache, and multiplies them by panels of the shorter one.
template <class T, class Exec>
struct PanelTasks {
  using R = Real<T>;
  static constexpr int parts = parts_of<T>;
  static constexpr Offset deepest = 256;            // of a panel
  static constexpr Offset block_bytes = 512 << 10;  // of a task's panels

  DenseProduct<T> product;
  PanelSide<T> rows;
  PanelSide<T> cols;
  bool rows_are_longer = true;
  Offset tasks_longer = 1;  // tasks that share the panels of the longer side
  Offset tasks_shorter = 1;
  Offset shorter_first = 0;  // the panels of the shorter side that this pass takes
  Offset shorter_last = 0;
  const R* packed = nullptr;  // these, k from `k_first`; where null, each task packs its own
  Offset k_first = 0;
  Offset k_last = 0;

  const PanelSide<T>& longer() const { return rows_are_longer ? rows : cols; }
  const PanelSide<T>& shorter() const { return rows_are_longer ? cols : rows; }
  Offset tasks() const { return tasks_longer * tasks_shorter * product.pieces; }
  Offset most_longer() const { return (longer().panels() + tasks_longer - 1) / tasks_longer; }
  static constexpr std::size_t line_bytes = 64;  // panels begin where cache lines do
  std::size_t scratch_bytes() const {
    const Offset depth = product.step < deepest ? product.step : deepest;
    Offset room = most_longer() * longer().room(depth);
    if (packed == nullptr) room += shorter().room(depth);  // one panel at a time
    return static_cast<std::size_t>(room) * sizeof(R) + 2 * line_bytes;
  }

  void operator()(const TeamMember<Exec>& member) const {
    const Offset rank = member.league_rank();
    const Offset task_longer = rank % tasks_longer;
    const Offset task_shorter = rank / tasks_longer % tasks_shorter;
    const Offset piece = rank / (tasks_longer * tasks_shorter);
    const Offset panels = longer().panels();
    const Offset first = panels * task_longer / tasks_longer;
    const Offset last = panels * (task_longer + 1) / tasks_longer;
    const Offset count = shorter_last - shorter_first;
    const Offset other_first = shorter_first + count * task_shorter / tasks_shorter;
    const Offset other_last = shorter_first + count * (task_shorter + 1) / tasks_shorter;
    R* mine = static_cast<R*>(member.team_scratch(1).get_shmem_aligned(
        static_cast<std::ptrdiff_t>(scratch_bytes() - line_bytes), line_bytes));

    const Offset begin = packed != nullptr ? k_first : product.first(piece);
    const Offset end = packed != nullptr ? k_last : product.last(piece);
    for (Offset k = begin; k < end; k += deepest) {
      const Offset depth = end - k < deepest ? end - k : deepest;
      // A column panel that is used once is packed just before, or not at all: a row of A, where
      // C^T = B^T A^T is computed. (Rows that lie side by side are better packed all at once.)
      const bool longer_once = !rows_are_longer && other_last - other_first == 1;
      const bool shorter_once = rows_are_longer && last - first == 1;
      for (Offset p = first; p < last && !longer_once; ++p) {
        longer().pack(p, k, depth, mine + (p - first) * longer().room(depth));
      }
      R* own = mine + (last - first) * longer().room(depth);
      for (Offset q = other_first; q < other_last; ++q) {
        const PanelLines<R> other =
            packed != nullptr
                ? shorter().packed(q, packed + (q - shorter_first) * shorter().room(depth))
                : take(shorter(), shorter_once, q, k, depth, own);
        for (Offset p = first; p < last; ++p) {
          const PanelLines<R> one =
              longer_once ? take(longer(), true, p, k, depth, mine)
                          : longer().packed(p, mine + (p - first) * longer().room(depth));
          if (rows_are_longer) {
            multiply(piece, p, one, q, other, k, depth);
          } else {
            multiply(piece, q, other, p, one, k, depth);
          }
        }
      }
    }
  }

  static PanelLines<R> take(const PanelSide<T>& side, bool once, Offset panel, Offset k,
                            Offset depth, R* room) {
    if (once && side.ready(panel)) return side.as_it_lies(panel, k);
    side.pack(panel, k, depth, room);
    return side.packed(panel, room);
  }

  void multiply(Offset piece, Offset row_panel, const PanelLines<R>& a, Offset col_panel,
                const PanelLines<R>& b, Offset k, Offset depth) const {
    PanelScale<R> scale;
    set(scale.alpha, product.alpha);
    set(scale.beta, k == product.first(piece) ? product.beta : T(1));
    T* corner = product.entry(piece, row_panel * rows.width, col_panel * cols.width);
    multiply_panels<R, parts>(a, rows.width_of(row_panel), b, depth, scale,
                              {reinterpret_cast<R*>(corner), product.row_stride, product.col_stride,
                               rows.lines_of(row_panel), cols.lines_of(col_panel)});
  }
  static void set(R* to, const T& v) {
    to[0] = real_part(v);
    to[parts - 1] = parts == 2 ? imaginary_part(v) : to[0];
  }
};

}  // namespace krysol
