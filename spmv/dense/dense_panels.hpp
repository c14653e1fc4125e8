// What one host core does in a product of dense blocks: packed panels, and a tile of C in
// registers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace krysol {

/// Lines of a matrix that are packed together: place (line, k) is at data[line * across + k *
/// along]. Strides count entries; an entry is `parts` numbers, 1 or 2 (real and imaginary).
template <class R>
struct PanelSource {
  const R* data = nullptr;
  std::int64_t across = 0;
  std::int64_t along = 0;
  bool conjugated = false;
};

/// Lines as products take them: number (k, line) is at data[k step + line across], and the
/// imaginary parts of packed lines follow the real ones. Packed or, where that would not pay, as
/// they lie.
template <class R>
struct PanelLines {
  const R* data = nullptr;
  std::int64_t across = 1;
  std::int64_t step = 0;
};

/// A tile of C: place (i, j) is at data[i * row_stride + j * col_stride], in entries.
template <class R>
struct PanelTile {
  R* data = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t col_stride = 0;
  int rows = 0;
  int cols = 0;
};

/// alpha and beta of C := alpha A B + beta C; the second parts are 0 for real numbers.
template <class R>
struct PanelScale {
  R alpha[2] = {1, 0};
  R beta[2] = {0, 0};
};

/// The width of panels in this build, in lines: `rows` of A fill vector registers, `cols` of B are
/// broadcast, and rows x cols sums stay in registers. Panels of `lanes`, 2 lanes, ... rows are
/// taken where no more are left.
struct PanelShape {
  int rows = 0;
  int cols = 0;
  int lanes = 0;
};
template <class R, int parts>
PanelShape panel_shape();

/// to[(k parts + part) width + line] := the source's entry (line, k), for 0 <= k < depth. Lines
/// from `lines` to `width` become zero; they reach no entry of C.
/// Bytes: an entry read, one written.
template <class R, int parts>
void pack_panel(const PanelSource<R>& from, int lines, int width, std::int64_t depth, R* to);

/// C := alpha sum over k < depth of a(., k) b(k, .) + beta C, with `a_width` lines of A, a multiple
/// of the shape's lanes that lie side by side (across = 1), and the shape's `cols` of B. Sums run
/// in ascending k, each in a register of its own. beta = 0 does not read C. Complex lines are
/// packed.
///
/// K. Goto, R. van de Geijn: Anatomy of high-performance matrix multiplication. ACM Trans. Math.
/// Softw. 34(3), 2008. DOI 10.1145/1356052.1356053
template <class R, int parts>
void multiply_panels(const PanelLines<R>& a, int a_width, const PanelLines<R>& b,
                     std::int64_t depth, const PanelScale<R>& scale, const PanelTile<R>& c);

}  // namespace krysol
