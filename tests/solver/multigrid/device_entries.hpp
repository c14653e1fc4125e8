// What tests of levels made in a device's memory share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <krysol/solver/krylov/cg.hpp>
#include <krysol/solver/multigrid/cycle.hpp>
#include <krysol/solver/multigrid/device_levels.hpp>
#include <krysol/solver/multigrid/level_scaling.hpp>
#include <krysol/spmv/formats/csr.hpp>
#include <krysol/spmv/matrix/host_csr.hpp>
#include "problems.hpp"
#include "spaces.hpp"

namespace krysol_tests {

template <class Exec>
krysol::Csr<double, Exec> in_space(const krysol::HostCsr<double>& host) {
  krysol::Csr<double, Exec> a;
  krysol::from_csr(host, a);
  return a;
}

template <class T, class Exec>
std::vector<T> list_of(const krysol::Vector<T, Exec>& v) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, v);
  return {host.data(), host.data() + host.extent(0)};
}

/// The entries of each row that are not 0.
using Entries = std::vector<std::map<Index, double>>;

inline Entries entries_of(Index rows, const std::vector<krysol::Offset>& row_ptr,
                          const std::vector<Index>& col_idx, const std::vector<double>& values) {
  Entries entries(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    for (auto k = static_cast<std::size_t>(row_ptr[i]);
         k < static_cast<std::size_t>(row_ptr[i + 1]); ++k) {
      if (values[k] != 0) entries[i][col_idx[k]] += values[k];
    }
  }
  return entries;
}

template <class Exec>
Entries entries_of(const krysol::Csr<double, Exec>& a) {
  return entries_of(a.rows, list_of<krysol::Offset, Exec>(a.row_ptr),
                    list_of<Index, Exec>(a.col_idx), list_of<double, Exec>(a.values));
}

inline Entries entries_of_host(const krysol::HostCsr<double>& a) {
  const krysol::Offset* const row_ptr = a.row_ptr.data();
  return entries_of(a.rows, std::vector<krysol::Offset>(row_ptr, row_ptr + a.rows + 1),
                    std::vector<Index>(a.col_idx.data(), a.col_idx.data() + a.nnz()),
                    std::vector<double>(a.values.data(), a.values.data() + a.nnz()));
}

/// The largest |difference| of two entries; one that is not there is 0.
inline double difference_of(const Entries& a, const Entries& b) {
  EXPECT_EQ(a.size(), b.size());
  double most = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    for (const auto& [j, v] : a[i]) {
      const auto other = b[i].find(j);
      most = std::max(most, std::abs(v - (other != b[i].end() ? other->second : 0)));
    }
    for (const auto& [j, v] : b[i]) {
      if (a[i].find(j) == a[i].end()) most = std::max(most, std::abs(v));
    }
  }
  return most;
}

/// Levels that a device makes, and those of the host after them.
template <class Exec>
using LevelsOfBoth = std::pair<krysol::multigrid::DeviceLevels<double, Exec>,
                               krysol::multigrid::HostHierarchy<double>>;

/// As Multigrid makes them where a device solves, the device's as long as they have more than
/// `rows` rows.
template <class Exec>
LevelsOfBoth<Exec> levels_of_both(const krysol::HostCsr<double>& a, Index rows,
                                  const krysol::multigrid::HierarchyOptions& options) {
  namespace mg = krysol::multigrid;
  mg::DeviceLevels<double, Exec> first;
  mg::FirstLevels<double> make_first;
  make_first.grids = [&](const auto& matrix, const auto& h, auto& seconds) {
    return mg::make_device_grids(Exec{}, matrix, options, h, seconds, first, rows);
  };
  make_first.classical = [&](const auto& matrix, const auto& h, auto& seconds) {
    return mg::make_device_classical(Exec{}, matrix, options, h, seconds, first, rows);
  };
  make_first.aggregates = [&](const auto& matrix, auto& h, auto& b) {
    first = mg::make_device_levels(Exec{}, matrix, options, b, h, rows);
  };
  auto rest = mg::make_hierarchy(a, options, make_first);
  return {std::move(first), std::move(rest)};
}

/// Levels of a device, and those of the host after them, are those that the host makes alone.
template <class Exec>
void expect_levels_of_host(const std::string& name,
                           const krysol::multigrid::HostHierarchy<double>& wanted,
                           const krysol::multigrid::DeviceLevels<double, Exec>& first,
                           const krysol::multigrid::HostHierarchy<double>& rest) {
  namespace mg = krysol::multigrid;
  ASSERT_EQ(rest.on_device.size(), first.size()) << name;
  ASSERT_EQ(first.size() + rest.levels.size(), wanted.levels.size()) << name;
  for (std::size_t l = 0; l < wanted.levels.size(); ++l) {
    const auto& of_host = wanted.levels[l];
    const Entries level = entries_of_host(mg::scaled_entries<double>(of_host.a, of_host.scale));
    if (l < first.size()) {
      EXPECT_LT(difference_of(entries_of(first[l].a), level), 1e-11) << name << ", " << l;
      EXPECT_EQ(rest.on_device[l].rows, of_host.a.rows) << name;
      EXPECT_GE(first[l].largest, 1) << name;
    } else {
      const auto& mine = rest.levels[l - first.size()];
      const Entries of_rest = entries_of_host(mg::scaled_entries<double>(mine.a, mine.scale));
      EXPECT_LT(difference_of(of_rest, level), 1e-11) << name << ", " << l;
    }
  }
}

/// Of CG to 1e-8 for A x = ones, with the preconditioner m.
template <class Exec, class Preconditioner>
int iterations_on(const std::string& name, const krysol::HostCsr<double>& a,
                  const Preconditioner& m) {
  const auto rows = static_cast<std::size_t>(a.rows);
  const auto b = to_device<Exec>(std::vector<double>(rows, 1));
  const auto x = to_device<Exec>(std::vector<double>(rows));
  const auto result = krysol::cg(Exec(), in_space<Exec>(a), b, x, m, {.rtol = 1e-8});
  EXPECT_EQ(result.status, krysol::Status::converged) << name << ": " << result.advice;
  return static_cast<int>(result.iterations);
}

template <class Exec>
int iterations_with(const char* name, const krysol::HostCsr<double>& a,
                    const krysol::multigrid::Hierarchy<float, Exec>& m) {
  return iterations_on<Exec>(name, a, m);
}

}  // namespace krysol_tests
