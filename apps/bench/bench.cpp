// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/bench.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "bench/float_types.hpp"
#include "bench/peers.hpp"
#include "common/cli.hpp"
#include "krysol_version.hpp"

namespace krysol::apps {
namespace {

using Exec = Kokkos::DefaultExecutionSpace;

/// y = A x as the textbook has it, on one thread. The reference of every speed-up.
template <class S>
void multiply_serially(const HostCsr<S>& a, const S* x, S* y) {
  const Offset* row_ptr = a.row_ptr.data();
  const Index* col_idx = a.col_idx.data();
  const S* values = a.values.data();
  for (Index i = 0; i < a.rows; ++i) {
    S sum = 0;
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) sum += values[k] * x[col_idx[k]];
    y[i] = sum;
  }
}

/// Memory that host and device share, where there is some.
#ifdef KOKKOS_HAS_SHARED_SPACE
using Managed = Kokkos::SharedSpace;
#else
using Managed = Kokkos::HostSpace;
#endif

/// Vectors of the device, and their images on the host.
template <class S>
struct Vectors {
  Kokkos::View<S*, Kokkos::HostSpace> host_x;
  Kokkos::View<S*, Kokkos::HostSpace> host_y;
  Vector<S> x;
  Vector<S> y;
  Kokkos::View<S*, Managed> managed_x;
  Kokkos::View<S*, Managed> managed_y;
};

template <class S>
Vectors<S> make_vectors(const HostCsr<S>& a, bool managed) {
  Vectors<S> v;
  v.host_x = allocate<Kokkos::View<S*, Kokkos::HostSpace>>("x", a.cols);
  v.host_y = allocate<Kokkos::View<S*, Kokkos::HostSpace>>("y", a.rows);
  for (std::size_t j = 0; j < v.host_x.extent(0); ++j) {
    v.host_x(j) = S(1) / static_cast<S>(1 + (j * 2654435761U) % 1000003);
  }
  Kokkos::deep_copy(v.host_y, S(0));
  v.x = allocate<Vector<S>>("x", a.cols);
  v.y = allocate<Vector<S>>("y", a.rows);
  Kokkos::deep_copy(v.x, v.host_x);
  Kokkos::deep_copy(v.y, S(0));
  if (managed) {
    v.managed_x = Kokkos::View<S*, Managed>("managed.x", v.host_x.extent(0));
    v.managed_y = Kokkos::View<S*, Managed>("managed.y", v.host_y.extent(0));
  }
  return v;
}

/// Column c of the several vectors is x moved down by c places, and begins anew at its end.
template <class S>
void fill_column(const Vectors<S>& v, int c, const Kokkos::View<S*, Kokkos::HostSpace>& column) {
  const std::size_t n = v.host_x.extent(0);
  for (std::size_t j = 0; j < n; ++j) {
    column(j) = v.host_x((j + static_cast<std::size_t>(c)) % n);
  }
}

/// Several vectors of the device, and as peers take them where they do.
template <class S>
struct SeveralVectors {
  MultiVector<S> x;
  MultiVector<S> y;
  RowMajor rows_of_x;
  RowMajor rows_of_y;
};

template <class S>
SeveralVectors<S> make_several(const HostCsr<S>& a, const Vectors<S>& v, int count, bool peers) {
  SeveralVectors<S> several;
  several.x = zero_multivector<S>(Exec{}, "several.x", a.cols, count);
  several.y = zero_multivector<S>(Exec{}, "several.y", a.rows, count);
  const auto host = allocate<Kokkos::View<S*, Kokkos::HostSpace>>("column", a.cols);
  const auto device = allocate<Vector<S>>("column", a.cols);
  if (peers) {
    several.rows_of_x = allocate<RowMajor>("several.rows_of_x", a.cols, count);
    several.rows_of_y = allocate<RowMajor>("several.rows_of_y", a.rows, count);
    Kokkos::deep_copy(several.rows_of_y, 0);
  }
  for (int c = 0; c < count; ++c) {
    fill_column(v, c, host);
    Kokkos::deep_copy(device, host);
    copy_column(Exec{}, device, several.x, c);
    for (std::size_t j = 0; j < several.rows_of_x.extent(0); ++j) {
      several.rows_of_x(j, static_cast<std::size_t>(c)) = static_cast<double>(host(j));
    }
  }
  Exec().fence();
  return several;
}

/// A product that starts and ends on the host.
template <class S>
void multiply_from_host(const Operator<S, Exec>& op, const Vectors<S>& v, bool managed) {
  const Exec exec{};
  if (managed) {
    // The host writes x and reads y where they are; pages or caches do the rest.
    std::copy_n(v.host_x.data(), v.host_x.extent(0), v.managed_x.data());
    using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
    const Kokkos::View<const S*, Exec, Unmanaged> x(v.managed_x.data(), v.managed_x.extent(0));
    const Kokkos::View<S*, Exec, Unmanaged> y(v.managed_y.data(), v.managed_y.extent(0));
    apply(exec, S(1), op, ConstVector<S>(x), S(0), Vector<S>(y));
    exec.fence();
    std::copy_n(v.managed_y.data(), v.host_y.extent(0), v.host_y.data());
    return;
  }
  Kokkos::deep_copy(v.x, v.host_x);
  apply(exec, S(1), op, ConstVector<S>(v.x), S(0), v.y);
  Kokkos::deep_copy(v.host_y, v.y);
}

/// The largest |y - A x| relative to (|A||x|) of its row, and whether a row exceeds what rounding
/// explains: 2 eps (its entries + 3), and 2^-24 where its values were rounded to float.
template <class S>
void verify(const HostCsr<S>& a, const S* x, const S* y, BenchLine& line) {
  const double of_values = line.reduced ? 0x1p-24 : 0.0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.rows); ++i) {
    double sum = 0;
    double size = 0;
    for (Offset k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
      const auto at = static_cast<std::size_t>(k);
      const double term = static_cast<double>(a.values(at)) *
                          static_cast<double>(x[static_cast<std::size_t>(a.col_idx(at))]);
      sum += term;
      size += std::abs(term);
    }
    const double difference = std::abs(static_cast<double>(y[i]) - sum);
    const double eps = static_cast<double>(std::numeric_limits<S>::epsilon());
    if (size > 0) line.error = std::max(line.error, difference / size);
    const auto terms = static_cast<double>(a.row_ptr(i + 1) - a.row_ptr(i));
    // Not "greater": a NaN is wrong as well.
    if (!(difference <= (2 * eps * (terms + 3) + of_values) * size)) line.wrong = true;
  }
}

