// SPDX-License-Identifier: Apache-2.0
// How threads wait and how large their stacks are: what the environment says, and what a program says later by the
// kmp_ routines of LLVM's and Intel's runtimes. One pool serves all threads, so it holds for the process.
#pragma once

#include <cstddef>

namespace weft::openmp {

// The numbers are those of the kmp_ routines.
enum class Library : int { serial = 1, turnaround = 2, throughput = 3 };

// Nanoseconds that a waiter may look before it leaves its CPU.
long spin_ns() noexcept;

// As that runtime counts it: milliseconds.
int block_time() noexcept;
void set_block_time(int milliseconds) noexcept;

Library library() noexcept;
// serial: the calling task's regions have one member. turnaround: waiters keep their CPU. throughput: the default.
void set_library(Library library) noexcept;

// The size of the stacks of contexts that the pool makes; fixed once the pool runs.
size_t stack_size() noexcept;
void set_stack_size(size_t bytes) noexcept;

}  // namespace weft::openmp
