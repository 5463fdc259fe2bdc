// SPDX-License-Identifier: Apache-2.0
#include "coll/group/memory.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "platform/cycles.h"
#include "platform/numa.h"
#include "platform/reserve_file.h"

namespace weft::coll {

namespace {

constexpr mode_t kOwnerAlone = 0600;

// Linux 5.14; older headers have no name for it.
constexpr int kPopulateWrite = 23;

// Moves pages that lie on another NUMA node to `node`: the node may have been full for a moment, or a policy of the
// system may have put them elsewhere. Pages that cannot be moved stay: they are slower, no more.
void verify_place(char* begin, size_t bytes, int node) noexcept {
  constexpr size_t kAtOnce = 64;
  std::array<void*, kAtOnce> pages;
  std::array<int, kAtOnce> nodes;
  const size_t page = page_bytes();
  for (size_t offset = 0; offset < bytes; offset += kAtOnce * page) {
    const size_t count = std::min(kAtOnce, (bytes - offset) / page);
    for (size_t i = 0; i < count; ++i) pages[i] = begin + offset + i * page;
    if (platform::query_pages(0, count, pages.data(), nodes.data()) != 0) return;
    size_t strays = 0;
    for (size_t i = 0; i < count; ++i) {
      if (nodes[i] >= 0 && nodes[i] != node) pages[strays++] = pages[i];
    }
    if (strays == 0) continue;
    std::array<int, kAtOnce> status;
    nodes.fill(node);
    platform::move_pages(0, strays, pages.data(), nodes.data(), status.data(), platform::kMove);
  }
}

}  // namespace

namespace {

// Whether the limit of the size of files allows it: beyond it ftruncate() ends the process by a signal.
bool may_have(size_t bytes) noexcept {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes <= limit.rlim_cur;
}

}  // namespace

size_t page_bytes() noexcept {
  static const size_t bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

bool MemoryFile::make_nameless(size_t bytes) noexcept {
  if (!may_have(bytes)) return false;
  number_ = memfd_create("weft-coll", MFD_CLOEXEC);
  return number_ >= 0 && ftruncate(number_, static_cast<off_t>(bytes)) == 0;
}

bool MemoryFile::make_named(size_t bytes, char* name, size_t room) noexcept {
  close();
  name[0] = '\0';
  if (!may_have(bytes)) return false;
  uint64_t drawn = 0;
  if (getrandom(&drawn, sizeof drawn, GRND_NONBLOCK) != sizeof drawn) drawn = static_cast<uint64_t>(platform::now_ns());
  std::snprintf(name, room, "/weft-coll-%d-%016llx", getpid(), static_cast<unsigned long long>(drawn));
  number_ = shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kOwnerAlone);
  if (number_ < 0) {
    name[0] = '\0';
    return false;
  }
  return ftruncate(number_, static_cast<off_t>(bytes)) == 0;
}

bool MemoryFile::open_of_process(pid_t pid, int number) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, number);
  number_ = open(path, O_RDWR | O_CLOEXEC);
  return number_ >= 0;
}

bool MemoryFile::open_named(const char* name) noexcept {
  close();
  number_ = shm_open(name, O_RDWR | O_CLOEXEC, kOwnerAlone);
  return number_ >= 0;
}

void MemoryFile::remove_name(const char* name) noexcept {
  if (name[0] != '\0') shm_unlink(name);
}

void MemoryFile::close() noexcept {
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

void Mapping::unmap() noexcept {
  if (data_ != nullptr) munmap(data_, bytes_);
  data_ = nullptr;
}

bool Mapping::map(const MemoryFile& file, size_t bytes) noexcept {
  void* found = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  if (found == MAP_FAILED) return false;
  data_ = static_cast<char*>(found);
  bytes_ = bytes;
  return true;
}

char* Mapping::release() noexcept {
  char* data = data_;
  data_ = nullptr;
  return data;
}

bool take_pages(const MemoryFile& file, const Mapping& mapping, size_t offset, size_t bytes, int node) noexcept {
  char* begin = mapping.data() + offset;
  if (node >= 0) {
    platform::NodeSet nodes;
    nodes.add(node);
    platform::bind_memory(begin, bytes, platform::MemoryPolicy::preferred, nodes, 0);
    // A huge page would reach into the area of the next rank.
    madvise(begin, bytes, MADV_NOHUGEPAGE);
    // Otherwise a fault would bring in pages of the next ranks too, before these have said where they want them.
    madvise(begin, bytes, MADV_RANDOM);
  }
  if (platform::reserve_file(file.number(), offset, offset + bytes) != 0) return false;
  // The pages exist now, and are zero. To map them as well takes as long again. It is done only where they are to lie
  // on a NUMA node, since verify_place() needs it.
  if (node < 0) return true;
  if (madvise(begin, bytes, kPopulateWrite) != 0) {
    for (size_t at = 0; at < bytes; at += page_bytes()) *static_cast<volatile char*>(begin + at) = 0;
  }
  verify_place(begin, bytes, node);
  return true;
}

}  // namespace weft::coll
