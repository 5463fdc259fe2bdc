// SPDX-License-Identifier: Apache-2.0
// Says what happened when a member runs over the end of its stack, before the program dies of SIGSEGV as it would
// anyway.
#pragma once

#include <cstddef>
#include <cstdint>

#include <pthread.h>

namespace weft::core {

// Bytes below each stack of ours that fault. More than a page, since a frame may skip one.
inline constexpr size_t kGuardSize = 64u << 10;

// The lowest address of a live thread's stack, above its guard; 0 when it cannot be told. It allocates memory, so
// better not by threads that have no arena of the allocator's yet.
uintptr_t stack_end_of(pthread_t thread) noexcept;

// Takes SIGSEGV over, unless the program has; once.
void watch_stacks(size_t stack_size) noexcept;

// Gives the calling OS thread a stack for the handler to run on, unless it has one; `memory` of
// kAlternateStackSize bytes outlives the thread or drop_alternate_stack().
inline constexpr size_t kAlternateStackSize = 32u << 10;
void use_alternate_stack(void* memory) noexcept;
void drop_alternate_stack(const void* memory) noexcept;

}  // namespace weft::core
