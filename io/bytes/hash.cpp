// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/bytes/hash.hpp>

#define XXH_INLINE_ALL  // no library to link
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>

#include <fmt/core.h>

#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/bytes/source.hpp>
#include <krysol/spmv/base/array.hpp>

namespace krysol {
namespace {

static_assert(XXH_VERSION_NUMBER >= 800, "XXH3 has its final values from xxHash 0.8.0 on");

Hash128 to_bytes(XXH128_hash_t hash) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  Hash128 bytes;
  std::copy(std::begin(canonical.digest), std::end(canonical.digest), bytes.begin());
  return bytes;
}

}  // namespace

std::uint64_t hash64(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

Hash128 hash128(std::string_view bytes) {
  return to_bytes(XXH3_128bits(bytes.data(), bytes.size()));
}

Hash128 hash128_of_file(int file, const std::string& name) {
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  const std::unique_ptr<XXH3_state_t, Free> state(XXH3_createState());
  if (state == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset(state.get());
  Array<char> block(std::size_t{256} << 10);  // stays in the second cache
  for (::off_t at = 0;;) {
    const ssize_t n = ::pread(file, block.data(), block.size(), at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw FileError(name + ": cannot be read: " + reason(errno));
    if (n == 0) return to_bytes(XXH3_128bits_digest(state.get()));
    XXH3_128bits_update(state.get(), block.data(), static_cast<std::size_t>(n));
    at += n;
  }
}

std::string hex(const Hash128& hash) {
  std::string text;
  for (const unsigned byte : hash) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace krysol
