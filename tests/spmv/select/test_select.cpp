// What `auto` may choose, and what it says of it. Times are not tested.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>

#include <krysol/spmv/kernels/matrix_profile.hpp>
#include <krysol/spmv/matrix/properties.hpp>
#include <krysol/spmv/select/tuning_record.hpp>
#include "messages.hpp"
#include "products.hpp"

namespace {

using namespace krysol_tests;
using krysol::FormatChoice;
using krysol::FormatTrial;
using krysol::select_format;

template <class C>
class Select : public testing::Test {};
using SelectCases = ForGtest<EntriesAndSpaces>::type;
TYPED_TEST_SUITE(Select, SelectCases, OnName);

const FormatTrial* trial_of(const FormatChoice& choice, std::string_view format) {
  const FormatTrial* found = nullptr;
  for (const FormatTrial& t : choice.trials) {
    if (std::string_view(t.name).substr(0, t.name.find(':')) != format) continue;
    EXPECT_EQ(found, nullptr) << format << " stands there twice";
    found = &t;
  }
  return found;
}

/// Measured, or ruled out by what measuring another has shown.
bool considered(const FormatTrial* t) {
  return t->measured || holds(t->remark, "alone take longer than");
}

/// However long it takes.
krysol::SelectOptions patient() {
  krysol::SelectOptions options;
  options.unnoticed_seconds = std::numeric_limits<double>::infinity();
  return options;
}

template <class T, class Exec>
void expect_right_choice(const Triplets<FileScalar<T>>& entries, FormatChoice& choice) {
  const auto host = krysol::to_csr(entries).matrix;
  const auto a = select_format<T, Exec>(host, patient(), choice);
  expect_product<krysol::Operator<T, Exec>, T>(*a, entries, choice.name, {0.0, 1.0, -2.7});
  const auto again = krysol::make_operator<T, Exec>(choice.name, host);
  EXPECT_EQ(again->name(), a->name());
  EXPECT_EQ(again->bytes(), a->bytes());
  for (const auto& f : krysol::list_formats()) {
    const FormatTrial* t = trial_of(choice, f.name);
    ASSERT_NE(t, nullptr) << f.name << " is not accounted for";
    if (t->measured) {
      EXPECT_GT(t->seconds, 0) << f.name;
      EXPECT_GT(t->bytes, 0) << f.name;
      EXPECT_TRUE(t->remark.empty()) << f.name;
    } else {
      EXPECT_FALSE(t->remark.empty()) << f.name;
    }
  }
  EXPECT_FALSE(choice.reason.empty());
  EXPECT_GT(choice.seconds, 0);
}

TYPED_TEST(Select, MeasuresAndChoosesOneThatIsRight) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  FormatChoice choice;
  expect_right_choice<T, Exec>(random_sparse<FileScalar<T>>(4000, 4000, 9, 3), choice);
  EXPECT_TRUE(trial_of(choice, "csr")->measured);
  EXPECT_TRUE(considered(trial_of(choice, "sell_c_sigma")));
  EXPECT_EQ(trial_of(choice, "csr")->break_even, 0);
  for (const char* name : {"csr_merge", "kokkos_kernels"}) {
    const FormatTrial* t = trial_of(choice, name);
    if (t != nullptr) {
      EXPECT_TRUE(!krysol::on_host<Exec> || t->measured) << t->remark;
    }
  }
  for (const char* name : {"coo", "jds"}) {
    EXPECT_TRUE(considered(trial_of(choice, name))) << trial_of(choice, name)->remark;
  }
}

/// The same choice, and the same operator, where the caller has seen that the matrix is symmetric.
TYPED_TEST(Select, HasNoUseForASecondProofOfSymmetry) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto entries = as<FileScalar<T>>(poisson3d(20));
  const auto host = krysol::to_csr(entries).matrix;
  ASSERT_TRUE(krysol::analyze(host).mirrored);
  for (const bool mirrored : {false, true}) {
    krysol::SelectOptions options = patient();
    options.mirrored = mirrored;
    options.clock = [](std::string_view name) {
      return name.starts_with("symmetric") ? 1e-6 : 2e-6;
    };
    FormatChoice choice;
    const auto a = select_format<T, Exec>(host, options, choice);
    const FormatTrial* t = trial_of(choice, "symmetric");
    if (krysol::on_host<Exec> && t != nullptr) {
      EXPECT_TRUE(t->measured) << t->remark;
    }
    expect_product<krysol::Operator<T, Exec>, T>(*a, entries, choice.name, {0.0, 1.0});
  }
}

