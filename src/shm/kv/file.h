// SPDX-License-Identifier: Apache-2.0
// The file that a store is, and its memory in this process.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <sys/types.h>

#include "shm/kv/writer.h"
#include "shm/sync/ops.h"

namespace weft::shm {

// Where the store `name` is: a path, if it has a slash; else in /dev/shm, with the user's number.
struct KvPath {
  char text[512] = {};
  bool by_name = false;
};
// 0, or EINVAL, which is explained.
int kv_path(const char* name, const char* caller, KvPath* path) noexcept;

class KvFile final : public KvBacking {
 public:
  using Layout = KvLayout<RealOps>;

  KvFile() noexcept = default;
  ~KvFile();
  KvFile(const KvFile&) = delete;
  KvFile& operator=(const KvFile&) = delete;

  // 0, or an errno, which is explained.
  int open(const KvPath& path, uint64_t max_bytes, unsigned flags) noexcept;

  Layout& layout() const noexcept { return *static_cast<Layout*>(memory_); }
  uint64_t bytes() const noexcept { return bytes_; }
  bool writable() const noexcept { return writable_; }
  // 0 and whether the store has no name any more; EBADF: see has_descriptor().
  int unlinked(bool* is) const noexcept;
  // What commit() returns where the file system has no more memory: ENOSPC is a store of its greatest size.
  static constexpr int kNoMemory = -ENOSPC;
  // EBADF too: see has_descriptor().
  int commit(uint64_t from, uint64_t to) noexcept override;

 private:
  int map(int file, const KvPath& path) noexcept;
  // Whether the descriptor is still the store's: a program may have closed all that it did not know (a daemon does),
  // and then opened something else, which must not be touched.
  bool has_descriptor() const noexcept;

  int file_ = -1;
  dev_t device_ = 0;  // which file it is
  ino_t inode_ = 0;
  void* memory_ = nullptr;
  uint64_t bytes_ = 0;
  bool writable_ = false;
};

}  // namespace weft::shm
