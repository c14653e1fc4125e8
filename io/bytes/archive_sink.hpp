// Receives the bytes that libarchive produces.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <string_view>

struct archive;  // of libarchive

namespace krysol {

/// Exceptions must not cross libarchive, which is C: that of `take` is kept, and what comes after
/// it is dropped. Nor is libarchive told, because it would end half-way through a text, and look
/// for the rest later.
class ArchiveSink {
 public:
  explicit ArchiveSink(std::function<void(std::string_view)> take);
  ArchiveSink(const ArchiveSink&) = delete;
  ArchiveSink& operator=(const ArchiveSink&) = delete;

  /// False where libarchive refuses. `a` may not outlive this.
  bool open(archive* a);

  /// From here on nothing is handed over. What libarchive holds is freed where its stream ends, and
  /// nowhere else, so that one which is thrown away must be closed as well.
  void drop() { dropped_ = true; }

  /// What `take` has thrown.
  void rethrow() const;

 private:
  static std::ptrdiff_t call(archive* a, void* self, const void* data, std::size_t size) noexcept;

  std::function<void(std::string_view)> take_;
  std::exception_ptr error_;
  bool dropped_ = false;
};

}  // namespace krysol