/// All columns of a product of several vectors likewise.
template <class S>
void verify_several(const HostCsr<S>& a, const Vectors<S>& v, const SeveralVectors<S>& several,
                    BenchLine& line) {
  const auto column = allocate<Kokkos::View<S*, Kokkos::HostSpace>>("column", a.cols);
  for (int c = 0; c < several.x.cols; ++c) {
    fill_column(v, c, column);
    copy_column(Exec{}, several.y, c, v.y);
    Exec().fence();
    Kokkos::deep_copy(v.host_y, v.y);
    verify(a, column.data(), v.host_y.data(), line);
  }
}

/// Takes and gives back memory, so that the first conversions do not pay for pages that a virtual
/// machine's host has yet to find; at most half of what is free.
void touch_memory(std::int64_t bytes) {
  const auto free = static_cast<std::int64_t>(sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  try {
    const auto taken = allocate<Kokkos::View<char*, Host>>("touched", std::min(bytes, free / 2));
    Kokkos::deep_copy(taken, 1);
  } catch (const OutOfMemory&) {
    return;  // this process may have less than the machine; its formats will show
  }
}

template <class S>
std::int64_t vector_bytes(const HostCsr<S>& a) {
  return (std::int64_t{a.cols} + 2 * std::int64_t{a.rows}) * static_cast<std::int64_t>(sizeof(S));
}

/// The formats as they were asked for, and then each that was named with values of float.
std::vector<std::pair<std::string, bool>> wanted_formats(const BenchOptions& options) {
  std::vector<std::pair<std::string, bool>> wanted;
  for (const std::string& name : options.formats) wanted.emplace_back(name, false);
  if (options.reduced) {
    for (const std::string& name : options.formats) {
      if (name != "auto") wanted.emplace_back(name, true);
    }
  }
  return wanted;
}

template <class S>
std::unique_ptr<Operator<S, Exec>> make_format_or_reduced(std::string_view name, bool reduced,
                                                          const HostCsr<S>& a) {
  if constexpr (std::is_same_v<S, double>) {
    if constexpr (holds_float) {
      if (reduced) return make_reduced_operator<S, Exec>(name, a);
    }
  }
  return make_operator<S, Exec>(name, a);
}

}  // namespace

