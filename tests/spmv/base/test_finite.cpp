// Numbers that are not finite are known by their bits.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <complex>
#include <limits>

#include <krysol/spmv/base/finite.hpp>

namespace {

using krysol::is_finite;
using krysol::is_nan;

template <class R>
void expect_known() {
  using Limits = std::numeric_limits<R>;
  for (const R v : {R(0), -R(0), R(1), Limits::max(), Limits::lowest(), Limits::min(),
                    Limits::denorm_min(), Limits::epsilon()}) {
    EXPECT_TRUE(is_finite(v)) << v;
    EXPECT_FALSE(is_nan(v)) << v;
    EXPECT_TRUE(is_finite(std::complex<R>(v, v)));
  }
  for (const R v : {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(),
                    -Limits::quiet_NaN(), Limits::signaling_NaN()}) {
    EXPECT_FALSE(is_finite(v)) << v;
    EXPECT_FALSE(is_finite(std::complex<R>(v, 1)));
    EXPECT_FALSE(is_finite(std::complex<R>(1, v)));
  }
  EXPECT_TRUE(is_nan(Limits::quiet_NaN()) && is_nan(-Limits::quiet_NaN()));
  EXPECT_FALSE(is_nan(Limits::infinity()) || is_nan(-Limits::infinity()));
}

TEST(Finite, IsToldFromTheBits) {
  expect_known<float>();
  expect_known<double>();
}

}  // namespace
