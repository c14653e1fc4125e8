# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Included by ctest. Asks the test program for its suites and registers one test for each, so that a failure names
# its subject and ctest -j has something to share out, without starting a process for each of hundreds of cases.
# In: program, threads, results, list, environment (further variables), optimised (under sanitizers computing takes longer
# than waiting).
cmake_policy(VERSION 3.22)
if(NOT EXISTS "${program}")
  add_test(krysol_tests_was_not_built krysol_tests_was_not_built)
  return()
endif()
if("${program}" IS_NEWER_THAN "${list}")
  execute_process(COMMAND "${program}" --gtest_list_tests
    OUTPUT_VARIABLE output ERROR_VARIABLE trouble RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${program} --gtest_list_tests failed (${failed}): ${trouble}")
  endif()
  file(WRITE "${list}" "${output}")
endif()
file(STRINGS "${list}" suites REGEX "^[^ ].*\\.( |$)")
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
set(names)
foreach(suite IN LISTS suites)
  string(REGEX REPLACE "[./].*" "" name "${suite}")  # Format/ell, Format/csr, ...: one test
  list(APPEND names ${name})
endforeach()
list(REMOVE_DUPLICATES names)
foreach(name IN LISTS names)
  set(label unit)
  set(counts ${threads})
  if(name MATCHES "Golden")
    set(label golden)
  elseif(name MATCHES "Slow")
    set(label slow)
  endif()
  if(NOT label STREQUAL "unit" AND "2" IN_LIST threads)
    set(counts 2)
    # 10^5 iterations with matrices that are too small for two threads, whose wait for each other would be most of the time;
    # that numbers of threads change no bit is tested by Threads.
    if(name MATCHES "^Golden(Spectrum|Ic0)$")
      set(counts 1)
    endif()
  endif()
  foreach(count IN LISTS counts)
    set(test "${name}.threads_${count}")
    add_test("${test}" "${program}" "--gtest_filter=${name}.*:${name}/*" --gtest_brief=1)
    # Unbound, because ctest -j runs several at once, as many as there are cores: much of a test is one thread's. More
    # threads than there are cores sleep while they wait, and main.cpp puts them on one. Others look for the end of their
    # wait some 40 us before they sleep, not libgomp's 10 ms, in which a thread that another program has displaced holds up
    # all: a hundred times as long on a busy machine.
    set(waiting ";GOMP_SPINCOUNT=1000")
    if(count GREATER cores)
      set(waiting ";OMP_WAIT_POLICY=passive")
    endif()
    # Solves of small systems wait for each other's threads 10^5 times, which takes ten times as long beside another test.
    set(processors 1)
    if(optimised AND count EQUAL 2 AND name MATCHES "^(Knows|Solvers|Format|Ends|Minres|Solve|Contract|SeveralVectors|Textbook|SharedByThreads)$")
      set(processors 2)
    endif()
    set_tests_properties("${test}" PROPERTIES PROCESSORS ${processors} LABELS "${label};threads_${count}" TIMEOUT 1800
      ENVIRONMENT "OMP_NUM_THREADS=${count};OMP_PROC_BIND=false${waiting};GTEST_OUTPUT=xml:${results}/${test}.xml;${environment}"
      SKIP_REGULAR_EXPRESSION "\\[  PASSED  \\] 0 tests\\.")
  endforeach()
endforeach()
