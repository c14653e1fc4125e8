// Rows of a sparse matrix on the host, made by several threads before anyone knows their lengths.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include <krysol/spmv/matrix/host_csr.hpp>

namespace krysol::multigrid {

/// An array of the host whose content is unspecified, in large pages where the system has them:
/// pages of 4 KiB, zeroed one by one, would take longer than what is done with them.
template <class T>
using HostArray = Kokkos::View<T*, Host>;

template <class T>
HostArray<T> host_array(const char* label, std::size_t n) {
  return allocate<HostArray<T>>(label, n);
}

/// Rows [first[p], first[p + 1]) are for thread p: about as many entries for each of them.
std::vector<Index> shares_of_threads(const Offset* row_ptr, Index rows);

/// Memory for rows under way, handed from one product to the next: the system zeroes each page that
/// it gives out, which takes longer than filling it.
template <class S>
class RowMemory {
 public:
  struct Block {
    std::unique_ptr<Index[]> col_idx;
    std::unique_ptr<S[]> values;
    Offset size = 0;
  };

  /// Room for so many entries, or more. Throws std::bad_alloc.
  Block take(Offset least) {
    if (least <= usual) {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        Block block = std::move(free_.back());
        free_.pop_back();
        return block;
      }
    }
    const Offset size = std::max(least, usual);
    return {uninitialized_list<Index>(size), uninitialized_list<S>(size), size};
  }
  /// Where there is no room to remember it, it is freed.
  void give_back(Block block) noexcept {
    if (block.size != usual) return;
    try {
      const std::lock_guard lock(mutex_);
      free_.push_back(std::move(block));
    } catch (const std::exception&) {
      return;
    }
  }

 private:
  static constexpr Offset usual = 1 << 19;

  /// Without Kokkos, which allocates nothing while its threads are at work.
  template <class T>
  static std::unique_ptr<T[]> uninitialized_list(Offset n) {
    auto list = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(n));
    use_large_pages(list.get(), static_cast<std::size_t>(n) * sizeof(T));
    return list;
  }

  std::mutex mutex_;
  std::vector<Block> free_;
};

/// The entries of the rows that one thread makes, one row after the other.
template <class S>
class RowStore {
 public:
  Index* col_idx = nullptr;  // where the next row goes
  S* values = nullptr;

  explicit RowStore(RowMemory<S>& memory) : memory_(&memory) {}
  ~RowStore() {
    for (Used& u : blocks_) memory_->give_back(std::move(u.block));
  }
  RowStore(RowStore&&) noexcept = default;
  RowStore& operator=(RowStore&&) = delete;

  /// Room for a row of so many entries. What was written to it is kept by `close`.
  void open(Offset most) {
    if (most <= room_) return;
    blocks_.push_back({memory_->take(most)});
    col_idx = blocks_.back().block.col_idx.get();
    values = blocks_.back().block.values.get();
    room_ = blocks_.back().block.size;
  }
  void close(Offset entries) {
    if (entries == 0) return;
    blocks_.back().entries += entries;
    col_idx += entries;
    values += entries;
    room_ -= entries;
  }

  /// All rows, to where they are kept.
  void copy_to(Index* to_col, S* to_value) const {
    for (const Used& u : blocks_) {
      to_col = std::copy_n(u.block.col_idx.get(), u.entries, to_col);
      to_value = std::copy_n(u.block.values.get(), u.entries, to_value);
    }
  }

 private:
  struct Used {
    typename RowMemory<S>::Block block;
    Offset entries = 0;
  };
  RowMemory<S>* memory_;
  std::vector<Used> blocks_;
  Offset room_ = 0;
};

/// A row of a matrix.
template <class S>
struct RowEntries {
  const Index* col_idx = nullptr;
  const S* values = nullptr;
  Offset count = 0;
};

/// A matrix whose rows lie where the threads that made them have put them.
template <class S>
struct LooseRows {
  Index cols = 0;
  std::vector<RowStore<S>> stores;  // what the rows point into
  HostArray<RowEntries<S>> rows;

  RowEntries<S> row(Index i) const { return rows.data()[i]; }
};

/// A rows x cols matrix. first: what each thread does, see shares_of_threads. make(i, store) writes
/// row i to where `store` says, in room that it asks for, and returns its number of entries; there
/// is one copy of `make` a thread. Throws std::bad_alloc or OutOfMemory.
template <class S, class Make>
LooseRows<S> make_rows(const char* label, Index rows, Index cols, const std::vector<Index>& first,
                       RowMemory<S>& memory, const Make& make) {
  LooseRows<S> out;
  out.cols = cols;
  out.rows = host_array<RowEntries<S>>("rows", static_cast<std::size_t>(rows));
  const auto threads = static_cast<std::int64_t>(first.size()) - 1;
  out.stores.reserve(static_cast<std::size_t>(threads));
  for (std::int64_t p = 0; p < threads; ++p) out.stores.emplace_back(memory);
  host_for(label, threads, [&](std::int64_t p) {
    const auto at = static_cast<std::size_t>(p);
    RowStore<S>& store = out.stores[at];
    Make mine = make;
    for (Index i = first[at]; i < first[at + 1]; ++i) {
      const Offset count = mine(i, store);
      out.rows.data()[i] = {store.col_idx, store.values, count};
      store.close(count);
    }
  });
  return out;
}

/// The same rows one after the other. Bytes: those of the matrix.
template <class S>
HostCsr<S> joined(const LooseRows<S>& made, const std::vector<Index>& first) {
  HostCsr<S> c;
  c.rows = static_cast<Index>(made.rows.extent(0));
  c.cols = made.cols;
  c.row_ptr = host_array<Offset>("rows.row_ptr", made.rows.extent(0) + 1);
  Offset* const row_ptr = c.row_ptr.data();
  row_ptr[0] = 0;
  for (Index i = 0; i < c.rows; ++i) row_ptr[i + 1] = row_ptr[i] + made.row(i).count;
  c.col_idx = host_array<Index>("rows.col_idx", static_cast<std::size_t>(row_ptr[c.rows]));
  c.values = host_array<S>("rows.values", static_cast<std::size_t>(row_ptr[c.rows]));
  host_for("krysol::joined", static_cast<std::int64_t>(made.stores.size()), [&](std::int64_t p) {
    const auto at = static_cast<std::size_t>(p);
    const Offset to = row_ptr[first[at]];
    made.stores[at].copy_to(c.col_idx.data() + to, c.values.data() + to);
  });
  return c;
}

}  // namespace krysol::multigrid