/// The fastest by an injected clock is taken, whichever it is: none is left out for what it was on
/// another processor.
TYPED_TEST(Select, TakesTheFastestOfAllThatHoldTheMatrix) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  constexpr krysol::Index rows =
      2500;  // not many: each format is made as often as there are formats
  const auto host = krysol::to_csr(random_sparse<FileScalar<T>>(rows, rows, 9, 3)).matrix;
  ASSERT_GE(host.nnz(), krysol::least_nnz_to_select);
  int taken = 0;
  for (const auto& f : krysol::list_formats()) {
    krysol::SelectOptions options = patient();
    options.clock = [&f](std::string_view name) {
      return name.substr(0, name.find(':')) == f.name ? 1e-6 : 1.1e-6;
    };
    FormatChoice choice;
    const auto a = select_format<T, Exec>(host, options, choice);
    const FormatTrial* t = trial_of(choice, f.name);
    if (t->measured) {
      EXPECT_EQ(a->name(), f.name) << choice.reason;
      if (f.name != "csr") {
        EXPECT_TRUE(choice.reason.starts_with("1.10 times the speed of csr; ")) << choice.reason;
      }
      ++taken;
    } else {
      EXPECT_TRUE(holds(t->remark, "csr") || holds(t->remark, "symmetric to the bit") ||
                  holds(t->remark, "patterns") || holds(t->remark, "indices for each") ||
                  holds(t->remark, "differ") || holds(t->remark, "slices") ||
                  holds(t->remark, "diagonals") || holds(t->remark, "rows"))
          << f.name << ": " << t->remark;
    }
  }
  EXPECT_GE(taken, 6);  // csr, csr_merge, ell, coo, jds, sell_c_sigma at the least
}

/// Close ones by more turns, hopeless ones by three.
TYPED_TEST(Select, SpendsFewMultiplicationsOnHopelessFormats) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto host = krysol::to_csr(random_sparse<FileScalar<T>>(4000, 4000, 9, 3)).matrix;
  const auto times_of_jds = [&host](double seconds) {
    int times = 0;
    krysol::SelectOptions options = patient();
    options.clock = [&](std::string_view name) {
      const bool jds = name == "jds";
      times += jds ? 1 : 0;
      return jds ? seconds : name == "csr" ? 1e-3 : 5e-3;
    };
    FormatChoice choice;
    const auto a = select_format<T, Exec>(host, options, choice);
    EXPECT_EQ(a->name(), seconds < 1e-3 ? "jds" : "csr");
    EXPECT_EQ(trial_of(choice, "jds")->seconds, seconds);
    return times;
  };
  // Four until what was just converted is in the caches, three where they take more than three
  // times the time of the best; and in turns with csr where it is near.
  EXPECT_EQ(times_of_jds(9e-3), 3);
  EXPECT_EQ(times_of_jds(2.9e-3), 4);
  EXPECT_EQ(times_of_jds(1.2e-3), 4);
  EXPECT_EQ(times_of_jds(1.01e-3), 8);
  EXPECT_GE(times_of_jds(0.5e-3), 4);
}

