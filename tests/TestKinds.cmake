# wd_unit_test(NAME SOURCES... USES...): one Check program, one ctest entry.
function(wd_unit_test name)
  cmake_parse_arguments(UNIT "" "" "SOURCES;USES" ${ARGN})
  add_executable(test_${name} ${UNIT_SOURCES})
  target_link_libraries(test_${name} PRIVATE ${UNIT_USES} wd_test_flags
    PkgConfig::CHECK)
  add_test(NAME unit.${name} COMMAND test_${name}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/tests)
  set_tests_properties(unit.${name} PROPERTIES LABELS unit TIMEOUT 300)
endfunction()

# wd_fuzz_target(NAME SOURCE USES...): the byte parser under libFuzzer with
# WD_FUZZ, else under a replay of its corpus tests/fuzz/corpus/NAME as a test.
function(wd_fuzz_target name)
  cmake_parse_arguments(FUZZ "" "SOURCE" "USES" ${ARGN})
  if(WD_FUZZ)
    add_executable(fuzz_${name} ${FUZZ_SOURCE})
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  else()
    add_executable(fuzz_${name} ${FUZZ_SOURCE} replay_main.c)
    add_test(NAME fuzz.${name}
      COMMAND fuzz_${name} ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name})
    set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT 300)
  endif()
  target_link_libraries(fuzz_${name} PRIVATE ${FUZZ_USES} wd_test_flags)
endfunction()

# wd_script_test(NAME KIND SCRIPT ARGS...): a shell or Python script against
# the built programs; exit 0 passes, 77 counts as skipped.
function(wd_script_test name kind script)
  add_test(NAME ${kind}.${name}
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/${script} ${ARGN}
    WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  set_tests_properties(${kind}.${name} PROPERTIES LABELS ${kind} TIMEOUT 600
    SKIP_RETURN_CODE 77
    ENVIRONMENT "WD_BUILD=${PROJECT_BINARY_DIR};WD_SOURCE=${PROJECT_SOURCE_DIR}")
endfunction()
