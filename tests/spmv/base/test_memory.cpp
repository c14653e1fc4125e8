// What is said where memory runs out, and what is left then.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#ifdef __linux__
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>
#endif
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <vector>

#include <krysol/solver/cholesky/elimination.hpp>
#include <krysol/solver/solve.hpp>
#include <krysol/spmv/base/spaces.hpp>
#include <krysol/spmv/formats/csr.hpp>
#include <krysol/spmv/select/select.hpp>
#include "apps/common/cli.hpp"
#include "files.hpp"
#include "messages.hpp"
#include "problems.hpp"

namespace {

using krysol::ConstVector;
using krysol::Host;
using krysol::HostCsr;
using krysol::Index;
using krysol::Offset;
using krysol::OutOfMemory;
using krysol::Vector;
using krysol_tests::holds;

/// What an OutOfMemory thrown by `body` says, and the bytes that it names.
template <class Body>
std::pair<std::string, std::int64_t> out_of_memory(const Body& body) {
  try {
    body();
  } catch (const std::bad_alloc& e) {  // as callers catch it who do not know OutOfMemory
    const auto* known = dynamic_cast<const OutOfMemory*>(&e);
    return {e.what(), known != nullptr ? known->bytes() : -1};
  }
  return {"nothing was thrown", 0};
}

TEST(Memory, SaysWhatWasAskedFor) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the address sanitizer ends a program that asks for so much";
#endif
  constexpr std::int64_t n = std::int64_t{1} << 50;
  const auto [text, bytes] = out_of_memory([] { krysol::allocate<Vector<double>>("b", n); });
  EXPECT_EQ(bytes, 8 * n);
  const std::string space(Vector<double>::memory_space::name());
  EXPECT_TRUE(text.starts_with("no room for 'b': 9.01e+06 GB asked of " + space + " memory"))
      << text;
  const bool known = krysol::on_host<Kokkos::DefaultExecutionSpace>
                         ? krysol::free_host_bytes().has_value()
                         : krysol::free_device_bytes().has_value();
  EXPECT_EQ(holds(text, " are free"), known) << text;
  const auto refused = out_of_memory([] { krysol::allocate<Vector<float, Host>>("x", n); });
  EXPECT_TRUE(refused.first.starts_with("no room for 'x': 4.5e+06 GB asked of Host memory"));
  EXPECT_EQ(refused.second, 4 * n);
  EXPECT_GT(krysol::allocate<Vector<double>>("small", 10).extent(0), 0U) << "all else goes on";
}

TEST(Memory, DoesNotWrapAroundWhereExtentsMultiply) {
  using Block = Kokkos::View<double**, Kokkos::LayoutLeft, Host>;
  constexpr std::int64_t n = std::int64_t{1} << 31;  // 2^65 bytes, or none at all
  const auto [text, bytes] = out_of_memory([] { krysol::allocate<Block>("block", n, n); });
  EXPECT_TRUE(holds(text, "no room for 'block': 9.22e+09 GB asked of Host memory")) << text;
  EXPECT_EQ(bytes, std::numeric_limits<std::int64_t>::max());
}

TEST(Memory, NamesWhatIsFreeAndWhyThatDoesNotDo) {
  const OutOfMemory full("ell.values", 12500000000, "Cuda", 3200000000, "cudaMalloc said so");
  EXPECT_STREQ(full.what(),
               "no room for 'ell.values': 12.5 GB asked of Cuda memory, of which 3.2 GB are free");
  EXPECT_EQ(full.free_bytes(), 3200000000);
  const OutOfMemory odd("x", 4000, "HIP", 3200000000, "the device is lost");
  EXPECT_STREQ(odd.what(),
               "no room for 'x': 4000 bytes asked of HIP memory, of which 3.2 GB are free (the "
               "device is lost)");
  testing::internal::CaptureStderr();
  EXPECT_EQ(krysol::apps::run_program("program", [&]() -> int { throw full; }),
            krysol::apps::exit_internal);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            std::string("program: error: not enough memory: ") + full.what() + "\n");
}

