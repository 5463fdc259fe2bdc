// SPDX-License-Identifier: Apache-2.0
#include "interpose/product_locks.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>

#include <pthread.h>

#include "platform/libc_calls.h"

namespace weft::interpose {

namespace {

// What the thread has locked last and holds; null: nothing. Of the library's locks only those of products are held
// where jobs begin.
thread_local constinit pthread_mutex_t* t_held = nullptr;

// What the thread has given back before its time. More than one: calls inside of each other, which the library makes
// none of today.
struct Released {
  std::array<pthread_mutex_t*, 4> locks{};
  size_t count = 0;
};
thread_local constinit Released t_released;

// All locks of copies, for the child of a fork: what they guard besides, which buffers are in use, is a word each. A
// copy has some three hundred; where there is no room, a child may find one taken for ever, as without weft. Relaxed:
// no other data belongs to the words.
constexpr auto kRelaxed = std::memory_order_relaxed;
constinit std::array<std::atomic<pthread_mutex_t*>, 2048> g_known{};

void note(pthread_mutex_t* mutex) noexcept {
  size_t at = reinterpret_cast<uintptr_t>(mutex) / sizeof(pthread_mutex_t);
  for (size_t looks = 0; looks < g_known.size(); ++looks, ++at) {
    std::atomic<pthread_mutex_t*>& known = g_known[at % g_known.size()];
    pthread_mutex_t* seen = known.load(kRelaxed);
    if (seen == nullptr && known.compare_exchange_strong(seen, mutex, kRelaxed)) return;
    if (seen == mutex) return;
  }
}

int lock_of_copy(pthread_mutex_t* mutex) noexcept {
  note(mutex);
  const int error = pthread_mutex_lock(mutex);
  if (error == 0) t_held = mutex;
  return error;
}

int unlock_of_copy(pthread_mutex_t* mutex) noexcept {
  if (t_held == mutex) {
    t_held = nullptr;
    return pthread_mutex_unlock(mutex);
  }
  Released& released = t_released;
  if (released.count > 0 && released.locks[released.count - 1] == mutex) {
    --released.count;
    return 0;
  }
  return pthread_mutex_unlock(mutex);
}

bool write_all(const platform::LoadedObject& object, const char* wanted, const void* ours) noexcept {
  bool good = true;
  object.for_each_taken([&](const char* name, void** place) {
    if (std::strcmp(name, wanted) == 0) good = platform::write_mapped(place, ours) && good;
  });
  return good;
}

}  // namespace

// What gives locks back comes first: by itself it does what libc's does. The other way round a lock that was given back
// early would be given back twice.
void take_lock_calls(const platform::LoadedObject& object) noexcept {
  if (write_all(object, "pthread_mutex_unlock", reinterpret_cast<const void*>(&unlock_of_copy)))
    write_all(object, "pthread_mutex_lock", reinterpret_cast<const void*>(&lock_of_copy));
}

bool release_product_lock() noexcept {
  Released& released = t_released;
  if (t_held == nullptr || released.count == released.locks.size()) return false;
  pthread_mutex_unlock(t_held);
  released.locks[released.count++] = t_held;
  t_held = nullptr;
  return true;
}

void retake_product_lock() noexcept {
  Released& released = t_released;
  t_held = released.locks[--released.count];
  pthread_mutex_lock(t_held);
}

void free_locks() noexcept {
  for (std::atomic<pthread_mutex_t*>& known : g_known) {
    pthread_mutex_t* mutex = known.load(kRelaxed);
    if (mutex != nullptr && mutex != t_held) *mutex = PTHREAD_MUTEX_INITIALIZER;
  }
}

}  // namespace weft::interpose
