// SPDX-License-Identifier: Apache-2.0
// How a store is changed. Only the owner of `writer` changes it.
//
//   put      takes a free block; raises `version`; writes the record; stores its bucket: from here on the key has the
//            new value; frees the block of the old value
//   delete   raises `version`; marks the bucket deleted; frees the block
//   grow     takes a block; fills it with a table of the same records; stores `table`; raises `epoch`; frees the block
//            of the old table
//
// Each change takes effect by one store, before which no reader sees anything of it. The free blocks and all counts
// follow from the table. So when an owner has died in between, the next one gathers them anew (rebuild()).
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include "shm/kv/layout.h"
#include "shm/kv/reader.h"
#include "shm/kv/words.h"
#include "shm/sync/robust.h"
#include "shm/sync/wait.h"

namespace weft::shm {

// Gives the store memory from one position to another. Returns 0, or an errno.
class KvBacking {
 public:
  virtual int commit(uint64_t from, uint64_t to) noexcept = 0;

 protected:
  ~KvBacking() = default;
};

template <class Ops>
class KvWriter {
 public:
  using Layout = KvLayout<Ops>;
  enum class If { always, version };

  // `patience_ns`: how long a change of another owner may keep this writer waiting. kForever: without a limit.
  KvWriter(Layout& layout, uint64_t max_bytes, KvBacking& backing, int64_t patience_ns = kForever) noexcept
      : layout_(layout), words_(&layout), max_(max_bytes), backing_(backing), patience_ns_(patience_ns) {}

  // Makes an empty store, in memory that is zero and committed up to `committed`, where the first table has room.
  static void make(Layout& layout, uint64_t max_bytes, uint64_t committed) noexcept;

  // `*version`: the version that the key has got; with EAGAIN and EEXIST, the version that it has.
  int put(const KvKey& key, const void* value, uint64_t length, If condition, uint64_t expected,
          uint64_t* version) noexcept;
  int remove(const KvKey& key, If condition = If::always, uint64_t expected = 0) noexcept;

 private:
  struct FoundBucket {
    uint64_t bucket_at = 0;  // the bucket of the key's record, or the first one that can have it; 0: there is none
    uint64_t bucket = 0;
  };
  struct Extent {
    uint64_t begin;
    uint64_t end;
  };
  // So many free blocks of a size are kept as long as there is other room: a reader may still be copying them.
  static constexpr uint64_t kKept = 4;
  static constexpr uint64_t kStep = uint64_t{1} << 18;  // memory is committed in such steps at least

  // ETIMEDOUT: one owner has had the lock for longer than the caller's patience. It may be stopped.
  int lock() noexcept;
  Taken take() noexcept;
  void unlock() noexcept { layout_.writer.give(layout_.header.era(), Hold::briefly); }
  int put_locked(const KvKey& key, const void* value, uint64_t length, If condition, uint64_t expected,
                 uint64_t* version) noexcept;
  int remove_locked(const KvKey& key, If condition, uint64_t expected) noexcept;

  // Finds the bucket of a key. EBADMSG: the table is damaged.
  int find(const KvKey& key, FoundBucket* found) const noexcept;
  int make_room(FoundBucket* found, const KvKey& key) noexcept;
  unsigned wanted_bits() const noexcept;  // the size of a table that has room for one key more
  // EBADMSG: there are more records than the counts say, or a bucket leads to something that is no record.
  int grow(unsigned bits) noexcept;
  uint64_t raise_version() noexcept;
  void publish(uint64_t version) noexcept;

  // Takes a block with room for `bytes`; `*position`: where it lies.
  int allocate(uint64_t bytes, uint64_t* position) noexcept;
  bool take_free(unsigned index, uint64_t* position) noexcept;
  int extend(uint64_t bytes, uint64_t* position) noexcept;
  bool divide(unsigned index, uint64_t* position) noexcept;
  void release(uint64_t position, unsigned index) noexcept;
  void carve(uint64_t begin, uint64_t end) noexcept;

