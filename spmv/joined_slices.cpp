// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/joined_slices.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include <krysol/spmv/spaces.hpp>

namespace krysol {
namespace {

constexpr std::size_t slice = pack_width;
using KindsOfRows = std::array<std::uint16_t, slice>;

constexpr std::size_t most_lists = 512;
constexpr std::size_t most_offsets = 4096;  // of all lists: 300 KB with their values

struct OfKind {
  const Index* begin;
  const Index* end;
};

/// The offsets of the rows together, ascending, or none where joining them does not pay.
std::vector<Index> join(const std::array<OfKind, slice>& lists, double most_places) {
  std::vector<Index> all;
  for (const OfKind& list : lists) {
    if (std::adjacent_find(list.begin, list.end, std::greater_equal<>()) != list.end) return {};
    all.insert(all.end(), list.begin, list.end);
  }
  const auto entries = static_cast<double>(all.size());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (static_cast<double>(all.size() * slice) > most_places * entries) all.clear();
  return all;
}

/// Gives mixed slices of eight rows the kind joined(j) of a list, where that pays.
JoinedLists join_slices(const RowKinds& kinds, const std::vector<Index>& offset, Index cols,
                        Index rows, double most_places, std::vector<Index>& kind_of_slice) {
  JoinedLists joint;
  std::map<KindsOfRows, Index> known;  // -1 where it did not pay
  const auto list_for = [&](const KindsOfRows& key) {
    const auto found = known.find(key);
    if (found != known.end()) return found->second;
    if (known.size() == most_lists) return Index{-1};
    std::array<OfKind, slice> lists{};
    for (std::size_t l = 0; l < slice; ++l) {
      const std::size_t kind = key[l];
      lists[l] = {offset.data() + kinds.kind_ptr[kind], offset.data() + kinds.kind_ptr[kind + 1]};
    }
    const std::vector<Index> all = join(lists, most_places);
    if (all.empty() || joint.offset.size() + all.size() > most_offsets) {
      return known.emplace(key, -1).first->second;
    }
    for (const Index o : all) {
      unsigned has = 0;
      for (std::size_t l = 0; l < slice; ++l) {
        if (std::binary_search(lists[l].begin, lists[l].end, o)) has |= 1U << l;
      }
      joint.offset.push_back(o);
      joint.rows.push_back(static_cast<std::uint8_t>(has));
    }
    joint.kind.insert(joint.kind.end(), key.begin(), key.end());
    const auto list = static_cast<Index>(joint.ptr.size()) - 1;
    joint.ptr.push_back(static_cast<Index>(joint.offset.size()));
    return known.emplace(key, list).first->second;
  };
  for (std::size_t s = 0; s < kind_of_slice.size(); ++s) {
    const auto first = static_cast<std::int64_t>(s * slice);
    if (kind_of_slice[s] >= 0 || first + pack_width > rows) continue;
    KindsOfRows key{};
    std::copy_n(kinds.of_row.begin() + first, slice, key.begin());
    const Index list = list_for(key);
    if (list < 0) continue;
    const auto at = static_cast<std::size_t>(list);
    const std::int64_t leftmost = first + joint.offset[static_cast<std::size_t>(joint.ptr[at])];
    const std::int64_t rightmost =
        first + joint.offset[static_cast<std::size_t>(joint.ptr[at + 1]) - 1];
    if (leftmost >= 0 && rightmost + pack_width <= cols) kind_of_slice[s] = joined(list);
  }
  return joint;
}

}  // namespace

KindSlices plan_kind_slices(const RowKinds& kinds, const std::vector<Index>& offset,
                            const Offset* row_ptr, Index rows, Index cols, Index slice, bool host,
                            double most_places) {
  const auto slices = static_cast<std::size_t>((std::int64_t{rows} + slice - 1) / slice);
  const auto last_of = [=](std::size_t first) {
    return std::min(static_cast<std::size_t>(rows), first + static_cast<std::size_t>(slice));
  };
  KindSlices plan;
  plan.kind.resize(slices);
  plan.slice_ptr.resize(slices + 1);
  plan.slice_ptr[0] = 0;
  host_for("krysol::plan_kind_slices", static_cast<std::int64_t>(slices), [&](std::int64_t s) {
    const auto first = static_cast<std::size_t>(s * slice);
    const std::size_t last = last_of(first);
    bool same = last - first == static_cast<std::size_t>(slice);
    Offset longest = 0;
    for (std::size_t i = first; i < last; ++i) {
      same = same && kinds.of_row[i] == kinds.of_row[first];
      longest = std::max(longest, row_ptr[i + 1] - row_ptr[i]);
    }
    const auto at = static_cast<std::size_t>(s);
    plan.kind[at] = same ? kinds.of_row[first] : -1;
    plan.slice_ptr[at + 1] = same || host ? row_ptr[last] - row_ptr[first] : longest * slice;
  });
  if (host) plan.joined = join_slices(kinds, offset, cols, rows, most_places, plan.kind);
  for (std::size_t s = 0; s < slices; ++s) {
    if (plan.kind[s] < -1) {
      plan.slice_ptr[s + 1] = Offset{plan.joined.length(joined(plan.kind[s]))} * slice;
    }
    plan.slice_ptr[s + 1] += plan.slice_ptr[s];
    if (plan.kind[s] != -1) continue;
    const std::size_t first = s * static_cast<std::size_t>(slice);
    plan.mixed_rows += static_cast<std::int64_t>(last_of(first) - first);
  }
  return plan;
}

}  // namespace krysol