/// Rows that are alike go through vector registers together where they follow each other, and one
/// by one where they take turns, which is slower than csr where they are short.
TYPED_TEST(Select, TriesStencilsFirstWhereRowsAreLikeTheRowsBefore) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  if constexpr (!krysol::on_host<Exec>) GTEST_SKIP() << "what is in the caches of hosts";
  const auto place_of_stencil = [](const Triplets<FileScalar<T>>& entries) {
    FormatChoice choice;
    select_format<T, Exec>(krysol::to_csr(entries).matrix, patient(), choice);
    const auto place = [&choice](std::string_view name) {
      return trial_of(choice, name) - choice.trials.data();
    };
    return place("stencil") - place("sell_c_sigma");
  };
  constexpr Index n = 16384;
  Triplets<FileScalar<T>> together{n, n};
  Triplets<FileScalar<T>> in_turns{n, n};
  for (Index i = 0; i < n; ++i) {
    together.add(i, i, 2);
    in_turns.add(i, i, 2);
    if (i >= 100) together.add(i, i - 10, 1);
    if (i >= 100) in_turns.add(i, i - 10 * (1 + i % 3), 1);
  }
  EXPECT_LT(place_of_stencil(together), 0);
  EXPECT_GT(place_of_stencil(in_turns), 0);
}

TYPED_TEST(Select, GoesOnWhereAFormatCannotHoldTheMatrix) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  auto entries = random_sparse<FileScalar<T>>(9000, 9000, 2, 4);
  for (Index j = 0; j < 9000; ++j) entries.add(123, j, 1);
  FormatChoice choice;
  expect_right_choice<T, Exec>(entries, choice);
  for (const char* name : {"ell", "ellpack_r"}) {
    EXPECT_FALSE(trial_of(choice, name)->measured);
    EXPECT_TRUE(holds(trial_of(choice, name)->remark, "of csr")) << trial_of(choice, name)->remark;
  }
  EXPECT_TRUE(considered(trial_of(choice, "csr_merge")));
}

TYPED_TEST(Select, TriesOneTriangleOfSymmetricMatricesOnly) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  if constexpr (!krysol::on_host<Exec>) GTEST_SKIP() << "formats of hosts";
  const auto grid = as<FileScalar<T>>(poisson2d(120, 110));
  FormatChoice choice;
  expect_right_choice<T, Exec>(grid, choice);
  EXPECT_TRUE(considered(trial_of(choice, "symmetric"))) << trial_of(choice, "symmetric")->remark;
  EXPECT_TRUE(holds(trial_of(choice, "symmetric_bsr")->remark, "indices for each nonzero"));
  // Where a sample of rows does not tell, the conversion does.
  auto nearly = grid;
  nearly.add(1, 2, FileScalar<T>(1));
  expect_right_choice<T, Exec>(nearly, choice);
  const auto* trial = trial_of(choice, "symmetric");
  EXPECT_TRUE(considered(trial) || holds(trial->remark, "A(1, 2)")) << trial->remark;
  EXPECT_FALSE(trial->measured);
  expect_right_choice<T, Exec>(random_sparse<FileScalar<T>>(4000, 4000, 9, 3), choice);
  for (const char* name : {"symmetric", "symmetric_bsr"}) {
    EXPECT_TRUE(holds(trial_of(choice, name)->remark, "is not symmetric to the bit")) << name;
  }
}

TYPED_TEST(Select, TimesTheDotProductWithIt) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  FormatChoice choice;
  for (const Index cols : {4000, 300}) {  // a rectangular matrix has none
    const auto entries = random_sparse<FileScalar<T>>(4000, cols, 9, 6);
    krysol::SelectOptions options = patient();
    options.with_dot = true;
    const auto a = select_format<T, Exec>(krysol::to_csr(entries).matrix, options, choice);
    expect_product<krysol::Operator<T, Exec>, T>(*a, entries, choice.name, {0.0, 1.0});
    EXPECT_TRUE(considered(trial_of(choice, "sell_c_sigma")));
  }
}

TYPED_TEST(Select, TakesRectangularMatrices) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  FormatChoice choice;
  expect_right_choice<T, Exec>(random_sparse<FileScalar<T>>(3000, 500, 9, 5), choice);
}

TYPED_TEST(Select, DoesNotMeasureWhereThatCannotPay) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  FormatChoice choice;
  expect_right_choice<T, Exec>(as<FileScalar<T>>(poisson1d(100)), choice);
  EXPECT_EQ(choice.name, "csr");
  EXPECT_EQ(choice.reason, "298 nonzeros are too few to measure for");
  const auto large = krysol::to_csr(random_sparse<FileScalar<T>>(4000, 4000, 9, 3)).matrix;
  select_format<T, Exec>(large, {.products = 12}, choice);
  EXPECT_EQ(choice.name, "csr");
  EXPECT_EQ(choice.reason, "12 multiplications are too few to measure for");
}

