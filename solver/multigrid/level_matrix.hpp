// A level's matrix in the format that suits it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string_view>
#include <variant>

#include <krysol/solver/multigrid/cycle_kernels.hpp>
#include <krysol/spmv/formats/bsr.hpp>
#include <krysol/spmv/formats/csr.hpp>
#include <krysol/spmv/formats/sell_c_sigma.hpp>
#include <krysol/spmv/formats/stencil.hpp>
#include <krysol/spmv/formats/stencil_pattern.hpp>
#include <krysol/spmv/operator.hpp>

namespace krysol::multigrid {

/// The formats that levels are kept in. float is what hierarchies of real matrices are stored in;
/// for the others csr has to do, because each format takes compilers seconds for each type.
template <class S, class Exec>
struct LevelFormats {
  using type = std::variant<Csr<S, Exec>>;
};
template <class Exec>
struct LevelFormats<float, Exec> {
  using OnHost = std::variant<Csr<float, Exec>, SellCSigma<float, Exec>, Stencil<float, Exec>,
                              StencilPattern<float, Exec>, Bsr<float, Exec>>;
  using OnDevice =
      std::variant<Csr<float, Exec>, Stencil<float, Exec>, StencilPattern<float, Exec>>;
  using type = std::conditional_t<on_host<Exec>, OnHost, OnDevice>;
};

template <class S, class Exec>
struct LevelMatrix {
  typename LevelFormats<S, Exec>::type format;

  Index rows() const {
    return std::visit([](const auto& a) { return a.rows; }, format);
  }
  Offset nnz() const {
    return std::visit([](const auto& a) { return a.nnz(); }, format);
  }
  std::string_view name() const {
    return std::visit([](const auto& a) { return a.name; }, format);
  }
  std::int64_t bytes() const {
    return std::visit([](const auto& a) { return bytes_of(a); }, format);
  }
};

/// y := alpha A x + beta y, as that of the formats.
template <class S, class Exec>
void apply(const Exec& exec, std::type_identity_t<S> alpha, const LevelMatrix<S, Exec>& a,
           std::type_identity_t<ConstVector<S, Exec>> x, std::type_identity_t<S> beta,
           const Vector<S, Exec>& y) {
  std::visit([&](const auto& format) { apply(exec, alpha, format, x, beta, y); }, a.format);
}

/// Step with the products of A by y; its order of rows is set here.
template <class S, class Exec>
void smooth(const Exec& exec, const LevelMatrix<S, Exec>& a, SmoothingStep<S> step,
            std::type_identity_t<ConstVector<S, Exec>> y) {
  step.y = y.data();
  std::visit(
      [&](const auto& format) {
        step.order = order_of(format);
        row_loop<S>("krysol::multigrid(smooth)", exec, row_blocks(format), lanes_of(format),
                    row_product(format, y), step, nullptr);
      },
      a.format);
}

/// In the first of stencil and stencil_pattern (if `grid`) and, on a host for more than 1000 rows,
/// bsr (if block > 1) and sell_c_sigma that takes the matrix; else in csr. shared: the arrays of
/// the pattern are somebody else's.
template <class S, class Exec>
LevelMatrix<S, Exec> make_level_matrix(const HostCsr<S>& a, Index block, bool grid, bool shared);

}  // namespace krysol::multigrid
