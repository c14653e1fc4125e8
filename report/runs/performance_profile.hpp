// Performance profiles of methods over many matrices.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <krysol/report/runs/run_record.hpp>

namespace krysol::report {

/// rho(tau) = share of the matrices that a method solved within tau times the time of the method
/// that was fastest there. Dolan & More, Math. Program. 91, 2002, DOI 10.1007/s101070100263.
struct PerformanceProfile {
  std::string method;
  std::vector<std::pair<double, double>> steps;  // tau and rho, tau ascending from 1
  std::size_t solved = 0;
};

/// Over the matrices that one method at least has solved (converged, or stagnated at the attainable
/// accuracy); what was not timed counts as not solved. most: the last tau. Empty where there are
/// fewer than two methods or no such matrix.
std::vector<PerformanceProfile> performance_profiles(const RunRecord& run, double most = 100);

}  // namespace krysol::report
