// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/bytes/compressor.hpp>

#include <archive.h>
#include <archive_entry.h>

#include <array>
#include <new>
#include <string>
#include <utility>

#include <krysol/io/bytes/archive_sink.hpp>
#include <krysol/io/bytes/parse_error.hpp>

namespace krysol {
namespace {

struct Suffix {
  std::string_view text;
  Compression compression;
};
constexpr std::array suffixes{Suffix{".gz", Compression::gzip}, Suffix{".bz2", Compression::bzip2},
                              Suffix{".xz", Compression::xz}, Suffix{".zst", Compression::zstd}};

int add_filter(archive* a, Compression compression) {
  switch (compression) {
    case Compression::gzip:
      // Without a time stamp the same numbers give the same file.
      if (archive_write_add_filter_gzip(a) != ARCHIVE_OK) return ARCHIVE_FATAL;
      return archive_write_set_filter_option(a, "gzip", "timestamp", nullptr);
    case Compression::bzip2:
      return archive_write_add_filter_bzip2(a);
    case Compression::xz:
      return archive_write_add_filter_xz(a);
    case Compression::zstd:
      return archive_write_add_filter_zstd(a);
    case Compression::none:
      break;
  }
  return ARCHIVE_FATAL;
}

}  // namespace

Compression compression_of(const std::filesystem::path& path) {
  for (const Suffix& suffix : suffixes) {
    if (path.extension() == suffix.text) return suffix.compression;
  }
  return Compression::none;
}

std::filesystem::path without_compression(const std::filesystem::path& path) {
  if (compression_of(path) == Compression::none) return path;
  return path.parent_path() / path.stem();
}

void Compressor::Free::operator()(archive* a) const {
  archive_write_fail(a);  // nothing more to the sink, which may be gone
  archive_write_free(a);
}

Compressor::~Compressor() {
  sink_->drop();
  archive_write_close(handle_.get());
}

Compressor::Compressor(Compression compression, Sink sink)
    : sink_(std::make_unique<ArchiveSink>(std::move(sink))), handle_(archive_write_new()) {
  if (handle_ == nullptr) throw std::bad_alloc();
  archive* a = handle_.get();
  // What is not built in would be a program that libarchive starts: ARCHIVE_WARN.
  bool good = add_filter(a, compression) == ARCHIVE_OK;
  archive_write_set_format_raw(a);
  archive_write_set_bytes_in_last_block(a, 1);  // no padding after the end
  good = good && sink_->open(a);
  archive_entry* entry = archive_entry_new();
  if (entry == nullptr) throw std::bad_alloc();
  archive_entry_set_filetype(entry, AE_IFREG);
  good = good && archive_write_header(a, entry) == ARCHIVE_OK;
  archive_entry_free(entry);
  check(good);
}

void Compressor::write(std::string_view text) {
  if (text.empty()) return;
  check(archive_write_data(handle_.get(), text.data(), text.size()) >= 0);
}

void Compressor::close() { check(archive_write_close(handle_.get()) == ARCHIVE_OK); }

void Compressor::check(bool good) const {
  sink_->rethrow();
  if (good) return;
  const char* message = archive_error_string(handle_.get());
  throw FileError(std::string("cannot be compressed: ") +
                  (message != nullptr ? message : "no reason given"));
}

bool made_of_streams(Compression compression) {
  return compression != Compression::none && compression != Compression::gzip;
}

void pack(Compression compression, std::string_view text, Array<char>& packed) {
  packed.clear();
  Compressor compressor(compression, [&](std::string_view bytes) {
    packed.insert(packed.end(), bytes.begin(), bytes.end());
  });
  compressor.write(text);
  compressor.close();
}

}  // namespace krysol
