// Classical coarsening: some unknowns are the next level's, and the others follow from them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include <krysol/solver/coarsening/row_builder.hpp>

namespace krysol::multigrid {

/// [rows] which unknown of its node each row is, where nodes have several; else empty. Only entries
/// between equal unknowns count below.
using Unknowns = std::vector<std::uint8_t>;

/// [nnz] 1 where row i strongly depends on column j: where -a_ij is at least theta times the
/// largest such number of the row, but for rounding. For a positive diagonal.
HostArray<std::uint8_t> strong_dependence(const HostCsr<double>& a, const Unknowns& unknown,
                                          double theta);

struct Splitting {
  HostArray<Index> coarse;  // [rows] the number of an unknown on the next level, or -1
  Index count = 0;
};

/// Independent sets in the graph of strong dependence, as large as may be, of the unknowns that
/// most others depend on; ties by numbers that are pseudo-random, so that no bit depends on the
/// number of threads. Unknowns that nobody depends on are not kept. Of the others each that is not
/// kept depends on a kept one. De Sterck, Yang & Heys, SIAM J. Matrix
/// Anal. Appl. 27(4), 2006, DOI 10.1137/040615729 (PMIS).
Splitting independent_sets(const HostCsr<double>& a, const HostArray<std::uint8_t>& strong);

/// P [rows, splitting.count]: kept unknowns take the value of their own; the others interpolate
/// from kept ones at a distance of two, by extended+i. For an M-matrix whose rows add up to 0,
/// those of P add up to 1. Rows keep their `most` largest entries, of those that are alike but for
/// rounding the first ones, scaled to the sum that all had.
/// De Sterck, Falgout, Nolting & Yang, Numer. Linear Algebra Appl. 15, 2008, DOI 10.1002/nla.559,
/// formula (4.10).
HostCsr<double> extended_interpolation(const HostCsr<double>& a, const Unknowns& unknown,
                                       const HostArray<std::uint8_t>& strong,
                                       const Splitting& splitting, Index most,
                                       RowMemory<double>& memory);

/// The `most` largest entries of each row, in the order in which they stand, scaled to the sum that
/// all had; where that is not possible, as they are.
HostCsr<double> truncated(const HostCsr<double>& p, Index most, RowMemory<double>& memory);

}  // namespace krysol::multigrid
