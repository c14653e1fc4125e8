// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/bytes/archive_sink.hpp>

#include <archive.h>

#include <utility>

namespace krysol {

ArchiveSink::ArchiveSink(std::function<void(std::string_view)> take) : take_(std::move(take)) {}

bool ArchiveSink::open(archive* a) {
  return archive_write_open(a, this, nullptr, call, nullptr) == ARCHIVE_OK;
}

void ArchiveSink::rethrow() const {
  if (error_) std::rethrow_exception(error_);
}

la_ssize_t ArchiveSink::call(archive*, void* self, const void* data, std::size_t size) noexcept {
  auto& sink = *static_cast<ArchiveSink*>(self);
  if (!sink.dropped_) {
    try {
      sink.take_({static_cast<const char*>(data), size});
    } catch (...) {
      sink.error_ = std::current_exception();
      sink.dropped_ = true;
    }
  }
  return static_cast<la_ssize_t>(size);
}

}  // namespace krysol