  int rebuild() noexcept;
  int gather(uint64_t table, Extent* extents, uint64_t room, uint64_t* count, uint64_t* deleted) const noexcept;

  // Whether `bytes` at `position` lie in the heap. A position that was read from a list may be any number. Positions
  // from buckets and tables are multiples of kUnit, since they are stored in such units.
  bool in_heap(uint64_t position, uint64_t bytes) const noexcept {
    return position % kUnit == 0 && position >= kv_heap_begin<Ops>() && position < max_ && bytes <= max_ - position;
  }
  bool sound(uint64_t table) const noexcept {
    const unsigned bits = kv_table::bits(table);
    return bits >= kv_table::kLeastBits && bits <= kv_table::kMostBits &&
           in_heap(kv_table::position(table), uint64_t{8} << bits);
  }
  // The size in bytes of the record at `position`, and the length of its key; 0: no record can lie there.
  uint64_t bytes_of_record(uint64_t position, uint64_t* key_length = nullptr) const noexcept {
    if (!in_heap(position, kv_record::kKey)) return 0;
    const uint64_t key = words_.load(position + kv_record::kKeyLength);
    const uint64_t value = words_.load(position + kv_record::kValueLength);
    if (key > max_ || value > max_) return 0;
    const uint64_t bytes = kv_record::bytes(key, value);
    if (key_length != nullptr) *key_length = key;
    return in_heap(position, bytes) ? bytes : 0;
  }

  // Counts in the header. Relaxed, all: only the owner of `writer` writes them, and others only show them.
  using Count = typename Ops::template Atomic<uint64_t>;
  static uint64_t value_of(const Count& count) noexcept { return count.load(std::memory_order_relaxed); }
  static void set(Count& count, uint64_t value) noexcept { count.store(value, std::memory_order_relaxed); }
  static void add(Count& count, uint64_t value) noexcept { set(count, value_of(count) + value); }

