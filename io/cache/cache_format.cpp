// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/cache/cache_format.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/core.h>

#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/bytes/source.hpp>
#include <krysol/io/cache/cache_layout.hpp>
#include <krysol/spmv/base/large_pages.hpp>

namespace krysol {
namespace {

using namespace cache_layout;

/// No head of ours is longer; a file of a terabyte may be nothing but a hole.
std::uint64_t longest_head(std::uint64_t file_bytes) {
  return (std::uint64_t{1} << 20) + file_bytes / 1024;
}

std::uint64_t number_at(const char* bytes, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t k = 0; k < size; ++k) {
    number |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[k])) << (8 * k);
  }
  return number;
}

class Memory : public CacheBytes {
 public:
  explicit Memory(std::string_view bytes) : bytes_(bytes) {}
  std::uint64_t size() const override { return bytes_.size(); }
  bool read(std::uint64_t from, char* to, std::size_t bytes) const override {
    if (from > bytes_.size() || bytes > bytes_.size() - from) return false;
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(from), bytes, to);
    return true;
  }

 private:
  std::string_view bytes_;
};

}  // namespace

CacheFile::CacheFile(const std::filesystem::path& path, const std::string& name) {
  // A pipe would block.
  file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file_ < 0) throw FileError(name + ": cannot be opened: " + reason(errno));
  struct stat status {};
  const bool known = ::fstat(file_, &status) == 0;
  const bool ours = known && status.st_uid == ::geteuid();
  if (!known || !ours || !S_ISREG(status.st_mode)) {
    ::close(file_);
    throw FileError(name + (ours ? ": is no regular file" : ": is the file of another user"));
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

CacheFile::~CacheFile() { ::close(file_); }

bool CacheFile::read(std::uint64_t from, char* to, std::size_t bytes) const {
  while (bytes > 0) {
    const ssize_t n = ::pread(file_, to, bytes, static_cast<::off_t>(from));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    const auto got = static_cast<std::size_t>(n);
    from += got;
    to += got;
    bytes -= got;
  }
  return true;
}

std::uint64_t CacheReader::Section::chunks() const { return chunks_of(bytes, chunk_bytes); }

/// The head, from its first field to its last.
class CacheReader::Fields {
 public:
  Fields(const CacheReader& owner, std::string_view bytes) : owner_(owner), left_(bytes) {}

  std::string_view take(std::uint64_t bytes) {
    if (bytes > left_.size()) owner_.fail("its head ends in the middle of a field");
    const std::string_view taken = left_.substr(0, bytes);
    left_.remove_prefix(bytes);
    return taken;
  }
  std::uint32_t u32() { return static_cast<std::uint32_t>(number_at(take(4).data(), 4)); }
  std::uint64_t u64() { return number_at(take(8).data(), 8); }
  std::int64_t i64() { return static_cast<std::int64_t>(u64()); }
  std::string text() { return std::string(take(u64())); }

  /// A number 0..last.
  template <class Number>
  Number up_to(Number last, std::uint64_t number, std::string_view what) {
    if (number > static_cast<std::uint64_t>(last)) {
      owner_.fail(fmt::format("{} is {}, at most {} was expected", what, number,
                              static_cast<std::uint64_t>(last)));
    }
    return static_cast<Number>(number);
  }
  std::int64_t count(std::string_view what) {
    return up_to(std::numeric_limits<std::int64_t>::max(), u64(), what);
  }
  /// All of it but for its texts; how many repairs there are.
  std::uint32_t info(FileInfo& info) {
    info.field = up_to(Field::complex, u32(), "the field");
    info.symmetry = up_to(Symmetry::hermitian, u32(), "the symmetry of the source");
    info.array = up_to(1, u32(), "the mark of an array") != 0;
    const std::uint32_t repairs = u32();
    info.stored_entries = count("stored_entries");
    info.rounded_integers = count("rounded_integers");
    info.bytes = count("bytes");
    info.text_bytes = count("text_bytes");
    return repairs;
  }
  void info_texts(FileInfo& info, std::uint32_t repairs) {
    info.format = text();
    info.member = text();
    info.title = text();
    for (std::uint32_t k = 0; k < repairs; ++k) info.repairs.push_back(text());
  }
  std::uint64_t bytes_left() const { return left_.size(); }

 private:
  const CacheReader& owner_;
  std::string_view left_;
};

CacheReader::CacheReader(const CacheBytes& bytes, std::string name)
    : bytes_(bytes), name_(std::move(name)) {
  const std::string head = read_head();
  Fields fields(*this, std::string_view(head).substr(start_bytes, head.size() - start_bytes - 8));
  decode(fields);
  check_layout(head.size());
}

void CacheReader::fail(std::string_view why) const {
  throw FileError(fmt::format("{}: {}", name_, why));
}

std::string CacheReader::read_head() const {
  char start[start_bytes];
  if (!bytes_.read(0, start, sizeof(start))) fail("is too short for a cache");
  if (std::string_view(start, magic.size()) != magic) fail("is no cache of a matrix");
  if (number_at(start + 8, 4) != byte_order) fail("has another order of bytes");
  const std::uint64_t its_version = number_at(start + 12, 4);
  if (its_version != version) {
    fail(fmt::format("is of version {} of the format, {} was expected", its_version, version));
  }
  const std::uint64_t file_bytes = number_at(start + 16, 8);
  if (file_bytes != bytes_.size()) {
    fail(fmt::format("has {} bytes, its head says {}", bytes_.size(), file_bytes));
  }
  const std::uint64_t head_bytes = number_at(start + 24, 8);
  if (head_bytes < fixed_bytes + 8 || head_bytes > std::min(file_bytes, longest_head(file_bytes))) {
    fail(fmt::format("its head cannot have {} bytes", head_bytes));
  }
  std::string head(head_bytes, '\0');
  if (!bytes_.read(0, head.data(), head.size())) fail("was cut while it was read");
  const std::string_view hashed = std::string_view(head).substr(0, head.size() - 8);
  // From the copy that was just read: the file itself might change in between.
  if (std::memcmp(head.data(), start, sizeof(start)) != 0 ||
      hash64(hashed) != number_at(head.data() + hashed.size(), 8)) {
    fail("is damaged: the checksum of its head differs");
  }
  return head;
}

void CacheReader::decode(Fields& head) {
  if (head.u32() != readers) fail("was made by a library that reads matrices differently");
  const std::uint32_t sections = head.u32();
  source_.bytes = head.u64();
  source_.modified = head.i64();
  source_.changed = head.i64();
  source_.inode = head.u64();
  const std::string_view hash = head.take(source_.hash.size());
  std::copy(hash.begin(), hash.end(), source_.hash.begin());
  const std::uint32_t repairs = head.info(info_);
  symmetry_ = head.up_to(Symmetry::hermitian, head.u32(), "the symmetry");
  head.up_to(0, head.u32(), "what is not used yet");
  constexpr Index most = std::numeric_limits<Index>::max();
  rows_ = head.up_to(most, head.u64(), "the number of rows");
  cols_ = head.up_to(most, head.u64(), "the number of columns");
  entries_ = head.u64();
  source_.path = head.text();
  source_.options = head.text();
  head.info_texts(info_, repairs);
  decode_vectors(head);
  decode_sections(head, sections);
  if (symmetry_ != Symmetry::general && rows_ != cols_) fail("its matrix is not square");
}

void CacheReader::decode_vectors(Fields& head) {
  for (const auto vector : attached_vectors) {
    DenseFile& v = attached_.*vector;
    const bool there = head.up_to(1, head.u32(), "the mark of a vector") != 0;
    if (head.up_to(1, head.u32(), "the type of a vector") == 1) {
      v.values = std::vector<std::complex<double>>();
    }
    if (!there) continue;
    constexpr Index most = std::numeric_limits<Index>::max();
    v.rows = head.up_to(most, head.u64(), "the length of a vector");
    v.cols = head.up_to(most, head.u64(), "the number of vectors");
    if (v.cols == 0) fail("a vector without columns");
    head.info_texts(v.info, head.info(v.info));
  }
}

void CacheReader::decode_sections(Fields& head, std::uint32_t count) {
  for (std::uint32_t k = 0; k < count; ++k) {
    Section s;
    s.kind = head.u32();
    s.type = head.u32();
    s.offset = head.u64();
    s.bytes = head.u64();
    s.chunk_bytes = head.u64();
    if (s.chunk_bytes == 0) fail("a section has chunks of no bytes");
    sections_.push_back(std::move(s));
  }
  for (Section& s : sections_) {
    const std::uint64_t chunks = s.chunks();
    if (chunks > head.bytes_left() / 8) fail("its head has too few checksums");
    s.checksums.resize(chunks);
    for (std::uint64_t& sum : s.checksums) sum = head.u64();
  }
  if (head.bytes_left() != 0) fail("its head is too long");
}

/// Sections follow each other and fill the file, with zeros between them: no byte is unchecked.
void CacheReader::check_layout(std::uint64_t head_bytes) const {
  std::uint64_t end = head_bytes;
  for (const Section& s : sections_) {
    if (s.offset != aligned(end) || s.offset > bytes_.size() ||
        s.bytes > bytes_.size() - s.offset) {
      fail("a section is not where it should be");
    }
    char padding[alignment];
    const std::uint64_t gap = s.offset - end;
    if (!bytes_.read(end, padding, gap)) fail("was cut while it was read");
    if (std::any_of(padding, padding + gap, [](char c) { return c != 0; })) {
      fail("is damaged: something stands between its sections");
    }
    end = s.offset + s.bytes;
  }
  if (end != bytes_.size()) fail("something stands after its last section");
}

template <class T>
const CacheReader::Section& CacheReader::section(std::uint32_t kind, std::uint64_t numbers) const {
  const Section* found = nullptr;
  for (const Section& s : sections_) {
    if (s.kind != kind) continue;
    if (found != nullptr) fail(fmt::format("section {} is there twice", kind));
    found = &s;
  }
  if (found == nullptr) fail(fmt::format("section {} is missing", kind));
  if (found->type != type_of<T> || found->bytes % sizeof(T) != 0 ||
      found->bytes / sizeof(T) != numbers || found->chunk_bytes != chunk_entries * sizeof(T)) {
    fail(fmt::format("section {} does not hold {} entries of its type", kind, numbers));
  }
  return *found;
}

void CacheReader::load(const Section& from, std::uint64_t chunk, void* to) const {
  const std::uint64_t begin = chunk * from.chunk_bytes;
  const std::uint64_t bytes = std::min(from.chunk_bytes, from.bytes - begin);
  auto* place = static_cast<char*>(to);
  if (!bytes_.read(from.offset + begin, place, bytes)) fail("was cut while it was read");
  if (hash64({place, bytes}) != from.checksums[chunk]) {
    fail(fmt::format("is damaged: the checksum of chunk {} of section {} differs", chunk,
                     from.kind));
  }
}

template <class T>
Triplets<T> CacheReader::triplets(int threads) const {
  const Section& of_rows = section<Index>(section_row_idx, entries_);
  const Section& of_cols = section<Index>(section_col_idx, entries_);
  const Section& of_values = section<T>(section_values, entries_);
  Triplets<T> a;
  a.rows = rows_;
  a.cols = cols_;
  a.symmetry = symmetry_;
  const auto make = [n = entries_](auto& array) {
    array.reserve(n);
    use_large_pages(array.data(), n * sizeof(array[0]));
    array.resize(n);
  };
  make(a.row_idx);
  make(a.col_idx);
  make(a.values);
  for_chunks(chunks_of(entries_, chunk_entries), threads, [&](std::uint64_t k) {
    const std::uint64_t from = k * chunk_entries;
    load(of_rows, k, a.row_idx.data() + from);
    load(of_cols, k, a.col_idx.data() + from);
    load(of_values, k, a.values.data() + from);
    if (!entries_fit(a.row_idx.data() + from, a.col_idx.data() + from,
                     std::min(chunk_entries, entries_ - from), rows_, cols_, symmetry_)) {
      fail("an entry is where the matrix has none");
    }
  });
  return a;
}

template <class T>
std::vector<T> CacheReader::vector(std::uint32_t kind, std::uint64_t numbers) const {
  const Section& from = section<T>(kind, numbers);
  std::vector<T> values(numbers);
  for (std::uint64_t k = 0; k < from.chunks(); ++k) {
    load(from, k, values.data() + k * chunk_entries);
  }
  return values;
}

MatrixFile CacheReader::matrix(int threads) const {
  MatrixFile result;
  result.info = info_;
  result.attached = attached_;
  std::uint32_t kind = section_vector;
  for (const auto vector : attached_vectors) {
    DenseFile& v = result.attached.*vector;
    const std::uint32_t mine = kind++;
    if (v.cols == 0) continue;
    std::visit(
        [&, this](auto& values) {
          using T = typename std::decay_t<decltype(values)>::value_type;
          values = this->vector<T>(
              mine, static_cast<std::uint64_t>(v.rows) * static_cast<std::uint64_t>(v.cols));
        },
        v.values);
  }
  if (info_.field == Field::complex) {
    result.matrix = triplets<std::complex<double>>(threads);
  } else {
    result.matrix = triplets<double>(threads);
  }
  return result;
}

CachedMatrix parse_cache(std::string_view bytes, const std::string& name, int threads) {
  const Memory memory(bytes);
  const CacheReader reader(memory, name);
  return {reader.source(), reader.matrix(threads)};
}

}  // namespace krysol
