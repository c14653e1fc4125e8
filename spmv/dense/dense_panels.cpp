// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/dense/dense_panels.hpp>

#include <cstring>

namespace krysol {
namespace {

#if defined(__AVX512F__)
constexpr int register_size = 64;
constexpr int registers = 32;
#elif defined(__AVX__)
constexpr int register_size = 32;
constexpr int registers = 16;
#elif defined(__aarch64__)
constexpr int register_size = 16;
constexpr int registers = 32;
#else
constexpr int register_size = 16;
constexpr int registers = 16;
#endif

/// A vector register's numbers. Compilers that have no such type get an array, and are trusted to
/// turn its loops into instructions.
template <class R>
struct Lanes {
  static constexpr int count = register_size / static_cast<int>(sizeof(R));
#if defined(__GNUC__)
  typedef R Register __attribute__((vector_size(register_size)));  // NOLINT(modernize-use-using)
  Register v;
  static Lanes broadcast(R x) { return {x - Register{}}; }
  friend Lanes operator*(Lanes a, Lanes b) { return {a.v * b.v}; }
  friend Lanes operator+(Lanes a, Lanes b) { return {a.v + b.v}; }
  friend Lanes operator-(Lanes a, Lanes b) { return {a.v - b.v}; }
#else
  R v[count];
  static Lanes broadcast(R x) {
    Lanes r;
    for (R& ri : r.v) ri = x;
    return r;
  }
  friend Lanes operator*(Lanes a, const Lanes& b) {
    for (int l = 0; l < count; ++l) a.v[l] *= b.v[l];
    return a;
  }
  friend Lanes operator+(Lanes a, const Lanes& b) {
    for (int l = 0; l < count; ++l) a.v[l] += b.v[l];
    return a;
  }
  friend Lanes operator-(Lanes a, const Lanes& b) {
    for (int l = 0; l < count; ++l) a.v[l] -= b.v[l];
    return a;
  }
#endif
  static Lanes load(const R* from) {
    Lanes r;
    std::memcpy(&r, from, sizeof r);
    return r;
  }
  void store(R* to) const { std::memcpy(to, this, sizeof *this); }
};

/// Sums of a tile that fit the registers beside a column of A and one number of B.
template <class R, int parts>
struct Tile {
  static constexpr int lanes = Lanes<R>::count;
  static constexpr int vectors = parts == 1 ? 3 : (registers == 32 ? 2 : 1);
  static constexpr int cols = parts == 1 && registers == 32 ? 8 : 4;
};

/// A number of C from a sum, in the order of PanelScale's formula.
template <class R, int parts>
void finish(const R* sum, std::int64_t part_stride, const PanelScale<R>& scale, bool read_c, R* c) {
  if constexpr (parts == 1) {
    const R scaled = scale.alpha[0] * *sum;
    *c = read_c ? scaled + scale.beta[0] * *c : scaled;
  } else {
    const R re = sum[0];
    const R im = sum[part_stride];
    R out[2] = {scale.alpha[0] * re - scale.alpha[1] * im,
                scale.alpha[0] * im + scale.alpha[1] * re};
    if (read_c) {
      out[0] += scale.beta[0] * c[0] - scale.beta[1] * c[1];
      out[1] += scale.beta[0] * c[1] + scale.beta[1] * c[0];
    }
    c[0] = out[0];
    c[1] = out[1];
  }
}

/// `adjacent`: the columns of B lie side by side.
template <class R, int parts, int vectors, int cols, bool adjacent>
void multiply_tile(const PanelLines<R>& a_lines, const PanelLines<R>& b_lines, std::int64_t depth,
                   const PanelScale<R>& scale, const PanelTile<R>& c) {
  using V = Lanes<R>;
  constexpr int rows = vectors * V::count;
  V sum[cols][parts][vectors];
  for (auto& column : sum) {
    for (auto& part : column) {
      for (V& s : part) s = V::broadcast(0);
    }
  }
  const R* a = a_lines.data;
  const R* b = b_lines.data;
  const std::int64_t across = adjacent ? 1 : b_lines.across;
  for (std::int64_t k = 0; k < depth; ++k) {
    V re[vectors];
    V im[vectors];
    for (int v = 0; v < vectors; ++v) re[v] = V::load(a + v * V::count);
    if constexpr (parts == 2) {
      for (int v = 0; v < vectors; ++v) im[v] = V::load(a + rows + v * V::count);
    }
#pragma GCC unroll 8
    for (int j = 0; j < cols; ++j) {
      const V b_re = V::broadcast(b[j * across]);
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) {
        sum[j][0][v] = sum[j][0][v] + re[v] * b_re;
        if constexpr (parts == 2) {
          const V b_im = V::broadcast(b[cols + j]);
          sum[j][0][v] = sum[j][0][v] - im[v] * b_im;
          sum[j][1][v] = sum[j][1][v] + re[v] * b_im;
          sum[j][1][v] = sum[j][1][v] + im[v] * b_re;
        }
      }
    }
    a += a_lines.step;
    b += b_lines.step;
  }
  bool read_c = false;
  for (int p = 0; p < parts; ++p) read_c = read_c || scale.beta[p] != 0;
  if constexpr (parts == 1) {
    if (c.row_stride == 1 && c.rows == rows && c.cols == cols) {
      const V alpha = V::broadcast(scale.alpha[0]);
      const V beta = V::broadcast(scale.beta[0]);
      for (int j = 0; j < cols; ++j) {
        R* column = c.data + j * c.col_stride;
        for (int v = 0; v < vectors; ++v) {
          V out = alpha * sum[j][0][v];
          if (read_c) out = out + beta * V::load(column + v * V::count);
          out.store(column + v * V::count);
        }
      }
      return;
    }
  }
  R sums[cols][parts][rows];
  std::memcpy(sums, sum, sizeof sums);
  for (int j = 0; j < c.cols; ++j) {
    for (int i = 0; i < c.rows; ++i) {
      finish<R, parts>(&sums[j][0][i], rows, scale, read_c,
                       c.data + (i * c.row_stride + j * c.col_stride) * parts);
    }
  }
}

template <class R, int parts, int width>
void pack_full(const PanelSource<R>& from, std::int64_t depth, R* to) {
  for (std::int64_t k = 0; k < depth; ++k) {
    const R* column = from.data + k * from.along * parts;
    for (int l = 0; l < width; ++l) {
      const R* entry = column + l * from.across * parts;
      to[l] = entry[0];
      if constexpr (parts == 2) to[width + l] = from.conjugated ? -entry[1] : entry[1];
    }
    to += parts * width;
  }
}

template <class R, int parts>
void pack_part(const PanelSource<R>& from, int lines, int width, std::int64_t depth, R* to) {
  for (std::int64_t k = 0; k < depth; ++k) {
    const R* column = from.data + k * from.along * parts;
    for (int l = 0; l < width; ++l) {
      const R* entry = column + l * from.across * parts;
      to[l] = l < lines ? entry[0] : R(0);
      if constexpr (parts == 2) {
        to[width + l] = l >= lines ? R(0) : from.conjugated ? -entry[1] : entry[1];
      }
    }
    to += parts * width;
  }
}

}  // namespace

