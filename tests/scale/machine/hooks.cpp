// SPDX-License-Identifier: Apache-2.0
// What code compiled with -fsanitize=thread calls, and what replaced/ calls.
#include <atomic>
#include <cstdint>

#include <linux/futex.h>

#include "machine/machine.h"

using weft::machine::Access;
using weft::machine::g_machine;
using weft::machine::kNanosecond;
using weft::machine::Machine;

namespace {

inline void touch(const volatile void* address, size_t size, Access access, const void* place) {
  if (g_machine != nullptr) g_machine->access(reinterpret_cast<uintptr_t>(address), size, access, place);
}

}  // namespace

#define PLACE __builtin_return_address(0)

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}

#define PLAIN(size)                                                                              \
  void __tsan_read##size(void* address) { touch(address, size, Access::read, PLACE); }           \
  void __tsan_write##size(void* address) { touch(address, size, Access::write, PLACE); }         \
  void __tsan_unaligned_read##size(void* address) { touch(address, size, Access::read, PLACE); } \
  void __tsan_unaligned_write##size(void* address) { touch(address, size, Access::write, PLACE); }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(void* address, unsigned long size) { touch(address, size, Access::read, PLACE); }
void __tsan_write_range(void* address, unsigned long size) { touch(address, size, Access::write, PLACE); }
void __tsan_vptr_update(void** address, void*) { touch(address, sizeof(void*), Access::write, PLACE); }
void __tsan_vptr_read(void** address) { touch(address, sizeof(void*), Access::read, PLACE); }

#define UPDATE(bits, type, name)                                               \
  type __tsan_atomic##bits##_##name(volatile type* address, type value, int) { \
    touch(address, sizeof(type), Access::update, PLACE);                       \
    return __atomic_##name(address, value, __ATOMIC_SEQ_CST);                  \
  }
#define ATOMIC(bits, type)                                                                                          \
  type __tsan_atomic##bits##_load(const volatile type* address, int) {                                              \
    touch(address, sizeof(type), Access::read, PLACE);                                                              \
    return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                                              \
  }                                                                                                                 \
  void __tsan_atomic##bits##_store(volatile type* address, type value, int order) {                                 \
    /* x86-64 has an exchange for a sequentially consistent store. */                                               \
    touch(address, sizeof(type), order == __ATOMIC_SEQ_CST ? Access::update : Access::write, PLACE);                \
    __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                                             \
  }                                                                                                                 \
  type __tsan_atomic##bits##_exchange(volatile type* address, type value, int) {                                    \
    touch(address, sizeof(type), Access::update, PLACE);                                                            \
    return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);                                                   \
  }                                                                                                                 \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile type* address, type* expected, type wish, int, int) {  \
    touch(address, sizeof(type), Access::update, PLACE);                                                            \
    return __atomic_compare_exchange_n(address, expected, wish, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) ? 1 : 0; \
  }                                                                                                                 \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile type* address, type* expected, type wish, int, int) {    \
    touch(address, sizeof(type), Access::update, PLACE);                                                            \
    return __atomic_compare_exchange_n(address, expected, wish, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) ? 1 : 0; \
  }                                                                                                                 \
  UPDATE(bits, type, fetch_add)                                                                                     \
  UPDATE(bits, type, fetch_sub)                                                                                     \
  UPDATE(bits, type, fetch_and)                                                                                     \
  UPDATE(bits, type, fetch_or)                                                                                      \
  UPDATE(bits, type, fetch_xor)
ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

void __tsan_atomic_thread_fence(int order) {
  if (g_machine != nullptr && order == __ATOMIC_SEQ_CST) g_machine->fence();
}
void __tsan_atomic_signal_fence(int) {}

void weft_machine_pause() {
  if (g_machine != nullptr) g_machine->pause();
}

int64_t weft_machine_ticks() {
  if (g_machine == nullptr) return 0;
  g_machine->spend(g_machine->costs().clock);
  return g_machine->now() / kNanosecond;
}

long weft_machine_futex(const void* word, long operation, long value, const timespec* limit) {
  if (g_machine == nullptr) return 0;
  constexpr long kCommand = ~static_cast<long>(FUTEX_PRIVATE_FLAG);
  if ((operation & kCommand) == FUTEX_WAKE) return g_machine->futex_wake(word, static_cast<int>(value));
  const int64_t timeout_ns = limit != nullptr ? int64_t{limit->tv_sec} * 1'000'000'000 + limit->tv_nsec : -1;
  return g_machine->futex_wait(word, static_cast<uint32_t>(value), timeout_ns, PLACE);
}

}  // extern "C"
