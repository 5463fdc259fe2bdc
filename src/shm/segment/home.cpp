// SPDX-License-Identifier: Apache-2.0
#include "shm/segment/home.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/keep_errno.h"

namespace weft::shm {

namespace {

constexpr unsigned kFileBits = 28;
constexpr unsigned kBornBits = 8;
constexpr unsigned kBootBits = 28;
static_assert(kFileBits + kBornBits + kBootBits == 64);
constexpr Home kFile = (Home{1} << kFileBits) - 1;
constexpr Home kBorn = ((Home{1} << kBornBits) - 1) << kFileBits;
constexpr Home kBoot = ~(kFile | kBorn);

constexpr uint64_t mix(uint64_t seed, uint64_t value) noexcept {
  uint64_t mixed = (seed ^ value) + 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
  return mixed ^ mixed >> 31;
}

// A hash as a part of a home, which is not 0.
constexpr Home part(uint64_t hash, unsigned bits) noexcept {
  const Home found = hash >> (64 - bits);
  return found == 0 ? 1 : found;
}

// The hash of the boot, from the kernel's own file. Some containers have another file in its place, and share memory
// with other containers all the same.
uint64_t read_boot() noexcept {
  const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  constexpr long kProc = 0x9fa0;
  struct statfs system{};
  char text[64] = {};
  const bool own = fstatfs(file, &system) == 0 && static_cast<long>(system.f_type) == kProc;
  const ssize_t got = own ? read(file, text, sizeof text - 1) : -1;
  close(file);
  if (got < 32) return 0;
  uint64_t hash = 0;
  for (ssize_t i = 0; i < got; ++i) hash = mix(hash, static_cast<unsigned char>(text[i]));
  return part(hash, kBootBits) << (kFileBits + kBornBits);
}

Home boot() noexcept {
  static const Home found = read_boot();
  return found;
}

Home file_part(uint64_t device, uint64_t inode, uint64_t offset) noexcept {
  return part(mix(mix(mix(1, device), inode), offset), kFileBits);
}

// The hash of the time when the file was made: a file that was removed may leave its inode number to the next one. Not
// every file system has that time.
Home born_part(int file) noexcept {
  struct statx found{};
  if (statx(file, "", AT_EMPTY_PATH, STATX_BTIME, &found) != 0 || (found.stx_mask & STATX_BTIME) == 0) return 0;
  const uint64_t hash = mix(mix(2, static_cast<uint64_t>(found.stx_btime.tv_sec)), found.stx_btime.tv_nsec);
  return part(hash, kBornBits) << kFileBits;
}

// The lines of /proc/self/maps, one after the other.
class Maps {
 public:
  Maps() noexcept : file_(open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}
  ~Maps() {
    if (file_ >= 0) close(file_);
  }
  Maps(const Maps&) = delete;
  Maps& operator=(const Maps&) = delete;

  // The beginning of the next line; null: there are no more.
  const char* next() noexcept {
    size_t length = 0;
    for (char c = 0; take(&c);) {
      if (c == '\n') {
        line_[length] = '\0';
        return line_;
      }
      if (length < sizeof line_ - 1) line_[length++] = c;
    }
    return nullptr;
  }

 private:
  bool take(char* c) noexcept {
    if (at_ == end_) {
      const ssize_t got = file_ < 0 ? -1 : read(file_, buffer_, sizeof buffer_);
      if (got <= 0) return false;
      at_ = buffer_;
      end_ = buffer_ + got;
    }
    *c = *at_++;
    return true;
  }

  const int file_;
  char buffer_[4096];
  char line_[128];  // what comes behind is a path
  const char* at_ = buffer_;
  const char* end_ = buffer_;
};

bool agree(Home one, Home other, Home which) noexcept {
  return (one & which) == 0 || (other & which) == 0 || (one & which) == (other & which);
}

}  // namespace

Home home_of_file(int file) noexcept {
  const base::KeepErrno keep;
  struct stat found{};
  if (fstat(file, &found) != 0) return boot();
  return file_part(found.st_dev, found.st_ino, 0) | born_part(file) | boot();
}

Home home_of_memory(const void* memory) noexcept {
  const base::KeepErrno keep;
  const auto address = reinterpret_cast<uintptr_t>(memory);
  Maps maps;
  while (const char* line = maps.next()) {
    unsigned long long begin = 0, end = 0, offset = 0, inode = 0;
    unsigned major = 0, minor = 0;
    if (std::sscanf(line, "%llx-%llx %*4c %llx %x:%x %llu", &begin, &end, &offset, &major, &minor, &inode) != 6) {
      continue;
    }
    if (address < begin || address >= end) continue;
    // Memory without a file can only be shared by a fork.
    if (inode == 0) break;
    return file_part(uint64_t{major} << 32 | minor, inode, offset + (address - begin)) | boot();
  }
  return boot();
}

void settle_at(std::atomic<Home>& home, Home here) noexcept {
  // Relaxed, both: an owner writes the era of the home that it has read, and nothing else depends on the word.
  Home said = home.load(std::memory_order_relaxed);
  if (agree(said, here, kFile) && agree(said, here, kBorn) && agree(said, here, kBoot)) return;
  home.compare_exchange_strong(said, here, std::memory_order_relaxed);
}

}  // namespace weft::shm
