// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/kernels/masked_slices.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <unordered_map>

#include <krysol/spmv/base/spaces.hpp>

namespace krysol {
namespace {

constexpr std::size_t slice = pack_width;
using PatternsOfRows = std::array<std::uint16_t, slice>;

struct HashOfRows {
  std::size_t operator()(const PatternsOfRows& key) const {
    std::array<std::uint64_t, 2> words{};
    static_assert(sizeof(words) == sizeof(key));
    std::memcpy(words.data(), key.data(), sizeof(key));
    constexpr std::uint64_t factor = 0x9E3779B97F4A7C15U;
    const std::uint64_t h = (words[0] * factor ^ words[1]) * factor;
    return h ^ h >> 29U;
  }
};

constexpr std::size_t most_lists = 512;
constexpr std::size_t most_offsets = 4096;  // of all lists: 300 KB with their values

struct OfKind {
  const Index* begin;
  const Index* end;

  bool operator==(const OfKind&) const = default;
  std::size_t size() const { return static_cast<std::size_t>(end - begin); }
};

/// The offsets of the rows together, ascending, or none where joining them does not pay or where
/// there are more than `room`.
std::vector<Index> join(const std::array<OfKind, slice>& lists, double most_slots,
                        std::size_t room) {
  std::size_t entries = 0;
  std::size_t longest = 0;
  for (const OfKind& list : lists) {
    entries += list.size();
    longest = std::max(longest, list.size());
  }
  if (longest > room) return {};  // of rows with many entries most lists end here
  std::vector<Index> all;
  std::vector<Index> more;
  for (std::size_t l = 0; l < slice; ++l) {
    const OfKind& list = lists[l];
    if (l > 0 && list == lists[l - 1]) continue;  // as most are
    if (std::adjacent_find(list.begin, list.end, std::greater_equal<>()) != list.end) return {};
    more.resize(all.size() + list.size());
    more.erase(std::set_union(all.begin(), all.end(), list.begin, list.end, more.begin()),
               more.end());
    all.swap(more);
  }
  const bool pays =
      static_cast<double>(all.size() * slice) <= most_slots * static_cast<double>(entries);
  if (!pays || all.size() > room) all.clear();
  return all;
}

/// Gives mixed slices of eight rows the pattern masked(j) of a list, where that pays.
MaskedLists join_slices(const RowPatterns& patterns, const std::vector<Index>& offset, Index cols,
                        Index rows, double most_slots, std::vector<Index>& kind_of_slice) {
  MaskedLists joint;
  std::unordered_map<PatternsOfRows, Index, HashOfRows> known;  // -1 where it did not pay
  const auto list_for = [&](const PatternsOfRows& key) {
    const auto found = known.find(key);
    if (found != known.end()) return found->second;
    if (known.size() == most_lists) return Index{-1};
    std::array<OfKind, slice> lists{};
    for (std::size_t l = 0; l < slice; ++l) {
      const std::size_t pattern = key[l];
      lists[l] = {offset.data() + patterns.pattern_ptr[pattern],
                  offset.data() + patterns.pattern_ptr[pattern + 1]};
    }
    const std::vector<Index> all = join(lists, most_slots, most_offsets - joint.offset.size());
    if (all.empty()) return known.emplace(key, -1).first->second;
    for (const Index o : all) {  // both ascend
      unsigned has = 0;
      for (std::size_t l = 0; l < slice; ++l) {
        if (lists[l].size() == 0 || *lists[l].begin != o) continue;
        has |= 1U << l;
        ++lists[l].begin;
      }
      joint.offset.push_back(o);
      joint.rows.push_back(static_cast<std::uint8_t>(has));
    }
    joint.pattern.insert(joint.pattern.end(), key.begin(), key.end());
    const auto list = static_cast<Index>(joint.ptr.size()) - 1;
    joint.ptr.push_back(static_cast<Index>(joint.offset.size()));
    return known.emplace(key, list).first->second;
  };
  for (std::size_t s = 0; s < kind_of_slice.size(); ++s) {
    const auto first = static_cast<std::int64_t>(s * slice);
    if (kind_of_slice[s] >= 0 || first + pack_width > rows) continue;
    PatternsOfRows key{};
    std::copy_n(patterns.of_row.begin() + first, slice, key.begin());
    const Index list = list_for(key);
    if (list < 0) continue;
    const auto at = static_cast<std::size_t>(list);
    const std::int64_t leftmost = first + joint.offset[static_cast<std::size_t>(joint.ptr[at])];
    const std::int64_t rightmost =
        first + joint.offset[static_cast<std::size_t>(joint.ptr[at + 1]) - 1];
    if (leftmost >= 0 && rightmost + pack_width <= cols) kind_of_slice[s] = masked(list);
  }
  return joint;
}

}  // namespace

PatternSlices plan_pattern_slices(const RowPatterns& patterns, const std::vector<Index>& offset,
                                  const Offset* row_ptr, Index rows, Index cols, Index slice,
                                  bool host, double most_slots) {
  const auto slices = static_cast<std::size_t>((std::int64_t{rows} + slice - 1) / slice);
  const auto last_of = [=](std::size_t first) {
    return std::min(static_cast<std::size_t>(rows), first + static_cast<std::size_t>(slice));
  };
  PatternSlices plan;
  plan.pattern.resize(slices);
  plan.slice_ptr.resize(slices + 1);
  plan.slice_ptr[0] = 0;
  host_for("krysol::plan_pattern_slices", static_cast<std::int64_t>(slices), [&](std::int64_t s) {
    const auto first = static_cast<std::size_t>(s * slice);
    const std::size_t last = last_of(first);
    bool same = last - first == static_cast<std::size_t>(slice);
    Offset longest = 0;
    for (std::size_t i = first; i < last; ++i) {
      same = same && patterns.of_row[i] == patterns.of_row[first];
      longest = std::max(longest, row_ptr[i + 1] - row_ptr[i]);
    }
    const auto at = static_cast<std::size_t>(s);
    plan.pattern[at] = same ? patterns.of_row[first] : -1;
    plan.slice_ptr[at + 1] = same || host ? row_ptr[last] - row_ptr[first] : longest * slice;
  });
  if (host) plan.masked = join_slices(patterns, offset, cols, rows, most_slots, plan.pattern);
  for (std::size_t s = 0; s < slices; ++s) {
    if (plan.pattern[s] < -1) {
      plan.slice_ptr[s + 1] = Offset{plan.masked.length(masked(plan.pattern[s]))} * slice;
    }
    plan.slice_ptr[s + 1] += plan.slice_ptr[s];
    if (plan.pattern[s] != -1) continue;
    const std::size_t first = s * static_cast<std::size_t>(slice);
    plan.mixed_rows += static_cast<std::int64_t>(last_of(first) - first);
  }
  return plan;
}

}  // namespace krysol
