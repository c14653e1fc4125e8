// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/bytes/archive_writer.hpp>

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <ctime>
#include <new>
#include <vector>

#include <fmt/core.h>

#include <krysol/io/bytes/archive_sink.hpp>
#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/bytes/source.hpp>

namespace krysol {
namespace {

/// 1980-01-01: some programs warn of files without a time, and zip knows none before.
constexpr std::time_t any_time = 315532800;

struct FreeEntry {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

}  // namespace

void ArchiveWriter::Free::operator()(archive* a) const {
  archive_write_fail(a);  // nothing more to the sink, which may be gone
  archive_write_free(a);
}

ArchiveWriter::ArchiveWriter(const std::filesystem::path& path, OutputOptions options)
    : name_(path == "-" ? "standard output" : path.string()),
      file_(path, options),
      sink_(std::make_unique<ArchiveSink>([this](std::string_view bytes) { file_.write(bytes); })),
      handle_(archive_write_new()) {
  if (handle_ == nullptr) throw std::bad_alloc();
  check(archive_write_set_format_pax_restricted(handle_.get()) == ARCHIVE_OK);
  check(sink_->open(handle_.get()));
}

ArchiveWriter::~ArchiveWriter() {
  sink_->drop();
  archive_write_close(handle_.get());
}

void ArchiveWriter::add(const std::string& name, const std::filesystem::path& file) {
  Source source(file);
  const std::unique_ptr<archive_entry, FreeEntry> entry(archive_entry_new());
  if (entry == nullptr) throw std::bad_alloc();
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_mtime(entry.get(), any_time, 0);
  archive_entry_set_size(entry.get(), source.size());
  check(archive_write_header(handle_.get(), entry.get()) == ARCHIVE_OK);
  std::vector<char> block(std::size_t{1} << 20);
  std::int64_t left = source.size();
  while (left > 0) {
    const auto wanted = static_cast<std::size_t>(
        std::min<std::int64_t>(left, static_cast<std::int64_t>(block.size())));
    const std::size_t got = source.read(block.data(), wanted);
    if (got == 0) throw FileError(source.name() + ": has been changed while it was read");
    check(archive_write_data(handle_.get(), block.data(), got) == static_cast<la_ssize_t>(got));
    left -= static_cast<std::int64_t>(got);
  }
}

void ArchiveWriter::commit() {
  check(archive_write_close(handle_.get()) == ARCHIVE_OK);
  file_.commit();
}

void ArchiveWriter::check(bool good) const {
  sink_->rethrow();
  if (good) return;
  const char* message = archive_error_string(handle_.get());
  throw FileError(fmt::format("{}: cannot be packed: {}", name_,
                              message != nullptr ? message : "no reason given"));
}

}  // namespace krysol
