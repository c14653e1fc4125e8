// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/make_operator.hpp>

namespace krysol::detail {

#define KRYSOL_INSTANTIATE(T, Exec) \
  template std::unique_ptr<Operator<T, Exec>> make_narrow(std::string_view, const HostCsr<T>&);
KRYSOL_ON_EACH_SPACE(KRYSOL_INSTANTIATE, Kokkos::complex<double>)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol::detail