/// What a machine, a container of either version of control groups, and the groups above say.
TEST(Memory, IsWhatTheLeastOfAllLimitsLeaves) {
  krysol_tests::Folder folder;
  const auto write = [&folder](const std::string& name, const std::string& text) {
    const std::filesystem::path file = folder / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  };
  const auto free = [&folder] {
    return krysol::detail::free_memory(folder / "proc", folder / "groups");
  };
  EXPECT_EQ(free(), std::numeric_limits<double>::infinity());
  write("proc/meminfo", "MemTotal:   24000 kB\nMemFree:  100 kB\nMemAvailable:    20000 kB\n");
  EXPECT_EQ(free(), 20000.0 * 1024);
  // Version 2: pages of files that were read give way.
  write("proc/self/cgroup", "0::/job/step\n");
  write("groups/job/step/memory.max", "max\n");
  write("groups/job/step/memory.current", "7000000\n");
  EXPECT_EQ(free(), 20000.0 * 1024);
  write("groups/job/memory.max", "10000000\n");
  write("groups/job/memory.current", "8000000\n");
  EXPECT_EQ(free(), 2000000);
  write("groups/job/memory.stat", "anon 5000000\nactive_file 1\ninactive_file 1500000\n");
  EXPECT_EQ(free(), 3500000);
  write("groups/job/memory.current", "99000000\n");
  EXPECT_EQ(free(), 0) << "more is used than there may be";
  // Version 1 has folders for each controller; no limit is a large number.
  write("proc/self/cgroup", "4:memory:/batch\n1:cpu:/\n");
  write("groups/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("groups/memory/memory.usage_in_bytes", "5\n");
  EXPECT_EQ(free(), 20000.0 * 1024);
  write("groups/memory/batch/memory.limit_in_bytes", "300000\n");
  write("groups/memory/batch/memory.usage_in_bytes", "200000\n");
  write("groups/memory/batch/memory.stat", "inactive_file 7\ntotal_inactive_file 50000\n");
  EXPECT_EQ(free(), 150000);
}

TEST(Memory, IsLookedAtBeforeItIsTaken) {
  const auto free = krysol::free_host_bytes();
  if (!free) GTEST_SKIP() << "this system does not say what is free";
  const double more = 1.5 * static_cast<double>(*free) + 1e9;
  const auto [text, bytes] = out_of_memory([&] { krysol::require_host_memory("all of it", more); });
  EXPECT_TRUE(text.starts_with("no room for 'all of it': ")) << text;
  EXPECT_TRUE(text.ends_with(" are free")) << text;
  EXPECT_EQ(bytes, static_cast<std::int64_t>(more));
  const auto n = static_cast<std::int64_t>(more / 8);
  EXPECT_TRUE(holds(out_of_memory([&] { krysol::allocate<Vector<double, Host>>("x", n); }).first,
                    "no room for 'x': "));
  krysol::require_host_memory("little", 1e6);
}

TEST(Memory, KnowsWhatADeviceHasFree) {
  const auto free = krysol::free_device_bytes();
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
  ASSERT_TRUE(free);
  EXPECT_GT(*free, 0);
#else
  EXPECT_FALSE(free) << "there is none";
#endif
}

/// Marks its place, and throws at some.
struct ThrowingBody {
  int* done;
  int mark;
  bool throws;

  void operator()(std::int64_t i) const {
    done[i] = mark;
    if (throws && i % 300 == 299) throw std::bad_alloc();
  }
};

/// An exception that left a thread of a loop would end the program.
TEST(HostFor, GivesItsCallerWhatABodyThrows) {
  std::vector<int> done(1000, 0);
  const auto n = static_cast<std::int64_t>(done.size());
  EXPECT_THROW(krysol::host_for("throws", n, ThrowingBody{done.data(), 1, true}), std::bad_alloc);
  EXPECT_EQ(done, std::vector<int>(1000, 1)) << "the others are done";
  EXPECT_THROW(krysol::host_for_uneven("throws", n, ThrowingBody{done.data(), 2, true}),
               std::bad_alloc);
  EXPECT_EQ(done, std::vector<int>(1000, 2));
  krysol::host_for("does not", n, ThrowingBody{done.data(), 3, false});
  EXPECT_EQ(done, std::vector<int>(1000, 3));
}

#ifdef __linux__
/// While it lives, the process may map only so many bytes more than it has.
class AddressSpaceLimit {
 public:
  explicit AddressSpaceLimit(std::size_t more) {
    malloc_trim(0);  // what was freed is not to be found again
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    works = pages > 0 && getrlimit(RLIMIT_AS, &before_) == 0;
    rlimit now = before_;
    now.rlim_cur = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + more;
    works = works && setrlimit(RLIMIT_AS, &now) == 0;
  }
  AddressSpaceLimit(const AddressSpaceLimit&) = delete;
  AddressSpaceLimit& operator=(const AddressSpaceLimit&) = delete;
  ~AddressSpaceLimit() { setrlimit(RLIMIT_AS, &before_); }

  bool works = false;

 private:
  rlimit before_{};
};

/// Two entries a row, the second of them anywhere: no format holds it in few bytes.
HostCsr<double> scattered(Index n) {
  HostCsr<double> a;
  a.rows = a.cols = n;
  const auto rows = static_cast<std::size_t>(n);
  a.row_ptr = krysol::allocate<Vector<Offset, Host>>("csr.row_ptr", rows + 1);
  a.col_idx = krysol::allocate<Vector<Index, Host>>("csr.col_idx", 2 * rows);
  a.values = krysol::allocate<Vector<double, Host>>("csr.values", 2 * rows);
  a.row_ptr(0) = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t other = (i * 48271 + 11) % rows;
    a.row_ptr(i + 1) = static_cast<Offset>(2 * i + 2);
    a.col_idx(2 * i) = static_cast<Index>(std::min(i, other));
    a.col_idx(2 * i + 1) = static_cast<Index>(std::max(i, other) + (other == i ? 1 : 0));
    if (a.col_idx(2 * i + 1) == n) {
      a.col_idx(2 * i) = n - 2;
      a.col_idx(2 * i + 1) = n - 1;
    }
    a.values(2 * i) = static_cast<double>(i % 5);
    a.values(2 * i + 1) = -3;
  }
  return a;
}

