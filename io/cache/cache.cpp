// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/cache/cache.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <new>
#include <optional>
#include <string_view>
#include <system_error>

#include <fmt/core.h>

#include <krysol/io/bytes/file.hpp>
#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/bytes/source.hpp>
#include <krysol/io/text/threads.hpp>

namespace krysol {
namespace {

namespace fs = std::filesystem;

/// The coarsest clock of a file system in use: that of FAT.
constexpr std::int64_t clock_step_ns = 2'000'000'000;

/// A writer that still works changes its file more often.
constexpr std::int64_t abandoned_after_s = 3600;

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool in_use(const CacheOptions& options) {
  const std::string_view wish = environment("KRYSOL_MATRIX_CACHE");
  return options.use || (!wish.empty() && wish != "off");
}

fs::path folder_of(const CacheOptions& options) {
  if (!options.folder.empty()) return options.folder;
  const std::string_view wish = environment("KRYSOL_MATRIX_CACHE");
  if (!wish.empty() && wish != "on" && wish != "off") return wish;
  const fs::path caches = user_cache_folder();
  if (!caches.empty()) return caches / "matrices";
  throw FileError("there is no folder for caches: neither KRYSOL_MATRIX_CACHE nor HOME is set");
}

std::int64_t now_ns() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since_1970).count();
}

std::int64_t to_ns(const struct timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// The device is left out: one file has another number on each machine of a cluster, or after the
/// next start, and an inode of the same path, times and size on another device is no accident.
void set_status(SourceIdentity& source, const struct stat& status) {
  source.bytes = static_cast<std::uint64_t>(status.st_size);
  source.inode = static_cast<std::uint64_t>(status.st_ino);
#ifdef __APPLE__
  source.modified = to_ns(status.st_mtimespec);
  source.changed = to_ns(status.st_ctimespec);
#else
  source.modified = to_ns(status.st_mtim);
  source.changed = to_ns(status.st_ctim);
#endif
}

bool same_status(const SourceIdentity& a, const SourceIdentity& b) {
  return a.bytes == b.bytes && a.inode == b.inode && a.modified == b.modified &&
         a.changed == b.changed;
}

/// An open source.
class OpenFile {
 public:
  explicit OpenFile(const fs::path& path)
      : name_(path.string()), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0) throw FileError(name_ + ": cannot be opened: " + reason(errno));
  }
  ~OpenFile() { ::close(file_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  Hash128 hash() const { return hash128_of_file(file_, name_); }
  void status(SourceIdentity& source) const {
    struct stat status {};
    if (::fstat(file_, &status) != 0) throw FileError(name_ + ": " + reason(errno));
    set_status(source, status);
  }

 private:
  std::string name_;
  int file_;
};

/// A name that any file system takes, and that tells a person whose cache it is.
std::string cache_name(const SourceIdentity& source) {
  std::string name = fs::path(source.path).filename().string().substr(0, 80);
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.";
  for (char& c : name) c = plain.find(c) != std::string_view::npos ? c : '_';
  return fmt::format("{}-{}.kmx", name, hex(hash128(source.path + '\n' + source.options)));
}

/// Why a cache is of no use; empty where it is good.
std::string objection(const CacheReader& cache, const SourceIdentity& now,
                      const fs::path& source_path, const ReadOptions& options) {
  const SourceIdentity& then = cache.source();
  if (then.path != now.path) return "is of another source";
  if (then.options != now.options) return "was made by other options";
  if (then.bytes != now.bytes) return "is stale, the source has another size";
  if (cache.info().text_bytes > options.max_text_bytes) return "holds more than is allowed";
  if (options.cache.verify) {
    if (identify_source(source_path, options, true).hash == then.hash) return {};
    return "is stale, the source has another hash";
  }
  if (then.modified != now.modified) return "is stale, the source was modified";
  if (!same_status(then, now)) return "is stale, the source was replaced or changed";
  return {};
}

/// What is wrong with the cache goes into `why`.
std::optional<MatrixFile> read_cache(const fs::path& place, const fs::path& source,
                                     const SourceIdentity& now, const ReadOptions& options,
                                     std::string& why) {
  const std::string name = "the one there";
  try {
    std::error_code ignored;
    if (!fs::exists(fs::symlink_status(place, ignored))) return std::nullopt;
    const CacheFile file(place, name);
    const CacheReader cache(file, name);
    const std::string objections = objection(cache, now, source, options);
    if (objections.empty()) return cache.matrix(reading_threads(options.threads));
    why = name + ": " + objections;
  } catch (const FileError& e) {
    why = e.what();
  } catch (const std::bad_alloc&) {
    why = name + ": does not fit the memory";
  }
  return std::nullopt;
}

void make_folder(const fs::path& folder) {
  std::error_code failed;
  // The sources may be confidential: only their owner may read the caches.
  if (fs::create_directories(folder, failed)) {
    fs::permissions(folder, fs::perms::owner_all, failed);
  }
  if (failed) {
    throw FileError(
        fmt::format("the folder {} cannot be made: {}", folder.string(), failed.message()));
  }
}

/// Throws whatever goes wrong.
void write_cache_of(const fs::path& place, const fs::path& source, const SourceIdentity& before,
                    std::int64_t began, const ReadOptions& options, const MatrixFile& file) {
  if (before.modified > began - clock_step_ns) {
    throw FileError("the source was modified less than two seconds before it was read");
  }
  const SourceIdentity now = identify_source(source, options, true);
  if (now.path != before.path || !same_status(now, before)) {
    throw FileError("the source changed while it was read");
  }
  make_folder(place.parent_path());
  std::error_code ignored;
  const auto there = fs::symlink_status(place, ignored);
  if (fs::exists(there) && !fs::is_regular_file(there)) {
    throw FileError(place.string() + " is no regular file");
  }
  remove_abandoned(place, abandoned_after_s);
  // Checksums find a cache that a power failure cut, so there is no need to wait for the disk.
  OutputFile out(place, {.permissions = 0600, .sync = false});
  write_cache(out, now, file, reading_threads(options.threads));
  out.commit();
}

}  // namespace

