// SPDX-License-Identifier: Apache-2.0
// The model in the place of the machine, for the protocols of src/shm: the same names as shm::RealOps.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "explorer.h"
#include "shm/sync/robust.h"

namespace weft::explore {

template <class Value>
class ModelAtomic {
 public:
  Value load(std::memory_order = std::memory_order_seq_cst) const noexcept {
    return from(Explorer::running()->load(&value_, sizeof(Value)));
  }
  void store(Value value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    if (order == std::memory_order_seq_cst) {
      exchange(value);
    } else {
      Explorer::running()->store(&value_, sizeof(Value), to(value), order == std::memory_order_release);
    }
  }
  Value exchange(Value value, std::memory_order = std::memory_order_seq_cst) noexcept {
    return from(Explorer::running()->update(&value_, sizeof(Value), [&](uint64_t) { return to(value); }));
  }
  Value fetch_add(Value value, std::memory_order = std::memory_order_seq_cst) noexcept {
    return from(
        Explorer::running()->update(&value_, sizeof(Value), [&](uint64_t before) { return before + to(value); }));
  }
  bool compare_exchange_strong(Value& expected, Value wanted, std::memory_order = std::memory_order_seq_cst,
                               std::memory_order = std::memory_order_seq_cst) noexcept {
    const uint64_t before = Explorer::running()->update(
        &value_, sizeof(Value), [&](uint64_t found) { return found == to(expected) ? to(wanted) : found; });
    const bool done = before == to(expected);
    expected = from(before);
    return done;
  }
  const void* word() const noexcept { return &value_; }

 private:
  static uint64_t to(Value value) noexcept { return static_cast<uint64_t>(value); }
  static Value from(uint64_t bits) noexcept { return static_cast<Value>(bits); }

  Value value_;
};

class ModelRobust {
 public:
  void make() noexcept {}
  shm::Taken try_take(uint32_t, shm::Hold, shm::Look = shm::Look::word) noexcept {
    return result_of(Explorer::running()->try_take(this));
  }
  shm::Taken take(uint32_t, shm::Hold, int64_t deadline_ns) noexcept {
    return result_of(Explorer::running()->take(this, deadline_ns));
  }
  void settle() noexcept { Explorer::running()->settle(this); }
  void give(uint32_t, shm::Hold) noexcept { Explorer::running()->give(this); }

 private:
  static shm::Taken result_of(Explorer::Taken taken) noexcept {
    return taken == Explorer::Taken::no    ? shm::Taken::no
           : taken == Explorer::Taken::yes ? shm::Taken::yes
                                           : shm::Taken::after_death;
  }
  char nothing_ = 0;
};

struct ModelOps {
  template <class Value>
  using Atomic = ModelAtomic<Value>;
  using Robust = ModelRobust;

  static void full_fence() noexcept { Explorer::running()->full_fence(); }
  static bool heavy_fence() noexcept {
    Explorer::running()->heavy_fence();
    return true;
  }
  static uint64_t self() noexcept { return static_cast<uint64_t>(Explorer::running()->self() + 2); }
  static int64_t now_ns() noexcept { return Explorer::running()->now(); }
  static int64_t spin_ns() noexcept { return 0; }
  static void pause() noexcept { Explorer::running()->pause(); }
  static void wait(const Atomic<uint32_t>& word, uint32_t expected, int64_t deadline_ns) noexcept {
    Explorer::running()->wait(word.word(), expected, deadline_ns);
  }
  static void wake(const Atomic<uint32_t>& word) noexcept { Explorer::running()->wake(word.word()); }
};

}  // namespace weft::explore
