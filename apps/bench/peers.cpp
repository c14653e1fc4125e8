// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/peers.hpp"

#include <limits>
#include <memory>
#include <new>
#include <stdexcept>

#include <fmt/core.h>
#include <Eigen/Sparse>
#ifdef KRYSOL_HAVE_KOKKOS_KERNELS
#include <KokkosSparse_spmv.hpp>
#endif
#ifdef KRYSOL_HAVE_MKL
#include <mkl.h>
#endif

namespace krysol::apps {
namespace {

std::int64_t bytes_of_csr32(const HostCsr<double>& a) {
  return 12 * a.nnz() + 4 * (std::int64_t{a.rows} + 1);
}

struct EigenPeer {
  using Matrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;
  Matrix matrix;
  explicit EigenPeer(const HostCsr<double>& a) : matrix(a.rows, a.cols) {
    matrix.resizeNonZeros(a.nnz());
    for (std::size_t i = 0; i < a.row_ptr.extent(0); ++i) {
      matrix.outerIndexPtr()[i] = static_cast<int>(a.row_ptr(i));
    }
    std::copy_n(a.col_idx.data(), a.nnz(), matrix.innerIndexPtr());
    std::copy_n(a.values.data(), a.nnz(), matrix.valuePtr());
  }
  void multiply(const Vector<double, Host>& x, const Vector<double, Host>& y) const {
    Eigen::Map<Eigen::VectorXd> out(y.data(), matrix.rows());
    out.noalias() = matrix * Eigen::Map<const Eigen::VectorXd>(x.data(), matrix.cols());
  }
  void multiply_several(const RowMajor& x, const RowMajor& y) const {
    using Block = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const auto n = static_cast<Eigen::Index>(x.extent(1));
    Eigen::Map<Block> out(y.data(), matrix.rows(), n);
    out.noalias() = matrix * Eigen::Map<const Block>(x.data(), matrix.cols(), n);
  }
};

#ifdef KRYSOL_HAVE_KOKKOS_KERNELS
struct KokkosKernelsPeer {
  using Matrix = KokkosSparse::CrsMatrix<double, int, Host, void, int>;
  using Vectors = Vector<double, Host>;
  Matrix matrix;
  KokkosSparse::SPMVHandle<Host, Matrix, Vectors, Vectors> handle;
  explicit KokkosKernelsPeer(const HostCsr<double>& a) {
    Matrix::row_map_type::non_const_type row_map("row_map", a.row_ptr.extent(0));
    for (std::size_t i = 0; i < a.row_ptr.extent(0); ++i)
      row_map(i) = static_cast<int>(a.row_ptr(i));
    Matrix::index_type::non_const_type col_idx("col_idx", a.col_idx.extent(0));
    Matrix::values_type::non_const_type values("values", a.values.extent(0));
    Kokkos::deep_copy(col_idx, a.col_idx);
    Kokkos::deep_copy(values, a.values);
    matrix = Matrix("A", a.rows, a.cols, static_cast<int>(a.nnz()), values, row_map, col_idx);
  }
  void multiply(const Vectors& x, const Vectors& y) {
    KokkosSparse::spmv(Host(), &handle, KokkosSparse::NoTranspose, 1.0, matrix, x, 0.0, y);
    Kokkos::fence();
  }
};
#endif

#ifdef KRYSOL_HAVE_MKL
/// The inspector-executor interface. With hints it stores the matrix in ways of its own (diagonals
/// of some rows, slices with masks); without, it multiplies by the csr arrays that it was given.
template <bool with_hints>
struct MklPeer {
  EigenPeer csr;  // 32-bit arrays, as MKL wants them
  sparse_matrix_t matrix{};
  sparse_matrix_t of_several{};
  matrix_descr descr{SPARSE_MATRIX_TYPE_GENERAL, SPARSE_FILL_MODE_LOWER, SPARSE_DIAG_NON_UNIT};
  explicit MklPeer(const HostCsr<double>& a) : csr(a) {
    auto& m = csr.matrix;
    mkl_sparse_d_create_csr(&matrix, SPARSE_INDEX_BASE_ZERO, a.rows, a.cols, m.outerIndexPtr(),
                            m.outerIndexPtr() + 1, m.innerIndexPtr(), m.valuePtr());
    if constexpr (with_hints) {
      mkl_sparse_set_mv_hint(matrix, SPARSE_OPERATION_NON_TRANSPOSE, descr, 1000);
      mkl_sparse_optimize(matrix);
    }
  }
  MklPeer(const MklPeer&) = delete;
  MklPeer& operator=(const MklPeer&) = delete;
  ~MklPeer() {
    mkl_sparse_destroy(matrix);
    if (of_several != nullptr) mkl_sparse_destroy(of_several);
  }
  /// A handle of its own, so that its hint does not change what the other was optimized for.
  void prepare_several([[maybe_unused]] int vectors) {
    auto& m = csr.matrix;
    const auto rows = static_cast<MKL_INT>(m.rows());
    mkl_sparse_d_create_csr(&of_several, SPARSE_INDEX_BASE_ZERO, rows,
                            static_cast<MKL_INT>(m.cols()), m.outerIndexPtr(),
                            m.outerIndexPtr() + 1, m.innerIndexPtr(), m.valuePtr());
    if constexpr (with_hints) {
      mkl_sparse_set_mm_hint(of_several, SPARSE_OPERATION_NON_TRANSPOSE, descr,
                             SPARSE_LAYOUT_ROW_MAJOR, vectors, 1000);
      mkl_sparse_optimize(of_several);
    }
  }
  void multiply_several(const RowMajor& x, const RowMajor& y) const {
    const auto n = static_cast<MKL_INT>(x.extent(1));
    mkl_sparse_d_mm(SPARSE_OPERATION_NON_TRANSPOSE, 1, of_several, descr, SPARSE_LAYOUT_ROW_MAJOR,
                    x.data(), n, n, 0, y.data(), n);
  }
  void multiply(const Vector<double, Host>& x, const Vector<double, Host>& y) const {
    mkl_sparse_d_mv(SPARSE_OPERATION_NON_TRANSPOSE, 1, matrix, descr, x.data(), 0, y.data());
  }
};
#endif

template <class P>
Peer make_peer(const char* name, const HostCsr<double>& a, const Vector<double, Host>& x,
               const Vector<double, Host>& y, const RowMajor& several_x,
               const RowMajor& several_y) {
  return peer_of(name, a, [&](Peer& made) {
    Kokkos::Timer timer;
    const auto peer = std::make_shared<P>(a);
    made.convert_seconds = timer.seconds();
    made.multiply = [=] { peer->multiply(x, y); };
    if (several_x.extent(1) > 0) {
      if constexpr (requires { peer->prepare_several(1); }) {
        peer->prepare_several(static_cast<int>(several_x.extent(1)));
      }
      if constexpr (requires { peer->multiply_several(several_x, several_y); }) {
        made.multiply_several = [=] { peer->multiply_several(several_x, several_y); };
      }
    }
  });
}

}  // namespace

Peer peer_of(std::string_view name, const HostCsr<double>& a,
             const std::function<void(Peer&)>& build) {
  Peer made;
  made.name = name;
  if (a.nnz() > std::numeric_limits<int>::max()) {
    made.refused = fmt::format("{} nonzeros are more than 32 bits count", a.nnz());
    return made;
  }
  try {
    build(made);
    made.bytes = bytes_of_csr32(a);
  } catch (const std::bad_alloc& e) {
    made.refused = fmt::format("not enough memory: {}", e.what());
  } catch (const std::runtime_error& e) {  // what Kokkos throws then, and other libraries
    made.refused = e.what();
  }
  return made;
}

std::vector<Peer> make_peers(const HostCsr<double>& a, const Vector<double, Host>& x,
                             const Vector<double, Host>& y, const RowMajor& several_x,
                             const RowMajor& several_y) {
  std::vector<Peer> peers;
  if (!on_host<Kokkos::DefaultExecutionSpace>) return peers;
  Eigen::setNbThreads(Host().concurrency());
#ifdef KRYSOL_HAVE_MKL
  peers.push_back(make_peer<MklPeer<true>>("MKL", a, x, y, several_x, several_y));
  peers.push_back(make_peer<MklPeer<false>>("MKL csr", a, x, y, several_x, several_y));
#endif
#ifdef KRYSOL_HAVE_KOKKOS_KERNELS
  peers.push_back(make_peer<KokkosKernelsPeer>("Kokkos Kernels", a, x, y, several_x, several_y));
#endif
  peers.push_back(make_peer<EigenPeer>("Eigen", a, x, y, several_x, several_y));
  return peers;
}

std::string peer_names() {
  if (!on_host<Kokkos::DefaultExecutionSpace>) {
    return device_peer_names().empty() ? "none" : device_peer_names();
  }
  std::string names;
#ifdef KRYSOL_HAVE_MKL
  names += "MKL, MKL csr, ";
#endif
#ifdef KRYSOL_HAVE_KOKKOS_KERNELS
  names += "Kokkos Kernels, ";
#endif
  return names + "Eigen";
}

}  // namespace krysol::apps