TYPED_TEST(Select, StopsWhereItsShareIsSpent) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto entries = random_sparse<FileScalar<T>>(4000, 4000, 9, 3);
  FormatChoice choice;
  krysol::SelectOptions options;
  options.most_share = 0;
  options.unnoticed_seconds = 0;
  const auto a = select_format<T, Exec>(krysol::to_csr(entries).matrix, options, choice);
  expect_product<krysol::Operator<T, Exec>, T>(*a, entries, choice.name, {0.0, 1.0});
  int measured = 0;
  int over_budget = 0;
  for (const FormatTrial& t : choice.trials) {
    measured += t.measured ? 1 : 0;
    over_budget += holds(t.remark, "of the time of 400 multiplications by ") ? 1 : 0;
    if (krysol::on_host<Exec> && !holds(t.name, "csr") && t.name != "kokkos_kernels") {
      EXPECT_FALSE(t.measured) << t.name;
    }
  }
  if (krysol::on_host<Exec>) {
    EXPECT_EQ(measured, trial_of(choice, "kokkos_kernels") == nullptr ? 2 : 3)
        << "csr and what uses its arrays";
  }
  EXPECT_GT(over_budget, 0);
}

/// What takes long to convert may not use up the time of what does not, unless it saves more in the
/// multiplications ahead. What is timed in any case is first.
TYPED_TEST(Select, TriesFirstWhatWouldTakeLeastWithItsConversion) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto host =
      krysol::to_csr(symmetrised(random_sparse<FileScalar<T>>(3000, 3000, 9, 3))).matrix;
  const krysol::MatrixProfile profile(host, krysol::on_host<Exec>);
  const auto formats = krysol::list_formats();
  std::set<std::string> orders;
  for (const double products : {50.0, 1e9}) {
    krysol::SelectOptions options = patient();
    options.products = products;
    options.clock = [](std::string_view) { return 1e-6; };  // bytes take what a profile assumes
    FormatChoice choice;
    select_format<T, Exec>(host, options, choice);
    double before = 0;
    std::string order;
    for (const FormatTrial& t : choice.trials) {
      const auto info = std::find_if(formats.begin(), formats.end(), [&](const auto& f) {
        return f.name == std::string_view(t.name).substr(0, t.name.find(':'));
      });
      if (info->name == "csr") continue;
      const auto estimate = info->estimate(profile);
      if (estimate.shares_csr) {
        EXPECT_TRUE(order.empty()) << t.name << " comes after one that does not share";
        EXPECT_TRUE(t.measured) << t.name << ": " << t.remark;
        continue;
      }
      order += t.name + " ";
      const double of_a_byte = krysol::on_host<Exec> ? estimate.cached : 1;
      const double all = 8 * estimate.conversion + products * static_cast<double>(estimate.bytes) *
                                                       of_a_byte /
                                                       static_cast<double>(profile.csr_bytes());
      EXPECT_GE(all, before * (1 - 1e-12)) << t.name << " comes after one that takes longer";
      before = all;
    }
    EXPECT_GT(before, 0);
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 2U);
}

TYPED_TEST(Select, ChecksTheMatrixFirst) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  auto host = krysol::to_csr(as<FileScalar<T>>(poisson1d(5))).matrix;
  host.col_idx(0) = -1;
  FormatChoice choice;
  EXPECT_EQ(message_of([&] { select_format<T, Exec>(host, {}, choice); }),
            "krysol::check(csr): row 0 names column -1 of 5 (counted from 0)");
}

