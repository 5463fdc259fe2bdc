// SPDX-License-Identifier: Apache-2.0
// How a key is found and its value copied without a lock, while a writer may change anything.
//
// A reader notes the latest version and the epoch, finds the bucket, copies, and then looks again: the bucket must hold
// the same record, the record the same version, that version must not be greater than the noted one, and the epoch must
// be the same. Otherwise the reader begins anew. Why that is enough:
//   - A writer raises `version` before it writes into a free block, and stores the bucket after that. So when the
//     reader noted a version that is not less than the record's, the record's block was free already, or in use for
//     this record; no bucket led there for another one. A bucket that the reader then finds leading there leads to
//     this record, whole.
//   - The record was in its bucket when the reader looked again, and a version is used once. So it was there all the
//     time since the reader found it, its block was not written to, and the copy is right.
//   - A block is written to only after the store that took it out of its bucket, with a fence between. A reader that
//     has copied something of what was written later sees that the bucket has changed, or, for a table, the epoch.
// A key that is there all the time keeps its bucket until the table changes. So a search that finds an empty bucket,
// and then the same epoch, has passed all buckets where the key could have been.
#pragma once

#include <cerrno>
#include <cstdint>

#include "shm/kv/layout.h"
#include "shm/kv/words.h"

namespace weft::shm {

struct KvKey {
  const void* bytes;
  uint64_t length;
  uint64_t hash;
};

// Points in the course of a get, for an Ops that measures the time between them (bench/kv/kv_phases.cpp).
enum class KvPoint { noted, found, copied, checked };

template <class Ops>
class KvReader {
 public:
  using Layout = KvLayout<Ops>;

  // `max_bytes`: how much memory is mapped, whatever the header says later.
  KvReader(Layout& layout, uint64_t max_bytes) noexcept : layout_(layout), words_(&layout), max_(max_bytes) {}

  // 0, ENOENT, ERANGE, EBADMSG: see weft_kv_get().
  int get(const KvKey& key, void* value, uint64_t size, uint64_t* length, uint64_t* version) const noexcept;
  // The key that follows `key` in the order of compare(); with null, the first one.
  int next(const KvKey* key, void* to, uint64_t size, uint64_t* length) const noexcept;

 private:
  enum class Look { same, other, unsure };  // unsure: it may be the record, but something has changed

  // What a reader has noted before it begins.
  struct Moment {
    uint64_t version;
    uint64_t epoch;
    uint64_t table;
    uint64_t buckets() const noexcept { return uint64_t{1} << kv_table::bits(table); }
    uint64_t home(uint64_t hash) const noexcept { return hash >> (64 - kv_table::bits(table)); }
    uint64_t bucket_at(uint64_t index) const noexcept { return kv_table::position(table) + 8 * index; }
  };
  // A record that a bucket leads to.
  struct Record {
    uint64_t bucket_at = 0;
    uint64_t bucket = 0;
    uint64_t position = 0;
    uint64_t version = 0;
    uint64_t hash = 0;
    uint64_t value_length = 0;
    uint64_t key_length = 0;
    uint64_t value_at() const noexcept { return position + kv_record::kKey + kv_record::filled(key_length); }
  };

  // Ends a reader's tries in a damaged store. As long as a writer goes on, the value that has made a try vain changes.
  // If it stays the same for many tries and for a long time, the store is damaged. Neither counts alone: a try may take
  // long, and a reader may sleep between two tries.
  class Patience {
   public:
    bool ended(uint64_t what) noexcept {
      if (what != last_) tries_ = 0;
      last_ = what;
      if (++tries_ < kFewTries) return false;
      if (tries_ == kFewTries) until_ns_ = Ops::now_ns() + kLongestNs;
      return tries_ > kMostTries || Ops::now_ns() > until_ns_;
    }

   private:
    static constexpr int kFewTries = 64, kMostTries = 10'000;
    static constexpr int64_t kLongestNs = 500'000'000;
    uint64_t last_ = 0;
    int64_t until_ns_ = 0;
    int tries_ = 0;
  };

  static uint64_t of(const Moment& moment) noexcept { return moment.version ^ moment.epoch << 32; }
  static uint64_t of(const Record& record) noexcept { return record.bucket ^ record.version << 20; }