std::string options_key(const ReadOptions& options) {
  // Bindings name every member: one that is added must be looked at here. Those limits that stop
  // reading leave no cache, and `read_through_cache` holds a cache against them.
  const auto& [repair, index_base, wrong_triangle, junk, not_finite, duplicates, member,
               max_text_bytes, threads, low_memory, max_dense_values, cache] = options;
  const auto number = [](auto value) { return static_cast<int>(value); };
  return fmt::format(
      "repair={:d} index_base={} wrong_triangle={} junk={} not_finite={} duplicates={} member={}",
      repair, number(index_base), number(wrong_triangle), number(junk), number(not_finite),
      number(duplicates), member);
}

SourceIdentity identify_source(const fs::path& source, const ReadOptions& options, bool hashed) {
  const std::string name = source.string();
  struct stat status {};
  if (name == "-" || ::stat(source.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    throw FileError(name + ": is no regular file");
  }
  std::error_code failed;
  SourceIdentity found;
  found.path = fs::canonical(source, failed).string();
  if (failed) throw FileError(name + ": " + failed.message());
  found.options = options_key(options);
  set_status(found, status);
  if (!hashed) return found;
  const OpenFile file(source);
  found.hash = file.hash();
  SourceIdentity after = found;
  file.status(after);
  if (!same_status(found, after)) throw FileError(name + ": changed while it was read");
  return found;
}

fs::path cache_path(const fs::path& source, const ReadOptions& options) {
  return folder_of(options.cache) / cache_name(identify_source(source, options, false));
}

MatrixFile read_through_cache(const fs::path& source, const ReadOptions& options,
                              const std::function<MatrixFile()>& read) {
  if (!in_use(options.cache)) return read();
  const auto read_without = [&](const std::string& why) {
    MatrixFile file = read();
    file.info.cache = "not used: " + why;
    return file;
  };
  if constexpr (std::endian::native != std::endian::little) {
    return read_without("the numbers of this machine have another order of bytes");
  }
  const std::int64_t began = now_ns();
  SourceIdentity before;
  fs::path place;
  try {
    before = identify_source(source, options, false);
    place = folder_of(options.cache) / cache_name(before);
  } catch (const FileError& e) {
    return read_without(e.what());
  }
  std::string why;
  if (auto cached = read_cache(place, source, before, options, why)) {
    cached->info.cache = "read from " + place.string();
    return *std::move(cached);
  }
  MatrixFile file = read();
  try {
    write_cache_of(place, source, before, began, options, file);
    file.info.cache = "written to " + place.string();
    if (!why.empty()) file.info.cache += "; " + why;
  } catch (const std::exception& e) {
    file.info.cache = fmt::format("not written: {}", e.what());
  }
  return file;
}

}  // namespace krysol
