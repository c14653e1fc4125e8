// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/core.h>

#include <krysol/io/bytes/file.hpp>
#include <krysol/io/matrix_market/matrix_market.hpp>
#include <krysol/io/model/entry_checks.hpp>
#include <krysol/io/text/number_text.hpp>
#include <krysol/io/text/ordered_blocks.hpp>
#include <krysol/io/text/threads.hpp>

namespace krysol {
namespace {

using Complex = std::complex<double>;

/// Two indices, two doubles, a blank or a line end after each.
constexpr std::size_t longest_line = 22 + 2 * (longest_number + 1);

/// Text of some 600 kB fits a core's second cache. A compressor wants more to find repetitions in,
/// and to be worth its start.
constexpr std::size_t block_lines = std::size_t{1} << 14;
constexpr std::size_t packed_block_lines = std::size_t{1} << 18;

char* put_value(char* p, double v, Field field) {
  return field == Field::integer ? put_whole(p, static_cast<std::int64_t>(v)) : put_real(p, v);
}
char* put_value(char* p, Complex v, Field) {
  p = put_real(p, v.real());
  *p++ = ' ';
  return put_real(p, v.imag());
}

/// "% " before each line of it.
std::string comment(const std::string& title) {
  std::string text;
  for (std::size_t at = 0; at < title.size();) {
    const std::size_t end = std::min(title.find('\n', at), title.size());
    text += fmt::format("% {}\n", title.substr(at, end - at));
    at = end + 1;
  }
  return text;
}

/// Writes the header, and lines 0 <= k < n by `put(place, k)`, which returns the end.
template <class Put>
void write_lines(const std::filesystem::path& path, const std::string& header, std::size_t n,
                 const WriteOptions& options, const Put& put) {
  OutputFile file(path, {.compression = options.compression});
  const std::size_t size = made_of_streams(file.compression()) ? packed_block_lines : block_lines;
  file.write(header);
  write_in_order(file, (n + size - 1) / size, reading_threads(options.threads),
                 [&](std::size_t block, Array<char>& text) {
                   const std::size_t begin = block * size;
                   const std::size_t end = std::min(n, begin + size);
                   text.resize((end - begin) * longest_line + spare_bytes);
                   char* p = text.data();
                   for (std::size_t k = begin; k < end; ++k) {
                     p = put(p, k);
                     *p++ = '\n';
                   }
                   text.resize(static_cast<std::size_t>(p - text.data()));
                 });
  file.commit();
}

template <class T>
void write_coordinates(const std::filesystem::path& path, const Triplets<T>& a,
                       const WriteOptions& options) {
  const Field field = field_to_write<T>("write_matrix", options);
  check_entries("write_matrix", path.string(), a, field, reading_threads(options.threads));
  const std::string header =
      fmt::format("%%MatrixMarket matrix coordinate {} {}\n{}{} {} {}\n", to_string(field),
                  to_string(a.symmetry), comment(options.title), a.rows, a.cols, a.values.size());
  const Index* row = a.row_idx.data();
  const Index* col = a.col_idx.data();
  const T* value = a.values.data();
  write_lines(path, header, a.values.size(), options, [=](char* p, std::size_t k) {
    p = put_whole(p, std::int64_t{row[k]} + 1);
    *p++ = ' ';
    p = put_whole(p, std::int64_t{col[k]} + 1);
    if (field == Field::pattern) return p;
    *p++ = ' ';
    return put_value(p, value[k], field);
  });
}

template <class T>
void write_array(const std::filesystem::path& path, Index rows, Index cols,
                 const std::vector<T>& values, const WriteOptions& options) {
  if (rows < 0 || cols < 0 ||
      std::int64_t{rows} * cols != static_cast<std::int64_t>(values.size())) {
    throw std::invalid_argument(
        fmt::format("write_dense: {} values for an array of {} x {}", values.size(), rows, cols));
  }
  const Field field = field_to_write<T>("write_dense", options);
  if (field == Field::pattern) {
    throw std::invalid_argument("write_dense: an array has values, a pattern has none");
  }
  if (field == Field::integer) check_whole("write_dense", values.data(), values.size());
  const std::string header = fmt::format("%%MatrixMarket matrix array {} general\n{}{} {}\n",
                                         to_string(field), comment(options.title), rows, cols);
  const T* value = values.data();
  write_lines(path, header, values.size(), options,
              [=](char* p, std::size_t k) { return put_value(p, value[k], field); });
}

}  // namespace

void write_matrix(const std::filesystem::path& path, const Triplets<double>& matrix,
                  const WriteOptions& options) {
  write_coordinates(path, matrix, options);
}

void write_matrix(const std::filesystem::path& path, const Triplets<Complex>& matrix,
                  const WriteOptions& options) {
  write_coordinates(path, matrix, options);
}

void write_dense(const std::filesystem::path& path, Index rows, Index cols,
                 const std::vector<double>& values, const WriteOptions& options) {
  write_array(path, rows, cols, values, options);
}

void write_dense(const std::filesystem::path& path, Index rows, Index cols,
                 const std::vector<Complex>& values, const WriteOptions& options) {
  write_array(path, rows, cols, values, options);
}

}  // namespace krysol
