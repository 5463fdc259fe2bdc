// SPDX-License-Identifier: Apache-2.0
// What code compiled with -fsanitize=thread calls, what replaced/ calls, and what takes libc's place for all
// strategies.
#include <cstdint>
#include <ctime>

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "machine/machine.h"

using weft::machine::Access;
using weft::machine::g_machine;

weft::machine::Machine* weft::machine::g_machine = nullptr;

namespace {

Access access_of(const volatile void* address, size_t size, int order, const void* place) {
  return {reinterpret_cast<uintptr_t>(address), static_cast<uint32_t>(size), order, place};
}

void plain(const volatile void* address, size_t size, bool writes, const void* place) {
  if (g_machine != nullptr) g_machine->plain(access_of(address, size, __ATOMIC_RELAXED, place), writes);
}

}  // namespace

#define PLACE __builtin_return_address(0)

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}

#define PLAIN(size)                                                                       \
  void __tsan_read##size(void* address) { plain(address, size, false, PLACE); }           \
  void __tsan_write##size(void* address) { plain(address, size, true, PLACE); }           \
  void __tsan_unaligned_read##size(void* address) { plain(address, size, false, PLACE); } \
  void __tsan_unaligned_write##size(void* address) { plain(address, size, true, PLACE); }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(void* address, unsigned long size) { plain(address, size, false, PLACE); }
void __tsan_write_range(void* address, unsigned long size) { plain(address, size, true, PLACE); }
void __tsan_vptr_update(void** address, void*) { plain(address, sizeof(void*), true, PLACE); }
void __tsan_vptr_read(void** address) { plain(address, sizeof(void*), false, PLACE); }

#define UPDATE(bits, type, name, builtin, expression)                                                                \
  type __tsan_atomic##bits##_##name(volatile type* address, type value, int order) {                                 \
    if (g_machine == nullptr) return builtin(address, value, __ATOMIC_SEQ_CST);                                      \
    constexpr auto kChange = [](uint64_t old, uint64_t operand) { return uint64_t{static_cast<type>(expression)}; }; \
    return static_cast<type>(g_machine->update(access_of(address, sizeof(type), order, PLACE), kChange, value));     \
  }
#define COMPARE(bits, type, kind, is_weak)                                                                            \
  int __tsan_atomic##bits##_compare_exchange_##kind(volatile type* address, type* expected, type wish, int order,     \
                                                    int fail_order) {                                                 \
    if (g_machine == nullptr)                                                                                         \
      return __atomic_compare_exchange_n(address, expected, wish, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) ? 1 : 0; \
    uint64_t seen = *expected;                                                                                        \
    const Access access = access_of(address, sizeof(type), order, PLACE);                                             \
    const bool done = g_machine->compare_exchange(access, fail_order, is_weak, seen, wish);                           \
    *expected = static_cast<type>(seen);                                                                              \
    return done ? 1 : 0;                                                                                              \
  }
#define ATOMIC(bits, type)                                                                     \
  type __tsan_atomic##bits##_load(const volatile type* address, int order) {                   \
    if (g_machine == nullptr) return __atomic_load_n(address, __ATOMIC_SEQ_CST);               \
    return static_cast<type>(g_machine->load(access_of(address, sizeof(type), order, PLACE))); \
  }                                                                                            \
  void __tsan_atomic##bits##_store(volatile type* address, type value, int order) {            \
    if (g_machine == nullptr) {                                                                \
      __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                      \
    } else {                                                                                   \
      g_machine->store(access_of(address, sizeof(type), order, PLACE), value);                 \
    }                                                                                          \
  }                                                                                            \
  COMPARE(bits, type, strong, false)                                                           \
  COMPARE(bits, type, weak, true)                                                              \
  UPDATE(bits, type, exchange, __atomic_exchange_n, (static_cast<void>(old), operand))         \
  UPDATE(bits, type, fetch_add, __atomic_fetch_add, old + operand)                             \
  UPDATE(bits, type, fetch_sub, __atomic_fetch_sub, old - operand)                             \
  UPDATE(bits, type, fetch_and, __atomic_fetch_and, old& operand)                              \
  UPDATE(bits, type, fetch_or, __atomic_fetch_or, old | operand)                               \
  UPDATE(bits, type, fetch_xor, __atomic_fetch_xor, old ^ operand)
ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

void __tsan_atomic_thread_fence(int order) {
  if (g_machine != nullptr) g_machine->fence(order, PLACE);
}
void __tsan_atomic_signal_fence(int) {}

void weft_machine_pause() {
  if (g_machine != nullptr) g_machine->pause(false);
}

int64_t weft_machine_ticks() { return g_machine != nullptr ? g_machine->clock_ns(CLOCK_MONOTONIC) : 0; }

long weft_machine_futex(const void* word, long operation, long value, const timespec* limit) {
  if (g_machine == nullptr) return 0;
  constexpr long kCommand = ~static_cast<long>(FUTEX_PRIVATE_FLAG);
  if ((operation & kCommand) == FUTEX_WAKE) return g_machine->futex_wake(word, static_cast<int>(value), PLACE);
  const int64_t timeout_ns = limit != nullptr ? int64_t{limit->tv_sec} * 1'000'000'000 + limit->tv_nsec : -1;
  return g_machine->futex_wait(word, static_cast<uint32_t>(value), timeout_ns, PLACE);
}

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)
int sched_yield() noexcept {
  if (g_machine == nullptr) return static_cast<int>(syscall(SYS_sched_yield));
  g_machine->pause(true);
  return 0;
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  if (g_machine == nullptr) return static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  const int64_t ns = g_machine->clock_ns(clock);
  if (ns < 0) return -1;
  *time = {ns / 1'000'000'000, ns % 1'000'000'000};
  return 0;
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name)

}  // extern "C"
