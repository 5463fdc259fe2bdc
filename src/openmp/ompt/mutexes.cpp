// SPDX-License-Identifier: Apache-2.0
// Locks, critical, atomic and ordered regions.
#include "openmp/lock/lock.h"

#include "openmp/loop/ordered.h"
#include "openmp/ompt/callbacks.h"
#include "openmp/tool/event_bodies.h"

namespace weft::openmp::ompt {

namespace {

ompt_wait_id_t id_of(const void* mutex) noexcept { return reinterpret_cast<uintptr_t>(mutex); }

void acquiring(ompt_mutex_t kind, ompt_wait_id_t id, const void* caller) noexcept {
  call<ompt_callback_mutex_acquire_t>(ompt_callback_mutex_acquire, kind, 0u, unsigned{kMutexImplementation}, id,
                                      caller);
}

void acquired(ompt_mutex_t kind, ompt_wait_id_t id, const void* caller) noexcept {
  call<ompt_callback_mutex_t>(ompt_callback_mutex_acquired, kind, id, caller);
}

void released(ompt_mutex_t kind, ompt_wait_id_t id, const void* caller) noexcept {
  call<ompt_callback_mutex_t>(ompt_callback_mutex_released, kind, id, caller);
}

void nested(ompt_scope_endpoint_t endpoint, ompt_wait_id_t id, const void* caller) noexcept {
  call<ompt_callback_nest_lock_t>(ompt_callback_nest_lock, endpoint, id, caller);
}

int state_of(ompt_mutex_t kind) noexcept {
  switch (kind) {
    case ompt_mutex_critical: return ompt_state_wait_critical;
    case ompt_mutex_atomic: return ompt_state_wait_atomic;
    case ompt_mutex_ordered: return ompt_state_wait_ordered;
    default: return ompt_state_wait_lock;
  }
}

// The order between iterations: of a loop's record, or of the team where the loop needs none.
ompt_wait_id_t id_of_order(const Member* self) noexcept {
  const Workshare* share = self->loop.share;
  return share != nullptr ? id_of(share) : id_of(self->team);
}

int taken(int count, ompt_mutex_t kind, ompt_wait_id_t id, const void* caller) noexcept {
  if (count == 1) acquired(kind, id, caller);
  if (count > 1) nested(ompt_scope_begin, id, caller);
  return count;
}

}  // namespace

void acquire(LockWord& word, ompt_mutex_t kind, const void* caller) noexcept {
  const Entry entry(caller);
  acquiring(kind, id_of(&word), caller);
  {
    const Showing waiting(state_of(kind), id_of(&word));
    lock_as(word, kind);
  }
  mark_reported(word);
  acquired(kind, id_of(&word), caller);
}

bool try_acquire(LockWord& word, const void* caller) noexcept {
  const Entry entry(caller);
  acquiring(ompt_mutex_test_lock, id_of(&word), caller);
  const bool done = try_lock(word);
  if (done) mark_reported(word);
  if (done) acquired(ompt_mutex_test_lock, id_of(&word), caller);
  return done;
}

void release(LockWord& word, ompt_mutex_t kind, const void* caller) noexcept {
  const Entry entry(caller);
  // The next holder may have freed the word: only its address is used.
  released(kind, id_of(&word), caller);
}

int acquire(NestLock& nest, const void* task, const void* caller) noexcept {
  const Entry entry(caller);
  acquiring(ompt_mutex_nest_lock, id_of(&nest), caller);
  const Showing waiting(ompt_state_wait_lock, id_of(&nest));
  return taken(lock(nest, task), ompt_mutex_nest_lock, id_of(&nest), caller);
}

int try_acquire(NestLock& nest, const void* task, const void* caller) noexcept {
  const Entry entry(caller);
  acquiring(ompt_mutex_test_nest_lock, id_of(&nest), caller);
  return taken(try_lock(nest, task), ompt_mutex_test_nest_lock, id_of(&nest), caller);
}

int release(NestLock& nest, const void* caller) noexcept {
  const Entry entry(caller);
  const int left = unlock(nest);
  if (left == 0) {
    released(ompt_mutex_nest_lock, id_of(&nest), caller);
  } else {
    nested(ompt_scope_end, id_of(&nest), caller);
  }
  return left;
}

void begin_ordered(Member* self) noexcept {
  const ompt_wait_id_t id = id_of_order(self);
  acquiring(ompt_mutex_ordered, id, t_thread.caller);
  {
    const Showing waiting(ompt_state_wait_ordered, id);
    await_ordered(self);
  }
  acquired(ompt_mutex_ordered, id, t_thread.caller);
}

void end_ordered(Member* self) noexcept {
  // Told before others can go on, so that the tool hears of the next member later.
  released(ompt_mutex_ordered, id_of_order(self), t_thread.caller);
}

void init_lock(const void* lock, ompt_mutex_t kind, unsigned hint, const void* caller) noexcept {
  const Entry entry(caller);
  call<ompt_callback_mutex_acquire_t>(ompt_callback_lock_init, kind, hint, unsigned{kMutexImplementation}, id_of(lock),
                                      caller);
}

void destroy_lock(const void* lock, ompt_mutex_t kind, const void* caller) noexcept {
  const Entry entry(caller);
  call<ompt_callback_mutex_t>(ompt_callback_lock_destroy, kind, id_of(lock), caller);
}

}  // namespace weft::openmp::ompt
