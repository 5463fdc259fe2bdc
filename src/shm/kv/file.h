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

// The path of the store `name`: `name` itself, if it has a slash; else a file in /dev/shm, with the user's number.
struct KvPath {
  char text[512] = {};
  bool by_name = false;
};
// Returns 0, or EINVAL, which fail() has explained.
int kv_path(const char* name, const char* caller, KvPath* path) noexcept;

class KvFile final : public KvBacking {
 public:
  using Layout = KvLayout<RealOps>;

  KvFile() noexcept = default;
  ~KvFile();
  KvFile(const KvFile&) = delete;
  KvFile& operator=(const KvFile&) = delete;

  // Returns 0, or an errno, which fail() has explained.
  int open(const KvPath& path, uint64_t max_bytes, unsigned flags) noexcept;

  Layout& layout() const noexcept { return *static_cast<Layout*>(memory_); }
  uint64_t bytes() const noexcept { return bytes_; }
  bool writable() const noexcept { return writable_; }
  // Returns 0, and in `*is` whether the store has no name any more; or EBADF: see has_descriptor().
  int unlinked(bool* is) const noexcept;
  // commit() returns this where the file system has no more memory; ENOSPC says that the store has its greatest size.
  static constexpr int kNoMemory = -ENOSPC;
  // Returns EBADF too: see has_descriptor().
  int commit(uint64_t from, uint64_t to) noexcept override;

 private:
  int map(int file, const KvPath& path) noexcept;
  // Whether the descriptor is still the store's. A program may have closed all descriptors that it did not know, as a
  // daemon does, and opened another file since, which must not be touched.
  bool has_descriptor() const noexcept;

  int file_ = -1;
  dev_t device_ = 0;  // which file it is
  ino_t inode_ = 0;
  void* memory_ = nullptr;
  uint64_t bytes_ = 0;
  bool writable_ = false;
};

}  // namespace weft::shm
