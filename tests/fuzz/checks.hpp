// What holds for everything that io reads, whatever the bytes: the fuzz targets and the replay of
// their inputs ask for it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/bytes/source.hpp>
#include <krysol/io/matrix_market/matrix_market.hpp>
#include <krysol/io/model/matrix_file.hpp>

namespace krysol_fuzz {

using Complex = std::complex<double>;

/// A promise that does not hold. Not a FileError, so nobody takes it for one.
class Broken : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

inline void require(bool holds, const char* promise) {
  if (!holds) throw Broken(promise);
}

/// A number that depends on all bytes: picks what would take too long to be tried in full.
inline std::uint32_t whim(std::string_view bytes) { return krysol::crc32(bytes); }

/// Small, so that a claim that is believed shows at once.
inline krysol::ReadOptions small_options(bool repair) {
  krysol::ReadOptions options;
  options.repair = repair;
  options.threads = 1;
  options.max_text_bytes = std::int64_t{1} << 20;
  options.max_dense_values = std::int64_t{1} << 16;
  return options;
}

/// A result, or what was said instead. Only a FileError may be thrown.
template <class Result>
struct Outcome {
  std::optional<Result> result;
  std::string message;
};

template <class Body>
auto outcome_of(const Body& body) {
  Outcome<decltype(body())> outcome;
  try {
    outcome.result = body();
  } catch (const krysol::FileError& error) {
    outcome.message = error.what();
  }
  return outcome;
}

inline bool is_finite(double v) { return std::isfinite(v); }
inline bool is_finite(Complex v) { return std::isfinite(v.real()) && std::isfinite(v.imag()); }
inline bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}
inline bool same_bits(Complex a, Complex b) {
  return same_bits(a.real(), b.real()) && same_bits(a.imag(), b.imag());
}

template <class T>
void require_sound(const krysol::Triplets<T>& a) {
  using krysol::Symmetry;
  require(a.rows >= 0 && a.cols >= 0, "sizes are not negative");
  require(a.row_idx.size() == a.values.size() && a.col_idx.size() == a.values.size(),
          "arrays are of one length");
  require(a.symmetry == Symmetry::general || a.rows == a.cols, "a symmetric matrix is square");
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    const auto i = a.row_idx[k];
    const auto j = a.col_idx[k];
    require(i >= 0 && i < a.rows && j >= 0 && j < a.cols, "entries lie inside the matrix");
    require(is_finite(a.values[k]), "values are finite");
    if (a.symmetry == Symmetry::general) continue;
    require(i >= j, "one triangle is stored, the lower one");
    require(i > j || a.symmetry != Symmetry::skew_symmetric, "a skew diagonal is not stored");
    require(i > j || a.symmetry != Symmetry::hermitian || std::imag(a.values[k]) == 0,
            "a hermitian diagonal is real");
  }
}

inline void require_sound(const krysol::DenseFile& file) {
  require(file.rows >= 0 && file.cols >= 0, "sizes of vectors are not negative");
  const auto places = static_cast<std::size_t>(std::int64_t{file.rows} * file.cols);
  std::visit([&](const auto& v) { require(v.size() == places, "vectors are full"); }, file.values);
}

inline void require_sound(const krysol::MatrixFile& file) {
  std::visit([](const auto& a) { require_sound(a); }, file.matrix);
  for (const auto* v : {&file.attached.rhs, &file.attached.guess, &file.attached.solution}) {
    if (v->cols > 0) require_sound(*v);
  }
}

template <class T>
bool same(const krysol::Triplets<T>& a, const krysol::Triplets<T>& b) {
  if (a.rows != b.rows || a.cols != b.cols || a.symmetry != b.symmetry) return false;
  if (a.row_idx != b.row_idx || a.col_idx != b.col_idx) return false;
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    if (!same_bits(a.values[k], b.values[k])) return false;
  }
  return true;
}

inline bool same(const krysol::MatrixFile& a, const krysol::MatrixFile& b) {
  return std::visit(
      [](const auto& x, const auto& y) {
        if constexpr (std::is_same_v<decltype(x), decltype(y)>) return same(x, y);
        return false;
      },
      a.matrix, b.matrix);
}

/// Both read the same, or say the same.
inline bool same(const Outcome<krysol::MatrixFile>& a, const Outcome<krysol::MatrixFile>& b) {
  if (a.result && b.result) return same(*a.result, *b.result);
  return a.result.has_value() == b.result.has_value() && a.message == b.message;
}

/// A folder of this process that goes when it ends; in TMPDIR.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "krysol_fuzz_XXXXXX").string();
    require(::mkdtemp(name.data()) != nullptr, "there is a folder for temporary files");
    path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  static std::filesystem::path file(const std::string& name) {
    static const Scratch scratch;
    return scratch.path_ / name;
  }
  static std::filesystem::path put(const std::string& name, std::string_view bytes) {
    const auto path = file(name);
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
    return path;
  }

 private:
  std::filesystem::path path_;
};

/// What is written reads back to the same bits.
inline void require_round_trip(const krysol::MatrixFile& file) {
  const auto path = Scratch::file("written.mtx");
  std::visit(
      [&]<class T>(const krysol::Triplets<T>& a) {
        krysol::write_matrix(path, a);
        const krysol::FileText text = krysol::read_text(path, std::int64_t{1} << 30);
        const auto again = krysol::parse_matrix(text.view(), path.string());
        require(again.info.repairs.empty(), "what is written needs no repair");
        require(same(a, std::get<krysol::Triplets<T>>(again.matrix)),
                "what is written reads back the same");
      },
      file.matrix);
}

/// Of one text as it is read without and with repairs: what is read is sound, can be written, and
/// is not changed where nothing is wrong.
inline void require_of_modes(const Outcome<krysol::MatrixFile>& strict,
                             const Outcome<krysol::MatrixFile>& repaired) {
  if (strict.result) {
    require_sound(*strict.result);
    require(repaired.result && same(*strict.result, *repaired.result), "nothing sound is repaired");
  }
  if (repaired.result) {
    require_sound(*repaired.result);
    require_round_trip(*repaired.result);
  }
}

}  // namespace krysol_fuzz
