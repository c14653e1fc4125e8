// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/analysis/analysis.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <krysol/analysis/definiteness.hpp>
#include <krysol/analysis/entries.hpp>
#include <krysol/analysis/spectra.hpp>
#include <krysol/analysis/structure.hpp>

namespace krysol::analysis {

double MatrixReport::density() const {
  if (rows == 0 || cols == 0) return 0;
  return static_cast<double>(nnz) / (static_cast<double>(rows) * static_cast<double>(cols));
}

std::int64_t MatrixReport::rank_at_most() const {
  return std::min(rows - row_lengths.empty.count, cols - col_lengths.empty.count);
}

namespace {

/// A rectangle may have many more columns than nonzeros, and then they are left out.
template <class S>
HostCsr<S> few_columns(const HostCsr<S>& a, Columns& columns) {
  constexpr std::int64_t few = 1 << 20;
  columns.cols = a.cols;
  if (a.rows == a.cols || a.cols <= few || a.cols / 4 <= a.nnz()) return a;
  return without_empty_columns(a, columns.kept);
}

/// Of the rows and columns of `kept`, which are fewer than A's.
void count_empty_columns(std::int64_t empty, Components& c) {
  c.count += empty;
  c.isolated += empty;
  if (empty > 0) c.largest = std::max<std::int64_t>(1, c.largest);
}

}  // namespace

template <class S>
MatrixReport matrix_report_of(const HostCsr<S>& a, const AnalysisOptions& options) {
  const Kokkos::Profiling::ScopedRegion region("krysol::matrix_report_of");
  Columns columns;
  const HostCsr<S> kept = few_columns(a, columns);
  const HostCsr<S> t = transposed(kept);
  MatrixReport p;
  p.rows = a.rows;
  p.cols = a.cols;
  p.nnz = a.nnz();
  p.row_lengths = lengths_of(a.row_ptr.data(), a.rows);
  p.col_lengths = lengths_of(t.row_ptr.data(), t.rows, columns);
  p.band = band_of(pattern_of(a), pattern_of(t), columns);
  p.components = components_of(pattern_of(kept), p.square());
  count_empty_columns(std::int64_t{a.cols} - kept.cols, p.components);
  p.blocks = blocks_of(pattern_of(a));
  p.values = values_of(a, t);
  if (p.square()) p.symmetry = symmetry_of(a, t, p.values.largest_magnitude);
  p.diagonal = diagonal_of(a);
  p.row_sums = row_sums_of(a);
  if (options.lanczos && p.values.not_finite == 0) {
    const SpectraOptions spectra{options.lanczos_steps, p.symmetry.nearly_hermitian};
    p.spectra = spectra_of(kept, t, p.values.largest_magnitude, spectra);
    if (p.spectra.singular_values && std::min(kept.rows, kept.cols) < std::min(a.rows, a.cols)) {
      p.spectra.singular_values->smallest = 0;  // of the columns that were left out
      p.spectra.singular_values->condition = std::numeric_limits<double>::infinity();
    }
  }
  p.definite = definiteness_of(a, t, p);
  return p;
}

template MatrixReport matrix_report_of(const HostCsr<double>&, const AnalysisOptions&);
template MatrixReport matrix_report_of(const HostCsr<Kokkos::complex<double>>&,
                                       const AnalysisOptions&);

}  // namespace krysol::analysis
