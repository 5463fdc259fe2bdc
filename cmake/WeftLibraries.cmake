# SPDX-License-Identifier: Apache-2.0
# The libraries that weft is built with. One error names all that are missing, each with Debian's package and the way to
# name another place; tests/packages/libraries_test.py compares the packages with the pages and scripts/setup.
set(weft_missing)
set(weft_missing_packages)

# weft_need(<variable that says whether it was found> <what it is> <Debian's package> <how to say where it is>)
macro(weft_need found what package way)
  if(NOT ${found})
    string(APPEND weft_missing "\n  ${what}\n      Debian: ${package}; elsewhere: ${way}")
    list(APPEND weft_missing_packages ${package})
  endif()
endmacro()

find_package(Threads REQUIRED)
find_package(Python3 COMPONENTS Interpreter QUIET)
weft_need(Python3_Interpreter_FOUND "Python 3, which makes sources" python3 "-DPython3_EXECUTABLE=FILE")
# Static, so that users' processes get no other library. Where there are only shared ones, as in conda, a recipe says OFF.
option(Boost_USE_STATIC_LIBS "Boost.Context is linked into the runtime" ON)
find_package(Boost 1.74 CONFIG QUIET COMPONENTS context)
set(way "-DCMAKE_PREFIX_PATH=PREFIX")
if(Boost_USE_STATIC_LIBS)
  string(APPEND way ", and -DBoost_USE_STATIC_LIBS=OFF where there is no libboost_context.a")
endif()
weft_need(Boost_FOUND "Boost 1.74 or later with Boost.Context" libboost-context-dev "${way}")
find_package(CLI11 2.1 QUIET)
weft_need(CLI11_FOUND "CLI11 2.1 or later" libcli11-dev "-DCMAKE_PREFIX_PATH=PREFIX")
find_path(WEFT_XXHASH xxhash.h DOC "The folder of xxhash.h (libxxhash-dev)")
weft_need(WEFT_XXHASH "xxHash: xxhash.h" libxxhash-dev "-DWEFT_XXHASH=FOLDER or -DCMAKE_PREFIX_PATH=PREFIX")
# Debian's folder, that of npm, and those of prefixes. Not in any folder of names that are so common.
find_file(WEFT_CHART_JS NAMES chart.min.js chart.umd.js Chart.min.js
          PATHS ${PROJECT_SOURCE_DIR}/node_modules/chart.js/dist
          PATH_SUFFIXES share/javascript/chart.js share/nodejs/chart.js/dist lib/node_modules/chart.js/dist
          NO_CMAKE_FIND_ROOT_PATH DOC "Chart.js, minified and for browsers, version 3.9")
weft_need(WEFT_CHART_JS "Chart.js 3.9, minified, which the page of `weft report` draws with" libjs-chart.js
          "-DWEFT_CHART_JS=FILE, or `npm install chart.js@3.9` here")
# Its declarations alone: the command loads the library where the system has it.
find_path(WEFT_LIBDW elfutils/libdwfl.h DOC "The folder of elfutils/libdwfl.h, for lines of sources in weft report and weft numa")
if(NOT WEFT_PORTABLE)
  weft_need(WEFT_LIBDW "elfutils' headers" libdw-dev "-DCMAKE_PREFIX_PATH=PREFIX; -DWEFT_PORTABLE=ON does without")
endif()
if(WEFT_TESTS)
  find_package(GTest QUIET)
  weft_need(GTest_FOUND "GoogleTest" libgtest-dev "-DCMAKE_PREFIX_PATH=PREFIX; -DWEFT_TESTS=OFF does without")
  find_package(nlohmann_json QUIET)
  weft_need(nlohmann_json_FOUND "nlohmann-json" nlohmann-json3-dev
            "-DCMAKE_PREFIX_PATH=PREFIX; -DWEFT_TESTS=OFF does without")
endif()

if(weft_missing)
  list(JOIN weft_missing_packages " " packages)
  message(FATAL_ERROR "weft cannot be built here. What is missing:${weft_missing}\n"
    "On Debian: apt install ${packages}, or run scripts/setup.")
endif()
foreach(variable WEFT_XXHASH WEFT_CHART_JS)
  if(NOT EXISTS "${${variable}}")
    message(FATAL_ERROR "${variable} is \"${${variable}}\", and there is no such file or folder.")
  endif()
endforeach()