TYPED_TEST(Select, GivesBackASavedChoice) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto entries = random_sparse<FileScalar<T>>(4000, 4000, 9, 3);
  const auto host = krysol::to_csr(entries).matrix;
  FormatChoice measured;
  select_format<T, Exec>(host, {}, measured);
  for (const std::string& name : {measured.name, std::string("sell_c_sigma:64")}) {
    measured.name = name;
    const krysol::TuningRecord saved = krysol::save<T, Exec>(measured, host, {});
    EXPECT_EQ(saved.space, Exec::name());
    EXPECT_EQ((krysol::mismatch<T, Exec>(saved, host)), "");
    FormatChoice choice;
    const auto a = select_format<T, Exec>(host, {}, saved, choice);
    EXPECT_TRUE(choice.reused);
    EXPECT_EQ(choice.mismatch, "");
    EXPECT_EQ(choice.name, name);
    EXPECT_EQ(a->name(), std::string_view(name).substr(0, name.find(':')));
    EXPECT_EQ(choice.trials.size(), measured.trials.size());
    EXPECT_TRUE(holds(choice.reason, measured.reason)) << choice.reason;
    expect_product<krysol::Operator<T, Exec>, T>(*a, entries, name, {0.0, 1.0});
  }
}

TYPED_TEST(Select, SaysWhyASavedChoiceDoesNotFitAndMeasuresAnew) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto entries = random_sparse<FileScalar<T>>(4000, 4000, 9, 3);
  const auto host = krysol::to_csr(entries).matrix;
  FormatChoice measured;
  select_format<T, Exec>(host, {}, measured);
  measured.name = "sell_c_sigma";
  const krysol::TuningRecord fits = krysol::save<T, Exec>(measured, host, {});
  const auto expect_mismatch = [&](const krysol::TuningRecord& saved, const std::string& why) {
    FormatChoice choice;
    const auto a = select_format<T, Exec>(host, {}, saved, choice);
    EXPECT_FALSE(choice.reused) << why;
    EXPECT_TRUE(holds(choice.mismatch, why)) << choice.mismatch << " instead of " << why;
    EXPECT_TRUE(trial_of(choice, "csr")->measured);
    expect_product<krysol::Operator<T, Exec>, T>(*a, entries, choice.name, {0.0});
  };
  auto other = fits;
  other.space = "Abacus";
  expect_mismatch(other, "it was made on Abacus, this is " + std::string(Exec::name()));
  other = fits;
  other.entry = "quad";
  expect_mismatch(other, "it is for entries of quad, these are ");
  other = fits;
  other.choice.name = "elk";
  expect_mismatch(other, "there is no format 'elk' here");
  other.choice.name = "csr:elk";
  expect_mismatch(other, "unknown format 'csr:elk'");
  other.choice.name = "stencil";  // without a hash of the values
  expect_mismatch(other, "the values differ, and stencil depends on them");
  const auto small = krysol::to_csr(as<FileScalar<T>>(poisson1d(5))).matrix;
  expect_mismatch(krysol::save<T, Exec>(measured, small, {}),
                  "it is for 5 x 5 with 13 nonzeros, this matrix is 4000 x 4000");
}

/// A clock by which formats take the seconds given, all others 1 s.
std::function<double(std::string_view)> clock_of(std::map<std::string, double> seconds) {
  return [seconds = std::move(seconds)](std::string_view name) {
    const auto found = seconds.find(std::string(name.substr(0, name.find(':'))));
    return found != seconds.end() ? found->second : 1.0;
  };
}

/// Choices that stay in memory, as the user's files do.
struct Memory {
  std::optional<krysol::TuningRecord> kept{};
  int times_kept = 0;
  krysol::TuningMemory files() {
    return {[this](const krysol::TuningRecord&) { return kept; },
            [this](const krysol::TuningRecord& r) {
              kept = r;
              ++times_kept;
            }};
  }
};

