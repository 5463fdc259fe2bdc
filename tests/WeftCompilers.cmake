# SPDX-License-Identifier: Apache-2.0
# The compilers of the programs that tests run.
function(weft_find_compiler variable package)
  find_program(${variable} NAMES ${ARGN} DOC "Compiler of the OpenMP tests")
  if(NOT ${variable})
    message(FATAL_ERROR "The OpenMP tests need ${package}: apt install ${package} (or run scripts/setup)")
  endif()
endfunction()

weft_find_compiler(WEFT_TEST_GCC gcc-12 gcc-12)
weft_find_compiler(WEFT_TEST_GXX g++-12 g++-12)
weft_find_compiler(WEFT_TEST_GFORTRAN gfortran-12 gfortran-12)
weft_find_compiler(WEFT_TEST_CLANG clang-19 clang-19)
weft_find_compiler(WEFT_TEST_CLANGXX clang-19 clang++-19)
# flang is not among what scripts/setup installs: where it is found (Debian's flang-19), it builds what it can.
find_program(WEFT_TEST_FLANG NAMES flang-new-19 DOC "Second Fortran compiler of the OpenMP tests, if it is there")
find_file(WEFT_TEST_LIBOMP libomp.so PATHS /usr/lib/llvm-19/lib NO_DEFAULT_PATH)
if(NOT WEFT_TEST_LIBOMP)
  message(FATAL_ERROR "The OpenMP tests need libomp-19-dev: apt install libomp-19-dev (or run scripts/setup)")
endif()
