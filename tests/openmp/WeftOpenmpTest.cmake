# SPDX-License-Identifier: Apache-2.0
# weft_openmp_test(SOURCE): builds one program by each compiler of its language and adds a test for each, which runs it in
# several environments (run.py). What differs from the defaults is said by variables named after the program, set before:
#   <program>_ENVIRONMENTS  names from run.py, separated by commas       default: the usual ones
#   <program>_TIMEOUT       seconds for one run                          default: 60
#   <program>_COMPILERS     some of gcc, clang, gfortran, flang          default: all of the language
#   <program>_FLAGS         more flags to compile and link with
#   <program>_SANITIZERS    OFF: leave it out of builds with sanitizers
#   <program>_EMULATOR      OFF: leave it out where programs run in an emulator

set(weft_test_run)
set(weft_test_clang)
if(CMAKE_CROSSCOMPILING)
  set(weft_test_run --emulator ${CMAKE_CROSSCOMPILING_EMULATOR})
  # There is no libomp of the other machine to link with: weft's own stands in.
  set(weft_test_clang --target=${CMAKE_LIBRARY_ARCHITECTURE} -L$<TARGET_FILE_DIR:weft>)
endif()

set(weft_test_flags -O2 -g -pthread -fopenmp -Wall -Wextra -Werror -Wno-deprecated-declarations)
set(weft_test_scale 1)
if(CMAKE_CROSSCOMPILING)
  set(weft_test_scale 4)
endif()
if(WEFT_SANITIZE)
  # The library carries gcc's sanitizer runtime; a program by clang would bring a second one.
  list(APPEND weft_test_flags -fsanitize=${WEFT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  set(weft_test_scale 6)
  message(STATUS "OpenMP tests by clang are left out: its sanitizer runtime does not mix with gcc's")
endif()

if(WEFT_TEST_STOCK_RUNTIME)
  set(weft_test_runtime "")
elseif(WEFT_TEST_RUNTIME_DIR)
  set(weft_test_runtime --runtime ${WEFT_TEST_RUNTIME_DIR})
else()
  set(weft_test_runtime --runtime $<TARGET_FILE_DIR:weft>)
endif()
if(WEFT_TEST_STOCK_RUNTIME OR WEFT_TEST_RUNTIME_DIR)
  list(APPEND weft_test_runtime --set KMP_WARNINGS=0)  # libomp explains itself on stderr, for a test that is a failure
endif()

add_custom_target(openmp_test_programs ALL)

# Which commands build a file of this extension, by the compiler's short name.
set(weft_build_gcc.c ${WEFT_TEST_GCC} -std=gnu11)
set(weft_build_gcc.cpp ${WEFT_TEST_GXX} -std=c++20)
set(weft_build_clang.c ${WEFT_TEST_CLANG} ${weft_test_clang} -std=gnu11)
set(weft_build_clang.cpp ${WEFT_TEST_CLANGXX} ${weft_test_clang} -std=c++20)
set(weft_build_gfortran.f90 ${WEFT_TEST_GFORTRAN} -std=f2008 -Wno-compare-reals -Wno-zerotrip -Wno-function-elimination)
set(weft_build_flang.f90 ${WEFT_TEST_FLANG})
set(weft_compilers.c gcc clang)
set(weft_compilers.cpp gcc clang)
set(weft_compilers.f90 gfortran flang)
set(weft_flags_gcc ${weft_test_flags})
set(weft_flags_clang ${weft_test_flags})
set(weft_flags_gfortran ${weft_test_flags})
set(weft_flags_flang -O2 -g -fopenmp)

function(weft_openmp_test source)
  get_filename_component(program ${source} NAME_WE)
  get_filename_component(extension ${source} LAST_EXT)
  set(compilers ${weft_compilers${extension}})
  if(DEFINED ${program}_COMPILERS)
    set(compilers ${${program}_COMPILERS})
  endif()
  if(CMAKE_CROSSCOMPILING OR WEFT_SANITIZE OR NOT WEFT_TEST_FLANG)
    list(REMOVE_ITEM compilers flang)
  endif()
  if(WEFT_SANITIZE)
    list(REMOVE_ITEM compilers clang)
    if(DEFINED ${program}_SANITIZERS AND NOT ${program}_SANITIZERS)
      return()
    endif()
  endif()

  if(CMAKE_CROSSCOMPILING AND DEFINED ${program}_EMULATOR AND NOT ${program}_EMULATOR)
    return()
  endif()

  foreach(compiler IN LISTS compilers)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/${compiler}/${program})
    set(depfile -MMD -MF ${output}.d)
    set(use_depfile DEPFILE ${output}.d)
    if(extension STREQUAL ".f90")
      set(depfile -J${CMAKE_CURRENT_BINARY_DIR}/${compiler}/${program}.modules)
      set(use_depfile)
      file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${compiler}/${program}.modules)
    endif()
    file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${compiler})
    add_custom_command(OUTPUT ${output}
      COMMAND ${weft_build_${compiler}${extension}} ${weft_flags_${compiler}} ${depfile} ${source} -o ${output} ${${program}_FLAGS}
              -Wl,--as-needed -latomic -lm -ldl
      DEPENDS ${source} ${use_depfile} VERBATIM COMMENT "Building ${compiler}/${program}")
    add_custom_target(openmp_${compiler}_${program} DEPENDS ${output})
    add_dependencies(openmp_test_programs openmp_${compiler}_${program})
    if(CMAKE_CROSSCOMPILING)
      add_dependencies(openmp_${compiler}_${program} weft)
    endif()
    weft_openmp_run(openmp.${compiler}.${program} ${program} ${output})
    get_filename_component(folder ${source} DIRECTORY)
    get_filename_component(folder ${folder} NAME)
    set_property(TEST openmp.${compiler}.${program} APPEND PROPERTY LABELS ${folder})
  endforeach()
endfunction()

# Adds the test that runs a program which is already built.
function(weft_openmp_run test program output)
  set(limit 60)
  if(${program}_TIMEOUT)
    set(limit ${${program}_TIMEOUT})
  endif()
  math(EXPR limit "${limit} * ${weft_test_scale}")
  set(environments)
  if(${program}_ENVIRONMENTS)
    set(environments --environments ${${program}_ENVIRONMENTS})
  endif()
  add_test(NAME ${test}
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/run.py --quiet ${weft_test_run} ${weft_test_runtime} --timeout ${limit}
            ${environments} ${output})
  math(EXPR whole "${limit} * 10 + 60")
  # The leak checker does not look at the stacks of contexts, so what only they point to would be a leak to it.
  set_tests_properties(${test} PROPERTIES TIMEOUT ${whole} LABELS "openmp" ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0")
endfunction()
