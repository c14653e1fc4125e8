// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/select/tuning_record.hpp>

#include <cstring>
#include <stdexcept>

#include <fmt/core.h>
#include <krysol/spmv/base/spaces.hpp>

namespace krysol {
namespace {

/// A sum over words of 32 bits, each mixed with its place: in any order the same. The mixing is
/// that of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014, DOI 10.1145/2660193.2660195).
struct HashWords {
  const char* bytes;
  void operator()(std::int64_t i, std::uint64_t& sum) const {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes + 4 * i, sizeof(word));
    std::uint64_t z = word + (static_cast<std::uint64_t>(i) + 1) * 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    sum += z ^ (z >> 31);
  }
};

template <class View>
std::uint64_t hash(const View& array) {
  const std::size_t bytes = array.extent(0) * sizeof(typename View::value_type);
  std::uint64_t sum = 0;
  Kokkos::parallel_reduce("krysol::fingerprint",
                          Kokkos::RangePolicy<Host, Kokkos::IndexType<std::int64_t>>(
                              0, static_cast<std::int64_t>(bytes / sizeof(std::uint32_t))),
                          HashWords{reinterpret_cast<const char*>(array.data())}, sum);
  return sum;
}

template <class S>
std::string entry_name() {
  const char* real = std::is_same_v<Real<S>, float> ? "float" : "double";
  return is_complex<S> ? fmt::format("complex<{}>", real) : real;
}

const FormatInfo* find_format(const std::vector<FormatInfo>& formats, std::string_view name) {
  const std::string_view base = name.substr(0, name.find(':'));
  for (const FormatInfo& f : formats) {
    if (f.name == base) return &f;
  }
  return nullptr;
}

bool looks_at_values(std::string_view name) {
  const auto formats = list_formats();
  const FormatInfo* format = find_format(formats, name);
  return format != nullptr && format->looks_at_values;
}

}  // namespace

template <class S>
MatrixFingerprint fingerprint(const HostCsr<S>& csr, bool with_values) {
  MatrixFingerprint f;
  f.rows = csr.rows;
  f.cols = csr.cols;
  f.nnz = csr.nnz();
  // Both arrays may hold the same words: the first hash is turned before they are added.
  f.pattern = 3 * hash(csr.row_ptr) + hash(csr.col_idx);
  if (with_values) f.values = hash(csr.values);
  return f;
}

template <class S, class Exec>
TuningRecord save(const FormatChoice& choice, const HostCsr<S>& csr, const SelectOptions& options) {
  TuningRecord saved;
  saved.entry = entry_name<S>();
  saved.space = Exec::name();
  saved.threads = Host().concurrency();
  saved.with_dot = options.with_dot;
  saved.matrix = fingerprint(csr, looks_at_values(choice.name));
  saved.choice = choice;
  saved.choice.reused = false;
  saved.choice.mismatch.clear();
  return saved;
}

template <class S, class Exec>
std::string mismatch(const TuningRecord& saved, const HostCsr<S>& csr) {
  const MatrixFingerprint& m = saved.matrix;
  const std::string& format = saved.choice.name;
  const auto formats = list_formats();
  if (find_format(formats, format) == nullptr) {
    return fmt::format("there is no format '{}' here", format);
  }
  if (saved.entry != entry_name<S>()) {
    return fmt::format("it is for entries of {}, these are {}", saved.entry, entry_name<S>());
  }
  if (saved.space != Exec::name()) {
    return fmt::format("it was made on {}, this is {}", saved.space, Exec::name());
  }
  if (m.rows != csr.rows || m.cols != csr.cols || m.nnz != csr.nnz()) {
    return fmt::format("it is for {} x {} with {} nonzeros, this matrix is {} x {} with {}", m.rows,
                       m.cols, m.nnz, csr.rows, csr.cols, csr.nnz());
  }
  const bool with_values = looks_at_values(format);
  const MatrixFingerprint here = fingerprint(csr, with_values);
  if (m.pattern != here.pattern) return "the nonzeros of this matrix are at other places";
  if (with_values && m.values != here.values) {
    return fmt::format("the values differ, and {} depends on them", format);
  }
  return {};
}

