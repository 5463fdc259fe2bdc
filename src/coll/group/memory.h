// SPDX-License-Identifier: Apache-2.0
// Memory that the ranks of a group map: a file without a name, of which each rank takes and touches its own part.
#pragma once

#include <cstddef>

#include <sys/types.h>

namespace weft::coll {

// An open file of memory.
class MemoryFile {
 public:
  MemoryFile() noexcept = default;
  ~MemoryFile() { close(); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  // Each of these returns whether it has succeeded.
  bool make_nameless(size_t bytes) noexcept;
  // The same with a name below /dev/shm, which is written to `name` and lasts until remove_name().
  bool make_named(size_t bytes, char* name, size_t room) noexcept;
  bool open_of_process(pid_t pid, int number) noexcept;
  bool open_named(const char* name) noexcept;
  static void remove_name(const char* name) noexcept;

  int number() const noexcept { return number_; }
  void close() noexcept;

 private:
  int number_ = -1;
};

// The mapping of a whole file.
class Mapping {
 public:
  Mapping() noexcept = default;
  ~Mapping() { unmap(); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  bool map(const MemoryFile& file, size_t bytes) noexcept;
  char* data() const noexcept { return data_; }
  void unmap() noexcept;
  // Hands the memory over: the caller unmaps it.
  char* release() noexcept;

 private:
  char* data_ = nullptr;
  size_t bytes_ = 0;
};

// Allocates the pages from `offset` on, whole ones, on the NUMA node `node`; -1: on the one where the caller runs.
// Returns false where there is not so much memory.
bool take_pages(const MemoryFile& file, const Mapping& mapping, size_t offset, size_t bytes, int node) noexcept;

size_t page_bytes() noexcept;
inline size_t whole_pages(size_t bytes) noexcept { return (bytes + page_bytes() - 1) / page_bytes() * page_bytes(); }

}  // namespace weft::coll
