// SPDX-License-Identifier: Apache-2.0
// Threads of the kernel that libc knows nothing of: they run under an identity that somebody else has made. What they
// run must not use libc's record of a thread, unless that identity is theirs alone.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::platform {

// Starts a thread that runs `run(argument)` below `stack_top`, which is aligned to 16 bytes, with this thread pointer
// and the caller's mask of signals. `run` does not return. `number` is the thread's number before the call returns, and
// 0 when the thread has gone and uses its stack no more: whoever waits for that uses await_bare_thread(). Returns
// false when the system refuses. May be called by handlers of signals.
bool start_bare_thread(uintptr_t stack_top, uintptr_t thread_pointer, void (*run)(void*), void* argument,
                       std::atomic<uint32_t>& number) noexcept;

// Waits until the thread has gone.
void await_bare_thread(const std::atomic<uint32_t>& number) noexcept;

// Ends the calling thread, and it alone, past libc.
[[noreturn]] void end_bare_thread() noexcept;

// From now on the caller is such a thread to the kernel: `number` gets its number, and 0 when it has gone; the mutexes
// that it has locked stay locked then.
void become_bare_thread(std::atomic<uint32_t>& number) noexcept;

// Where libc keeps the kernel's number of the calling thread, which libc has made; null: it cannot be told.
uint32_t* number_in_record() noexcept;

// Undoes become_bare_thread(): `number` is libc's word for the calling thread, by which joiners learn that it has gone.
void become_libc_thread(uint32_t* number) noexcept;

}  // namespace weft::platform
