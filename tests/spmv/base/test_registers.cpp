// Eight numbers in registers of every width, whatever this processor has: all do what arrays do.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <krysol/spmv/base/pack.hpp>

#ifdef KRYSOL_VECTOR_TYPES

namespace {

using krysol::Pack;
using krysol::pack_width;
using krysol::Registers;

template <class T, int register_bytes>
struct Case {
  using Number = T;
  using Eight = Registers<T, pack_width, register_bytes>;
};

template <class C>
class EightRegisters : public testing::Test {};
using RegisterCases = testing::Types<Case<double, 16>, Case<double, 32>, Case<double, 64>,
                                     Case<float, 16>, Case<float, 32>, Case<float, 64>>;
TYPED_TEST_SUITE(EightRegisters, RegisterCases);

template <class T>
using Array = std::array<T, pack_width>;

template <class T, class Eight>
Array<T> numbers_of(const Eight& eight) {
  Array<T> out;
  eight.store(out.data());
  return out;
}

template <class T>
Array<T> some_numbers(int seed) {
  Array<T> v;
  for (int l = 0; l < pack_width; ++l)
    v[static_cast<std::size_t>(l)] = static_cast<T>(seed + 3 * l);
  return v;
}

/// want(l) for each lane.
template <class T, class Eight, class Want>
void expect_lanes(const Eight& eight, const Want& want) {
  const Array<T> seen = numbers_of<T>(eight);
  for (int l = 0; l < pack_width; ++l) EXPECT_EQ(seen[static_cast<std::size_t>(l)], want(l)) << l;
}

TYPED_TEST(EightRegisters, LieInMemoryAsArraysDo) {
  EXPECT_EQ(sizeof(typename TypeParam::Eight), sizeof(Array<typename TypeParam::Number>));
}

TYPED_TEST(EightRegisters, LoadAnyTypeAndStore) {
  using T = typename TypeParam::Number;
  typename TypeParam::Eight eight;
  eight.load(some_numbers<double>(5).data());
  expect_lanes<T>(eight, [](int l) { return static_cast<T>(5 + 3 * l); });
  eight.load(some_numbers<float>(-7).data());
  expect_lanes<T>(eight, [](int l) { return static_cast<T>(-7 + 3 * l); });
}

TYPED_TEST(EightRegisters, AreSetLaneByLane) {
  using T = typename TypeParam::Number;
  typename TypeParam::Eight eight;
  eight.set([](int l) { return static_cast<T>(l * l); });
  expect_lanes<T>(eight, [](int l) { return static_cast<T>(l * l); });
  eight.fill(T(2.5));
  expect_lanes<T>(eight, [](int) { return T(2.5); });
}

TYPED_TEST(EightRegisters, AreGatheredFromAnywhere) {
  using T = typename TypeParam::Number;
  std::array<T, 1000> x{};
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<T>(k);
  const std::array<std::int32_t, pack_width> all = {999, 0, 3, 3, 512, 77, 1, 640};
  const std::array<std::int32_t, pack_width> some = {-1, 5, -1, 7, 999, -1, 0, -2147483647 - 1};
  for (const bool instruction : {false, true}) {
    typename TypeParam::Eight eight;
    eight.gather(x.data(), all.data(), instruction);
    expect_lanes<T>(eight, [&](int l) { return static_cast<T>(all[static_cast<std::size_t>(l)]); });
    typename TypeParam::Eight::Places at;
    std::memcpy(&at, all.data(), sizeof(at));
    eight.fill(T(-1));
    eight.gather(x.data(), at, instruction);
    expect_lanes<T>(eight, [&](int l) { return static_cast<T>(all[static_cast<std::size_t>(l)]); });
    eight.gather_or_first(x.data(), some.data(), instruction);
    expect_lanes<T>(eight, [&](int l) {
      return static_cast<T>(std::max(some[static_cast<std::size_t>(l)], 0));
    });
    x[0] = std::numeric_limits<T>::infinity();  // is no entry of a lane that only pads
    eight.gather_existing(x.data(), some.data(), instruction);
    expect_lanes<T>(eight, [&](int l) {
      const std::int32_t index = some[static_cast<std::size_t>(l)];
      return index < 0 ? T(0) : x[static_cast<std::size_t>(index)];
    });
    x[0] = T(0);
  }
}

TYPED_TEST(EightRegisters, AddAndMultiply) {
  using T = typename TypeParam::Number;
  typename TypeParam::Eight a;
  typename TypeParam::Eight b;
  typename TypeParam::Eight sum = {};
  a.load(some_numbers<T>(1).data());
  b.load(some_numbers<T>(-4).data());
  sum.add_product(a, b);
  sum.add_product(a, b);
  expect_lanes<T>(sum, [](int l) { return static_cast<T>(2 * (1 + 3 * l) * (-4 + 3 * l)); });
  sum += a;
  sum *= b;
  expect_lanes<T>(sum, [](int l) {
    const int x = 1 + 3 * l;
    const int y = -4 + 3 * l;
    return static_cast<T>((2 * x * y + x) * y);
  });
}

TYPED_TEST(EightRegisters, AreClearedWhereThereIsNoEntry) {
  using T = typename TypeParam::Number;
  const T inf = std::numeric_limits<T>::infinity();
  for (unsigned bits = 0; bits < 256; ++bits) {
    std::array<std::int32_t, pack_width> col{};
    std::array<std::uint16_t, pack_width> code{};
    for (unsigned l = 0; l < pack_width; ++l) {
      const bool has = (bits >> l & 1U) != 0;
      col[l] = has ? static_cast<std::int32_t>(l) : -1;
      code[l] = static_cast<std::uint16_t>(has ? 60000 + l : 0xFFFF);
    }
    const auto want = [&](int l) { return (bits >> l & 1U) != 0 ? inf : T(0); };
    typename TypeParam::Eight eight;
    eight.fill(inf);
    eight.keep_bits(bits);
    expect_lanes<T>(eight, want);
    eight.fill(inf);
    eight.clear_where_negative(col.data());
    expect_lanes<T>(eight, want);
    eight.fill(inf);
    eight.clear_where_equal(code.data(), 0xFFFF);
    expect_lanes<T>(eight, want);
  }
}

TYPED_TEST(EightRegisters, ChooseFromAWindowInAnyOrder) {
  using T = typename TypeParam::Number;
  std::array<T, krysol::window_entries> x{};
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<T>(k + 1);
  for (int step = 0; step < krysol::window_entries; ++step) {
    for (unsigned bits = 0; bits < 256; bits += 3) {
      std::array<std::uint8_t, pack_width> at{};
      for (unsigned l = 0; l < pack_width; ++l) {
        const unsigned place = (l * static_cast<unsigned>(step) + bits) % krysol::window_entries;
        at[l] = (bits >> l & 1U) != 0 ? static_cast<std::uint8_t>(place) : krysol::no_entry;
      }
      for (const bool instruction : {false, true}) {
        typename TypeParam::Eight eight;
        eight.fill(T(-1));
        eight.choose(x.data(), at.data(), instruction);
        expect_lanes<T>(eight, [&](int l) {
          const std::uint8_t place = at[static_cast<std::size_t>(l)];
          return place == krysol::no_entry ? T(0) : x[place];
        });
      }
    }
  }
  // What no lane names is without effect.
  x.fill(std::numeric_limits<T>::infinity());
  x[7] = T(3);
  std::array<std::uint8_t, pack_width> at{};
  at.fill(krysol::no_entry);
  at[2] = 7;
  for (const bool instruction : {false, true}) {
    typename TypeParam::Eight eight;
    eight.choose(x.data(), at.data(), instruction);
    expect_lanes<T>(eight, [](int l) { return l == 2 ? T(3) : T(0); });
  }
}

/// An array begins with the first number that is asked for, and ends with the last.
TYPED_TEST(EightRegisters, LoadOnlyWhereABitIsSet) {
  using T = typename TypeParam::Number;
  for (unsigned bits = 1; bits < 256; ++bits) {
    const int begin = __builtin_ctz(bits);
    const int end = 32 - __builtin_clz(bits);
    std::vector<T> there;
    for (int l = begin; l < end; ++l) {
      const bool has = (bits >> static_cast<unsigned>(l) & 1U) != 0;
      there.push_back(has ? static_cast<T>(l + 1) : std::numeric_limits<T>::infinity());
    }
    typename TypeParam::Eight eight;
    eight.fill(T(-1));
    eight.load_where(there.data(), -begin, bits);
    expect_lanes<T>(eight, [bits](int l) {
      return (bits >> static_cast<unsigned>(l) & 1U) != 0 ? static_cast<T>(l + 1) : T(0);
    });
  }
}

/// What an absent lane would be multiplied with is no number, and stays without effect.
TYPED_TEST(EightRegisters, TakeTheNextNumberForEachBitAndAddItThere) {
  using T = typename TypeParam::Number;
  const T inf = std::numeric_limits<T>::infinity();
  for (unsigned bits = 0; bits < 256; ++bits) {
    const int count = __builtin_popcount(bits);
    std::array<T, pack_width> numbers;
    std::array<float, pack_width> floats;
    for (int l = 0; l < pack_width; ++l) {
      numbers[static_cast<std::size_t>(l)] = l < count ? static_cast<T>(l + 1) : inf;
      floats[static_cast<std::size_t>(l)] = static_cast<float>(l < count ? l + 1 : 1e38);
    }
    const auto next = [bits](int l) {
      return static_cast<T>(1 + __builtin_popcount(bits & ((1U << l) - 1U)));
    };
    typename TypeParam::Eight v;
    v.expand(numbers.data(), bits);
    const Array<T> seen = numbers_of<T>(v);
    for (int l = 0; l < pack_width; ++l) {
      if ((bits >> l & 1U) == 0) continue;
      EXPECT_EQ(seen[static_cast<std::size_t>(l)], next(l)) << bits;
    }
    typename TypeParam::Eight x;
    typename TypeParam::Eight sum;
    x.set([bits, inf](int l) { return (bits >> l & 1U) != 0 ? T(10) : inf; });
    sum.load(some_numbers<T>(3).data());
    sum.add_product_where(bits, v, x);
    expect_lanes<T>(sum, [&](int l) {
      return static_cast<T>(3 + 3 * l) + ((bits >> l & 1U) != 0 ? 10 * next(l) : T(0));
    });
    v.expand(floats.data(), bits);
    sum.fill(T(0));
    sum.add_product_where(bits, v, x);
    expect_lanes<T>(sum, [&](int l) { return (bits >> l & 1U) != 0 ? 10 * next(l) : T(0); });
  }
}

TEST(PackOfNumbers, IsWrittenPastTheCachesWhole) {
  if constexpr (krysol::can_stream<Pack<double>>) {
    Pack<double> v(1.0);
    Pack<double> y(0.0);
    for (int c = 0; c < pack_width; ++c) v.set(c, 10.0 + c);
    krysol::stream(v, y);
    krysol::end_of_streams();
    EXPECT_TRUE(y == v);
    EXPECT_EQ(y[5], 15.0);
  } else {
    GTEST_SKIP() << "this processor has no such instruction";
  }
}

}  // namespace

#endif