TYPED_TEST(Select, DoesNotTimeAgainWhatAnEarlierRunFoundSlow) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto entries = random_sparse<FileScalar<T>>(4000, 4000, 9, 3);
  const auto host = krysol::to_csr(entries).matrix;
  auto options = patient();
  options.clock = clock_of({{"csr", 0.5}, {"sell_u16", 0.4}, {"sell_c_sigma", 0.42}});
  Memory memory;
  FormatChoice first;
  select_format<T, Exec>(host, options, memory.files(), first);
  EXPECT_EQ(first.name.substr(0, 8), "sell_u16");
  EXPECT_FALSE(first.used_earlier);
  EXPECT_EQ(memory.times_kept, 1);

  // As fast, but twice as fast a machine: the ratios are the same.
  options.clock =
      clock_of({{"csr", 0.25}, {"sell_u16", 0.2}, {"sell_c_sigma", 0.19}, {"jds", 0.01}});
  FormatChoice second;
  const auto a = select_format<T, Exec>(host, options, memory.files(), second);
  EXPECT_TRUE(second.used_earlier);
  EXPECT_EQ(second.name.substr(0, 12), "sell_c_sigma") << "close to the best, so timed again";
  EXPECT_TRUE(holds(second.reason, "what an earlier run found slower was not timed"));
  EXPECT_FALSE(trial_of(second, "jds")->measured);
  EXPECT_TRUE(holds(trial_of(second, "jds")->remark, "2.50 times the time of sell_u16"))
      << trial_of(second, "jds")->remark;
  expect_product<krysol::Operator<T, Exec>, T>(*a, entries, second.name, {0.0, 1.0});
  ASSERT_EQ(memory.times_kept, 2) << "another format is the best";
  const FormatTrial* const kept = trial_of(memory.kept->choice, "jds");
  EXPECT_TRUE(kept->measured);
  EXPECT_NEAR(kept->seconds, 0.5, 1e-12) << "at the speed of the second run";

  FormatChoice third;
  select_format<T, Exec>(host, options, memory.files(), third);
  EXPECT_TRUE(third.used_earlier);
  EXPECT_EQ(third.name, second.name);
  EXPECT_EQ(memory.times_kept, 2) << "nothing is new";
}

/// By the real clock: nothing that is known before the first format is timed may rule it out.
TYPED_TEST(Select, TimesFirstWhatAnEarlierRunFoundFastest) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto host = krysol::to_csr(random_sparse<FileScalar<T>>(4000, 4000, 9, 3)).matrix;
  FormatChoice choice;
  select_format<T, Exec>(host, patient(), choice);
  for (const char* name : {"coo", "sell_c_sigma"}) {
    FormatChoice earlier;
    earlier.trials = {*trial_of(choice, "csr"), *trial_of(choice, name)};
    earlier.trials[0].measured = earlier.trials[1].measured = true;
    earlier.trials[0].seconds = 1e-3;
    earlier.trials[1].seconds = 5e-4;
    auto options = patient();
    options.earlier = &earlier;
    FormatChoice again;
    select_format<T, Exec>(host, options, again);
    EXPECT_TRUE(trial_of(again, name)->measured) << trial_of(again, name)->remark;
    std::size_t first = 1;  // that does not share the arrays of csr
    while (holds("csr_merge kokkos_kernels", again.trials.at(first).name)) ++first;
    EXPECT_EQ(again.trials[first].name, earlier.trials[1].name);
    // A conversion that alone takes longer than choosing may is nothing to begin with.
    options = {};
    options.earlier = &earlier;
    options.unnoticed_seconds = 0;
    earlier.trials[1].convert_seconds = 1;
    select_format<T, Exec>(host, options, again);
    EXPECT_FALSE(again.used_earlier);
    EXPECT_EQ(again.trials.at(1).name, choice.trials.at(1).name);  // as without it
  }
}

TYPED_TEST(Select, TrustsNoEarlierRunThatMeasuredOtherwise) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto host = krysol::to_csr(random_sparse<FileScalar<T>>(4000, 4000, 9, 3)).matrix;
  auto options = patient();
  options.clock = clock_of({{"csr", 0.5}, {"sell_u16", 0.4}});
  Memory memory;
  FormatChoice choice;
  select_format<T, Exec>(host, options, memory.files(), choice);
  // sell_u16 is slower than csr now, and jds the fastest.
  options.clock = clock_of({{"csr", 0.5}, {"sell_u16", 0.7}, {"jds", 0.3}});
  select_format<T, Exec>(host, options, memory.files(), choice);
  EXPECT_FALSE(choice.used_earlier);
  EXPECT_EQ(choice.name, "jds");
  EXPECT_EQ(memory.times_kept, 2);

  // A record of something else is passed over, whoever gives it.
  const auto of_this = *memory.kept;
  for (int k = 0; k < 6; ++k) {
    memory.kept = of_this;
    if (k == 0) memory.kept->matrix.pattern ^= 1;
    if (k == 1) memory.kept->matrix.nnz += 1;
    if (k == 2) memory.kept->entry = "quad";
    if (k == 3) memory.kept->threads += 1;
    if (k == 4) memory.kept->space = "Abacus";
    if (k == 5) memory.kept->choice.trials.clear();
    select_format<T, Exec>(host, options, memory.files(), choice);
    EXPECT_FALSE(choice.used_earlier) << k;
    EXPECT_TRUE(trial_of(choice, "jds")->measured) << k;
  }
}

