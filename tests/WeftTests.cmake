# SPDX-License-Identifier: Apache-2.0
# How a folder of tests says what it has. Of unit tests, and of scripts that need no arguments, the files are found by their
# names, *_test.cpp and *_test.py, so that a new one needs no line anywhere; others stand in the folder's list, and scripts.tests_found
# fails where one does not. Each test has the label of its area, the first part of its folder or name, by which scripts/quick picks. Those that are `long`
# too are left to `make test-long`.
include(GoogleTest)
find_package(Python3 COMPONENTS Interpreter REQUIRED)

# GoogleTest's header takes as long to compile as a test of ours: it is compiled once. By a program, as the tests are: what
# is compiled for a library has other options.
file(CONFIGURE OUTPUT gtest_header.cpp CONTENT "")
add_executable(gtest_header ${CMAKE_CURRENT_BINARY_DIR}/gtest_header.cpp)
target_link_libraries(gtest_header PRIVATE GTest::gtest_main)
target_precompile_headers(gtest_header PRIVATE <gtest/gtest.h>)

# What `make test-protocols` builds and runs: the tests of whatever several threads do at the same time.
add_custom_target(protocol_tests)

# weft_targets_of(<variable> <folder>): what `all` builds of a folder and those in it.
function(weft_targets_of variable folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  set(found)
  foreach(target IN LISTS targets)
    get_target_property(left_out ${target} EXCLUDE_FROM_ALL)
    if(NOT left_out)
      list(APPEND found ${target})
    endif()
  endforeach()
  foreach(inner IN LISTS folders)
    weft_targets_of(more ${inner})
    list(APPEND found ${more})
  endforeach()
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

# weft_area(<area> <folder>): makes tests_<area>, which builds what the tests of that folder need beside what is installed.
function(weft_area area folder)
  weft_targets_of(targets ${folder})
  add_custom_target(tests_${area})
  if(targets)
    add_dependencies(tests_${area} ${targets})
  endif()
endfunction()

# weft_unit_tests(<target> [PROTOCOL] [FOLDERS <folders>] [ONLY <files>] [EXCEPT <files>] [SOURCES <files>]
#                 [INCLUDE <folders>] [LINK <libraries>] [FILTER <filter>] [LABELS <labels>] [TIMEOUT <seconds>])
#
# A program of the *_test.cpp in <folders>, this one by default, and of SOURCES; a test for each of its cases. PROTOCOL: it is
# one of protocol_tests.
function(weft_unit_tests target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "PROTOCOL" "TIMEOUT" "FILTER;FOLDERS;ONLY;EXCEPT;SOURCES;INCLUDE;LINK;LABELS")
  if(arg_ONLY)
    set(tests ${arg_ONLY})
  else()
    if(NOT arg_FOLDERS)
      set(arg_FOLDERS .)
    endif()
    list(TRANSFORM arg_FOLDERS APPEND /[^.]*_test.cpp)
    file(GLOB tests CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${arg_FOLDERS})
    if(arg_EXCEPT)
      list(REMOVE_ITEM tests ${arg_EXCEPT})
    endif()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(arg_PROTOCOL)
    list(APPEND arg_LABELS protocol)
    add_dependencies(protocol_tests ${target})
  endif()
  file(RELATIVE_PATH area ${PROJECT_SOURCE_DIR}/tests ${CMAKE_CURRENT_SOURCE_DIR})
  string(REGEX REPLACE "/.*" "" area "${area}")
  add_executable(${target} ${tests} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE ${arg_LINK} GTest::gtest_main)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${arg_INCLUDE})
  target_precompile_headers(${target} REUSE_FROM gtest_header)
  # What is no test does without: clang-tidy reads how it is compiled.
  set(others ${arg_SOURCES})
  list(FILTER others INCLUDE REGEX "^${PROJECT_SOURCE_DIR}/(src|tools)/")
  set_source_files_properties(${others} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  gtest_discover_tests(${target} TEST_FILTER "${arg_FILTER}" PROPERTIES LABELS "${area};${arg_LABELS}" TIMEOUT ${arg_TIMEOUT})
endfunction()

# What scripts find in their environment. mpirun of Open MPI 4 fails one job of a thousand or so in which every rank has
# ended well, without weft too: its answer to a rank's end gets lost (docs/how-to/mpi.md).
set(WEFT_TEST_ENVIRONMENT
  PYTHONDONTWRITEBYTECODE=1
  OMPI_MCA_orte_allowed_exit_without_sync=1
  WEFT_COMMAND=$<TARGET_FILE:weft_command>
  WEFT_BUILD_DIR=${PROJECT_BINARY_DIR}
  WEFT_LIBRARIES=$<TARGET_FILE_DIR:weft>
  WEFT_TEST_RUNTIME=$<TARGET_FILE_DIR:weft>
  WEFT_TEST_CMAKE=${CMAKE_COMMAND}
  WEFT_TEST_GCC=${WEFT_TEST_GCC}
  WEFT_TEST_CLANG=${WEFT_TEST_CLANG}
  WEFT_TEST_GFORTRAN=${WEFT_TEST_GFORTRAN}
  WEFT_TEST_PYTHON=${PROJECT_SOURCE_DIR}/build/python/venv/bin/python)
set(weft_test_modules ${CMAKE_CURRENT_SOURCE_DIR}/support:${CMAKE_CURRENT_SOURCE_DIR}/node:${CMAKE_CURRENT_SOURCE_DIR}/openmp/process)

# weft_script_test(<name> <script> [ANYWHERE] [MODULES <folder>] [ARGUMENTS ...] [ENVIRONMENT <name=value> ...]
#                  [PROPERTIES <name> <value> ...])
#
# A test by a Python script. Scripts start programs: they are left out of builds with sanitizers and for an emulator, but for
# those that run ANYWHERE. MODULES: where the script finds modules that it imports, beside those that all find.
function(weft_script_test name script)
  cmake_parse_arguments(PARSE_ARGV 2 arg "ANYWHERE" "" "MODULES;ARGUMENTS;ENVIRONMENT;PROPERTIES")
  if((WEFT_SANITIZE OR CMAKE_CROSSCOMPILING) AND NOT arg_ANYWHERE)
    return()
  endif()
  set(modules ${weft_test_modules})
  if(arg_MODULES)
    string(PREPEND modules ${arg_MODULES}:)
  endif()
  cmake_path(ABSOLUTE_PATH script)
  add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} -B ${script} ${arg_ARGUMENTS})
  string(REGEX REPLACE "\\..*" "" area "${name}")
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 LABELS ${area}
    ENVIRONMENT "${WEFT_TEST_ENVIRONMENT};PYTHONPATH=${modules};${arg_ENVIRONMENT}")
  while(arg_PROPERTIES)
    list(POP_FRONT arg_PROPERTIES property value)
    if(property STREQUAL "LABELS")
      set_property(TEST ${name} APPEND PROPERTY LABELS ${value})
    else()
      set_property(TEST ${name} PROPERTY ${property} ${value})
    endif()
  endwhile()
endfunction()

# weft_script_tests(<prefix> [EXCEPT <names>] [MODULES <folder>] [ENVIRONMENT ...] [PROPERTIES ...])
#
# A test <prefix>.<name> for each <name>_test.py in this folder.
function(weft_script_tests prefix)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MODULES" "EXCEPT;ENVIRONMENT;PROPERTIES")
  file(GLOB scripts CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} [^.]*_test.py)
  foreach(script IN LISTS scripts)
    string(REPLACE "_test.py" "" name ${script})
    if(NOT name IN_LIST arg_EXCEPT)
      weft_script_test(${prefix}.${name} ${script} MODULES ${arg_MODULES} ENVIRONMENT ${arg_ENVIRONMENT}
                       PROPERTIES ${arg_PROPERTIES})
    endif()
  endforeach()
endfunction()

# weft_test_properties(<test> ...  PROPERTIES <name> <value> ...): set_tests_properties() of tests that are there; builds with
# sanitizers have no scripts.
function(weft_test_properties)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "PROPERTIES")
  foreach(name IN LISTS arg_UNPARSED_ARGUMENTS)
    if(TEST ${name})
      set_tests_properties(${name} PROPERTIES ${arg_PROPERTIES})
    endif()
  endforeach()
endfunction()
