// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/analysis/entries.hpp>

#include <bit>
#include <cstdint>
#include <utility>

#include <krysol/spmv/matrix/properties.hpp>

namespace krysol::analysis {
namespace {

void count(Tally& t, std::int64_t i) {
  if (t.count++ == 0) t.first = i;
}
/// Rows of `o` come after those of `t`.
void join(Tally& t, const Tally& o) {
  if (t.count == 0) t.first = o.first;
  t.count += o.count;
}

/// Sums for A - B; squares are those of numbers divided by `unit`.
struct Difference {
  std::int64_t matched = 0;
  double largest = 0;
  Place where;
  double square = 0;

  void add(const Place& place, bool stored, double size, double unit) {
    if (stored && size == 0) ++matched;
    if (size > largest) {
      largest = size;
      where = place;
    }
    square += (size / unit) * (size / unit);
  }
  void operator+=(const Difference& o) {
    matched += o.matched;
    if (o.largest > largest) {
      largest = o.largest;
      where = o.where;
    }
    square += o.square;
  }
};

struct Differences {
  std::int64_t off_diagonal = 0;
  std::int64_t mirrored = 0;
  Place unmirrored;
  double square = 0;
  Difference symmetric;
  Difference hermitian;
  Difference skew;

  void operator+=(const Differences& o) {
    off_diagonal += o.off_diagonal;
    mirrored += o.mirrored;
    if (!unmirrored.known()) unmirrored = o.unmirrored;
    square += o.square;
    symmetric += o.symmetric;
    hermitian += o.hermitian;
    skew += o.skew;
  }
};

Mirror mirror_of(const Difference& d, double square) {
  return {d.matched, d.largest, d.where, square > 0 ? std::sqrt(d.square / square) : 0};
}

struct DiagonalPart {
  Diagonal d;
  bool any = false;

  void add(std::int64_t i, bool stored, double real, double imaginary, Dominance dominance) {
    if (!stored) {
      count(d.missing, i);
    } else if (real > 0) {
      ++d.positive;
    } else if (real < 0) {
      count(d.negative, i);
    } else {
      count(d.zero, i);
    }
    if (imaginary != 0) count(d.not_real, i);
    d.smallest = any ? std::min(d.smallest, real) : real;
    d.largest = any ? std::max(d.largest, real) : real;
    any = true;
    if (dominance == Dominance::strict) {
      ++d.dominant;
    } else if (dominance == Dominance::equal) {
      ++d.balanced;
    } else {
      count(d.not_dominant, i);
    }
  }
  void operator+=(const DiagonalPart& o) {
    if (!o.any) return;
    d.smallest = any ? std::min(d.smallest, o.d.smallest) : o.d.smallest;
    d.largest = any ? std::max(d.largest, o.d.largest) : o.d.largest;
    any = true;
    d.positive += o.d.positive;
    join(d.negative, o.d.negative);
    join(d.zero, o.d.zero);
    join(d.missing, o.d.missing);
    join(d.not_real, o.d.not_real);
    d.dominant += o.d.dominant;
    d.balanced += o.d.balanced;
    join(d.not_dominant, o.d.not_dominant);
  }
};

struct Extremes {
  std::int64_t zeros = 0;
  std::int64_t not_finite = 0;
  double smallest = std::numeric_limits<double>::infinity();
  double largest = -std::numeric_limits<double>::infinity();
  double smallest_magnitude = std::numeric_limits<double>::infinity();
  double largest_magnitude = 0;
  double longest_row = 0;  // max over rows of sum |a(i,j)|

  void operator+=(const Extremes& o) {
    zeros += o.zeros;
    not_finite += o.not_finite;
    smallest = std::min(smallest, o.smallest);
    largest = std::max(largest, o.largest);
    smallest_magnitude = std::min(smallest_magnitude, o.smallest_magnitude);
    largest_magnitude = std::max(largest_magnitude, o.largest_magnitude);
    longest_row = std::max(longest_row, o.longest_row);
  }
};

template <class S>
Extremes extremes_of(const HostCsr<S>& a) {
  return over_rows<Extremes>("krysol::extremes", a.rows, [&](std::int64_t i, Extremes& e) {
    const auto row = static_cast<std::size_t>(i);
    double sum = 0;
    for (Offset k = a.row_ptr(row); k < a.row_ptr(row + 1); ++k) {
      const S v = a.values(static_cast<std::size_t>(k));
      const double size = magnitude(v);
      const auto real = static_cast<double>(real_part(v));
      if (!std::isfinite(size)) ++e.not_finite;
      if (size == 0) ++e.zeros;
      if (size > 0) e.smallest_magnitude = std::min(e.smallest_magnitude, size);
      e.largest_magnitude = std::max(e.largest_magnitude, size);
      e.smallest = std::min(e.smallest, real);
      e.largest = std::max(e.largest, real);
      sum += size;
    }
    e.longest_row = std::max(e.longest_row, sum);
  });
}

/// The bits of a value, real part first; those of -0 are 0's.
using Bits = std::pair<std::uint64_t, std::uint64_t>;

std::uint64_t bits_of_number(double v) { return v == 0 ? 0 : std::bit_cast<std::uint64_t>(v); }

template <class S>
Bits bits_of(const S& v) {
  return {bits_of_number(static_cast<double>(real_part(v))),
          bits_of_number(static_cast<double>(imaginary_part(v)))};
}

/// Different values, and the one that stands most often; of several the smallest by its bits.
struct Repetition {
  std::int64_t distinct = 0;
  std::int64_t most_frequent = 0;
  Bits frequent;

