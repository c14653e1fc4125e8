// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/read_csr.hpp>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/bytes/stream.hpp>
#include <krysol/io/matrix_market/matrix_market_header.hpp>
#include <krysol/io/matrix_market/plain_entries.hpp>
#include <krysol/io/read.hpp>
#include <krysol/spmv/base/runtime.hpp>
#include <krysol/spmv/base/spaces.hpp>
#include <krysol/spmv/matrix/finish_rows.hpp>

namespace krysol {
namespace {

using Complex = std::complex<double>;

/// Calls visit(row, col, value) for each entry of a block and its mirror image.
template <class T, class Visit>
void for_each_entry(const PlainBlock<T>& block, Symmetry symmetry, const Visit& visit) {
  for (std::int64_t k = 0; k < block.entries; ++k) {
    const Index row = block.row_idx[k];
    const Index col = block.col_idx[k];
    const DeviceScalar<T> value(block.values[k]);
    visit(row, col, value);
    if (symmetry != Symmetry::general && row != col) {
      visit(col, row, mirrored(value, symmetry));
    }
  }
}

/// A number that depends on all bits of both (the finalizer of splitmix64, Vigna 2015).
std::uint64_t hash(Index row, Index col) {
  std::uint64_t z = static_cast<std::uint64_t>(row) << 32U | static_cast<std::uint32_t>(col);
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

/// Throws OutOfMemory where rows, and so many entries of a file, cannot be held.
void require_rows(Index rows, Index cols, std::int64_t entries, Symmetry symmetry,
                  std::size_t value_bytes, std::int64_t bytes_a_row) {
  const std::int64_t diagonal = std::min(rows, cols);  // whose entries have no mirror image
  const std::int64_t expanded =
      symmetry == Symmetry::general ? entries : std::max(entries, 2 * entries - diagonal);
  const double of_rows =
      static_cast<double>(rows) *
      static_cast<double>(static_cast<std::int64_t>(sizeof(Offset)) + bytes_a_row);
  const double of_entries =
      static_cast<double>(expanded) * static_cast<double>(sizeof(Index) + value_bytes);
  const std::string what = "the rows of a matrix of " + std::to_string(rows) + " x " +
                           std::to_string(cols) + ", " + std::to_string(expanded) + " nonzeros";
  require_host_memory(what.c_str(), of_rows + of_entries);
}

[[noreturn]] void fail_changed(const std::string& name) {
  throw FileError(name + ": has been changed while it was read");
}

/// A file that is read twice. Both passes sum a hash of all places, so that the second one is known
/// to fill what the first has counted.
template <class T>
class TwoPasses {
  using S = DeviceScalar<T>;

 public:
  TwoPasses(const PlainHeader& header, const ReadOptions& options)
      : header_(header), options_(options) {
    file_.info = header.info;
    a_.rows = header.rules.rows;
    a_.cols = header.rules.cols;
  }

  /// False where the lines are not plain.
  bool count(Stream& stream) {
    a_.row_ptr = zeros<Offset>(Host{}, "csr.row_ptr", std::int64_t{a_.rows} + 1);
    Offset* const row_ptr = a_.row_ptr.data();
    const bool plain = pass(stream, [&](const PlainBlock<T>& block) {
      out_.explicit_zeros += std::count(block.values, block.values + block.entries, T(0));
      for_each_entry(block, header_.rules.symmetry, [&](Index row, Index col, const S&) {
        ++row_ptr[row + 1];
        counted_ += hash(row, col);
      });
    });
    file_.info.bytes = stream.file_bytes();
    file_.info.text_bytes = stream.text_bytes();
    for (Index i = 0; i < a_.rows; ++i) row_ptr[i + 1] += row_ptr[i];
    return plain;
  }

  /// row_ptr[i] moves to the end of row i while that is filled, which is where row i + 1 begins.
  void fill(Stream& stream) {
    Offset* const row_ptr = a_.row_ptr.data();
    const Offset expanded = row_ptr[a_.rows];
    a_.col_idx = allocate<decltype(a_.col_idx)>("csr.col_idx", expanded);
    a_.values = allocate<decltype(a_.values)>("csr.values", expanded);
    Index* const col_idx = a_.col_idx.data();
    S* const values = a_.values.data();
    std::uint64_t filled = 0;
    const bool plain = pass(stream, [&](const PlainBlock<T>& block) {
      for_each_entry(block, header_.rules.symmetry, [&](Index row, Index col, const S& value) {
        const Offset place = row_ptr[row]++;
        if (place >= expanded) fail_changed(stream.name());
        col_idx[place] = col;
        values[place] = value;
        filled += hash(row, col);
      });
    });
    if (!plain || filled != counted_) fail_changed(stream.name());
    std::copy_backward(row_ptr, row_ptr + a_.rows, row_ptr + a_.rows + 1);
    row_ptr[0] = 0;
  }

  CsrFile result() {
    finish_rows(out_, header_.rules.symmetry, true);
    file_.matrix = std::move(out_);
    return std::move(file_);
  }

 private:
  bool pass(Stream& stream, const std::function<void(const PlainBlock<T>&)>& visit) {
    const int threads = threads_for(stream.file_bytes(), options_);
    const auto blocks = stream.blocks(header_.bytes, threads);
    return visit_plain_entries<T>(*blocks, header_.rules, threads, visit,
                                  file_.info.rounded_integers) &&
           stream.is_as_promised();
  }

  const PlainHeader& header_;
  const ReadOptions& options_;
  CsrFile file_;
  Assembled<S> out_;
  HostCsr<S>& a_ = out_.matrix;
  std::uint64_t counted_ = 0;
};

template <class T>
std::optional<CsrFile> read_twice(Stream& stream, const PlainHeader& header,
                                  const ReadOptions& options) {
  TwoPasses<T> passes(header, options);
  if (!passes.count(stream)) return std::nullopt;
  const auto again = stream.again();
  // The header may be longer than what a stream looks at first.
  while (again->head().size() < header.bytes && again->extend_head()) {
  }
  if (again->head().size() < header.bytes) fail_changed(stream.name());
  passes.fill(*again);
  return passes.result();
}

std::optional<CsrFile> try_to_read_twice(const std::filesystem::path& path,
                                         const ReadOptions& options, std::int64_t bytes_a_row) {
  const auto stream = open_stream(path, options.max_text_bytes);
  if (!stream->is_repeatable() || options.duplicates != Duplicates::keep) return std::nullopt;
  const auto header = plain_header(*stream, options);
  if (!header) return std::nullopt;
  const EntryRules& rules = header->rules;
  require_rows(rules.rows, rules.cols, 0, rules.symmetry, 0, bytes_a_row);
  return header->info.field == Field::complex ? read_twice<Complex>(*stream, *header, options)
                                              : read_twice<double>(*stream, *header, options);
}

}  // namespace

CsrFile read_csr(const std::filesystem::path& path, const ReadOptions& options,
                 std::int64_t bytes_a_row) {
  ensure_kokkos();
  const Kokkos::Profiling::ScopedRegion region("krysol::read_csr");
  if (options.low_memory && options.member.empty()) {
    if (auto file = try_to_read_twice(path, options, bytes_a_row)) {
      if (options.cache.use) file->info.cache = "not used: it holds entries, and memory is scarce";
      return *std::move(file);
    }
  }
  MatrixFile file = read_matrix(path, options);
  CsrFile result;
  result.info = std::move(file.info);
  result.attached = std::move(file.attached);
  std::visit(
      [&result, bytes_a_row](const auto& entries) {
        require_rows(entries.rows, entries.cols, static_cast<std::int64_t>(entries.values.size()),
                     entries.symmetry, sizeof(entries.values[0]), bytes_a_row);
        result.matrix = to_csr(entries);
      },
      file.matrix);
  return result;
}

}  // namespace krysol
