# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Run at each build, because the revision changes without CMake being asked; writes the file only when it differs.
set(KRYSOL_REVISION unknown)
find_package(Git QUIET)
if(GIT_FOUND AND EXISTS ${SOURCE}/.git)
  # --match of a name that no tag has: the hash alone, however the project's tags are called.
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE} describe --always --abbrev=10 --dirty=+ --match=none/none
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed AND described)
    set(KRYSOL_REVISION ${described})
  endif()
elseif(EXISTS ${SOURCE}/third_party/REVISION)  # an offline bundle
  file(STRINGS ${SOURCE}/third_party/REVISION KRYSOL_REVISION LIMIT_COUNT 1)
endif()
configure_file(${SOURCE}/cmake/krysol_version.cpp.in ${OUTPUT} @ONLY)
