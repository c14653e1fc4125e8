// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <stdexcept>

#include <krysol/report/spy.hpp>

#ifdef KRYSOL_HAVE_PNG
#include <png.h>
#endif

namespace krysol::report {

#ifdef KRYSOL_HAVE_PNG

bool has_png() { return true; }

std::string png_of(const Image& image) {
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(image.width);
  header.height = static_cast<png_uint_32>(image.height);
  header.format = PNG_FORMAT_GRAY;
  png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(header);
  std::string png(bytes, '\0');
  if (png_image_write_to_memory(&header, png.data(), &bytes, 0, image.gray.data(), 0, nullptr) ==
      0) {
    throw std::runtime_error(std::string("libpng: ") + header.message);
  }
  png.resize(bytes);
  return png;
}

#else

bool has_png() { return false; }

std::string png_of(const Image&) {
  throw std::runtime_error("this build has no libpng, so it writes no PNG files");
}

#endif

}  // namespace krysol::report
