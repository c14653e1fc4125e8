// What formats ask of a matrix before anything is converted, and what they answer.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <any>
#include <functional>
#include <string>
#include <typeindex>
#include <unordered_map>
#include <utility>
#include <variant>

#include <krysol/spmv/matrix/host_csr.hpp>

namespace krysol {

/// The time for a byte of a format over that for a byte of csr, where csr sums rows in the lanes of
/// registers and the format does not, and all stays in the caches: as seen on a Xeon with AMX,
/// whose instruction that gathers is fast, and on Zen 4, where entries of x are loaded one by one.
double over_csr_in_lanes();

/// What a format would cost for a matrix, without converting it. A format states it beside itself:
///
///     static FormatEstimate estimate(const MatrixProfile& matrix);
///
/// which must not depend on its entry type and space otherwise than through the profile. One that
/// states nothing is taken to read what csr reads.
struct FormatEstimate {
  std::int64_t bytes = 0;  // of its arrays, at least, that a multiplication reads
  std::string refusal{};  // a sentence why from_csr would refuse, or what makes it pointless on any
                          // processor; never how fast another format was somewhere. Else empty
  std::string
      variant{};  // what from_csr would choose, so that it need not be found again; or empty
  bool shares_csr = false;  // its arrays are those of csr: there is next to nothing to convert
  double conversion = 1;    // its time over that of moving each entry once, as most formats do
  double cached = over_csr_in_lanes();  // time for a byte of it over that for a byte of csr, where
                                        // all stays in the caches: as seen on a processor or two,
                                        // so it rules nothing out, but tells what to try first
};

/// A matrix of the host, as the estimates of all formats look at it. What takes a pass over the
/// matrix is computed when it is first asked for, and once. The matrix must outlive the profile.
/// For one thread.
class MatrixProfile {
 public:
  /// `host`: the operator is to be in the memory of a host's cores, not of a device.
  template <class S>
  MatrixProfile(const HostCsr<S>& a, bool host)
      : matrix_(std::cref(a)),
        host_(host),
        rows_(a.rows),
        cols_(a.cols),
        nnz_(a.nnz()),
        entry_(sizeof(S)),
        csr_bytes_(krysol::bytes(a)) {}

  bool on_host() const { return host_; }
  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Offset nnz() const { return nnz_; }
  const Offset* row_ptr() const;                       // [rows + 1]
  const Index* col_idx() const;                        // [nnz]
  std::int64_t entry_bytes() const { return entry_; }  // a value
  std::int64_t slot_bytes() const {
    return entry_ + std::int64_t{sizeof(Index)};
  }  // and its column
  std::int64_t csr_bytes() const { return csr_bytes_; }
  /// Of x read and y written, whatever the format.
  std::int64_t vector_bytes() const { return (std::int64_t{rows_} + cols_) * entry_; }

  /// Entries of a row; 0 for a matrix without rows.
  double mean_row() const;
  /// FormatEstimate::cached of a format that takes so many times the time of csr for its bytes.
  double per_byte(double time_over_csr, std::int64_t bytes) const {
    return time_over_csr * static_cast<double>(csr_bytes_) /
           static_cast<double>(std::max<std::int64_t>(bytes, 1));
  }
  /// The share of the time of csr that its bytes alone take at least, where they leave the second
  /// level of the caches; 0.95 until that was measured.
  double reading_share() const { return reading_share_; }
  void set_reading_share(double measured) { reading_share_ = measured; }
  /// Entries of the longest row. One pass over row_ptr.
  Index longest_row() const;

  /// f(matrix), with the matrix in its own entry type.
  template <class F>
  decltype(auto) visit(const F& f) const {
    return std::visit([&f](const auto& a) -> decltype(auto) { return f(a.get()); }, matrix_);
  }
  /// What compute() returns, which is called once for each type of result: a measure that several
  /// formats need, or one of them several times, has a type of its own.
  template <class Compute>
  const auto& once(const Compute& compute) const {
    using Measure = std::decay_t<decltype(compute())>;
    std::any& known = known_[typeid(Measure)];
    if (!known.has_value()) known = compute();
    return std::any_cast<const Measure&>(known);
  }

 private:
  template <class S>
  using Reference = std::reference_wrapper<const HostCsr<S>>;

  std::variant<Reference<float>, Reference<double>, Reference<Kokkos::complex<float>>,
               Reference<Kokkos::complex<double>>>
      matrix_;
  bool host_;
  Index rows_;
  Index cols_;
  Offset nnz_;
  std::int64_t entry_;
  std::int64_t csr_bytes_;
  double reading_share_ = 0.95;
  mutable std::unordered_map<std::type_index, std::any> known_;
};

/// "1.5 MB".
std::string in_megabytes(std::int64_t bytes);

/// "12.0 MB against 8.0 MB of csr" where `mine` is more than `factor` times `other`; else empty.
std::string refuse_more_than(std::int64_t mine, double factor, std::int64_t other,
                             std::string_view whose);

}  // namespace krysol
