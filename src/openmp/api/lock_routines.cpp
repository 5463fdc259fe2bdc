// SPDX-License-Identifier: Apache-2.0
// The lock routines (OpenMP 5.2, section 18.9). The memory of a lock is used alike by both ABIs, see lock.h.
#include <new>

#include "base/message.h"
#include "openmp/abi/abi.h"
#include "openmp/lock/lock.h"
#include "openmp/record/team.h"
#include "openmp/tool/events.h"

using namespace weft;
using namespace weft::openmp;

namespace {

LockWord& word_of(void* lock) noexcept { return *static_cast<LockWord*>(lock); }

void init(void* lock, int hint, const void* caller) noexcept {
  new (lock) LockWord(0);
  tool::init_lock(lock, ompt_mutex_lock, static_cast<unsigned>(hint), caller);
}

void destroy(const void* lock, const void* caller) noexcept { tool::destroy_lock(lock, ompt_mutex_lock, caller); }

NestLock* nest_of(void* lock) noexcept {
  NestLock* nest = nullptr;
  __builtin_memcpy(&nest, lock, sizeof nest);
  return nest;
}

void init_nest(void* lock, int hint, const void* caller) noexcept {
  auto* nest = new (std::nothrow) NestLock;
  if (nest == nullptr) base::lacking("no memory for a nestable lock");
  __builtin_memcpy(lock, &nest, sizeof nest);
  tool::init_lock(nest, ompt_mutex_nest_lock, static_cast<unsigned>(hint), caller);
}

void destroy_nest(void* lock, const void* caller) noexcept {
  const NestLock* nest = nest_of(lock);
  tool::destroy_lock(nest, ompt_mutex_nest_lock, caller);
  delete nest;
}

void set_nest(void* lock, const void* caller) noexcept { acquire(*nest_of(lock), self()->task, caller); }
int test_nest(void* lock, const void* caller) noexcept { return try_acquire(*nest_of(lock), self()->task, caller); }
void unset_nest(void* lock, const void* caller) noexcept { release(*nest_of(lock), caller); }

}  // namespace

// C and Fortran: both pass the lock's address.
#define WEFT_LOCK_ROUTINE(type, name, action)         \
  WEFT_ABI(type, name)(void* lock) { return action; } \
  WEFT_ABI(type, name##_)(void* lock) { return action; }

// A hint about contention changes nothing: the lock adapts itself.
#define WEFT_LOCK_ROUTINE_WITH_HINT(name, init)                                 \
  WEFT_ABI(void, name)(void* lock, int hint) { init(lock, hint, WEFT_CALLER); } \
  WEFT_ABI(void, name##_)(void* lock, const int32_t* hint) { init(lock, *hint, WEFT_CALLER); }

WEFT_LOCK_ROUTINE(void, omp_init_lock, init(lock, 0, WEFT_CALLER));
WEFT_LOCK_ROUTINE_WITH_HINT(omp_init_lock_with_hint, init);
WEFT_LOCK_ROUTINE(void, omp_destroy_lock, destroy(lock, WEFT_CALLER));
WEFT_LOCK_ROUTINE(void, omp_set_lock, acquire(word_of(lock), ompt_mutex_lock));
WEFT_LOCK_ROUTINE(void, omp_unset_lock, release(word_of(lock), ompt_mutex_lock));
WEFT_LOCK_ROUTINE(int, omp_test_lock, try_acquire(word_of(lock)) ? 1 : 0);

WEFT_LOCK_ROUTINE(void, omp_init_nest_lock, init_nest(lock, 0, WEFT_CALLER));
WEFT_LOCK_ROUTINE_WITH_HINT(omp_init_nest_lock_with_hint, init_nest);
WEFT_LOCK_ROUTINE(void, omp_destroy_nest_lock, destroy_nest(lock, WEFT_CALLER));
WEFT_LOCK_ROUTINE(void, omp_set_nest_lock, set_nest(lock, WEFT_CALLER));
WEFT_LOCK_ROUTINE(void, omp_unset_nest_lock, unset_nest(lock, WEFT_CALLER));
WEFT_LOCK_ROUTINE(int, omp_test_nest_lock, test_nest(lock, WEFT_CALLER));
