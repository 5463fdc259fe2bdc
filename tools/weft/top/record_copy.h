// SPDX-License-Identifier: Apache-2.0
// Copies of parts of another process's records. What is used of a copy are plain numbers and addresses: its fields are
// read as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "top/process_memory.h"

namespace weft::tools {

// As large as a record, so that its fields have places.
template <class Record>
struct RecordRoom {
  alignas(Record) static inline char bytes[sizeof(Record)] = {};
};

// Where a field lies in a record.
template <class Record, class Field>
uint64_t offset_of(Field Record::* field) {
  const char* const room = RecordRoom<Record>::bytes;
  return static_cast<uint64_t>(reinterpret_cast<const char*>(&(reinterpret_cast<const Record*>(room)->*field)) - room);
}

inline uint64_t address_of(const volatile void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

template <class T>
MemoryPart part(uint64_t address, T& value) {
  return {address, &value, sizeof value};
}

// Room for a number of records. Only what has been read of one is there.
template <class Record>
class Copies {
 public:
  explicit Copies(size_t count) : rooms_(std::make_unique_for_overwrite<Room[]>(count)), size_(count) {}

  size_t size() const { return size_; }
  // The first `size` bytes of the record at `address`, as that of this number.
  MemoryPart part(size_t number, uint64_t address, size_t size) {
    return {address, rooms_[number].bytes, size < sizeof(Record) ? size : sizeof(Record)};
  }
  const Record& operator[](size_t number) const { return *reinterpret_cast<const Record*>(rooms_[number].bytes); }

 private:
  struct Room {
    alignas(Record) char bytes[sizeof(Record)];
  };
  std::unique_ptr<Room[]> rooms_;
  size_t size_;
};

}  // namespace weft::tools
