// SPDX-License-Identifier: Apache-2.0
// The layout of a store in shared memory: this header, and behind it blocks of the sizes of size_class.h. A block is
// the table, a record, or free. There are no pointers: a position is a number of bytes from the beginning.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "shm/kv/size_class.h"
#include "shm/segment/header.h"

namespace weft::shm {

inline constexpr uint32_t kKvLayout = 2;

// The table: 2^bits buckets, those of a key from the upper bits of its hash on. An empty bucket ends the search; a
// bucket that has had a record is never empty again.
namespace kv_bucket {
inline constexpr uint64_t kEmpty = 0;
inline constexpr uint64_t kDeleted = 1;

// The position of the record in units of 16 bytes, and 16 bits of the hash that do not choose the bucket.
constexpr uint64_t of(uint64_t position, uint64_t hash) noexcept { return position / kUnit << 16 | (hash & 0xffff); }
constexpr bool has_record(uint64_t bucket) noexcept { return bucket > kDeleted; }
constexpr uint64_t position(uint64_t bucket) noexcept { return (bucket >> 16) * kUnit; }
constexpr bool may_be(uint64_t bucket, uint64_t hash) noexcept { return ((bucket ^ hash) & 0xffff) == 0; }
}  // namespace kv_bucket

// A table's position in units of 16 bytes, and the number of its bits.
namespace kv_table {
inline constexpr unsigned kLeastBits = 6;
inline constexpr unsigned kMostBits = 40;
constexpr uint64_t of(uint64_t position, unsigned bits) noexcept { return position / kUnit << 8 | bits; }
constexpr uint64_t position(uint64_t table) noexcept { return (table >> 8) * kUnit; }
constexpr unsigned bits(uint64_t table) noexcept { return table & 0xff; }
}  // namespace kv_table

// A record, in words of 8 bytes: version, hash, length of the value, length of the key; the key and the value, each
// filled up with zeros.
namespace kv_record {
inline constexpr uint64_t kVersion = 0, kHash = 8, kValueLength = 16, kKeyLength = 24, kKey = 32;
constexpr uint64_t filled(uint64_t bytes) noexcept { return (bytes + 7) / 8 * 8; }
constexpr uint64_t bytes(uint64_t key_length, uint64_t value_length) noexcept {
  return kKey + filled(key_length) + filled(value_length);
}
}  // namespace kv_record

template <class Ops>
struct KvLayout {
  template <class Value>
  using Atomic = typename Ops::template Atomic<Value>;

  Header header;
  uint64_t max_bytes;

  // ---- what readers look at ----
  // The version of the last change that was begun. No record has a greater one.
  alignas(128) Atomic<uint64_t> version;
  // Grows when `table` changes: a new table may lie at the place of an earlier one, so that `table` alone does not
  // tell.
  Atomic<uint64_t> epoch;
  Atomic<uint64_t> table;

  // ---- between writers; the owner of `writer` writes all that follows ----
  alignas(128) typename Ops::Robust writer;
  Atomic<uint64_t> holds;  // how often `writer` has had an owner
  Atomic<uint64_t> heap_end;  // the end of the last block
  Atomic<uint64_t> committed;  // the end of the memory that the file system has given
  Atomic<uint64_t> keys;
  Atomic<uint64_t> deleted;  // buckets that are marked deleted
  Atomic<uint64_t> used;  // bytes of the table and the records
  Atomic<uint64_t> recoveries;
  Atomic<uint64_t> untidy;  // not 0: an owner has died, and the free blocks and the counts must be gathered anew
  // Lists of free blocks by size class; each block has the position of the next. The block that has been free for
  // longest is used first, so that a reader that is about to copy it has time to finish.
  struct Free {
    Atomic<uint64_t> first;
    Atomic<uint64_t> last;
    Atomic<uint64_t> count;
  };
  std::array<Free, kSizeClasses> free;

  // ---- for threads that wait for a change ----
  alignas(128) Atomic<uint64_t> published;  // the version of the last change that has taken effect
  Atomic<uint32_t> bell;  // the lower half of `published`, as a futex
  Atomic<uint32_t> sleepers;  // not 0: threads may sleep on `bell`
};

template <class Ops>
constexpr uint64_t kv_heap_begin() noexcept {
  return (sizeof(KvLayout<Ops>) + 63) / 64 * 64;
}

}  // namespace weft::shm