TEST(Memory, LeavesTheMatrixOfTheHostAsItWas) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the address sanitizer needs address space of its own";
#endif
  const Index n = 9000000;  // malloc holds back heaps of 64 MiB for threads, which do not do
  const auto a = scattered(n);
  const auto x = krysol::zeros<double>(Host{}, "x", n);
  const auto y = krysol::zeros<double>(Host{}, "y", n);
  const auto expected = krysol::zeros<double>(Host{}, "expected", n);
  Kokkos::deep_copy(x, 2.0);
  krysol::Csr<double, Host> csr;
  from_csr(a, csr);
  apply(Host{}, 1, csr, ConstVector<double, Host>(x), 0, expected);
  const auto multiply = [&](std::string_view format) {
    Kokkos::deep_copy(y, -1.0);
    const auto op = krysol::make_operator<double, Host>(format, a);
    apply(Host{}, 1, *op, ConstVector<double, Host>(x), 0, y);
    double wrong = 0;
    for (std::size_t i = 0; i < y.extent(0); ++i) wrong += y(i) == expected(i) ? 0 : 1;
    EXPECT_EQ(wrong, 0) << format;
  };
  {
    const AddressSpaceLimit limit(std::size_t{16} << 20);
    if (!limit.works) GTEST_SKIP() << "address space cannot be limited here";
    const auto [text, bytes] =
        out_of_memory([&] { krysol::make_operator<double, Host>("coo", a); });
    EXPECT_TRUE(
        text.starts_with("no room for 'coo.row_idx': 72.0 MB asked of Host memory, of which "))
        << text;
    EXPECT_EQ(bytes, a.nnz() * static_cast<std::int64_t>(sizeof(Index)));
    multiply("csr");
  }
  multiply("coo");
}

/// Small arrays are refused as a large one is, before the system ends who uses them.
TEST(Memory, SmallArraysAreLookedAtTogether) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the address sanitizer needs address space of its own";
#endif
  const AddressSpaceLimit limit(std::size_t{16} << 20);
  if (!limit.works) GTEST_SKIP() << "address space cannot be limited here";
  const auto [text, bytes] = out_of_memory([] {
    // As many as an eighth of what was free before holds.
    for (int k = 0; k < 1000000; ++k) krysol::require_host_memory("small", 32 << 20);
  });
  EXPECT_TRUE(text.starts_with("no room for 'small': 33.6 MB asked of Host memory")) << text;
  EXPECT_EQ(bytes, std::int64_t{32} << 20);
  krysol::require_host_memory("smaller", 1 << 20);
}

