// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <atomic>
#include <complex>
#include <stdexcept>
#include <variant>
#include <vector>

#include <krysol/io/cache/cache_format.hpp>
#include <krysol/io/cache/cache_layout.hpp>

namespace krysol {
namespace {

using namespace cache_layout;

/// Numbers with their lowest byte first, and texts after their length.
class Head {
 public:
  template <class Int>
  void put(Int number) {
    for (std::size_t k = 0; k < sizeof(number); ++k) {
      bytes_ += static_cast<char>(static_cast<std::uint64_t>(number) >> (8 * k) & 0xff);
    }
  }
  void put_text(std::string_view text) {
    put(std::uint64_t{text.size()});
    bytes_ += text;
  }
  void put_as_they_are(std::string_view bytes) { bytes_ += bytes; }

  std::size_t size() const { return bytes_.size(); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// An array, as bytes.
struct Section {
  std::uint32_t kind;
  std::uint32_t type;
  std::string_view bytes;
  std::uint64_t chunk_bytes;

  std::uint64_t chunks() const { return chunks_of(bytes.size(), chunk_bytes); }
  std::string_view chunk(std::uint64_t k) const {
    return bytes.substr(k * chunk_bytes, chunk_bytes);
  }
};

template <class Numbers>
Section section(std::uint32_t kind, const Numbers& array) {
  using T = typename Numbers::value_type;
  const std::string_view bytes(reinterpret_cast<const char*>(array.data()),
                               array.size() * sizeof(T));
  return {kind, type_of<T>, bytes, chunk_entries * sizeof(T)};
}

template <class T>
void check(const Triplets<T>& a, int threads) {
  const std::size_t n = a.values.size();
  if (a.row_idx.size() != n || a.col_idx.size() != n) {
    throw std::invalid_argument("write_cache: arrays of different lengths");
  }
  std::atomic<bool> fit{a.rows >= 0 && a.cols >= 0};
  for_chunks(chunks_of(n, chunk_entries), threads, [&](std::uint64_t k) {
    const std::size_t from = k * chunk_entries;
    if (!entries_fit(a.row_idx.data() + from, a.col_idx.data() + from,
                     std::min<std::size_t>(chunk_entries, n - from), a.rows, a.cols, a.symmetry)) {
      fit = false;
    }
  });
  if (!fit || (a.symmetry != Symmetry::general && a.rows != a.cols)) {
    throw std::invalid_argument("write_cache: an entry is where the matrix has none");
  }
}

std::vector<std::uint64_t> checksums(const Section& section, int threads) {
  std::vector<std::uint64_t> sums(section.chunks());
  for_chunks(sums.size(), threads, [&](std::uint64_t k) { sums[k] = hash64(section.chunk(k)); });
  return sums;
}

void put_source(Head& head, const SourceIdentity& source) {
  head.put(source.bytes);
  head.put(source.modified);
  head.put(source.changed);
  head.put(source.inode);
  const auto* hash = reinterpret_cast<const char*>(source.hash.data());
  head.put_as_they_are({hash, source.hash.size()});
}

// Bindings name every member: one that is added does not compile before it is written here, too.
void put_info(Head& head, const FileInfo& info) {
  const auto& [format, member, title, field, symmetry, array, stored_entries, rounded_integers,
               bytes, text_bytes, repairs, of_this_time_only] = info;
  head.put(static_cast<std::uint32_t>(field));
  head.put(static_cast<std::uint32_t>(symmetry));
  head.put(static_cast<std::uint32_t>(array));
  head.put(static_cast<std::uint32_t>(repairs.size()));
  head.put(stored_entries);
  head.put(rounded_integers);
  head.put(bytes);
  head.put(text_bytes);
}

void put_info_texts(Head& head, const FileInfo& info) {
  head.put_text(info.format);
  head.put_text(info.member);
  head.put_text(info.title);
  for (const std::string& repair : info.repairs) head.put_text(repair);
}

void put_vectors(Head& head, const AttachedVectors& attached) {
  for (const auto vector : attached_vectors) {
    const DenseFile& v = attached.*vector;
    head.put(std::uint32_t(v.cols > 0 ? 1 : 0));
    head.put(std::uint32_t(v.values.index()));
    if (v.cols <= 0) continue;
    head.put(std::int64_t{v.rows});
    head.put(std::int64_t{v.cols});
    put_info(head, v.info);
    put_info_texts(head, v.info);
  }
}

void add_vectors(std::vector<Section>& sections, const AttachedVectors& attached) {
  std::uint32_t kind = section_vector;
  for (const auto vector : attached_vectors) {
    const DenseFile& v = attached.*vector;
    const std::uint32_t mine = kind++;
    if (v.cols <= 0) continue;
    std::visit(
        [&](const auto& values) {
          if (v.rows < 0 || values.size() != static_cast<std::uint64_t>(v.rows) *
                                                 static_cast<std::uint64_t>(v.cols)) {
            throw std::invalid_argument("write_cache: a vector has not rows * cols values");
          }
          sections.push_back(section(mine, values));
        },
        v.values);
  }
}

template <class T>
void put_shape(Head& head, const Triplets<T>& a) {
  head.put(static_cast<std::uint32_t>(a.symmetry));
  head.put(std::uint32_t{0});
  head.put(std::int64_t{a.rows});
  head.put(std::int64_t{a.cols});
  head.put(std::uint64_t{a.values.size()});
}

void put_texts(Head& head, const SourceIdentity& source, const FileInfo& info) {
  head.put_text(source.path);
  head.put_text(source.options);
  put_info_texts(head, info);
}

void write_padding(OutputFile& out, std::uint64_t& at) {
  constexpr char zeros[alignment] = {};
  out.write({zeros, aligned(at) - at});
  at = aligned(at);
}

void write_section(OutputFile& out, const Section& section, std::uint64_t& at) {
  write_padding(out, at);
  for (std::uint64_t k = 0; k < section.chunks(); ++k) out.write(section.chunk(k));
  at += section.bytes.size();
}

template <class T>
void write(OutputFile& out, const SourceIdentity& source, const FileInfo& info,
           const Triplets<T>& a, const AttachedVectors& attached, int threads) {
  if ((info.field == Field::complex) != (type_of<T> == type_of<std::complex<double>>)) {
    throw std::invalid_argument("write_cache: the entries are not of the source's field");
  }
  check(a, threads);
  std::vector<Section> sections = {section(section_row_idx, a.row_idx),
                                   section(section_col_idx, a.col_idx),
                                   section(section_values, a.values)};
  add_vectors(sections, attached);
  Head tail;  // of the head
  put_source(tail, source);
  put_info(tail, info);
  put_shape(tail, a);
  put_texts(tail, source, info);
  put_vectors(tail, attached);
  std::uint64_t head_bytes = start_bytes + 8 + tail.size() + sizeof(std::uint64_t);
  for (const Section& s : sections) head_bytes += section_bytes + s.chunks() * 8;
  std::uint64_t end = head_bytes;
  for (const Section& s : sections) {
    tail.put(s.kind);
    tail.put(s.type);
    tail.put(aligned(end));
    tail.put(std::uint64_t{s.bytes.size()});
    tail.put(s.chunk_bytes);
    end = aligned(end) + s.bytes.size();
  }
  for (const Section& s : sections) {
    for (const std::uint64_t sum : checksums(s, threads)) tail.put(sum);
  }
  Head head;
  head.put_as_they_are(magic);
  head.put(byte_order);
  head.put(version);
  head.put(end);
  head.put(head_bytes);
  head.put(readers);
  head.put(static_cast<std::uint32_t>(sections.size()));
  head.put_as_they_are(tail.bytes());
  head.put(hash64(head.bytes()));
  out.write(head.bytes());
  std::uint64_t at = head.size();
  for (const Section& s : sections) write_section(out, s, at);
}

}  // namespace

void write_cache(OutputFile& out, const SourceIdentity& source, const MatrixFile& file,
                 int threads) {
  const auto& [info, matrix, attached] = file;  // all there is
  if (const auto* real = std::get_if<Triplets<double>>(&matrix)) {
    write(out, source, info, *real, attached, threads);
  } else {
    write(out, source, info, std::get<Triplets<std::complex<double>>>(matrix), attached, threads);
  }
}

}  // namespace krysol
