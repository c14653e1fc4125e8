// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/bytes/file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <system_error>

#include <fmt/core.h>

#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/bytes/source.hpp>

namespace krysol {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

/// What the temporary names of a file begin with. Its own name may be as long as names can be
/// already: that leaves room for the rest.
std::string temporary_stem(const std::filesystem::path& target) {
  return fmt::format(".{:.200}.", target.filename().string());
}

}  // namespace

void FileText::grow(std::size_t capacity) {
  auto* larger = static_cast<char*>(std::realloc(data_.get(), capacity));
  if (larger == nullptr) throw std::bad_alloc();
  static_cast<void>(data_.release());
  data_.reset(larger);
  capacity_ = capacity;
}

void fail_too_long(const std::string& name, std::int64_t max_text_bytes) {
  throw FileError(fmt::format(
      "{}: holds more than {} bytes of text, the limit set by ReadOptions::max_text_bytes", name,
      std::max<std::int64_t>(max_text_bytes, 0)));
}

FileText::FileText(std::string_view head, std::int64_t expected) {
  grow(std::max(static_cast<std::size_t>(std::max<std::int64_t>(expected, 0)), head.size()) + 2);
  std::copy(head.begin(), head.end(), data_.get());
  size_ = head.size();
  data_.get()[size_] = '\0';
}

bool FileText::append(const std::function<std::size_t(char*, std::size_t)>& read) {
  // Doubling keeps the copies of a growing buffer linear; one byte stays free for the NUL.
  if (size_ + 1 >= capacity_) grow(std::max(2 * capacity_, buffer_bytes));
  const std::size_t room = std::min(capacity_ - 1 - size_, 16 * buffer_bytes);
  const std::size_t got = read(data_.get() + size_, room);
  size_ += got;
  data_.get()[size_] = '\0';
  return got > 0;
}

namespace {

std::string handle_path(int file) { return fmt::format("/proc/self/fd/{}", file); }

/// Follows symbolic links one by one, as long as go_on(path).
template <class GoOn>
std::filesystem::path followed(std::filesystem::path path, const GoOn& go_on) {
  constexpr int most_links = 40;
  std::filesystem::path given = path;
  for (int link = 0; link < most_links; ++link) {
    std::error_code failed;
    if (!go_on(path) || !std::filesystem::is_symlink(path, failed)) return path;
    const auto to = std::filesystem::read_symlink(path, failed);
    if (failed) return path;
    path = to.is_absolute() ? to : path.parent_path() / to;
  }
  return given;
}

}  // namespace

int descriptor_of(const std::filesystem::path& path) {
  if (path == "-") return STDOUT_FILENO;
  std::error_code failed;
  const auto handles = std::filesystem::canonical("/proc/self/fd", failed);
  if (failed) return -1;
  const auto is_handle = [&](const std::filesystem::path& p) {
    std::error_code ignored;
    return std::filesystem::canonical(p.parent_path(), ignored) == handles && !ignored;
  };
  const auto end = followed(path, [&](const auto& p) { return !is_handle(p); });
  if (!is_handle(end)) return -1;
  const std::string number = end.filename().string();
  int descriptor = -1;
  const auto [last, error] =
      std::from_chars(number.data(), number.data() + number.size(), descriptor);
  return error == std::errc{} && last == number.data() + number.size() ? descriptor : -1;
}

std::filesystem::path behind_links(std::filesystem::path path) {
  return followed(std::move(path), [](const auto&) { return true; });
}

OutputFile::OutputFile(const std::filesystem::path& path, OutputOptions options)
    : options_(options),
      name_(path.string()),
      target_(path),
      compression_(options.compression.value_or(compression_of(path))) {
  if (name_ == "-") name_ = "standard output";
  descriptor_ = descriptor_of(path);
  if (descriptor_ >= 0) target_.clear();
  // Renaming onto a symbolic link would replace the link: follow it first.
  std::error_code ignored;
  target_ = behind_links(target_);
  const auto status = std::filesystem::status(target_, ignored);
  if (std::filesystem::is_directory(status)) fail("cannot be written", EISDIR);
  // Renaming onto a device or a pipe would replace it by a file.
  const bool special = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  try {
    open(special);
    if (!temporary_.empty() && std::filesystem::exists(status)) {
      ::fchmod(file_, static_cast<mode_t>(status.permissions()) & 07777);
    }
    buffer_.reserve(buffer_bytes);
  } catch (...) {
    discard();
    throw;
  }
}

OutputFile::~OutputFile() { discard(); }

void OutputFile::open(bool special) {
  if (descriptor_ >= 0) {
    const int mode = ::fcntl(descriptor_, F_GETFL);
    if (mode >= 0 && (mode & O_ACCMODE) == O_RDONLY) fail("cannot be opened for writing", EBADF);
    // Another number, so that closing it leaves the other open.
    file_ = ::fcntl(descriptor_, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  } else if (special) {
    file_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    open_temporary();
  }
  if (file_ < 0) fail("cannot be opened for writing", errno);
}

void OutputFile::name_temporary() {
  std::random_device random;
  temporary_ = target_;
  temporary_.replace_filename(fmt::format("{}{:08x}.tmp", temporary_stem(target_), random()));
}

void OutputFile::open_temporary() {
#if defined(O_TMPFILE)
  // A file without a name, where the file system has such: nothing is left of it if the program is
  // killed. It gets a name through /proc.
  const auto folder = target_.has_parent_path() ? target_.parent_path() : ".";
  file_ = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC,
                 static_cast<mode_t>(options_.permissions));
  if (file_ >= 0 && ::access(handle_path(file_).c_str(), F_OK) == 0) {
    nameless_ = true;
    name_temporary();
    return;
  }
  if (file_ >= 0) ::close(file_);
#endif
  for (int attempt = 0; attempt < 100; ++attempt) {
    name_temporary();
    // 0666 and not mkstemp's 0600: the umask decides who may read the result.
    file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                   static_cast<mode_t>(options_.permissions));
    if (file_ >= 0) return;
    if (errno != EEXIST) break;
  }
  const int error_number = errno;
  temporary_.clear();
  fail("cannot be written", error_number);
}

