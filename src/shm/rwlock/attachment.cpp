// SPDX-License-Identifier: Apache-2.0
#include "shm/rwlock/attachment.h"

#include <mutex>

#include <pthread.h>

namespace weft::shm {

namespace {

constinit platform::Spinlock g_lock;  // guards the list, which is valid at each instruction
constinit weft_rwlock* g_attachments = nullptr;

// The child has one thread, so nothing is locked.
void forget_parent() noexcept {
  for (weft_rwlock* lock = g_attachments; lock != nullptr; lock = lock->next) {
    lock->writer.store(kNobody, std::memory_order_relaxed);
    for (Reader* reader = lock->readers; reader != nullptr; reader = reader->next) {
      reader->no_record[0] = 0;
      reader->no_record[1] = RealReaderRecord::kClosed;
      reader->record = reader->no_record;
      reader->of_parent = true;
    }
  }
}

template <class Node>
void unlink(Node** list, const Node* node) noexcept {
  while (*list != nullptr && *list != node) list = &(*list)->next;
  if (*list != nullptr) *list = node->next;
}

}  // namespace

bool enlist(weft_rwlock* lock) noexcept {
  static const bool watched = pthread_atfork(nullptr, nullptr, forget_parent) == 0;
  if (!watched) return false;
  const std::lock_guard guard(g_lock);
  lock->next = g_attachments;
  g_attachments = lock;
  return true;
}

void strike(const weft_rwlock* lock) noexcept {
  const std::lock_guard guard(g_lock);
  unlink(&g_attachments, lock);
}

}  // namespace weft::shm

using weft::shm::Reader;

void weft_rwlock::add(Reader* reader) noexcept {
  const std::lock_guard guard(list_lock);
  reader->next = readers;
  readers = reader;
}

void weft_rwlock::remove(const Reader* reader) noexcept {
  const std::lock_guard guard(list_lock);
  weft::shm::unlink(&readers, reader);
}