  bool in_heap(uint64_t position, uint64_t bytes) const noexcept {
    return position >= kv_heap_begin<Ops>() && position < max_ && bytes <= max_ - position;
  }
  static void passes([[maybe_unused]] KvPoint point) noexcept {
    if constexpr (requires { Ops::passes(point); }) Ops::passes(point);
  }
  bool begin(Moment* moment) const noexcept;
  // Reads the record that a bucket leads to. Returns false where no record can lie there.
  bool look(uint64_t bucket_at, uint64_t bucket, Record* record) const noexcept;
  // Whether the bucket still leads to the same version of the record. Called after an acquire fence that follows all
  // reads of the record.
  bool stands(const Moment& moment, const Record& record) const noexcept {
    return words_.load(record.bucket_at) == record.bucket && words_.load(record.position) == record.version &&
           record.version <= moment.version;
  }
  bool lasts(const Moment& moment) const noexcept {
    return layout_.epoch.load(std::memory_order_relaxed) == moment.epoch;
  }

  // One try each. EAGAIN: something has changed meanwhile; `*vain` says what, for Patience.
  int try_get(const KvKey& key, void* value, uint64_t size, uint64_t* length, uint64_t* version,
              uint64_t* vain) const noexcept;
  int try_next(const KvKey* key, void* to, uint64_t size, uint64_t* length, uint64_t* vain) const noexcept;
  // Compares the record's key with `key`, by hash, length and words: negative, 0 or positive.
  int compare(const Record& record, const KvKey& key) const noexcept;
  int compare(const Record& one, const Record& other) const noexcept;
  static int order(uint64_t one, uint64_t other) noexcept { return one < other ? -1 : one > other ? 1 : 0; }

