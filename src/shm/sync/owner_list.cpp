// SPDX-License-Identifier: Apache-2.0
#include "shm/sync/owner_list.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include <linux/futex.h>
#include <pthread.h>

#include "base/keep_errno.h"
#include "platform/spinlock.h"
#include "shm/sync/thread_number.h"

namespace weft::shm {

namespace {

// An entry is known by the address of its link: the kernel and the C library find the other fields from there.
constexpr size_t kLink = offsetof(pthread_mutex_t, __data.__list.__next);
constexpr size_t kBefore = offsetof(pthread_mutex_t, __data.__list.__prev);
static_assert(offsetof(pthread_mutex_t, __data.__lock) == 0 && kLink == 32 && kBefore == 24);

// The entry that a link leads to, without the link's last bit, which says of which kind the entry is.
void** untagged(void* link) noexcept { return reinterpret_cast<void**>(reinterpret_cast<uintptr_t>(link) & ~1ul); }

// The thread's number as the C library knows it, and its list: both can be read from a mutex that the thread has
// locked.
struct Found {
  uint32_t number = 0;
  void** head = nullptr;
};
Found find_list(size_t distance) noexcept {
  Found found;
  pthread_mutexattr_t attributes;
  if (pthread_mutexattr_init(&attributes) != 0) return found;
  pthread_mutex_t probe;
  if (pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) == 0 &&
      pthread_mutex_init(&probe, &attributes) == 0) {
    if (pthread_mutex_lock(&probe) == 0) {
      found.number = static_cast<uint32_t>(probe.__data.__lock) & FUTEX_TID_MASK;
      void** const head = untagged(probe.__data.__list.__prev);
      const bool known = head != nullptr && *head == &probe.__data.__list.__next &&
                         reinterpret_cast<intptr_t>(head[distance]) == -static_cast<intptr_t>(kLink);
      found.head = known ? head : nullptr;
      pthread_mutex_unlock(&probe);
    }
    pthread_mutex_destroy(&probe);
  }
  pthread_mutexattr_destroy(&attributes);
  return found;
}

// Kept per process: to ask the kernel takes long for a thread that owns something once and ends.
struct Self {
  uint32_t generation = 0;
  uint64_t space = 0;
  platform::ProcessId process;
};
constinit platform::Spinlock g_lock;
constinit Self g_self;

Self self_of(uint32_t generation) noexcept {
  {
    const std::lock_guard guard(g_lock);
    if (g_self.generation == generation) return g_self;
  }
  const Self found{generation, platform::pid_namespace(), platform::own_process_id()};
  const std::lock_guard guard(g_lock);
  return g_self = found;
}

}  // namespace

constinit thread_local OwnerList t_owner_list;

// The C library empties the list of the thread that a fork leaves.
void OwnerList::learn() noexcept {
  const base::KeepErrno keep;
  const Self self = self_of(platform::generation());
  const Found found = find_list(kDistance);
  number_ = found.number;
  head_ = found.head;
  space_ = self.space;
  process_ = self.process;
  thread_ = thread_number();
  count_ = 0;
  if (held_ == nullptr) {
    held_ = near_;
    room_ = kNear;
  }
  generation_ = self.generation;
}

// The field `before` of the entry that `link` leads to.
void** OwnerList::before_of(void* link) noexcept {
  return reinterpret_cast<void**>(reinterpret_cast<char*>(untagged(link)) - (kLink - kBefore));
}

bool OwnerList::make_room() noexcept {
  if (count_ < room_) return true;
  const base::KeepErrno keep;
  auto** const more = static_cast<Robust**>(std::malloc(2 * room_ * sizeof(Robust*)));
  if (more == nullptr) return false;
  std::copy(held_, held_ + count_, more);
  if (held_ != near_) std::free(held_);
  held_ = more;
  room_ *= 2;
  return true;
}

void OwnerList::add(Robust& robust) noexcept {
  static_assert(offsetof(Entry, next) == kLink && offsetof(Entry, before) == kBefore);
  static_assert(offsetof(Robust, link_) == kLink);
  if (head_ == nullptr || !make_room()) return;
  robust.link_.store(reinterpret_cast<uintptr_t>(&last_.next), std::memory_order_relaxed);  // the thread's own order
  in_this_order();
  held_[count_] = &robust;
  if (count_++ > 0) {
    held_[count_ - 2]->link_.store(reinterpret_cast<uintptr_t>(&robust.link_), std::memory_order_relaxed);
    return;
  }
  last_.next = *head_;
  first_.next = &robust.link_;
  first_.before = head_;
  in_this_order();
  *before_of(*head_) = &last_.next;
  *head_ = &first_.next;
}

void OwnerList::unlink_all() noexcept {
  void** const before = untagged(first_.before);
  *before_of(last_.next) = before;
  *before = last_.next;
}

void OwnerList::remove(Robust& robust) noexcept {
  if (count_ == 1 && held_ == near_) [[likely]] {
    if (near_[0] != &robust) return;
    unlink_all();
    in_this_order();
    count_ = 0;
    return;
  }
  remove_one(robust);
}

void OwnerList::remove_one(Robust& robust) noexcept {
  Robust** const end = held_ + count_;
  Robust** at = end;
  while (at != held_ && at[-1] != &robust) --at;
  if (at == held_) return;
  --at;
  if (count_ == 1) {
    unlink_all();
  } else {
    void* const next = at + 1 == end ? static_cast<void*>(&last_.next) : &at[1]->link_;
    if (at == held_) {
      first_.next = next;
    } else {
      at[-1]->link_.store(reinterpret_cast<uintptr_t>(next), std::memory_order_relaxed);  // the thread's own order
    }
  }
  in_this_order();
  std::copy(at + 1, end, at);
  if (--count_ == 0 && held_ != near_) {
    std::free(held_);
    held_ = near_;
    room_ = kNear;
  }
}

}  // namespace weft::shm