  void add(const Bits& value, std::int64_t places) {
    ++distinct;
    if (places > most_frequent || (places == most_frequent && value < frequent)) {
      most_frequent = places;
      frequent = value;
    }
  }
  void operator+=(const Repetition& o) {
    if (o.distinct == 0) return;
    const std::int64_t before = distinct;
    add(o.frequent, o.most_frequent);
    distinct = before + o.distinct;
  }
};

Repetition repetition_in(Bits* begin, Bits* end) {
  std::sort(begin, end);
  Repetition out;
  while (begin != end) {
    const Bits* last = begin;
    while (last != end && *last == *begin) ++last;
    out.add(*begin, last - begin);
    begin += last - begin;
  }
  return out;
}

/// Values are dealt into buckets by a hash, so that equal ones meet and a bucket is sorted in a
/// core's cache.
template <class S>
Repetition repetition_of(const HostCsr<S>& a) {
  constexpr std::size_t buckets = 1024;
  const auto bucket_of = [](const Bits& b) {
    const std::uint64_t h = (b.first ^ (b.second * 0x9E3779B97F4A7C15U)) * 0xD6E8FEB86659FD93U;
    return static_cast<std::size_t>(h >> 54U);
  };
  const auto nnz = static_cast<std::size_t>(a.nnz());
  std::vector<std::size_t> ends(buckets + 1, 0);
  for (std::size_t k = 0; k < nnz; ++k) ++ends[bucket_of(bits_of(a.values(k))) + 1];
  for (std::size_t b = 0; b < buckets; ++b) ends[b + 1] += ends[b];
  std::vector<std::size_t> next(ends.begin(), ends.end() - 1);
  Array<Bits> dealt(nnz);
  for (std::size_t k = 0; k < nnz; ++k) {
    const Bits bits = bits_of(a.values(k));
    dealt[next[bucket_of(bits)]++] = bits;
  }
  std::vector<Repetition> parts(buckets);
  host_for_much("krysol::repetition", static_cast<std::int64_t>(buckets), a.nnz(),
                [&](std::int64_t b) {
                  const auto at = static_cast<std::size_t>(b);
                  parts[at] = repetition_in(dealt.data() + ends[at], dealt.data() + ends[at + 1]);
                });
  Repetition out;
  for (const Repetition& part : parts) out += part;
  return out;
}

template <class S>
double frobenius(const HostCsr<S>& a, double unit) {
  if (!(unit > 0)) return 0;
  const auto square =
      over_rows<double>("krysol::frobenius", a.rows, [&](std::int64_t i, double& sum) {
        const auto row = static_cast<std::size_t>(i);
        for (Offset k = a.row_ptr(row); k < a.row_ptr(row + 1); ++k) {
          const double size = magnitude(a.values(static_cast<std::size_t>(k))) / unit;
          sum += size * size;
        }
      });
  return unit * std::sqrt(square);
}

struct SumPart {
  RowSums s;
  bool rounding_alone = true;

