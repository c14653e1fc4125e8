// What tests of the cache share: a folder with a source and its cache, and files compared by bits.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <krysol/io/bytes/stream.hpp>
#include <krysol/io/cache/cache.hpp>
#include <krysol/io/matrix_market/matrix_market.hpp>

#include "files.hpp"

namespace krysol_tests {

namespace fs = std::filesystem;

/// As if it had been written long ago, always at the same time: nothing is kept of a fresh source.
inline void age(const fs::path& path, std::chrono::seconds by = std::chrono::hours(1)) {
  static const auto now = fs::file_time_type::clock::now();
  fs::last_write_time(path, now - by);
}

template <class T>
bool same_bits(const krysol::Array<T>& a, const krysol::Array<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// All but what became of the cache, which cannot be the same.
inline bool same(const krysol::MatrixFile& a, const krysol::MatrixFile& b) {
  const auto properties = [](const krysol::FileInfo& i) {
    return std::tie(i.field, i.symmetry, i.array, i.stored_entries, i.rounded_integers, i.bytes,
                    i.text_bytes, i.repairs);
  };
  if (properties(a.info) != properties(b.info) || a.matrix.index() != b.matrix.index())
    return false;
  return std::visit(
      [&b](const auto& x) {
        const auto& y = std::get<std::decay_t<decltype(x)>>(b.matrix);
        return x.rows == y.rows && x.cols == y.cols && x.symmetry == y.symmetry &&
               same_bits(x.row_idx, y.row_idx) && same_bits(x.col_idx, y.col_idx) &&
               same_bits(x.values, y.values);
      },
      a.matrix);
}

inline bool starts_with(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

/// Sets a variable of the environment, or unsets it, as long as it lives.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    set(value);
  }
  ~Environment() { set(old_ ? old_->c_str() : nullptr); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  void set(const char* value) {
    if (value != nullptr) {
      ::setenv(name_, value, 1);
    } else {
      ::unsetenv(name_);
    }
  }
  const char* name_;
  std::optional<std::string> old_;
};

inline const char* const small_text =
    "%%MatrixMarket matrix coordinate real general\n3 4 4\n1 1 0.5\n3 4 -2e-3\n2 2 7\n1 1 1\n";

/// A source, read through a cache in a folder beside it.
class Caching {
 public:
  explicit Caching(std::string_view text = small_text) {
    std::string name = (fs::temp_directory_path() / "krysol_cache_XXXXXX").string();
    folder = ::mkdtemp(name.data());
    source = folder / "a.mtx";
    options.cache.use = true;
    options.cache.folder = folder / "caches";
    write_source(text);
  }
  ~Caching() { fs::remove_all(folder); }
  Caching(const Caching&) = delete;
  Caching& operator=(const Caching&) = delete;

  void write_source(std::string_view text) const {
    put(source, text);
    age(source);
  }

  krysol::MatrixFile read() {
    return krysol::read_through_cache(source, options, [this] {
      ++parsed;
      return parse();
    });
  }
  krysol::MatrixFile parse() const {
    return krysol::read_matrix_market(krysol::open_stream(source, options.max_text_bytes), options);
  }
  fs::path place() const { return krysol::cache_path(source, options); }

  /// Makes the cache; its bytes.
  std::string made() {
    read();
    return bytes_of(place());
  }

  /// Reads; empty where that gave the right matrix, and the cache was good (or was not, as is
  /// expected). Else, what happened.
  std::string wrong(bool expected_good) {
    const int before = parsed;
    const krysol::MatrixFile file = read();
    if (!same(file, parse())) return "another matrix: " + file.info.cache;
    const bool good = parsed == before;
    if (good != starts_with(file.info.cache, "read from ")) return "it says " + file.info.cache;
    return good == expected_good ? "" : file.info.cache;
  }

  fs::path folder;
  fs::path source;
  krysol::ReadOptions options;
  int parsed = 0;
};

}  // namespace krysol_tests