  Layout& layout_;
  const Words<Ops> words_;
  const uint64_t max_;
};

template <class Ops>
bool KvReader<Ops>::begin(Moment* moment) const noexcept {
  // Acquire, in this order: see above.
  moment->version = layout_.version.load(std::memory_order_acquire);
  moment->epoch = layout_.epoch.load(std::memory_order_acquire);
  moment->table = layout_.table.load(std::memory_order_acquire);
  const unsigned bits = kv_table::bits(moment->table);
  return bits >= kv_table::kLeastBits && bits <= kv_table::kMostBits &&
         in_heap(kv_table::position(moment->table), uint64_t{8} << bits);
}

template <class Ops>
bool KvReader<Ops>::look(uint64_t bucket_at, uint64_t bucket, Record* record) const noexcept {
  record->bucket_at = bucket_at;
  record->bucket = bucket;
  record->position = kv_bucket::position(bucket);
  if (!in_heap(record->position, kv_record::kKey)) return false;
  // Acquire: what belongs to this version is there.
  record->version = words_.at(record->position).load(std::memory_order_acquire);
  record->hash = words_.load(record->position + kv_record::kHash);
  record->value_length = words_.load(record->position + kv_record::kValueLength);
  record->key_length = words_.load(record->position + kv_record::kKeyLength);
  return record->key_length <= max_ && record->value_length <= max_ &&
         in_heap(record->position, kv_record::bytes(record->key_length, record->value_length));
}

template <class Ops>
int KvReader<Ops>::get(const KvKey& key, void* value, uint64_t size, uint64_t* length,
                       uint64_t* version) const noexcept {
  for (Patience patience;;) {
    uint64_t vain = 0;
    const int code = try_get(key, value, size, length, version, &vain);
    if (code != EAGAIN) [[likely]] {
      return code;
    }
    if (patience.ended(vain)) return EBADMSG;
    Ops::pause();
  }
}

template <class Ops>
int KvReader<Ops>::try_get(const KvKey& key, void* value, uint64_t size, uint64_t* length, uint64_t* version,
                           uint64_t* vain) const noexcept {
  Moment moment;
  if (!begin(&moment)) return EBADMSG;
  passes(KvPoint::noted);
  *vain = of(moment);
  const uint64_t mask = moment.buckets() - 1;
  const uint64_t home = moment.home(key.hash);
  for (uint64_t n = 0; n <= mask; ++n) {
    const uint64_t bucket_at = moment.bucket_at((home + n) & mask);
    // Acquire: what the record holds.
    const uint64_t bucket = words_.at(bucket_at).load(std::memory_order_acquire);
    if (bucket == kv_bucket::kEmpty) break;
    if (!kv_bucket::has_record(bucket) || !kv_bucket::may_be(bucket, key.hash)) continue;
    Record record;
    const bool possible = look(bucket_at, bucket, &record);
    const bool same = possible && record.hash == key.hash && record.key_length == key.length &&
                      words_.equal(record.position + kv_record::kKey, key.bytes, key.length);
    if (same) passes(KvPoint::found);
    if (same && record.value_length <= size) words_.copy_out(record.value_at(), value, record.value_length);
    if (same) passes(KvPoint::copied);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (!possible || !stands(moment, record)) {
      *vain = of(record);
      return EAGAIN;
    }
    if (!same) continue;
    if (!lasts(moment)) return EAGAIN;
    passes(KvPoint::checked);
    *length = record.value_length;
    *version = record.version;
    return record.value_length <= size ? 0 : ERANGE;
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  return lasts(moment) ? ENOENT : EAGAIN;
}

template <class Ops>
int KvReader<Ops>::compare(const Record& record, const KvKey& key) const noexcept {
  if (const int by_hash = order(record.hash, key.hash); by_hash != 0) return by_hash;
  if (const int by_length = order(record.key_length, key.length); by_length != 0) return by_length;
  for (uint64_t done = 0; done < key.length; done += 8) {
    uint64_t word = 0;
    std::memcpy(&word, static_cast<const char*>(key.bytes) + done, std::min<uint64_t>(8, key.length - done));
    const int by_word = order(words_.load(record.position + kv_record::kKey + done), word);
    if (by_word != 0) return by_word;
  }
  return 0;
}

template <class Ops>
int KvReader<Ops>::compare(const Record& one, const Record& other) const noexcept {
  if (const int by_hash = order(one.hash, other.hash); by_hash != 0) return by_hash;
  if (const int by_length = order(one.key_length, other.key_length); by_length != 0) return by_length;
  for (uint64_t done = 0; done < one.key_length; done += 8) {
    const int by_word =
        order(words_.load(one.position + kv_record::kKey + done), words_.load(other.position + kv_record::kKey + done));
    if (by_word != 0) return by_word;
  }
  return 0;
}

template <class Ops>
int KvReader<Ops>::next(const KvKey* key, void* to, uint64_t size, uint64_t* length) const noexcept {
  for (Patience patience;;) {
    uint64_t vain = 0;
    const int code = try_next(key, to, size, length, &vain);
    if (code != EAGAIN) return code;
    if (patience.ended(vain)) return EBADMSG;
    Ops::pause();
  }
}

// Records stand in the order of their hashes. An exception is a record that has found its bucket taken: it stands in a
// later one, at most up to the next empty bucket. So the smallest key that follows `key` stands before the first empty
// bucket that follows any greater key.
template <class Ops>
int KvReader<Ops>::try_next(const KvKey* key, void* to, uint64_t size, uint64_t* length,
                            uint64_t* vain) const noexcept {
  Moment moment;
  if (!begin(&moment)) return EBADMSG;
  *vain = of(moment);
  const uint64_t buckets = moment.buckets();
  const uint64_t start = key == nullptr ? 0 : moment.home(key->hash);
  Record best;
  // Records that have found the last buckets taken stand in the first ones: so the search goes around the end.
  for (uint64_t at = start; at < start + buckets; ++at) {
    const bool around = at >= buckets;
    const uint64_t index = around ? at - buckets : at;
    const uint64_t bucket_at = moment.bucket_at(index);
    const uint64_t bucket = words_.at(bucket_at).load(std::memory_order_acquire);  // as above
    if (bucket == kv_bucket::kEmpty && (best.bucket_at != 0 || around)) break;
    if (!kv_bucket::has_record(bucket)) continue;
    Record record;
    const bool possible = look(bucket_at, bucket, &record);
    const bool wanted = possible && around == (moment.home(record.hash) > index) &&
                        (key == nullptr || compare(record, *key) > 0) &&
                        (best.bucket_at == 0 || compare(record, best) < 0);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (!possible || !stands(moment, record)) {
      *vain = of(record);
      return EAGAIN;
    }
    if (wanted) best = record;
  }
  if (best.bucket_at != 0 && best.key_length <= size) {
    words_.copy_out(best.position + kv_record::kKey, to, best.key_length);
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  if (!lasts(moment)) return EAGAIN;
  if (best.bucket_at == 0) return ENOENT;
  if (!stands(moment, best)) {
    *vain = of(best);
    return EAGAIN;
  }
  *length = best.key_length;
  return best.key_length <= size ? 0 : ERANGE;
}

}  // namespace weft::shm