template <class S>
BenchReport run_bench(const HostCsr<S>& a, const BenchOptions& options) {
  BenchReport report;
  report.rows = a.rows;
  report.cols = a.cols;
  report.nnz = a.nnz();
  report.scalar = std::is_same_v<S, float> ? "float" : "double";
  report.where = machine_as_text(version::backend, Host().concurrency(), device_name());
  report.turns = options.turns;
  report.verified = options.verify;
  report.transfers = options.transfers;
  report.managed = options.managed;
  report.vectors = options.vectors;

  touch_memory(bytes(a) * static_cast<std::int64_t>(options.formats.size() + 3));
  const Vectors<S> v = make_vectors(a, options.managed);
  SeveralVectors<S> several;
  if (options.vectors > 0) {
    several = make_several(a, v, options.vectors, options.peers && on_host<Exec>);
  }
  std::vector<Candidate> candidates;
  const auto add = [&](const BenchLine& line, std::function<void()> multiply,
                       std::function<void()> with_transfers, std::function<void()> of_several) {
    candidates.push_back({report.lines.size(), std::move(multiply), std::move(with_transfers)});
    if (of_several) {
      candidates.push_back({report.lines.size(), std::move(of_several), {}});
      candidates.back().several = true;
    }
    report.lines.push_back(line);
  };

  BenchLine serial;
  serial.name = "serial csr";
  serial.bytes = bytes(a) + vector_bytes(a);
  add(serial, [&] { multiply_serially(a, v.host_x.data(), v.host_y.data()); }, {}, {});

  std::vector<std::unique_ptr<Operator<S, Exec>>> operators;
  for (const auto& [name, reduced] : wanted_formats(options)) {
    BenchLine line;
    line.name = reduced ? name + " (float values)" : name;
    line.reduced = reduced;
    try {
      Kokkos::Timer timer;
      if (name == "auto") {
        FormatChoice choice;
        SelectOptions select;
        select.products = options.products;
        operators.push_back(select_format<S, Exec>(a, select, choice));
        line.name = fmt::format("auto: {}", choice.name);
        report.choice = std::move(choice);
      } else {
        operators.push_back(make_format_or_reduced(name, reduced, a));
      }
      Exec().fence();
      line.convert_seconds = timer.seconds();
    } catch (const FormatRefusal& refusal) {
      line.refused = refusal.what();
    } catch (const std::bad_alloc& e) {  // OutOfMemory among it; others may fit
      line.refused = fmt::format("not enough memory: {}", e.what());
    }
    if (!line.refused.empty()) {
      report.lines.push_back(line);
      continue;
    }
    const auto* op = operators.back().get();
    line.bytes = op->bytes() + vector_bytes(a);
    const auto multiply = [op, &v] {
      apply(Exec{}, S(1), *op, ConstVector<S>(v.x), S(0), v.y);
      Exec().fence();
    };
    if (options.verify) {
      Kokkos::deep_copy(v.y, S(-1));
      multiply();
      Kokkos::deep_copy(v.host_y, v.y);
      verify(a, v.host_x.data(), v.host_y.data(), line);
    }
    std::function<void()> of_several;
    if (options.vectors > 0) {
      of_several = [op, &several] {
        apply(Exec{}, S(1), *op, several.x, S(0), several.y);
        Exec().fence();
      };
      if (options.verify) {
        Kokkos::deep_copy(several.y.panels, Pack<S>(S(-1)));
        of_several();
        verify_several(a, v, several, line);
      }
    }
    std::function<void()> with_transfers;
    if (options.transfers) {
      with_transfers = [op, &v, managed = options.managed] { multiply_from_host(*op, v, managed); };
    }
    add(line, multiply, with_transfers, of_several);
  }
  std::vector<Peer> peers;
  if constexpr (std::is_same_v<S, double>) {
    if (options.peers) {
      if constexpr (on_host<Exec>) {
        peers = make_peers(a, v.x, v.y, several.rows_of_x, several.rows_of_y);
      } else {
        peers = make_device_peers(a, v.x, v.y);
      }
    }
  }
  for (const Peer& peer : peers) {
    BenchLine line;
    line.name = peer.name;
    line.peer = true;
    line.refused = peer.refused;
    if (!peer.refused.empty()) {
      report.lines.push_back(line);
      continue;
    }
    line.bytes = peer.bytes + vector_bytes(a);
    line.convert_seconds = peer.convert_seconds;
    add(line, peer.multiply, {}, peer.multiply_several);
  }

  time_interleaved(candidates, options.warm_up, options.turns);
  for (const Candidate& c : candidates) {
    BenchLine& line = report.lines[c.line];
    if (c.several) {  // after the candidate's own product
      line.several = spread(c.seconds);
      if (line.product.median > 0) {
        line.several_over_one = line.several.median / line.product.median;
      }
      continue;
    }
    line.product = spread(c.seconds);
    line.with_transfers = spread(c.transfer_seconds);
  }
  for (BenchLine& line : report.lines) {
    if (line.product.median > 0) {
      line.speed_up = report.lines[0].product.median / line.product.median;
    }
  }
  return report;
}

template BenchReport run_bench(const HostCsr<double>&, const BenchOptions&);
#ifdef KRYSOL_HAVE_FLOAT
template BenchReport run_bench(const HostCsr<float>&, const BenchOptions&);
#endif

}  // namespace krysol::apps
