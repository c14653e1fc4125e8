// Other libraries' products of dense blocks, to be timed beside ours. Each is there where it was
// found by CMake.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <krysol/spmv/base/vector.hpp>

namespace krysol::apps {

/// Row by row, as C has them.
template <class T, class Exec = Kokkos::DefaultExecutionSpace>
using Block = Kokkos::View<T**, Kokkos::LayoutRight, Exec>;

struct GemmPeer {
  std::string name;
  std::function<void()> multiply;  // C := A B, done when it returns
};

/// Peers of this build on the host. What the blocks point to must outlive them. MKL is left out
/// where a size exceeds its 32-bit numbers.
template <class T>
std::vector<GemmPeer> make_gemm_peers(const Block<T, Host>& a, const Block<T, Host>& b,
                                      const Block<T, Host>& c);

/// "MKL, Eigen" or the like.
std::string gemm_peer_names();

}  // namespace krysol::apps