  Layout& layout_;
  const Words<Ops> words_;
  const uint64_t max_;
  KvBacking& backing_;
  const int64_t patience_ns_;
};

template <class Ops>
void KvWriter<Ops>::make(Layout& layout, uint64_t max_bytes, uint64_t committed) noexcept {
  const uint64_t table = kv_heap_begin<Ops>();
  const uint64_t bytes = uint64_t{8} << kv_table::kLeastBits;
  layout.max_bytes = max_bytes;
  layout.writer.make();
  set(layout.table, kv_table::of(table, kv_table::kLeastBits));
  set(layout.used, size_of_class(class_of_size(bytes)));
  set(layout.heap_end, table + size_of_class(class_of_size(bytes)));
  set(layout.committed, committed);
}

template <class Ops>
Taken KvWriter<Ops>::take() noexcept {
  // As a rule the lock is free: then the time need not be read.
  Taken taken = layout_.writer.try_take(layout_.header.era(), Hold::briefly);
  while (taken == Taken::no && patience_ns_ > 0) {
    const uint64_t holds = value_of(layout_.holds);
    const int64_t now = Ops::now_ns();
    const int64_t until = patience_ns_ < kForever - now ? now + patience_ns_ : kForever;
    taken = layout_.writer.take(layout_.header.era(), Hold::briefly, until);
    // If `holds` has changed, owners come and go, and none of them is stopped: the caller waits on.
    if (value_of(layout_.holds) == holds) break;
  }
  return taken;
}

template <class Ops>
int KvWriter<Ops>::lock() noexcept {
  const Taken taken = take();
  if (taken == Taken::no) return ETIMEDOUT;
  add(layout_.holds, 1);
  if (taken == Taken::after_death) {
    set(layout_.untidy, 1);
    add(layout_.recoveries, 1);
    layout_.writer.settle();
  }
  if (value_of(layout_.untidy) == 0) return 0;
  if (const int error = rebuild(); error != 0) {
    unlock();
    return error;
  }
  set(layout_.untidy, 0);
  // The dead owner may have made a change without waking the threads that wait for one.
  publish(value_of(layout_.version));
  return 0;
}

template <class Ops>
int KvWriter<Ops>::put(const KvKey& key, const void* value, uint64_t length, If condition, uint64_t expected,
                       uint64_t* version) noexcept {
  if (key.length > max_ || length > max_ || kv_record::bytes(key.length, length) > max_ - kv_heap_begin<Ops>()) {
    return EMSGSIZE;
  }
  if (const int error = lock(); error != 0) return error;
  const int result = put_locked(key, value, length, condition, expected, version);
  unlock();
  return result;
}

template <class Ops>
int KvWriter<Ops>::remove(const KvKey& key, If condition, uint64_t expected) noexcept {
  if (const int error = lock(); error != 0) return error;
  const int result = remove_locked(key, condition, expected);
  unlock();
  return result;
}

template <class Ops>
int KvWriter<Ops>::find(const KvKey& key, FoundBucket* found) const noexcept {
  const uint64_t table = value_of(layout_.table);
  if (!sound(table)) return EBADMSG;
  const unsigned bits = kv_table::bits(table);
  const uint64_t buckets = uint64_t{1} << bits;
  uint64_t index = key.hash >> (64 - bits);
  for (uint64_t n = 0; n < buckets; ++n, index = index + 1 == buckets ? 0 : index + 1) {
    const uint64_t bucket_at = kv_table::position(table) + 8 * index;
    const uint64_t bucket = words_.load(bucket_at);  // relaxed: the lock orders what writers have written
    if (!kv_bucket::has_record(bucket)) {
      if (found->bucket_at == 0) *found = {bucket_at, bucket};
      if (bucket == kv_bucket::kEmpty) return 0;
      continue;
    }
    if (!kv_bucket::may_be(bucket, key.hash)) continue;
    const uint64_t record = kv_bucket::position(bucket);
    // The length is read once, and checked: another process may write over it at any time.
    uint64_t key_length = 0;
    if (bytes_of_record(record, &key_length) == 0) return EBADMSG;
    if (key_length != key.length || words_.load(record + kv_record::kHash) != key.hash) continue;
    if (!words_.equal(record + kv_record::kKey, key.bytes, key.length)) continue;
    *found = {bucket_at, bucket};
    return 0;
  }
  return 0;
}

template <class Ops>
uint64_t KvWriter<Ops>::raise_version() noexcept {
  const uint64_t version = value_of(layout_.version) + 1;
  // Release: a reader that notes the version sees that the blocks which are free now were so.
  layout_.version.store(version, std::memory_order_release);
  return version;
}

template <class Ops>
void KvWriter<Ops>::publish(uint64_t version) noexcept {
  // Cleared before the bell: a thread that has seen the new bell announces itself behind that, so that its announcement
  // stays for the next change. A thread whose announcement is cleared here has the old bell, and is woken below.
  // Relaxed: the release of the bell and weft_kv_wait()'s acquire order the two. Looked at first, since most changes
  // have nobody to wake.
  const bool some = layout_.sleepers.load(std::memory_order_relaxed) != 0 &&
                    layout_.sleepers.exchange(0, std::memory_order_relaxed) != 0;
  layout_.published.store(version, std::memory_order_release);  // a thread that sees it sees the change
  layout_.bell.store(static_cast<uint32_t>(version), std::memory_order_release);
  // The bell, then the sleepers; a thread that falls asleep announces it, makes a fence, and then looks at the bell.
  // Relaxed: behind the fence. Not cleared: the announcement may be of a thread that has seen the new bell.
  Ops::full_fence();
  if (some || layout_.sleepers.load(std::memory_order_relaxed) != 0) Ops::wake(layout_.bell);
}

// Sees to it that there is a bucket for a new key. Every table keeps at least one empty bucket, where searches end.
template <class Ops>
int KvWriter<Ops>::make_room(FoundBucket* found, const KvKey& key) noexcept {
  if (found->bucket_at != 0 && found->bucket == kv_bucket::kDeleted) return 0;
  const uint64_t table = value_of(layout_.table);
  if (!sound(table)) return EBADMSG;
  const uint64_t buckets = uint64_t{1} << kv_table::bits(table);
  if (value_of(layout_.keys) > buckets || value_of(layout_.deleted) > buckets) {  // something else has written there
    if (const int error = rebuild(); error != 0) return error;
  }
  const uint64_t taken = value_of(layout_.keys) + value_of(layout_.deleted) + 1;
  if (found->bucket_at != 0 && taken <= buckets / 4 * 3) return 0;
  int error = grow(wanted_bits());
  if (error == EBADMSG) {  // the counts were too small: they follow from the table, which gives back the block, too
    if (error = rebuild(); error == 0) error = grow(wanted_bits());
  }
  if (error == 0) {
    *found = {};
    return find(key, found);
  }
  return found->bucket_at != 0 && taken < buckets ? 0 : error;
}

template <class Ops>
unsigned KvWriter<Ops>::wanted_bits() const noexcept {
  const uint64_t keys = value_of(layout_.keys);
  unsigned wanted = kv_table::kLeastBits;
  while (wanted < kv_table::kMostBits && (keys + 1) * 2 > uint64_t{1} << wanted) ++wanted;
  return wanted;
}

template <class Ops>
int KvWriter<Ops>::grow(unsigned bits) noexcept {
  const uint64_t bytes = uint64_t{8} << bits;
  uint64_t to = 0;
  if (const int error = allocate(bytes, &to); error != 0) return error;
  const uint64_t from = value_of(layout_.table);
  if (!sound(from)) return EBADMSG;
  const uint64_t buckets = uint64_t{1} << bits;
  std::atomic_thread_fence(std::memory_order_release);  // behind the store that took the block out of use: reader.h
  for (uint64_t i = 0; i < buckets; ++i) words_.store(to + 8 * i, kv_bucket::kEmpty);
  const uint64_t old_buckets = uint64_t{1} << kv_table::bits(from);
  uint64_t records = 0;
  for (uint64_t i = 0; i < old_buckets; ++i) {
    const uint64_t bucket = words_.load(kv_table::position(from) + 8 * i);
    if (!kv_bucket::has_record(bucket)) continue;
    const uint64_t record = kv_bucket::position(bucket);
    // One bucket stays empty, where searches end.
    if (bytes_of_record(record) == 0 || ++records == buckets) return EBADMSG;
    uint64_t index = words_.load(record + kv_record::kHash) >> (64 - bits);
    // Where something else writes there too, none may be empty.
    for (uint64_t n = 0; words_.load(to + 8 * index) != kv_bucket::kEmpty;
         index = index + 1 == buckets ? 0 : index + 1) {
      if (++n == buckets) return EBADMSG;
    }
    words_.store(to + 8 * index, bucket);
  }
  // Release: the buckets. The epoch behind the table: a reader that notes the new epoch finds the new table.
  layout_.table.store(kv_table::of(to, bits), std::memory_order_release);
  layout_.epoch.store(value_of(layout_.epoch) + 1, std::memory_order_release);
  set(layout_.deleted, 0);
  add(layout_.used, size_of_class(class_of_size(bytes)));
  release(kv_table::position(from), class_of_size(uint64_t{8} << kv_table::bits(from)));
  return 0;
}

template <class Ops>
int KvWriter<Ops>::put_locked(const KvKey& key, const void* value, uint64_t length, If condition, uint64_t expected,
                              uint64_t* version) noexcept {
  FoundBucket found;
  if (const int error = find(key, &found); error != 0) return error;
  const bool exists = found.bucket_at != 0 && kv_bucket::has_record(found.bucket);
  if (condition == If::version) {
    if (!exists && expected != 0) return ENOENT;
    if (exists) *version = words_.load(kv_bucket::position(found.bucket));
    if (exists && expected == 0) return EEXIST;
    if (exists && *version != expected) return EAGAIN;
  }
  // The bucket first: what has no bucket is free to the writer that gathers free blocks.
  if (!exists) {
    if (const int error = make_room(&found, key); error != 0) return error;
  }
  const uint64_t bytes = kv_record::bytes(key.length, length);
  uint64_t record = 0;
  if (const int error = allocate(bytes, &record); error != 0) return error;
  const uint64_t now = raise_version();
  // Behind the store that took the block out of use (reader.h), and its old version before anything else of it.
  std::atomic_thread_fence(std::memory_order_release);
  words_.store(record + kv_record::kVersion, 0);
  std::atomic_thread_fence(std::memory_order_release);
  words_.store(record + kv_record::kHash, key.hash);
  words_.store(record + kv_record::kValueLength, length);
  words_.store(record + kv_record::kKeyLength, key.length);
  words_.copy_in(record + kv_record::kKey, key.bytes, key.length);
  words_.copy_in(record + kv_record::kKey + kv_record::filled(key.length), value, length);
  words_.at(record + kv_record::kVersion).store(now, std::memory_order_release);  // the record is whole
  words_.at(found.bucket_at).store(kv_bucket::of(record, key.hash), std::memory_order_release);
  add(layout_.used, size_of_class(class_of_size(bytes)));
  if (exists) {
    const uint64_t old = kv_bucket::position(found.bucket);
    release(old, class_of_size(bytes_of_record(old)));
  } else {
    add(layout_.keys, 1);
    if (found.bucket == kv_bucket::kDeleted) set(layout_.deleted, value_of(layout_.deleted) - 1);
  }
  publish(now);
  *version = now;
  return 0;
}

template <class Ops>
int KvWriter<Ops>::remove_locked(const KvKey& key, If condition, uint64_t expected) noexcept {
  FoundBucket found;
  if (const int error = find(key, &found); error != 0) return error;
  if (found.bucket_at == 0 || !kv_bucket::has_record(found.bucket)) return ENOENT;
  const uint64_t record = kv_bucket::position(found.bucket);
  if (condition == If::version && words_.load(record) != expected) return EAGAIN;
  const uint64_t now = raise_version();
  words_.at(found.bucket_at).store(kv_bucket::kDeleted, std::memory_order_release);
  set(layout_.keys, value_of(layout_.keys) - 1);
  add(layout_.deleted, 1);
  release(record, class_of_size(bytes_of_record(record)));
  publish(now);
  return 0;
}

template <class Ops>
bool KvWriter<Ops>::take_free(unsigned index, uint64_t* position) noexcept {
  auto& list = layout_.free[index];
  const uint64_t first = value_of(list.first);
  if (value_of(list.count) == 0 || !in_heap(first, size_of_class(index))) return false;
  set(list.first, words_.load(first));
  set(list.count, value_of(list.count) - 1);
  *position = first;
  return true;
}

template <class Ops>
void KvWriter<Ops>::release(uint64_t position, unsigned index) noexcept {
  auto& list = layout_.free[index];
  // Behind the store that took the block out of use: a reader that sees the link sees that too.
  std::atomic_thread_fence(std::memory_order_release);
  words_.store(position, 0);
  const uint64_t last = value_of(list.last);
  if (value_of(list.count) == 0) {
    set(list.first, position);
  } else if (in_heap(last, kUnit)) {
    words_.store(last, position);
  }
  set(list.last, position);
  add(list.count, 1);
  set(layout_.used, value_of(layout_.used) - size_of_class(index));
}

// Makes free blocks of the memory from `begin` to `end`.
template <class Ops>
void KvWriter<Ops>::carve(uint64_t begin, uint64_t end) noexcept {
  while (end - begin >= kUnit) {
    const unsigned index = class_within(end - begin);
    add(layout_.used, size_of_class(index));  // release() takes it off again
    release(begin, index);
    begin += size_of_class(index);
  }
}

template <class Ops>
int KvWriter<Ops>::extend(uint64_t bytes, uint64_t* position) noexcept {
  const uint64_t end = value_of(layout_.heap_end);
  if (!in_heap(end, bytes)) return ENOSPC;
  const uint64_t committed = value_of(layout_.committed);
  if (end + bytes > committed) {
    const uint64_t more = std::max({end + bytes - committed, kStep, committed / 8});
    uint64_t to = std::min(max_, committed + more);
    int error = backing_.commit(committed, to);
    if (error != 0 && to > end + bytes) {  // less may do
      to = end + bytes;
      error = backing_.commit(committed, to);
    }
    if (error != 0) return error;
    set(layout_.committed, to);
  }
  set(layout_.heap_end, end + bytes);
  *position = end;
  return 0;
}

// Takes a part of a larger free block.
template <class Ops>
bool KvWriter<Ops>::divide(unsigned index, uint64_t* position) noexcept {
  for (unsigned larger = index + 1; larger < kSizeClasses; ++larger) {
    if (!take_free(larger, position)) continue;
    carve(*position + size_of_class(index), *position + size_of_class(larger));
    return true;
  }
  return false;
}

template <class Ops>
int KvWriter<Ops>::allocate(uint64_t bytes, uint64_t* position) noexcept {
  const unsigned index = class_of_size(bytes);
  if (index == kSizeClasses) return EMSGSIZE;
  if (value_of(layout_.free[index].count) > kKept && take_free(index, position)) return 0;
  const int error = extend(size_of_class(index), position);
  if (error == 0 || take_free(index, position) || divide(index, position)) return 0;
  // Free blocks that lie side by side become one.
  if (const int failed = rebuild(); failed != 0) return failed;
  if (take_free(index, position) || divide(index, position)) return 0;
  return extend(size_of_class(index), position);
}

template <class Ops>
int KvWriter<Ops>::gather(uint64_t table, Extent* extents, uint64_t room, uint64_t* count,
                          uint64_t* deleted) const noexcept {
  const uint64_t buckets = uint64_t{1} << kv_table::bits(table);
  const uint64_t begin = kv_table::position(table);
  *count = 0;
  *deleted = 0;
  extents[(*count)++] = {begin, begin + size_of_class(class_of_size(8 * buckets))};
  for (uint64_t i = 0; i < buckets; ++i) {
    const uint64_t bucket = words_.load(begin + 8 * i);
    if (bucket == kv_bucket::kDeleted) ++*deleted;
    if (!kv_bucket::has_record(bucket)) continue;
    const uint64_t record = kv_bucket::position(bucket);
    const uint64_t bytes = bytes_of_record(record);
    if (bytes == 0 || *count == room) return EBADMSG;
    extents[(*count)++] = {record, record + size_of_class(class_of_size(bytes))};
  }
  std::sort(extents, extents + *count, [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  for (uint64_t i = 1; i < *count; ++i) {
    if (extents[i].begin < extents[i - 1].end) return EBADMSG;
  }
  return extents[*count - 1].end <= max_ ? 0 : EBADMSG;
}

template <class Ops>
int KvWriter<Ops>::rebuild() noexcept {
  const uint64_t table = value_of(layout_.table);
  if (!sound(table)) return EBADMSG;
  // The table is never full.
  const uint64_t room = uint64_t{1} << kv_table::bits(table);
  auto* const extents = static_cast<Extent*>(std::malloc(room * sizeof(Extent)));
  if (extents == nullptr) return ENOMEM;
  uint64_t count = 0;
  uint64_t deleted = 0;
  const int error = gather(table, extents, room, &count, &deleted);
  if (error == 0) {
    // An owner may have died between a new table and its epoch: the old one's block is written to only behind another.
    layout_.epoch.store(value_of(layout_.epoch) + 1, std::memory_order_release);
    for (auto& list : layout_.free) set(list.count, 0);
    set(layout_.keys, count - 1);
    set(layout_.deleted, deleted);
    uint64_t used = 0;
    for (uint64_t i = 0; i < count; ++i) used += extents[i].end - extents[i].begin;
    set(layout_.used, used);
    uint64_t end = kv_heap_begin<Ops>();
    for (uint64_t i = 0; i < count; ++i) {
      carve(end, extents[i].begin);
      end = extents[i].end;
    }
    set(layout_.heap_end, end);
  }
  std::free(extents);
  return error;
}

}  // namespace weft::shm
