// Other libraries' products, to be timed beside ours. Each is there where it was found by CMake.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <krysol/spmv/csr.hpp>

namespace krysol::apps {

struct Peer {
  std::string name;
  std::int64_t bytes = 0;  // of its matrix; peers have 32-bit row pointers
  double convert_seconds = 0;
  std::function<void()> multiply;  // y := A x, done when it returns
};

/// Peers of this build for y := A x on the host. What x and y point to must outlive them. Empty on
/// builds for a GPU, and for matrices of 2^31 nonzeros and more.
std::vector<Peer> make_peers(const HostCsr<double>& a, const Vector<double, Host>& x,
                             const Vector<double, Host>& y);

/// "MKL, Eigen" or the like.
std::string peer_names();

}  // namespace krysol::apps
