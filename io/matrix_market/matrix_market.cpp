// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/matrix_market/matrix_market.hpp>

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include <krysol/io/bytes/file.hpp>
#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/bytes/stream.hpp>
#include <krysol/io/bytes/text_blocks.hpp>
#include <krysol/io/matrix_market/matrix_market_header.hpp>
#include <krysol/io/matrix_market/plain_entries.hpp>
#include <krysol/io/model/duplicates.hpp>
#include <krysol/spmv/base/memory.hpp>

namespace krysol {
namespace {

using Complex = std::complex<double>;

/// Reads a text whose lines are all plain, without keeping it. None where it is not such a text: it
/// must then be read as a whole.
std::optional<MatrixFile> stream_matrix(Stream& stream, const ReadOptions& options) {
  const auto header = plain_header(stream, options);
  if (!header) return std::nullopt;
  MatrixFile result;
  const auto read = [&]<class T>(Triplets<T> a) {
    // Entries of a text of unknown length: no compression takes less than two bytes for one that
    // is worth reading, and address space that is never touched takes no memory.
    const std::int64_t room = std::max(std::int64_t{1} << 20, stream.file_bytes() / 2);
    const int threads = threads_for(stream.file_bytes(), options);
    if (stream.text_bytes_known()) {
      constexpr double of_a_thread = 4 << 20;  // its block of the text, and the entries in it
      constexpr auto of_an_entry = static_cast<double>(2 * sizeof(Index) + sizeof(T));
      require_host_memory(
          ("the entries of " + stream.name()).c_str(),
          static_cast<double>(header->rules.entries) * of_an_entry + threads * of_a_thread);
    }
    const auto blocks = stream.blocks(header->bytes, threads);
    const EntryRules& rules = header->rules;
    auto plain = read_plain_entries<T>(*blocks, rules,
                                       stream.text_bytes_known() ? rules.entries : room, threads);
    if (!plain || !stream.is_as_promised()) return false;
    a.rows = rules.rows;
    a.cols = rules.cols;
    a.symmetry = rules.symmetry;
    a.row_idx = std::move(plain->row_idx);
    a.col_idx = std::move(plain->col_idx);
    a.values = std::move(plain->values);
    // The report of any needs the lines.
    if (options.duplicates != Duplicates::keep &&
        treat_duplicates(a, Duplicates::reject).count > 0) {
      return false;
    }
    result.info = header->info;
    result.info.rounded_integers = plain->rounded_integers;
    result.matrix = std::move(a);
    return true;
  };
  const bool done =
      header->info.field == Field::complex ? read(Triplets<Complex>{}) : read(Triplets<double>{});
  if (!done) return std::nullopt;
  result.info.bytes = stream.file_bytes();
  result.info.text_bytes = stream.text_bytes();
  return result;
}

}  // namespace

MatrixFile read_matrix_market(std::unique_ptr<Stream> stream, const ReadOptions& options) {
  if (stream->is_repeatable()) {
    try {
      if (auto streamed = stream_matrix(*stream, options)) return *std::move(streamed);
    } catch (const OutOfMemory&) {  // says more
      throw;
    } catch (const std::bad_alloc&) {
      throw FileError(stream->name() + ": not enough memory to hold its entries");
    }
    stream = stream->again();
  }
  check_header_ends(*stream);
  const FileText text = stream->whole();
  MatrixFile result = parse_matrix(text.view(), stream->name(), options);
  result.info.bytes = text.bytes_on_disk();
  return result;
}

DenseFile read_dense_matrix_market(Stream& stream, const ReadOptions& options) {
  check_header_ends(stream);
  const FileText text = stream.whole();
  DenseFile result = parse_dense(text.view(), stream.name(), options);
  result.info.bytes = text.bytes_on_disk();
  return result;
}

}  // namespace krysol
