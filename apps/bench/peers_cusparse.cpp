// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/core.h>

#include "bench/peers.hpp"

#ifdef KRYSOL_HAVE_CUSPARSE
#include <cusparse.h>

#include <memory>
#include <stdexcept>
#endif

namespace krysol::apps {
#ifdef KRYSOL_HAVE_CUSPARSE
namespace {

using Device = Kokkos::Cuda;

void check(cusparseStatus_t status, const char* call) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  throw std::runtime_error(fmt::format("{}: {}", call, cusparseGetErrorString(status)));
}

/// The generic interface: csr with 32-bit row pointers, its default algorithm, a buffer and, where
/// this cuSPARSE has it, the preprocessing that later products profit from. It works in the stream
/// of Kokkos.
class CusparsePeer {
 public:
  CusparsePeer(const HostCsr<double>& a, const Vector<double, Device>& x,
               const Vector<double, Device>& y)
      : x_(x), y_(y) {
    try {
      build(a);
    } catch (...) {
      destroy();  // there is no object yet whose destructor would
      throw;
    }
  }
  CusparsePeer(const CusparsePeer&) = delete;
  CusparsePeer& operator=(const CusparsePeer&) = delete;
  ~CusparsePeer() { destroy(); }

  /// y := A x
  void multiply() const {
    check(cusparseSpMV(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_vector_, &zero_,
                       y_vector_, CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, buffer_.data()),
          "cusparseSpMV");
    exec_.fence();
  }

 private:
  void build(const HostCsr<double>& a) {
    row_ptr_ = allocate<Vector<int, Device>>("cusparse.row_ptr", a.row_ptr.extent(0));
    const auto row_ptr = Kokkos::create_mirror_view(Kokkos::HostSpace{}, row_ptr_);
    for (std::size_t i = 0; i < a.row_ptr.extent(0); ++i) {
      row_ptr(i) = static_cast<int>(a.row_ptr(i));
    }
    Kokkos::deep_copy(row_ptr_, row_ptr);
    col_idx_ = in_memory_of<Device>(a.col_idx);
    values_ = in_memory_of<Device>(a.values);

    check(cusparseCreate(&handle_), "cusparseCreate");
    check(cusparseSetStream(handle_, exec_.cuda_stream()), "cusparseSetStream");
    check(cusparseCreateCsr(&matrix_, a.rows, a.cols, a.nnz(), row_ptr_.data(), col_idx_.data(),
                            values_.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F),
          "cusparseCreateCsr");
    check(cusparseCreateDnVec(&x_vector_, a.cols, x_.data(), CUDA_R_64F), "cusparseCreateDnVec");
    check(cusparseCreateDnVec(&y_vector_, a.rows, y_.data(), CUDA_R_64F), "cusparseCreateDnVec");
    std::size_t bytes = 0;
    check(cusparseSpMV_bufferSize(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_,
                                  x_vector_, &zero_, y_vector_, CUDA_R_64F,
                                  CUSPARSE_SPMV_ALG_DEFAULT, &bytes),
          "cusparseSpMV_bufferSize");
    buffer_ = allocate<Vector<char, Device>>("cusparse.buffer", bytes);
#if CUSPARSE_VERSION >= 12300  // CUDA 12.4
    check(cusparseSpMV_preprocess(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_,
                                  x_vector_, &zero_, y_vector_, CUDA_R_64F,
                                  CUSPARSE_SPMV_ALG_DEFAULT, buffer_.data()),
          "cusparseSpMV_preprocess");
#endif
    exec_.fence();
  }

  /// Nothing is done for what was not made.
  void destroy() {
    if (x_vector_ != nullptr) cusparseDestroyDnVec(x_vector_);
    if (y_vector_ != nullptr) cusparseDestroyDnVec(y_vector_);
    if (matrix_ != nullptr) cusparseDestroySpMat(matrix_);
    if (handle_ != nullptr) cusparseDestroy(handle_);
  }

  Device exec_{};
  double one_ = 1;
  double zero_ = 0;
  Vector<double, Device> x_;
  Vector<double, Device> y_;
  Vector<int, Device> row_ptr_;    // [rows + 1]
  Vector<Index, Device> col_idx_;  // [nnz]
  Vector<double, Device> values_;  // [nnz]
  Vector<char, Device> buffer_;    // as many bytes as cuSPARSE wants
  cusparseHandle_t handle_ = nullptr;
  cusparseSpMatDescr_t matrix_ = nullptr;
  cusparseDnVecDescr_t x_vector_ = nullptr;
  cusparseDnVecDescr_t y_vector_ = nullptr;
};

}  // namespace
#endif

std::vector<Peer> make_device_peers([[maybe_unused]] const HostCsr<double>& a,
                                    [[maybe_unused]] const Vector<double>& x,
                                    [[maybe_unused]] const Vector<double>& y) {
  std::vector<Peer> peers;
#ifdef KRYSOL_HAVE_CUSPARSE
  peers.push_back(peer_of(device_peer_names(), a, [&](Peer& made) {
    Kokkos::Timer timer;
    const auto peer = std::make_shared<CusparsePeer>(a, x, y);
    made.convert_seconds = timer.seconds();
    made.multiply = [=] { peer->multiply(); };
  }));
#endif
  return peers;
}

std::string device_peer_names() {
#ifdef KRYSOL_HAVE_CUSPARSE
  return "cuSPARSE";
#else
  return {};
#endif
}

}  // namespace krysol::apps