TYPED_TEST(Select, RemembersNothingWhereNothingIsMeasured) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto small = krysol::to_csr(as<FileScalar<T>>(poisson1d(5))).matrix;
  Memory memory;
  FormatChoice choice;
  select_format<T, Exec>(small, {}, memory.files(), choice);
  EXPECT_EQ(choice.name, "csr");
  EXPECT_EQ(memory.times_kept, 0);
  const auto large = krysol::to_csr(random_sparse<FileScalar<T>>(4000, 4000, 9, 3)).matrix;
  select_format<T, Exec>(large, {.products = 12}, memory.files(), choice);
  EXPECT_EQ(memory.times_kept, 0);
}

TYPED_TEST(Select, MeasuresAnewWhereASavedFormatRefuses) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  auto entries = random_sparse<FileScalar<T>>(9000, 9000, 2, 4);
  for (Index j = 0; j < 9000; ++j) entries.add(123, j, 1);
  const auto host = krysol::to_csr(entries).matrix;
  FormatChoice choice;
  choice.name = "ell";
  const auto saved = krysol::save<T, Exec>(choice, host, {});
  EXPECT_EQ((krysol::mismatch<T, Exec>(saved, host)), "");
  const auto a = select_format<T, Exec>(host, {}, saved, choice);
  EXPECT_FALSE(choice.reused);
  EXPECT_TRUE(holds(choice.mismatch, "longest row has 9000 entries")) << choice.mismatch;
  expect_product<krysol::Operator<T, Exec>, T>(*a, entries, choice.name, {0.0});
}

TYPED_TEST(Select, TellsMatricesByTheirPatternsAndWhereNeedBeTheirValues) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto make = [] { return krysol::to_csr(as<FileScalar<T>>(poisson1d(300))).matrix; };
  FormatChoice choice;
  choice.name = "csr";
  const auto by_pattern = krysol::save<T, Exec>(choice, make(), {});
  choice.name = "stencil";
  const auto by_values = krysol::save<T, Exec>(choice, make(), {});
  for (const auto* saved : {&by_pattern, &by_values}) {
    EXPECT_EQ((krysol::mismatch<T, Exec>(*saved, make())), "");
    auto moved = make();  // row 0 reaches column 299 instead of 1
    moved.col_idx(1) = 299;
    EXPECT_EQ((krysol::mismatch<T, Exec>(*saved, moved)),
              "the nonzeros of this matrix are at other places");
    auto shifted = make();  // the last entry of row 7 begins row 8
    shifted.row_ptr(8) -= 1;
    EXPECT_EQ((krysol::mismatch<T, Exec>(*saved, shifted)),
              "the nonzeros of this matrix are at other places");
  }
  auto scaled = make();
  scaled.values(17) *= T(2);
  EXPECT_EQ((krysol::mismatch<T, Exec>(by_pattern, scaled)), "");
  EXPECT_EQ((krysol::mismatch<T, Exec>(by_values, scaled)),
            "the values differ, and stencil depends on them");
}

TEST(TuningRecord, HashesAreTheSameOnAnyNumberOfThreadsAndInAnyVersion) {
  const auto f = krysol::fingerprint(krysol::to_csr(as<double>(poisson1d(5000))).matrix, true);
  EXPECT_EQ(f.nnz, 14998);
  EXPECT_EQ(f.pattern, 0xD3C93329667BEDCBU);
  EXPECT_EQ(f.values, 0x328D33D5998DC5B6U);
}

}  // namespace