template <class R, int parts>
PanelShape panel_shape() {
  using T = Tile<R, parts>;
  return {T::vectors * T::lanes, T::cols, T::lanes};
}

template <class R, int parts>
void pack_panel(const PanelSource<R>& from, int lines, int width, std::int64_t depth, R* to) {
  using T = Tile<R, parts>;
  constexpr int full = T::vectors * T::lanes;
  if (lines == full && width == full) {
    if (from.across == 1) {
      pack_full<R, parts, full>({from.data, 1, from.along, from.conjugated}, depth, to);
    } else {
      pack_full<R, parts, full>(from, depth, to);
    }
  } else if (lines == T::cols && width == T::cols) {
    if (from.across == 1) {
      pack_full<R, parts, T::cols>({from.data, 1, from.along, from.conjugated}, depth, to);
    } else {
      pack_full<R, parts, T::cols>(from, depth, to);
    }
  } else {
    pack_part<R, parts>(from, lines, width, depth, to);
  }
}

template <class R, int parts>
void multiply_panels(const PanelLines<R>& a, int a_width, const PanelLines<R>& b,
                     std::int64_t depth, const PanelScale<R>& scale, const PanelTile<R>& c) {
  using T = Tile<R, parts>;
  constexpr int middle = T::vectors > 2 ? 2 : 1;
  const int vectors = a_width / T::lanes;
  if (parts == 2 || b.across == 1) {
    if (vectors == T::vectors) {
      multiply_tile<R, parts, T::vectors, T::cols, true>(a, b, depth, scale, c);
    } else if (vectors == middle) {
      multiply_tile<R, parts, middle, T::cols, true>(a, b, depth, scale, c);
    } else {
      multiply_tile<R, parts, 1, T::cols, true>(a, b, depth, scale, c);
    }
  } else if constexpr (parts == 1) {
    if (vectors == T::vectors) {
      multiply_tile<R, parts, T::vectors, T::cols, false>(a, b, depth, scale, c);
    } else if (vectors == middle) {
      multiply_tile<R, parts, middle, T::cols, false>(a, b, depth, scale, c);
    } else {
      multiply_tile<R, parts, 1, T::cols, false>(a, b, depth, scale, c);
    }
  }
}

#define KRYSOL_PANELS(R, parts)                                                            \
  template PanelShape panel_shape<R, parts>();                                             \
  template void pack_panel<R, parts>(const PanelSource<R>&, int, int, std::int64_t, R*);   \
  template void multiply_panels<R, parts>(const PanelLines<R>&, int, const PanelLines<R>&, \
                                          std::int64_t, const PanelScale<R>&,              \
                                          const PanelTile<R>&);
KRYSOL_PANELS(float, 1)
KRYSOL_PANELS(double, 1)
KRYSOL_PANELS(float, 2)
KRYSOL_PANELS(double, 2)
#undef KRYSOL_PANELS

}  // namespace krysol