template <class S, class Exec>
std::unique_ptr<Operator<S, Exec>> select_format(const HostCsr<S>& csr,
                                                 const SelectOptions& options,
                                                 const TuningRecord& saved, FormatChoice& choice) {
  Kokkos::Timer clock;
  check(csr);
  std::string why = mismatch<S, Exec>(saved, csr);
  if (why.empty()) {
    try {
      auto op = detail::make_checked_operator<S, Exec>(saved.choice.name, csr, options.mirrored);
      Exec().fence();
      choice = saved.choice;
      choice.reused = true;
      choice.mismatch.clear();
      choice.reason = fmt::format("as saved; when it was measured: {}", saved.choice.reason);
      choice.seconds = clock.seconds();
      return op;
    } catch (const std::invalid_argument& e) {  // a refusal, or a variant that is not known here
      why = e.what();
    }
  }
  auto op = select_format<S, Exec>(csr, options, choice);
  choice.mismatch = std::move(why);
  choice.seconds = clock.seconds();
  return op;
}

namespace {

const FormatTrial* measured_trial(const FormatChoice& choice, std::string_view name) {
  for (const FormatTrial& t : choice.trials) {
    if (t.name == name && t.measured && t.seconds > 0) return &t;
  }
  return nullptr;
}

bool same_run(const TuningRecord& a, const TuningRecord& b) {
  return a.entry == b.entry && a.space == b.space && a.threads == b.threads &&
         a.with_dot == b.with_dot && a.matrix.rows == b.matrix.rows &&
         a.matrix.cols == b.matrix.cols && a.matrix.nnz == b.matrix.nnz &&
         a.matrix.pattern == b.matrix.pattern;
}

/// Puts in place of what was not measured now what was before, at the speed of now, where this run
/// found the same. False where nothing is new.
bool add_earlier(const FormatChoice& earlier, std::string_view base, FormatChoice& now) {
  const FormatTrial* const then_base = measured_trial(earlier, base);
  const FormatTrial* const now_base = measured_trial(now, base);
  if (then_base == nullptr || now_base == nullptr) return true;
  const double speed = now_base->seconds / then_base->seconds;
  bool any_new = earlier.name != now.name || !now.used_earlier;
  for (FormatTrial& t : now.trials) {
    const FormatTrial* before = measured_trial(earlier, t.name);
    if (t.measured) any_new = any_new || before == nullptr;
    if (t.measured || before == nullptr || !now.used_earlier) continue;
    t = *before;
    t.seconds *= speed;
  }
  return any_new;
}

}  // namespace

template <class S, class Exec>
std::unique_ptr<Operator<S, Exec>> select_format(const HostCsr<S>& csr,
                                                 const SelectOptions& options,
                                                 const TuningMemory& memory, FormatChoice& choice) {
  Kokkos::Timer clock;
  if (csr.nnz() < least_nnz_to_select || options.products < least_products_to_select ||
      !memory.recall || !memory.keep) {
    return select_format<S, Exec>(csr, options, choice);
  }
  check(csr);  // before a look at its arrays
  TuningRecord record = save<S, Exec>({}, csr, options);
  std::optional<TuningRecord> before = memory.recall(record);
  if (before && !same_run(*before, record)) before.reset();
  SelectOptions with_earlier = options;
  if (before) with_earlier.earlier = &before->choice;
  auto op = select_format<S, Exec>(csr, with_earlier, choice);
  choice.seconds = clock.seconds();
  record.choice = choice;
  if (!before || add_earlier(before->choice, "csr", record.choice)) memory.keep(record);
  return op;
}

#define KRYSOL_INSTANTIATE(S) template MatrixFingerprint fingerprint(const HostCsr<S>&, bool);
KRYSOL_FOR_EACH_SOLVED_ENTRY(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE
#define KRYSOL_INSTANTIATE(S, Exec)                                                 \
  template TuningRecord save<S, Exec>(const FormatChoice&, const HostCsr<S>&,       \
                                      const SelectOptions&);                        \
  template std::string mismatch<S, Exec>(const TuningRecord&, const HostCsr<S>&);   \
  template std::unique_ptr<Operator<S, Exec>> select_format(                        \
      const HostCsr<S>&, const SelectOptions&, const TuningRecord&, FormatChoice&); \
  template std::unique_ptr<Operator<S, Exec>> select_format(                        \
      const HostCsr<S>&, const SelectOptions&, const TuningMemory&, FormatChoice&);
KRYSOL_FOR_EACH_SOLVED_ENTRY_AND_SPACE(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
