// SPDX-License-Identifier: Apache-2.0
// What programs write by themselves: a hash table in shared memory under one pthread_rwlock between processes.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string_view>

#include <pthread.h>

#include "kv/stores/place.h"

namespace bench {

// Without locks: what the verification must find out.
enum class Locks { kNone, kRwlock };

template <Locks kLocks>
class RwlockHash {
 public:
  static size_t size(const Place& place) { return sizeof(Head) + slots_of(place) * slot_size(place); }
  static void make(const Place& place) {
    auto* head = static_cast<Head*>(place.memory->map());
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    // Without a preference for writers, readers that never rest let no put through.
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    if (pthread_rwlock_init(&head->lock, &attributes) != 0) store_failed("pthread_rwlock_init", "refused");
    pthread_rwlockattr_destroy(&attributes);
  }

 private:
  struct alignas(64) Head {
    pthread_rwlock_t lock;
  };
  struct Slot {
    uint32_t key_size;  // 0: free
    uint32_t value_size;
    char* bytes() { return reinterpret_cast<char*>(this + 1); }
  };
  static size_t slots_of(const Place& place) { return std::bit_ceil(static_cast<size_t>(place.keys) * 2); }
  static size_t slot_size(const Place& place) {
    return (sizeof(Slot) + static_cast<size_t>(place.key_size + place.value_size) + 63) / 64 * 64;
  }

  class Base {
   public:
    explicit Base(const Place& place)
        : head_(static_cast<Head*>(place.memory->map())),
          first_(reinterpret_cast<char*>(head_ + 1)),
          slots_(slots_of(place)),
          slot_size_(slot_size(place)) {}

   protected:
    // The key's slot, or the free one where it belongs.
    Slot* find(std::string_view key) const {
      for (size_t at = std::hash<std::string_view>()(key);; ++at) {
        auto* slot = reinterpret_cast<Slot*>(first_ + (at & (slots_ - 1)) * slot_size_);
        if (slot->key_size == 0) return slot;
        if (slot->key_size == key.size() && std::memcmp(slot->bytes(), key.data(), key.size()) == 0) return slot;
      }
    }

    Head* head_;
    char* first_;
    size_t slots_;
    size_t slot_size_;
  };

 public:
  class Reader : Base {
   public:
    using Base::Base;
    bool get(std::string_view key, char* into, size_t size) {
      if (kLocks == Locks::kRwlock) pthread_rwlock_rdlock(&this->head_->lock);
      Slot* slot = this->find(key);
      const bool found = slot->key_size != 0;
      if (found) std::memcpy(into, slot->bytes() + slot->key_size, slot->value_size < size ? slot->value_size : size);
      if (kLocks == Locks::kRwlock) pthread_rwlock_unlock(&this->head_->lock);
      return found;
    }
  };

  class Writer : Base {
   public:
    using Base::Base;
    void put(std::string_view key, std::string_view value) {
      if (kLocks == Locks::kRwlock) pthread_rwlock_wrlock(&this->head_->lock);
      Slot* slot = this->find(key);
      slot->key_size = static_cast<uint32_t>(key.size());
      slot->value_size = static_cast<uint32_t>(value.size());
      std::memcpy(slot->bytes(), key.data(), key.size());
      std::memcpy(slot->bytes() + key.size(), value.data(), value.size());
      if (kLocks == Locks::kRwlock) pthread_rwlock_unlock(&this->head_->lock);
    }
  };
};

}  // namespace bench
