// All formats, in one list: the factory by name, the typed tests and `--list` read it. Who only
// makes operators by name includes formats.hpp, which names no format.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/base/type_list.hpp>
#include <krysol/spmv/formats/bsr.hpp>
#include <krysol/spmv/formats/coo.hpp>
#include <krysol/spmv/formats/csr.hpp>
#include <krysol/spmv/formats/csr_merge.hpp>
#include <krysol/spmv/formats/dia.hpp>
#include <krysol/spmv/formats/ell.hpp>
#include <krysol/spmv/formats/ellpack_r.hpp>
#include <krysol/spmv/formats/hyb.hpp>
#include <krysol/spmv/formats/jds.hpp>
#include <krysol/spmv/formats/row_groups.hpp>
#include <krysol/spmv/formats/sell_c_sigma.hpp>
#include <krysol/spmv/formats/sell_dictionary.hpp>
#include <krysol/spmv/formats/sell_u16.hpp>
#include <krysol/spmv/formats/sell_windows.hpp>
#include <krysol/spmv/formats/stencil.hpp>
#include <krysol/spmv/formats/stencil_pattern.hpp>
#include <krysol/spmv/formats/symmetric.hpp>
#include <krysol/spmv/formats/symmetric_bsr.hpp>
#ifdef KRYSOL_HAVE_KOKKOS_KERNELS  // the package defines it where the library was built with them
#include <krysol/spmv/formats/kokkos_kernels.hpp>
#endif

namespace krysol {

/// To add a format: write its header, and add it here.
template <class S, class Exec>
using FormatsOfAnySpace = TypeList<  //
    Csr<S, Exec>,                    //
    CsrMerge<S, Exec>,               //
    Ell<S, Exec>,                    //
    Dia<S, Exec>,                    //
    EllpackR<S, Exec>,               //
    SellCSigma<S, Exec>,             //
    SellU16<S, Exec>,                //
    SellWindows<S, Exec>,            //
    SellDictionary<S, Exec>,         //
    StencilPattern<S, Exec>,         //
    Stencil<S, Exec>,                //
    Bsr<S, Exec>,                    //
    RowGroups<S, Exec>,              //
    Jds<S, Exec>,                    //
    Coo<S, Exec>,                    //
#ifdef KRYSOL_HAVE_KOKKOS_KERNELS
    KokkosKernels<S, Exec>,  //
#endif
    Hyb<S, Exec>>;

/// Or here, where only the cores of a host can walk it from one end to the other.
template <class S, class Exec>
using FormatsOfHosts = TypeList<  //
    Symmetric<S, Exec>,           //
    SymmetricBsr<S, Exec>>;

namespace detail {
template <class A, class B>
struct JoinLists;
template <class... A, class... B>
struct JoinLists<TypeList<A...>, TypeList<B...>> {
  using type = TypeList<A..., B...>;
};
}  // namespace detail

/// All that Exec has.
template <class S, class Exec>
using Formats = typename detail::JoinLists<
    FormatsOfAnySpace<S, Exec>,
    std::conditional_t<on_host<Exec>, FormatsOfHosts<S, Exec>, TypeList<>>>::type;

/// True for a format that holds symmetric and Hermitian matrices only: it says
/// `static constexpr bool symmetric_only = true`.
template <class F>
inline constexpr bool is_symmetric_only = requires {
  requires F::symmetric_only;
};

}  // namespace krysol
