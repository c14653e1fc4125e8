# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installation, and the package that find_package(krysol) finds.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/krysol)
install(TARGETS krysol EXPORT krysolTargets)
if(KRYSOL_FLOAT)
  install(TARGETS krysol_float EXPORT krysolTargets)
endif()
set(rooms io spmv solver)
if(KRYSOL_BUILD_ROOMS)
  install(TARGETS krysol_gallery krysol_analysis krysol_report krysol_matrix_report krysol_run_report EXPORT krysolTargets)
  list(APPEND rooms gallery analysis report)
endif()
install(DIRECTORY ${rooms} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/krysol FILES_MATCHING PATTERN "*.hpp")
install(PROGRAMS data/get-matrix DESTINATION ${CMAKE_INSTALL_DATADIR}/krysol)  # for regress --fetch
install(FILES krysol.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/krysol)
get_property(repairs GLOBAL PROPERTY KRYSOL_COMPILER_REPAIRS)
foreach(repair IN LISTS repairs)
  if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/cmake/${repair})
    install(DIRECTORY cmake/${repair} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/krysol/cmake)
  else()
    install(FILES cmake/${repair} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/krysol/cmake)
  endif()
endforeach()
install(EXPORT krysolTargets NAMESPACE krysol:: DESTINATION ${package_dir})

# A static library passes on what it links; a shared one has it inside.
get_target_property(type krysol TYPE)
string(COMPARE EQUAL ${type} STATIC_LIBRARY KRYSOL_IS_STATIC)
set(KRYSOL_HAVE_PNG OFF)
if(PNG_FOUND)
  set(KRYSOL_HAVE_PNG ON)
endif()
configure_package_config_file(cmake/krysolConfig.cmake.in ${PROJECT_BINARY_DIR}/krysolConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/krysolConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/krysolConfig.cmake ${PROJECT_BINARY_DIR}/krysolConfigVersion.cmake
  DESTINATION ${package_dir})
