// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/kernels/short_slices.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include <fmt/core.h>

namespace krysol {
namespace {

/// The rows of a matrix in slices.
struct SlicedRows {
  const Offset* row_ptr;
  const Index* col_idx;
  const Index* order;  // null: their own
  Index rows;
  Index slice_rows;

  /// Calls each(l, first, last) for lane l of slice s, with where its row's entries are.
  template <class Each>
  void for_lanes(std::int64_t s, const Each& each) const {
    const std::int64_t first = s * slice_rows;
    const auto lanes = static_cast<Index>(std::min<std::int64_t>(slice_rows, rows - first));
    for (Index l = 0; l < lanes; ++l) {
      const std::int64_t i = order == nullptr ? first + l : order[first + l];
      each(l, row_ptr[i], row_ptr[i + 1]);
    }
  }
};

Index page_of(Index column) { return column & ~(page_columns - 1); }

/// The pages of a slice in the order in which its rows name them.
struct PageList {
  static constexpr unsigned guesses = 256;
  std::array<Index, most_pages> first{};     // columns
  std::array<std::uint8_t, guesses> slot{};  // by the page's number: where it most likely is
  Index count = 0;

  /// Where the column's page stands; most_pages where it does not and there is no room.
  Index place_of(Index column) {
    const Index page = page_of(column);
    std::uint8_t& guess = slot[static_cast<unsigned>(column >> page_bits) % guesses];
    if (guess < count && first[guess] == page) return guess;
    Index p = 0;
    while (p < count && first[static_cast<std::size_t>(p)] != page) ++p;
    if (p == count && count < most_pages) first[static_cast<std::size_t>(count++)] = page;
    if (p < most_pages) guess = static_cast<std::uint8_t>(p);
    return p;
  }
};

/// False where the slice's pages are too many.
bool find_pages(const SlicedRows& a, std::int64_t s, PageList& pages) {
  bool fits = true;
  a.for_lanes(s, [&](Index, Offset first, Offset last) {
    for (Offset k = first; fits && k < last; ++k) fits = pages.place_of(a.col_idx[k]) < most_pages;
  });
  return fits;
}

/// The first eight rows of the slice name neighbouring columns at more than half of the slots that
/// the first of them has.
bool reads_runs(const SlicedRows& a, std::int64_t s) {
  if (a.slice_rows < pack_width) return false;
  std::array<Offset, pack_width> begin{};
  Index lanes = 0;
  Offset length = 0;
  a.for_lanes(s, [&](Index l, Offset first, Offset last) {
    if (l >= pack_width) return;
    begin[static_cast<std::size_t>(l)] = first;
    length = l == 0 ? last - first : std::min(length, last - first);
    ++lanes;
  });
  if (lanes < pack_width) return false;
  Offset runs = 0;
  for (Offset j = 0; j < length; ++j) {
    Index off = 0;
    for (Index l = 1; l < pack_width; ++l) {
      off |= a.col_idx[begin[static_cast<std::size_t>(l)] + j] - a.col_idx[begin[0] + j] - l;
    }
    runs += off == 0 ? 1 : 0;
  }
  return 2 * runs > length;
}

/// Near slices with their first column, others with how many pages they have, and these in `pages`.
ShortSlice look_at_slice(const SlicedRows& a, std::int64_t s, PageList& pages) {
  Index least = std::numeric_limits<Index>::max();
  Index most = 0;
  a.for_lanes(s, [&](Index, Offset first, Offset last) {
    for (Offset k = first; k < last; ++k) {
      least = std::min(least, a.col_idx[k]);
      most = std::max(most, a.col_idx[k]);
    }
  });
  if (most < least) return {};  // no entries
  const std::int16_t runs = reads_runs(a, s) ? 1 : 0;
  if (most - least < near_columns) return {least, 1, runs};
  return {0, static_cast<std::int16_t>(find_pages(a, s, pages) ? pages.count : 0), runs};
}

}  // namespace

ShortPlan plan_short_slices(const SlicePlan& slices, const Offset* row_ptr, const Index* col_idx,
                            Index rows, Index slice_rows) {
  const SlicedRows a{row_ptr, col_idx, slices.row.empty() ? nullptr : slices.row.data(), rows,
                     slice_rows};
  const auto count = static_cast<std::int64_t>(slices.full.size());
  ShortPlan plan;
  plan.slice.resize(slices.full.size());
  const auto found = std::make_unique_for_overwrite<Index[]>(slices.full.size() * most_pages);
  host_for("krysol::plan_short_slices", count, [&, slice = plan.slice.data()](std::int64_t s) {
    PageList pages;
    slice[s] = look_at_slice(a, s, pages);
    if (slice[s].pages > 1) {
      std::copy_n(pages.first.begin(), pages.count, found.get() + s * most_pages);
    }
  });
  std::int64_t pages = 0;
  std::int64_t far = 0;  // slots of a row
  for (std::int64_t s = 0; s < count; ++s) {
    ShortSlice& slice = plan.slice[static_cast<std::size_t>(s)];
    if (slice.pages == 1) continue;
    if (slice.pages > 1) {
      slice.at = static_cast<Index>(pages);
      pages += slice.pages;
      continue;
    }
    slice.at = static_cast<Index>(far);
    const auto at = static_cast<std::size_t>(s);
    far += (slices.slice_ptr[at + 1] - slices.slice_ptr[at]) / slice_rows;
    a.for_lanes(s, [&](Index, Offset first, Offset last) { plan.far_entries += last - first; });
  }
  plan.far_slots = far * slice_rows;
  if (std::max(pages, far) > std::numeric_limits<Index>::max()) {
    throw FormatRefusal(
        fmt::format("columns of 16 bits: {} pages and {} slots of far slices; 2^31 - 1 of each "
                    "are the most",
                    pages, far));
  }
  plan.page.resize(static_cast<std::size_t>(pages) + (pages > 0 ? page_table : 0));
  host_for("krysol::plan_short_slices(pages)", count, [&, page = plan.page.data()](std::int64_t s) {
    const ShortSlice& slice = plan.slice[static_cast<std::size_t>(s)];
    for (Index p = 0; slice.pages > 1 && p < slice.pages; ++p) {
      page[slice.at + p] = found[static_cast<std::size_t>(s * most_pages + p)] - (p << page_bits);
    }
  });
  return plan;
}

void fill_short_slices(const ShortPlan& plan, const SlicePlan& slices, const Offset* row_ptr,
                       const Index* col_idx, Index rows, Index slice_rows, std::uint16_t* low,
                       std::uint16_t* high) {
  const SlicedRows a{row_ptr, col_idx, slices.row.empty() ? nullptr : slices.row.data(), rows,
                     slice_rows};
  const auto count = static_cast<std::int64_t>(slices.full.size());
  host_for("krysol::fill_short_slices", count, [&](std::int64_t s) {
    const auto at = static_cast<std::size_t>(s);
    const ShortSlice slice = plan.slice[at];
    const Offset begin = slices.slice_ptr[at];
    const Offset slots = slices.slice_ptr[at + 1] - begin;
    std::uint16_t* to = low + begin;
    std::uint16_t* far = high + Offset{slice.at} * slice_rows;
    std::fill_n(to, slots, no_column);
    if (slice.pages == 0) std::fill_n(far, slots, no_column);
    PageList pages;
    a.for_lanes(s, [&](Index l, Offset first, Offset last) {
      Offset k = l;
      if (slice.pages == 1) {
        for (Offset e = first; e < last; ++e, k += slice_rows) {
          to[k] = static_cast<std::uint16_t>(col_idx[e] - slice.at);
        }
      } else if (slice.pages > 1) {
        for (Offset e = first; e < last; ++e, k += slice_rows) {
          const Index page = pages.place_of(col_idx[e]);
          to[k] =
              static_cast<std::uint16_t>((page << page_bits) + col_idx[e] - page_of(col_idx[e]));
        }
      } else {
        for (Offset e = first; e < last; ++e, k += slice_rows) {
          to[k] = static_cast<std::uint16_t>(col_idx[e] & 0xFFFF);
          far[k] = static_cast<std::uint16_t>(col_idx[e] >> 16);
        }
      }
    });
  });
}

ShortShare short_share(const Offset* row_ptr, const Index* col_idx, Index rows, Index slice_rows,
                       Index sigma) {
  constexpr std::int64_t samples = 32;
  constexpr Index slices_a_sample = 16;
  const Index window = std::max(sigma, slice_rows * slices_a_sample);
  const std::int64_t windows = (std::int64_t{rows} + window - 1) / window;
  const std::int64_t step = (windows + samples - 1) / samples;
  // An eighth of a small matrix: what is looked at is part of what a format costs to try.
  const std::int64_t all_slices = (std::int64_t{rows} + slice_rows - 1) / slice_rows;
  const std::int64_t wanted =
      std::clamp<std::int64_t>(all_slices / 8, 64, samples * slices_a_sample);
  const std::int64_t of_window = wanted / std::clamp<std::int64_t>(windows, 1, samples);
  Offset near = 0;
  Offset pages = 0;
  Offset all = 0;
  for (std::int64_t w = 0; w < windows; w += step) {
    const std::int64_t first = w * window;
    const auto count = static_cast<Index>(std::min<std::int64_t>(window, rows - first));
    std::vector<Index> order;
    if (sigma > 1) order = rows_by_length(row_ptr + first, count, sigma);
    const SlicedRows a{row_ptr + first, col_idx, order.empty() ? nullptr : order.data(), count,
                       slice_rows};
    const std::int64_t slices = (std::int64_t{count} + slice_rows - 1) / slice_rows;
    const std::int64_t stride = std::max<std::int64_t>(1, slices / of_window);
    for (std::int64_t s = 0; s < slices; s += stride) {
      Offset mine = 0;
      a.for_lanes(s, [&](Index, Offset from, Offset to) { mine += to - from; });
      all += mine;
      PageList list;
      const ShortSlice found = look_at_slice(a, s, list);
      if (found.pages == 1) near += mine;
      if (found.pages > 1) pages += mine;
    }
  }
  if (all == 0) return {};
  return {static_cast<double>(near) / static_cast<double>(all),
          static_cast<double>(near + pages) / static_cast<double>(all)};
}

const ShortShare& short_share(const MatrixProfile& matrix) {
  return matrix.once([&matrix] {
    return short_share(matrix.row_ptr(), matrix.col_idx(), matrix.rows(),
                       slice_rows_of(matrix.on_host()), choose_window(matrix).sigma);
  });
}

std::int64_t short_slice_bytes(const MatrixProfile& matrix) {
  constexpr auto word = static_cast<std::int64_t>(sizeof(std::uint16_t));
  return sell_bytes(matrix) - choose_window(matrix).slots * (matrix.slot_bytes() - word) +
         std::int64_t{matrix.rows()} / slice_rows_of(matrix.on_host()) *
             std::int64_t{sizeof(ShortSlice)};
}

std::string refuse_far_sample(const MatrixProfile& matrix) {
  constexpr double doubt = 0.1;  // of a sample
  const ShortShare& share = short_share(matrix);
  const double fit = matrix.on_host() ? share.near : share.near_or_pages;
  if (fit >= least_short_share - doubt) return {};
  return fmt::format("of the nonzeros sampled, {:.0f} % are in slices {}", 100 * fit,
                     matrix.on_host() ? "that span at most 65535 columns" : "that 16 bits reach");
}

void refuse_far_slices(std::string_view format, const ShortPlan& plan, Index slice_rows,
                       Offset nnz) {
  const Offset fit = nnz - plan.far_entries;
  if (static_cast<double>(fit) >= least_short_share * static_cast<double>(nnz)) return;
  throw FormatRefusal(fmt::format(
      "{}: only {} of {} nonzeros are in slices of {} rows that read x within {} columns or in at "
      "most {} pages of {}; three quarters are the least that pay. An order by --reorder rcm may "
      "bring them together",
      format, fit, nnz, slice_rows, near_columns, most_pages, page_columns));
}

}  // namespace krysol
