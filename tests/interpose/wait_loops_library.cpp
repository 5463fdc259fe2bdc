// SPDX-License-Identifier: Apache-2.0
// Functions with the names and the wait loops of OpenBLAS's, as compilers leave them (wait_loops_test.cpp). Each waits
// until its argument is not zero, once for each of its loops. How many of them each has differs from build to build:
// PRODUCTS and DRIVERS are those of the first functions, LAST_PRODUCT and LAST_DRIVER those of the last one. They are
// in the exported function and, most of them, in one beside it: behind it, or BEFORE it. STRANGER: behind the last product
// (1) or the last driver (2) stands a wait of another kind. MARGIN: what stands before the first function and behind the
// last one. AT_THE_TEST: the loops of drivers are entered at
// their tests, with the first value.

#ifndef STRANGER
#define STRANGER 0
#endif
#ifdef AT_THE_TEST
#define DRIVER_LOOP "entered_loop"
#else
#define DRIVER_LOOP "driver_loop"
#endif
#ifndef MARGIN
#define MARGIN 16384
#endif
#define TEXT_(number) #number
#define TEXT(number) TEXT_(number)

asm(R"(
  .macro product_loop
  .balign 16
1:
  .skip 8, 0x90
  mov (%rdi), %rax
  test %rax, %rax
  je 1b
  .endm

  .macro driver_loop
1:
  mov (%rdi), %rax
  test %rax, %rax
  je 1b
  .endm

  .macro entered_loop
  mov (%rdi), %rax
  jmp 2f
1:
  mov (%rdi), %rax
2:
  test %rax, %rax
  je 1b
  .endm

  .macro begin name
  .globl \name
  .type \name, @function
\name:
  .endm

  .macro inner name, loop, count
  .type inner_\name, @function
inner_\name:
  .rept \count
  \loop
  .endr
  ret
  .size inner_\name, .-inner_\name
  .endm

  .macro function name, loop, count
  .if )" TEXT(BEFORE) R"(
  inner \name, \loop, \count
  .endif
  begin \name
  call inner_\name
  ret
  .size \name, .-\name
  .if )" TEXT(BEFORE) R"( == 0
  inner \name, \loop, \count
  .endif
  .endm

  .text
  .skip )" TEXT(MARGIN) R"(, 0xcc
  function sbgemm_thread_tn, product_loop, )" TEXT(PRODUCTS) R"(
  function dgemm_thread_nn, product_loop, )" TEXT(PRODUCTS) R"(
  begin gemm_thread_mn
  ret
  .size gemm_thread_mn, .-gemm_thread_mn
  function zherk_thread_LC, product_loop, )" TEXT(PRODUCTS) R"(
  function cgemm3m_thread_nt, product_loop, )" TEXT(LAST_PRODUCT) R"(
  .if )" TEXT(STRANGER) R"( == 1
1:
  .skip 8, 0x90
  mov $1, %ecx
  mov %rdx, %rax
  lock cmpxchg %rcx, (%rdi)
  je 2f
  jmp 1b
2:
  ret
  .endif
  .skip 16384, 0xcc
  function dgetrf_parallel, )" DRIVER_LOOP R"(, )" TEXT(DRIVERS) R"(
  function zgetrf_parallel, )" DRIVER_LOOP R"(, )" TEXT(LAST_DRIVER) R"(
  .if )" TEXT(STRANGER) R"( == 2
1:
  cmpq $0, 64(%rdi,%rcx,8)
  je 1b
  ret
  .endif
  .skip )" TEXT(MARGIN) R"(, 0xcc
)");
