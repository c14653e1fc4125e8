// Uses the library where Kokkos is not initialized, and again after Kokkos::finalize; prints what
// is thrown. Its argument says what comes first. A program of its own: that of the tests has one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdio>
#include <stdexcept>
#include <string>

#include <krysol/io/read_csr.hpp>
#include <krysol/spmv/matrix/host_csr.hpp>

namespace {

template <class Body>
void show(const char* what, const Body& body) {
  try {
    body();
    std::printf("%s: nothing was thrown\n", what);
  } catch (const std::logic_error& e) {
    std::printf("%s: %s\n", what, e.what());
  }
}

void use(const std::string& how, const char* matrix) {
  show(how.c_str(), [&] {
    if (how == "to_csr") {
      krysol::Triplets<double> t;
      t.rows = t.cols = 1;
      t.add(0, 0, 1);
      krysol::to_csr(t);
    } else if (how == "allocate") {
      krysol::allocate<krysol::Vector<double>>("v", 3);
    } else if (how == "threads") {
      krysol::allocate<krysol::Vector<double>>("v", 3);
      std::printf("%d\n", Kokkos::DefaultHostExecutionSpace().concurrency());
    } else {
      krysol::ReadOptions options;
      options.low_memory = how == "read_csr in two passes";
      krysol::read_csr(matrix, options);
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  use(argv[1], argv[2]);
  Kokkos::finalize();
  use(argv[1], argv[2]);
}
