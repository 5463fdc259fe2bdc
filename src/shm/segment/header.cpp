// SPDX-License-Identifier: Apache-2.0
#include "shm/segment/header.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <iterator>

#include <linux/futex.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/keep_errno.h"
#include "platform/cycles.h"
#include "shm/error.h"
#include "shm/sync/wait.h"

namespace weft::shm {

namespace {

constexpr int64_t kMakingNs = kSecondNs;  // longer than it takes to make any segment

const char* name_of(Kind kind) noexcept { return kind == Kind::rwlock ? "reader-writer lock" : "key-value store"; }

// Has the kernel touch one byte of each page: it says EFAULT where the program would get a signal. No file descriptors
// are used, since the program may have none left.
template <class Touch>
bool touch_pages(uintptr_t begin, size_t bytes, Touch&& touch) noexcept {
  const base::KeepErrno keep;
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  for (uintptr_t at = begin; at < begin + bytes; at = (at / page + 1) * page) {
    if (touch(at) == -1 && errno == EFAULT) return false;
  }
  return true;
}

}  // namespace

void begin_segment(Header& header, Kind kind, uint32_t layout, uint64_t size, Home home) noexcept {
  // Relaxed, and a fence: a process that sees a field below as it is written here sees that the segment is being made.
  header.state.store(State::being_made, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  header.magic = Header::kMagic;
  header.kind = kind;
  header.byte_order = Header::kByteOrder;
  header.words = Header::kWords;
  header.layout = layout;
  header.size = size;
  header.probe = 0;
  header.home.store(home, std::memory_order_relaxed);
  std::fill(std::begin(header.reserved), std::end(header.reserved), 0);
}

// Release: a process that sees the segment ready sees all of it.
void finish_segment(Header& header) noexcept { header.state.store(State::ready, std::memory_order_release); }

// Has the kernel read the word, by a sleep on it that takes no time.
bool can_read(const void* memory, size_t bytes) noexcept {
  return touch_pages(reinterpret_cast<uintptr_t>(memory), bytes, [](uintptr_t at) {
    const timespec none{0, 0};
    return syscall(SYS_futex, at, FUTEX_WAIT_PRIVATE, 0, &none, nullptr, 0);
  });
}

// Has the kernel write the word: a random byte.
bool can_overwrite(void* memory, size_t bytes) noexcept {
  return touch_pages(reinterpret_cast<uintptr_t>(memory), bytes,
                     [](uintptr_t at) { return syscall(SYS_getrandom, at, 1, GRND_NONBLOCK); });
}

int check_segment(const void* memory, size_t mapped, Kind kind, uint32_t layout, const char* name) noexcept {
  if (memory == nullptr) return fail(EINVAL, "%s: null is no memory", name);
  if (reinterpret_cast<uintptr_t>(memory) % kSegmentAlignment != 0) {
    return fail(EINVAL, "%s: %p is not aligned to %zu bytes; mmap() gives memory that is", name, memory,
                kSegmentAlignment);
  }
  if (mapped < sizeof(Header)) {
    return fail(EINVAL, "%s: %zu bytes cannot hold a %s; map all of it", name, mapped, name_of(kind));
  }
  if (!can_read(memory, sizeof(Header))) return fail(EACCES, "%s: %p is not mapped for reading", name, memory);
  const auto& header = *static_cast<const Header*>(memory);
  // Acquire pairs with finish_segment().
  State state = header.state.load(std::memory_order_acquire);
  const int64_t deadline = platform::now_ns() + kMakingNs;
  while ((state == State::none || state == State::being_made) && platform::now_ns() < deadline) {
    if (state == State::none && header.magic != 0 && header.magic != Header::kMagic) break;
    Pause().once();
    state = header.state.load(std::memory_order_acquire);
  }
  if (header.magic != Header::kMagic && !(header.magic == 0 && state == State::none)) {
    return fail(EBADMSG, "%s: what lies there is no %s of weft", name, name_of(kind));
  }
  if (state == State::none || state == State::being_made) {
    return fail(EAGAIN, "%s: the %s is not made yet; its maker is slow, or was killed: make it anew", name,
                name_of(kind));
  }
  if (header.byte_order != Header::kByteOrder || header.words != Header::kWords || header.layout != layout) {
    return fail(
        EPROTO,
        "%s: the %s was made by another version of weft, or by a program of another word size (layout %u, words "
        "%#x; here %u and %#x): use the same build on both sides, or remove it and make it anew",
        name, name_of(kind), header.layout, header.words, layout, Header::kWords);
  }
  if (header.kind != kind) return fail(EBADMSG, "%s: what lies there is no %s", name, name_of(kind));
  if (state == State::destroyed) return fail(EBADMSG, "%s: the %s was destroyed", name, name_of(kind));
  if (state != State::ready) return fail(EBADMSG, "%s: the %s is damaged", name, name_of(kind));
  if (header.size > mapped) {
    return fail(EINVAL, "%s: the %s has %llu bytes and only %zu are mapped; map all of it", name, name_of(kind),
                static_cast<unsigned long long>(header.size), mapped);
  }
  return 0;
}

}  // namespace weft::shm
