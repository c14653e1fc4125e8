// Other libraries' products, to be timed beside ours. Each is there where it was found by CMake.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <krysol/spmv/formats/csr.hpp>

namespace krysol::apps {

struct Peer {
  std::string name;
  std::string refused;     // why it cannot take this matrix; the rest is empty then
  std::int64_t bytes = 0;  // of its matrix; peers have 32-bit row pointers
  double convert_seconds = 0;
  std::function<void()> multiply;          // y := A x, done when it returns
  std::function<void()> multiply_several;  // Y := A X likewise; may be empty
};

/// What `build` makes of it, which sets all but name and bytes; or why not: more nonzeros than 32
/// bits count, no memory, or what the library says.
Peer peer_of(std::string_view name, const HostCsr<double>& a,
             const std::function<void(Peer&)>& build);

/// Several vectors as other libraries take them: the numbers of a row side by side.
using RowMajor = Kokkos::View<double**, Kokkos::LayoutRight, Host>;

/// Peers of this build for y := A x on the host, and for Y := A X where X has columns. What x, y, X
/// and Y point to must outlive them. None on builds for a GPU; all refuse matrices of 2^31 nonzeros
/// and more, and each where memory runs out. Kokkos Kernels' product of several vectors takes half
/// a minute to compile, and is left out.
std::vector<Peer> make_peers(const HostCsr<double>& a, const Vector<double, Host>& x,
                             const Vector<double, Host>& y, const RowMajor& several_x,
                             const RowMajor& several_y);

/// cuSPARSE for y := A x on the device, where this is a build for CUDA and cuSPARSE was found. It
/// refuses as the others do, and multiplies one vector.
std::vector<Peer> make_device_peers(const HostCsr<double>& a, const Vector<double>& x,
                                    const Vector<double>& y);

/// Of this build, "MKL, Eigen" or the like; "none" where it has none.
std::string peer_names();
/// Of those on the device; may be empty.
std::string device_peer_names();

}  // namespace krysol::apps
