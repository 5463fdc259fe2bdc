// SPDX-License-Identifier: Apache-2.0
#include "interpose/product_locks.h"

#include <array>
#include <cstring>

#include <pthread.h>

#include "interpose/copy.h"
#include "platform/libc_calls.h"

namespace weft::interpose {

namespace {

// What the thread holds since a product has locked it; null: nothing.
thread_local constinit pthread_mutex_t* t_held = nullptr;

// What the thread has given back before its time: of calls inside of each other, which nothing of the library makes
// today.
struct Released {
  std::array<pthread_mutex_t*, 4> locks{};
  size_t count = 0;
};
thread_local constinit Released t_released;

bool is_product(const void* address) noexcept {
  const int count = copy_count();
  for (int i = 0; i < count; ++i) {
    if (copy(i)->products.holds(address)) return true;
  }
  return false;
}

int lock_of_copy(pthread_mutex_t* mutex) noexcept {
  const int error = pthread_mutex_lock(mutex);
  if (error == 0 && is_product(__builtin_return_address(0))) t_held = mutex;
  return error;
}

int unlock_of_copy(pthread_mutex_t* mutex) noexcept {
  Released& released = t_released;
  if (released.count > 0 && released.locks[released.count - 1] == mutex) {
    --released.count;
    return 0;
  }
  if (t_held == mutex) t_held = nullptr;
  return pthread_mutex_unlock(mutex);
}

}  // namespace

void take_lock_calls(const platform::LoadedObject& object) noexcept {
  object.for_each_taken([](const char* name, void** place) {
    const void* ours = nullptr;
    if (std::strcmp(name, "pthread_mutex_lock") == 0) ours = reinterpret_cast<const void*>(&lock_of_copy);
    if (std::strcmp(name, "pthread_mutex_unlock") == 0) ours = reinterpret_cast<const void*>(&unlock_of_copy);
    if (ours != nullptr) platform::write_mapped(place, ours);
  });
}

void release_product_lock() noexcept {
  Released& released = t_released;
  if (t_held == nullptr || released.count == released.locks.size()) return;
  pthread_mutex_unlock(t_held);
  released.locks[released.count++] = t_held;
  t_held = nullptr;
}

}  // namespace weft::interpose
