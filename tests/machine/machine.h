// SPDX-License-Identifier: Apache-2.0
// A machine that steps threads, as code under test sees it: what such code does to memory and asks of the kernel comes
// here (hooks.cpp). Which thread goes on, what a load returns and how long that takes is decided by a strategy, which
// is a class derived from this one. All threads run on one OS thread, one at a time. See README.md.
#pragma once

#include <cstdint>
#include <cstring>
#include <ctime>
#include <utility>

namespace weft::machine {

// What a thread does that others could notice, for strategies and for traces.
enum class Operation { load, store, update, fence, wait, wake, race, heavy_fence, seen, own, give, kill, time, none };

struct Access {
  uintptr_t address = 0;
  uint32_t size = 0;
  int order = __ATOMIC_SEQ_CST;
  const void* place = nullptr;  // in the program
};

// What a read-modify-write makes of the old value.
using Change = uint64_t (*)(uint64_t old, uint64_t operand);

class Machine {
 public:
  virtual ~Machine() = default;

  // ---- memory ----

  virtual void plain(const Access& access, bool writes) = 0;
  uint64_t load(Access access) {
    before(access, Operation::load);
    const uint64_t value = seen(access);
    done(access, Operation::load, value);
    return value;
  }
  void store(Access access, uint64_t value) {
    before(access, Operation::store);
    put(access, value, Operation::store);
    done(access, Operation::store, value);
  }
  // Returns the old value.
  uint64_t update(Access access, Change change, uint64_t operand) {
    before(access, Operation::update);
    const uint64_t old = read(access);
    const uint64_t value = change(old, operand);
    put(access, value, Operation::update);
    done(access, Operation::update, value);
    return old;
  }
  // `expected` gets what was found.
  bool compare_exchange(Access access, int fail_order, bool weak, uint64_t& expected, uint64_t wish) {
    before(access, Operation::update);
    const bool finds = finds_expected(access, fail_order, weak, expected);
    if (finds) put(access, wish, Operation::update);
    done(access, finds ? Operation::update : Operation::load, finds ? wish : expected);
    return finds;
  }
  virtual void fence(int order, const void* place) {
    Access everything{0, 0, order, place};
    before(everything, Operation::fence);
    done(everything, Operation::fence, 0);
  }

  // ---- the processor and the kernel ----

  // `yields`: by a call of the kernel.
  virtual void pause(bool yields) = 0;
  // Nanoseconds; -1: there is no such clock.
  virtual int64_t clock_ns(clockid_t clock) = 0;
  // As the system call. `timeout_ns`: -1 for none.
  virtual long futex_wait(const void* word, uint32_t expected, int64_t timeout_ns, const void* place) = 0;
  virtual long futex_wake(const void* word, int count, const void* place) = 0;

 protected:
  // The running thread is about to do that, for which the strategy may choose another order of memory.
  virtual void before(Access& access, Operation operation) = 0;
  // What a load returns.
  virtual uint64_t seen(const Access& access) { return read(access); }
  // Whether a compare-and-swap stores; `expected` gets what it has found.
  virtual bool finds_expected(const Access& access, int /*fail_order*/, bool /*weak*/, uint64_t& expected) {
    const uint64_t wanted = std::exchange(expected, read(access));
    return wanted == expected;
  }
  virtual void put(const Access& access, uint64_t value, Operation /*operation*/) { write(access, value); }
  // It has done that, and `value` is what it got or has written.
  virtual void done(const Access& /*access*/, Operation /*operation*/, uint64_t /*value*/) {}

  // The memory of the process, where the newest values are.
  static uint64_t read(const Access& access) {
    uint64_t value = 0;
    std::memcpy(&value, reinterpret_cast<const void*>(access.address), access.size);
    return value;
  }
  static void write(const Access& access, uint64_t value) {
    std::memcpy(reinterpret_cast<void*>(access.address), &value, access.size);
  }
};

// Null: no program runs on it, and the hooks do what the instructions and libc would do.
extern Machine* g_machine;

}  // namespace weft::machine