void OutputFile::write(std::string_view text) {
  if (file_ < 0) throw FileError(name_ + ": nothing can be written after it was committed");
  if (buffer_.size() + text.size() > buffer_bytes) flush();
  if (text.size() >= buffer_bytes / 16) {  // gathering saves nothing any more
    flush();
    put(text);
  } else {
    buffer_.append(text);
  }
}

void OutputFile::write_packed(std::string_view packed) {
  if (file_ < 0) throw FileError(name_ + ": nothing can be written after it was committed");
  flush();
  end_stream();
  write_bytes(packed);
}

void OutputFile::flush() {
  if (!buffer_.empty()) put(buffer_);
  buffer_.clear();
}

void OutputFile::put(std::string_view text) {
  if (compression_ == Compression::none) {
    write_bytes(text);
    return;
  }
  with_name([&] {
    if (stream_ == nullptr) {
      stream_ = std::make_unique<Compressor>(
          compression_, [this](std::string_view bytes) { write_bytes(bytes); });
    }
    stream_->write(text);
  });
}

void OutputFile::end_stream() {
  if (stream_ == nullptr) return;
  with_name([&] { stream_->close(); });
  stream_.reset();
}

/// A compressor does not know whose bytes it has.
template <class Counter>
void OutputFile::with_name(const Counter& work) const {
  try {
    work();
  } catch (const FileError& e) {
    const std::string what = e.what();
    if (what.starts_with(name_ + ": ")) throw;
    throw FileError(name_ + ": " + what);
  }
}

void OutputFile::write_bytes(std::string_view bytes) {
  bytes_written_ += static_cast<std::int64_t>(bytes.size());
  while (!bytes.empty()) {
    const ssize_t n = ::write(file_, bytes.data(), std::min(bytes.size(), std::size_t{1} << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot be written", errno);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void OutputFile::link_temporary() {
  for (int attempt = 0; attempt < 100; ++attempt) {
    if (::linkat(AT_FDCWD, handle_path(file_).c_str(), AT_FDCWD, temporary_.c_str(),
                 AT_SYMLINK_FOLLOW) == 0) {
      nameless_ = false;
      return;
    }
    if (errno != EEXIST) break;
    name_temporary();
  }
  fail("cannot be written", errno);
}

void OutputFile::commit() {
  if (file_ < 0) throw FileError(name_ + ": was committed already");
  flush();
  if (bytes_written_ == 0) put({});  // of no text too there is a compressed form
  end_stream();
  // Pipes and terminals cannot be synced; that is no error.
  if (options_.sync && ::fsync(file_) != 0 && !temporary_.empty()) fail("cannot be written", errno);
  if (nameless_) link_temporary();
  const int closed = ::close(file_);
  file_ = -1;
  if (closed != 0) fail("cannot be written", errno);
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot be renamed into", errno);
  temporary_.clear();
  if (!options_.sync) return;
  // The new name lasts through a power failure once its folder is on the disk, where the file
  // system can do that.
  const auto folder = target_.has_parent_path() ? target_.parent_path() : ".";
  const int handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (handle >= 0) {
    ::fsync(handle);
    ::close(handle);
  }
}

void OutputFile::discard() noexcept {
  stream_.reset();
  if (file_ >= 0) ::close(file_);
  file_ = -1;
  if (!temporary_.empty() && !nameless_) ::unlink(temporary_.c_str());
  nameless_ = false;
  temporary_.clear();
}

void OutputFile::fail(const std::string& what, int error_number) const {
  throw FileError(fmt::format("{}: {}: {}", name_, what, reason(error_number)));
}

void remove_abandoned(const std::filesystem::path& path, std::int64_t age_s) {
  namespace fs = std::filesystem;
  const std::string stem = temporary_stem(path);
  const auto before = fs::file_time_type::clock::now() - std::chrono::seconds(age_s);
  const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    const fs::path name = at->path().filename();
    if (name.extension() != ".tmp" || name.string().compare(0, stem.size(), stem) != 0) continue;
    std::error_code gone;
    if (at->last_write_time(gone) < before && !gone) fs::remove(at->path(), gone);
  }
}

std::filesystem::path user_cache_folder() {
  const auto folder = [](const char* name) {
    const char* value = std::getenv(name);
    const std::filesystem::path path = value != nullptr ? value : "";
    return path.is_absolute() ? path : std::filesystem::path{};
  };
  if (const auto caches = folder("XDG_CACHE_HOME"); !caches.empty()) return caches / "krysol";
  if (const auto home = folder("HOME"); !home.empty()) return home / ".cache" / "krysol";
  return {};
}

}  // namespace krysol
