// What `auto` measures and what it leaves out, by counts and by a clock that is given.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/core.h>
#include <krysol/spmv/kernels/matrix_profile.hpp>
#include <krysol/spmv/select/select.hpp>
#include "messages.hpp"
#include "products.hpp"

namespace {

using namespace krysol_tests;
using krysol::FormatChoice;
using krysol::FormatTrial;
using krysol::select_format;

template <class Exec>
class SelectLimits : public testing::Test {};
using SelectLimitSpaces = ForGtest<Spaces>::type;
TYPED_TEST_SUITE(SelectLimits, SelectLimitSpaces, SpaceName);

const FormatTrial& trial_named(const FormatChoice& choice, std::string_view name) {
  for (const FormatTrial& t : choice.trials) {
    if (t.name == name) return t;
  }
  throw std::out_of_range("no such trial");
}

/// Both limits belong to what is measured.
TYPED_TEST(SelectLimits, MeasuresFromTheLeastNumbersOn) {
  using T = double;
  using Exec = TypeParam;
  constexpr auto least = static_cast<Index>(krysol::least_nnz_to_select);
  const auto choose = [](Index nonzeros, double products) {
    auto t = no_entries<T>(nonzeros, nonzeros);
    for (Index i = 0; i < nonzeros; ++i) t.add(i, i, T(2));
    krysol::SelectOptions options;
    options.unnoticed_seconds = std::numeric_limits<double>::infinity();
    options.products = products;
    options.clock = [](std::string_view) { return 1e-3; };
    FormatChoice choice;
    select_format<T, Exec>(krysol::to_csr(t).matrix, options, choice);
    return choice;
  };
  const FormatChoice enough = choose(least, krysol::least_products_to_select);
  EXPECT_TRUE(trial_named(enough, "csr").measured) << enough.reason;
  const FormatChoice small = choose(least - 1, krysol::least_products_to_select);
  EXPECT_FALSE(trial_named(small, "csr").measured);
  EXPECT_EQ(small.reason, std::to_string(least - 1) + " nonzeros are too few to measure for");
  const FormatChoice few = choose(least, krysol::least_products_to_select - 1);
  EXPECT_FALSE(trial_named(few, "csr").measured);
  EXPECT_TRUE(holds(few.reason, " multiplications are too few to measure for")) << few.reason;
}

/// By a clock that is given: a format that is expected to take more than is left is not tried,
/// however little was spent before; where there is time for all, those that hold the matrix are.
TYPED_TEST(SelectLimits, TriesNothingThatWouldExceedItsShare) {
  using T = double;
  using Exec = TypeParam;
  const auto host = krysol::to_csr(symmetrised(random_sparse<T>(3000, 3000, 9, 3))).matrix;
  const krysol::MatrixProfile profile(host, krysol::on_host<Exec>);
  const auto formats = krysol::list_formats();
  for (const double share : {0.01, 1e6}) {  // four multiplications of a second each, and any number
    krysol::SelectOptions options;
    options.most_share = share;
    options.clock = [](std::string_view) { return 1.0; };
    FormatChoice choice;
    select_format<T, Exec>(host, options, choice);
    int measured = 0;
    int over_budget = 0;
    for (const FormatTrial& t : choice.trials) {
      const auto info = std::find_if(formats.begin(), formats.end(), [&](const auto& f) {
        return f.name == std::string_view(t.name).substr(0, t.name.find(':'));
      });
      if (info->name == "csr" || info->estimate(profile).shares_csr) {
        EXPECT_TRUE(t.measured) << t.name << ": " << t.remark;
        continue;
      }
      measured += t.measured ? 1 : 0;
      over_budget += holds(t.remark, " multiplications by csr, and would take some ") ? 1 : 0;
    }
    if (share < 1) {
      EXPECT_EQ(measured, 0) << "ten multiplications at the least, of four";
      EXPECT_GE(over_budget, 3);
    } else {
      EXPECT_GE(measured, 3) << "coo, jds and sell_c_sigma at the least";
      EXPECT_EQ(over_budget, 0);
    }
  }
}

/// By a clock that is given: so many multiplications save as much as the conversion took, and where
/// a format is no faster than csr none do.
TYPED_TEST(SelectLimits, CountsTheMultiplicationsThatPayForAConversion) {
  using T = double;
  using Exec = TypeParam;
  const auto host = krysol::to_csr(random_sparse<T>(4000, 4000, 9, 3)).matrix;
  krysol::SelectOptions options;
  options.unnoticed_seconds = std::numeric_limits<double>::infinity();
  options.clock = [](std::string_view name) {
    return name == "csr" ? 1e-3 : name.starts_with("sell") ? 0.5e-3 : 2e-3;
  };
  FormatChoice choice;
  select_format<T, Exec>(host, options, choice);
  const double base = trial_named(choice, "csr").seconds;
  EXPECT_DOUBLE_EQ(base, 1e-3);
  int faster = 0;
  int slower = 0;
  for (const FormatTrial& t : choice.trials) {
    if (!t.measured || t.name == "csr") continue;
    if (t.seconds < base) {
      ++faster;
      EXPECT_GT(t.break_even, 0) << t.name;
      EXPECT_DOUBLE_EQ(t.break_even * (base - t.seconds), t.convert_seconds) << t.name;
    } else {
      ++slower;
      EXPECT_TRUE(std::isinf(t.break_even)) << t.name << ": " << t.break_even;
    }
  }
  EXPECT_GE(faster, 1) << "sell_c_sigma at the least";
  EXPECT_GE(slower, 1) << "coo at the least";
  const double pays = std::ceil(trial_named(choice, choice.name).break_even);
  EXPECT_EQ(choice.reason,
            fmt::format("2.00 times the speed of csr; the conversion pays after {:.0f} "
                        "multiplications",
                        pays));
}

}  // namespace
