// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/gemm_peers.hpp"

#include <algorithm>
#include <limits>

#include <Eigen/Core>
#ifdef KRYSOL_HAVE_KOKKOS_KERNELS
#include <KokkosBlas3_gemm.hpp>
#endif
#ifdef KRYSOL_HAVE_MKL
#include <mkl.h>
#endif

namespace krysol::apps {
namespace {

template <class T>
using EigenBlock = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

template <class T>
EigenBlock<T> eigen_block(const Block<T, Host>& a) {
  return {a.data(), static_cast<Eigen::Index>(a.extent(0)), static_cast<Eigen::Index>(a.extent(1))};
}

#ifdef KRYSOL_HAVE_MKL
template <class T>
void multiply_by_mkl(const Block<T, Host>& a, const Block<T, Host>& b, const Block<T, Host>& c) {
  const auto m = static_cast<MKL_INT>(c.extent(0));
  const auto n = static_cast<MKL_INT>(c.extent(1));
  const auto k = static_cast<MKL_INT>(a.extent(1));
  if constexpr (std::is_same_v<T, double>) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a.data(), k, b.data(), n, 0,
                c.data(), n);
  } else {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a.data(), k, b.data(), n, 0,
                c.data(), n);
  }
}
#endif

}  // namespace

template <class T>
std::vector<GemmPeer> make_gemm_peers(const Block<T, Host>& a, const Block<T, Host>& b,
                                      const Block<T, Host>& c) {
  std::vector<GemmPeer> peers;
  Eigen::setNbThreads(Host().concurrency());
#ifdef KRYSOL_HAVE_MKL
  const std::size_t largest = std::max({a.extent(0), a.extent(1), b.extent(1)});
  if (largest <= static_cast<std::size_t>(std::numeric_limits<MKL_INT>::max())) {
    peers.push_back({"MKL", [=] { multiply_by_mkl(a, b, c); }});
  }
#endif
#ifdef KRYSOL_HAVE_KOKKOS_KERNELS
  peers.push_back({"Kokkos Kernels", [=] {
                     KokkosBlas::gemm(Host(), "N", "N", T(1), a, b, T(0), c);
                     Host().fence();
                   }});
#endif
  peers.push_back({"Eigen", [=] {
                     auto out = eigen_block(c);
                     out.noalias() = eigen_block(a) * eigen_block(b);
                   }});
  return peers;
}

template std::vector<GemmPeer> make_gemm_peers(const Block<float, Host>&, const Block<float, Host>&,
                                               const Block<float, Host>&);
template std::vector<GemmPeer> make_gemm_peers(const Block<double, Host>&,
                                               const Block<double, Host>&,
                                               const Block<double, Host>&);

std::string gemm_peer_names() {
  std::string names;
#ifdef KRYSOL_HAVE_MKL
  names += "MKL, ";
#endif
#ifdef KRYSOL_HAVE_KOKKOS_KERNELS
  names += "Kokkos Kernels, ";
#endif
  return names + "Eigen";
}

}  // namespace krysol::apps