/// By Cholesky: some 14 bytes an entry of the matrix, and some of each row.
TEST(Memory, IsAskedForAsTheOrderOfAFactorizationNeedsIt) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the address sanitizer needs address space of its own";
#endif
  const auto a = krysol::to_csr(krysol_tests::poisson2d(1000, 1000)).matrix;
  double asked = 0;
  std::string text;
  {
    const AddressSpaceLimit limit(std::size_t{16} << 20);
    if (!limit.works) GTEST_SKIP() << "address space cannot be limited here";
    try {
      krysol::sparse_cholesky::eliminate(a.row_ptr.data(), a.col_idx.data(), a.rows,
                                         std::numeric_limits<double>::infinity());
    } catch (const OutOfMemory& e) {
      asked = static_cast<double>(e.bytes());
      text = e.what();
    }
  }
  EXPECT_TRUE(text.starts_with("no room for 'cholesky.order': ")) << text;
  const double rows = a.rows;
  const double expected = 14 * (static_cast<double>(a.nnz()) + rows) + 60 * rows;
  EXPECT_NEAR(asked, expected, 0.2 * expected);
}

TEST(Memory, AutoPassesOverFormatsThatDoNotFit) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the address sanitizer needs address space of its own";
#endif
  const auto a = scattered(8000000);
  krysol::FormatChoice choice;
  {
    const AddressSpaceLimit limit(std::size_t{180} << 20);  // 128 MB of it for x and y
    if (!limit.works) GTEST_SKIP() << "address space cannot be limited here";
    const auto op = krysol::select_format<double, Host>(a, {}, choice);
    EXPECT_EQ(op->nnz(), a.nnz());
  }
  const bool shares =
      choice.name == "csr" || choice.name == "csr_merge" || choice.name == "kokkos_kernels";
  EXPECT_TRUE(shares) << choice.name << ": " << choice.reason;
  int no_room = 0;
  for (const auto& trial : choice.trials) {
    if (holds(trial.remark, "not enough memory: no room for '")) ++no_room;
  }
  EXPECT_GT(no_room, 0);
}

/// Neither the order of a factorization nor levels fit: iterations go on as they began.
TEST(Memory, AutoPassesOverPreconditionersThatDoNotFit) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the address sanitizer needs address space of its own";
#endif
  if (!krysol::on_host<Kokkos::DefaultExecutionSpace>) {
    GTEST_SKIP() << "setups by the host do not pay on a device here";
  }
  const auto a = krysol::to_csr(krysol_tests::poisson2d(500, 500)).matrix;
  const std::vector<double> b(static_cast<std::size_t>(a.rows), 1);
  std::vector<double> x(b.size(), 0);
  std::optional<AddressSpaceLimit> limit;
  krysol::SolveReport report;
  krysol::SolveOptions options;
  options.format = "csr";
  options.order = "none";
  options.report = &report;
  options.observer = [&limit](const krysol::Progress& p) {
    constexpr std::int64_t before_others_are_thought_of = 6;
    if (p.iteration == before_others_are_thought_of) limit.emplace(std::size_t{16} << 20);
    return p.iteration < 80;
  };
  const auto r = krysol::solve(a, b, x, options);
  ASSERT_TRUE(limit.has_value());
  const bool limited = limit->works;
  limit.reset();
  if (!limited) GTEST_SKIP() << "address space cannot be limited here";
  EXPECT_EQ(r.status, krysol::Status::interrupted);
  EXPECT_EQ(r.iterations, 80);
  EXPECT_EQ(report.preconditioner, "jacobi");
  int no_room = 0;
  for (const auto& trial : report.trials) {
    if (trial.outcome.starts_with("not made: no room for '")) {
      ++no_room;
      EXPECT_EQ(trial.iterations, 0);
    }
  }
  EXPECT_GT(no_room, 0) << stages_as_text(report.trials);
}
#endif

}  // namespace
