// The execution spaces that tests run on, and the way of data to and from their memory.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <krysol/spmv/base/scalar.hpp>
#include <krysol/spmv/base/type_list.hpp>
#include <krysol/spmv/base/vector.hpp>
#include "dense.hpp"

namespace krysol_tests {

using krysol::TypeList;

template <class... Lists>
struct JoinLists {
  using type = TypeList<>;
};
template <class... A>
struct JoinLists<TypeList<A...>> {
  using type = TypeList<A...>;
};
template <class... A, class... B, class... Rest>
struct JoinLists<TypeList<A...>, TypeList<B...>, Rest...> {
  using type = typename JoinLists<TypeList<A..., B...>, Rest...>::type;
};
template <class... Lists>
using Join = typename JoinLists<Lists...>::type;

template <class List>
struct ForGtest;
template <class... T>
struct ForGtest<TypeList<T...>> {
  using type = ::testing::Types<T...>;
};

/// The execution spaces that are tested: on a build for GPUs theirs, for compilers take minutes for
/// each, and all of the host's elsewhere.
#if defined(KOKKOS_ENABLE_CUDA)
using Spaces = TypeList<Kokkos::Cuda>;
#elif defined(KOKKOS_ENABLE_HIP)
using Spaces = TypeList<Kokkos::HIP>;
#elif defined(KOKKOS_ENABLE_OPENMPTARGET)
using Spaces = TypeList<Kokkos::Experimental::OpenMPTarget>;
#else
using Spaces = Join<TypeList<>
#if defined(KOKKOS_ENABLE_SERIAL) && !defined(KRYSOL_WITHOUT_SERIAL)
                    ,
                    TypeList<Kokkos::Serial>
#endif
#ifdef KOKKOS_ENABLE_OPENMP
                    ,
                    TypeList<Kokkos::OpenMP>
#endif
                    >;
#endif

/// OpenMPTarget has one scratch memory for all host threads, and gives a team other numbers of
/// threads where several of them launch.
template <class Exec>
constexpr bool launched_by_one_thread = krysol::least_team<Exec>() > 1;

/// An entry type on an execution space.
template <class T, class Exec>
struct On {
  using Scalar = T;
  using Space = Exec;
};

template <class Exec>
using EntriesOn = TypeList<
#ifdef KRYSOL_HAVE_FLOAT
    On<float, Exec>,
#endif
    On<double, Exec>, On<Kokkos::complex<double>, Exec>>;

template <class List>
struct AllEntriesOn;
template <class... Exec>
struct AllEntriesOn<TypeList<Exec...>> {
  using type = Join<EntriesOn<Exec>...>;
};
/// The entry types that this build holds, on all spaces; complex float, which is float in each of
/// its parts, has its own tests of formats and of solvers.
using EntriesAndSpaces = typename AllEntriesOn<Spaces>::type;

template <class T>
std::string entry_name() {
  if constexpr (krysol::is_complex<T>) {
    return "complex_" + entry_name<krysol::Real<T>>();
  } else {
    return std::is_same_v<T, float> ? "float" : "double";
  }
}

struct SpaceName {
  template <class Exec>
  static std::string GetName(int) {
    return Exec::name();
  }
};
struct OnName {
  template <class Case>
  static std::string GetName(int) {
    return entry_name<typename Case::Scalar>() + "_" + Case::Space::name();
  }
};

template <class Exec, class T, class Allocator>
krysol::Vector<T, Exec> to_device(const std::vector<T, Allocator>& v) {
  krysol::Vector<T, Exec> device("test.vector", v.size());
  Kokkos::deep_copy(device, Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                                v.data(), v.size()));
  return device;
}

template <class T, class... Properties>
std::vector<std::remove_const_t<T>> to_host(const Kokkos::View<T*, Properties...>& device) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, device);
  return {host.data(), host.data() + host.extent(0)};
}

}  // namespace krysol_tests