  void operator+=(const SumPart& o) {
    s.largest = std::max(s.largest, o.s.largest);
    s.relative = std::max(s.relative, o.s.relative);
    s.zero += o.s.zero;
    rounding_alone = rounding_alone && o.rounding_alone;
  }
};

}  // namespace

template <class S>
SymmetryProperties symmetry_of(const HostCsr<S>& a, const HostCsr<S>& transposed,
                               double largest_magnitude) {
  const double unit = largest_magnitude > 0 ? largest_magnitude : 1;
  const auto body = [&](std::int64_t i, Differences& d) {
    for_each_pair(a, transposed, i, [&](Index j, const S* stored, const S* image) {
      const Place place{i, j};
      const S v = stored == nullptr ? S(0) : *stored;
      const S w = image == nullptr ? S(0) : *image;
      d.symmetric.add(place, stored != nullptr, magnitude(v - w), unit);
      d.hermitian.add(place, stored != nullptr, magnitude(v - conjugate(w)), unit);
      d.skew.add(place, stored != nullptr, magnitude(v + w), unit);
      if (stored == nullptr) return;
      d.square += (magnitude(v) / unit) * (magnitude(v) / unit);
      if (i == j) return;
      ++d.off_diagonal;
      if (image != nullptr) {
        ++d.mirrored;
      } else if (!d.unmirrored.known()) {
        d.unmirrored = place;
      }
    });
  };
  const auto d = over_rows<Differences>("krysol::symmetry", a.rows, body);
  SymmetryProperties out;
  out.off_diagonal = d.off_diagonal;
  out.mirrored = d.mirrored;
  out.unmirrored = d.unmirrored;
  out.symmetric = mirror_of(d.symmetric, d.square);
  out.hermitian = mirror_of(d.hermitian, d.square);
  out.skew = mirror_of(d.skew, d.square);
  const MatrixProperties<S> properties = analyze(a);
  out.nearly_hermitian = properties.symmetric;
  out.asymmetry = properties.asymmetry;
  out.asymmetric = {properties.asymmetric_row, properties.asymmetric_col};
  return out;
}

template <class S>
Diagonal diagonal_of(const HostCsr<S>& a) {
  const std::int64_t length = std::min(a.rows, a.cols);
  const auto body = [&](std::int64_t i, DiagonalPart& part) {
    const Index* const begin = a.col_idx.data() + a.row_ptr(static_cast<std::size_t>(i));
    const Index* const end = a.col_idx.data() + a.row_ptr(static_cast<std::size_t>(i) + 1);
    const Index* const at = std::lower_bound(begin, end, static_cast<Index>(i));
    const bool stored = at != end && *at == i;
    const S v = stored ? a.values(static_cast<std::size_t>(at - a.col_idx.data())) : S(0);
    part.add(i, stored, static_cast<double>(real_part(v)), static_cast<double>(imaginary_part(v)),
             dominance_of_row(a, i));
  };
  Diagonal out = over_rows<DiagonalPart>("krysol::diagonal", length, body).d;
  out.length = length;
  return out;
}

template <class S>
Values values_of(const HostCsr<S>& a, const HostCsr<S>& transposed) {
  Values out;
  out.complex = is_complex<S>;
  if (a.nnz() == 0) return out;
  const Extremes e = extremes_of(a);
  const Repetition r = repetition_of(a);
  out.distinct = r.distinct;
  out.most_frequent = r.most_frequent;
  out.frequent_real = std::bit_cast<double>(r.frequent.first);
  out.frequent_imaginary = std::bit_cast<double>(r.frequent.second);
  out.zeros = e.zeros;
  out.not_finite = e.not_finite;
  out.smallest = e.smallest;
  out.largest = e.largest;
  out.smallest_magnitude = e.largest_magnitude > 0 ? e.smallest_magnitude : 0;
  out.largest_magnitude = e.largest_magnitude;
  out.norm_inf = e.longest_row;
  out.norm_1 = extremes_of(transposed).longest_row;
  out.norm_frobenius = frobenius(a, e.largest_magnitude);
  return out;
}

template <class S>
RowSums row_sums_of(const HostCsr<S>& a) {
  constexpr double eps = std::numeric_limits<double>::epsilon();
  const auto body = [&](std::int64_t i, SumPart& part) {
    const auto row = static_cast<std::size_t>(i);
    S sum(0);
    double size = 0;
    for (Offset k = a.row_ptr(row); k < a.row_ptr(row + 1); ++k) {
      const S v = a.values(static_cast<std::size_t>(k));
      sum += v;
      size += magnitude(v);
    }
    const double total = magnitude(sum);
    const auto length = static_cast<double>(a.row_ptr(row + 1) - a.row_ptr(row));
    part.s.largest = std::max(part.s.largest, total);
    if (size > 0) part.s.relative = std::max(part.s.relative, total / size);
    if (row_sum_is_zero(a, i)) ++part.s.zero;
    if (!(total <= 2 * eps * length * size)) part.rounding_alone = false;
  };
  const auto part = over_rows<SumPart>("krysol::row_sums", a.rows, body);
  RowSums out = part.s;
  out.null_vector = part.rounding_alone && a.cols > 0;
  return out;
}

#define KRYSOL_INSTANTIATE(S)                                                            \
  template SymmetryProperties symmetry_of(const HostCsr<S>&, const HostCsr<S>&, double); \
  template Diagonal diagonal_of(const HostCsr<S>&);                                      \
  template Values values_of(const HostCsr<S>&, const HostCsr<S>&);                       \
  template RowSums row_sums_of(const HostCsr<S>&);
KRYSOL_INSTANTIATE(double)
KRYSOL_INSTANTIATE(Kokkos::complex<double>)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol::analysis
