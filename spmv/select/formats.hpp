// All formats, in one list: the factory by name, the typed tests and `--list` read it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/formats/bsr.hpp>
#include <krysol/spmv/formats/coo.hpp>
#include <krysol/spmv/formats/csr.hpp>
#include <krysol/spmv/formats/csr_merge.hpp>
#include <krysol/spmv/formats/ell.hpp>
#include <krysol/spmv/formats/ellpack_r.hpp>
#include <krysol/spmv/formats/hyb.hpp>
#include <krysol/spmv/formats/jds.hpp>
#include <krysol/spmv/formats/sell_c_sigma.hpp>
#include <krysol/spmv/formats/sell_dictionary.hpp>
#include <krysol/spmv/formats/sell_u16.hpp>
#include <krysol/spmv/formats/stencil.hpp>
#include <krysol/spmv/formats/stencil_pattern.hpp>
#include <krysol/spmv/formats/symmetric.hpp>
#include <krysol/spmv/formats/symmetric_bsr.hpp>
#include <krysol/spmv/operator.hpp>
#ifdef KRYSOL_HAVE_KOKKOS_KERNELS  // the package defines it where the library was built with them
#include <krysol/spmv/formats/kokkos_kernels.hpp>
#endif

namespace krysol {

template <class... Types>
struct TypeList {};

/// To add a format: write its header, and add it here.
template <class S, class Exec>
using FormatsOfAnySpace = TypeList<  //
    Csr<S, Exec>,                    //
    CsrMerge<S, Exec>,               //
    Ell<S, Exec>,                    //
    EllpackR<S, Exec>,               //
    SellCSigma<S, Exec>,             //
    SellU16<S, Exec>,                //
    SellDictionary<S, Exec>,         //
    StencilPattern<S, Exec>,         //
    Stencil<S, Exec>,                //
    Bsr<S, Exec>,                    //
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

/// A line of `--list`.
struct FormatInfo {
  std::string_view name;
  std::string_view good_for;
  std::string_view variants;     // what may stand after a colon, as in "thread|lanes"; may be empty
  bool looks_at_values = false;  // its bytes depend on them, not on the pattern alone
  bool symmetric_only = false;   // refuses any other matrix
};

/// True for a format that holds symmetric and Hermitian matrices only: it says
/// `static constexpr bool symmetric_only = true`.
template <class F>
inline constexpr bool is_symmetric_only = requires {
  requires F::symmetric_only;
};

std::vector<FormatInfo> list_formats();

/// How an operator keeps a matrix's values.
enum class Storage {
  same,    // as they are
  reduced  // rounded once to half the bytes: float under vectors of double, complex alike
};

/// The matrix in the format of that name, in the memory of Exec. A name may carry a variant, as in
/// `csr:lanes`. Throws std::invalid_argument with the list of names for one that is unknown, and
/// FormatRefusal, with the numbers, where the format cannot reasonably hold this matrix.
///
/// With Storage::reduced the operator is that of reduced_precision(csr): every product and sum is
/// still one of the vectors' type. Formats that look for equal values look at the rounded ones.
/// Bytes a nonzero of csr: 8 instead of 12 (double), 12 instead of 20 (complex<double>). Throws
/// std::invalid_argument for float and complex<float>, which nothing is narrower than;
/// FormatRefusal for what reduced_precision refuses, and for a format that multiplies vectors of
/// its values' type only.
///
/// Instantiated in the library for float, double and complex of both on each enabled space.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
std::unique_ptr<Operator<S, Exec>> make_operator(std::string_view name, const HostCsr<S>& csr,
                                                 Storage storage = Storage::same);

}  // namespace krysol
