// SPDX-License-Identifier: Apache-2.0
#include "node/segment.h"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <new>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/guard.h"
#include "platform/cycles.h"
#include "platform/futex.h"
#include "platform/process.h"

namespace weft::node {

namespace {

// A folder that is memory on every Linux.
constexpr const char* kFolder = "/dev/shm";
constexpr int kTries = 100;  // others may make and remove the file meanwhile

class File {
 public:
  explicit File(int number) noexcept : number_(number) {}
  ~File() {
    if (number_ >= 0) close(number_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int number() const noexcept { return number_; }

 private:
  const int number_;
};

constexpr const char* kWayOut = "`weft node reset` removes it";

// Why a file that is there cannot be used; errno says why it could not be opened, if that is so.
void say_foreign(const char* path, Reason& reason) noexcept {
  const int error = errno;
  struct stat found{};
  if (lstat(path, &found) != 0) {
    reason.say("%s: %s", path, std::strerror(error));
  } else if (found.st_uid != geteuid()) {
    reason.say("%s belongs to another user, who must remove it", path);
  } else if (S_ISDIR(found.st_mode)) {
    reason.say("%s is a folder; remove it", path);
  } else if (!S_ISREG(found.st_mode) || (found.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    reason.say("%s is not a file that this user alone can write; %s", path, kWayOut);
  } else {
    reason.say("%s: %s", path, std::strerror(error));
  }
}

// Locks are held for some microseconds as a rule. The time limit of pthread_mutex_timedlock would be one of a clock
// that can be set back.
template <class Try>
bool await(Try&& have, int64_t longest_ns) noexcept {
  constexpr int kLooks = 200;
  constexpr timespec kPause{0, 100'000};
  for (int i = 0; i < kLooks; ++i) {
    if (have()) return true;
    platform::pause();
  }
  const int64_t until = platform::now_ns() + longest_ns;
  while (!have()) {
    if (platform::now_ns() > until) return false;
    nanosleep(&kPause, nullptr);
  }
  return true;
}

}  // namespace

void Reason::say(const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
}

bool init_shared(pthread_mutex_t* mutex) noexcept {
  pthread_mutexattr_t attributes;
  if (pthread_mutexattr_init(&attributes) != 0) return false;
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  const bool made = pthread_mutex_init(mutex, &attributes) == 0;
  pthread_mutexattr_destroy(&attributes);
  return made;
}

platform::CpuSet cpus_of(const Record& record) noexcept {
  platform::CpuSet cpus;
  auto* words = static_cast<uint64_t*>(cpus.data());
  for (size_t i = 0; i < record.cpus.size(); ++i) words[i] = record.cpus[i].load(std::memory_order_relaxed);
  return cpus;
}

void ring(Record& record) noexcept {
  // Release: who hears it sees what it is about.
  record.doorbell.fetch_add(1, std::memory_order_release);
  platform::futex_wake_shared(record.doorbell, 1);
}

// Processes that number processes differently cannot tell who is alive, so they meet elsewhere.
Path default_path() noexcept {
  Path path;
  std::snprintf(path.text, sizeof path.text, "%s/weft-node-%u-%" PRIu64, kFolder, static_cast<unsigned>(geteuid()),
                platform::pid_namespace());
  return path;
}

Segment::Segment(Layout* layout, const char* path, dev_t device, ino_t inode) noexcept
    : layout_(layout), path_{}, device_(device), inode_(inode) {
  std::snprintf(path_.text, sizeof path_.text, "%s", path);
}

Segment::~Segment() {
  unguard(layout_);
  munmap(layout_, sizeof(Layout));
}

// Made without a name, complete, and named then: nobody sees half of it, and who is killed here leaves nothing.
bool Segment::make(const char* path, Reason& reason) noexcept {
  char folder[sizeof(Path)];
  std::snprintf(folder, sizeof folder, "%s", path);
  char* const slash = std::strrchr(folder, '/');
  if (slash != nullptr) *slash = '\0';
  const File file(::open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.number() < 0) {
    reason.say("%s: %s", folder, std::strerror(errno));
    return false;
  }
  // Beyond this limit there is a signal, which kills.
  rlimit longest{};
  if (getrlimit(RLIMIT_FSIZE, &longest) == 0 && longest.rlim_cur < sizeof(Layout)) {
    reason.say("%s: files may not be as long as %zu KB (ulimit -f)", folder, sizeof(Layout) >> 10);
    return false;
  }
  // All of it now: a file system that is full must not show only when a page is touched.
  const int full = posix_fallocate(file.number(), 0, sizeof(Layout));
  if (full != 0) {
    reason.say("%s: no room for %zu KB: %s", folder, sizeof(Layout) >> 10, std::strerror(full));
    return false;
  }
  void* const memory = mmap(nullptr, sizeof(Layout), PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  if (memory == MAP_FAILED) {
    reason.say("%s: cannot be mapped: %s", path, std::strerror(errno));
    return false;
  }
  // The slots and records of a new file are zero, which is what they begin with.
  auto* header = new (memory) Header;
  header->size = sizeof(Layout);
  const bool made = init_shared(&header->lock) && init_shared(&header->queue_lock);
  munmap(memory, sizeof(Layout));
  char from[48];
  std::snprintf(from, sizeof from, "/proc/self/fd/%d", file.number());
  if (made && (linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 || errno == EEXIST)) return true;
  reason.say("%s: cannot be made: %s", path, std::strerror(errno));
  return false;
}

Segment* Segment::map(int file, const char* path, Reason& reason) noexcept {
  struct stat found{};
  if (fstat(file, &found) != 0 || !S_ISREG(found.st_mode) || found.st_uid != geteuid() ||
      (found.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    say_foreign(path, reason);
    return nullptr;
  }
  const auto size = static_cast<size_t>(found.st_size);
  uint64_t magic = 0;
  uint32_t layout = 0;
  if (size < sizeof magic + sizeof layout || pread(file, &magic, sizeof magic, 0) != sizeof magic ||
      pread(file, &layout, sizeof layout, offsetof(Header, layout)) != sizeof layout || magic != kMagic) {
    reason.say("%s holds something else; %s", path, kWayOut);
    return nullptr;
  }
  if (layout != kLayout || size != sizeof(Layout)) {
    reason.say("%s was made by another version of weft (layout %u, here %u); %s", path, layout, kLayout, kWayOut);
    return nullptr;
  }
  void* const memory = mmap(nullptr, sizeof(Layout), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) {
    reason.say("%s: cannot be mapped: %s", path, std::strerror(errno));
    return nullptr;
  }
  auto* made = new (std::nothrow) Segment(static_cast<Layout*>(memory), path, found.st_dev, found.st_ino);
  if (made == nullptr) {
    munmap(memory, sizeof(Layout));
    reason.say("no memory");
    return nullptr;
  }
  guard(memory, sizeof(Layout));
  if (made->layout_->header.size == sizeof(Layout)) return made;
  delete made;
  reason.say("%s holds something else; %s", path, kWayOut);
  return nullptr;
}

Segment* Segment::open(const char* path, Missing missing, Reason& reason) noexcept {
  for (int i = 0; i < kTries; ++i) {
    const File file(::open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (file.number() < 0 && errno != ENOENT) {
      say_foreign(path, reason);
      return nullptr;
    }
    if (file.number() < 0) {
      if (missing == Missing::leave || !make(path, reason)) return nullptr;
      continue;
    }
    Segment* found = map(file.number(), path, reason);
    if (found == nullptr || !found->closed()) return found;
    // Whoever was the last has closed it and is about to remove the name, or was killed before it could.
    if (found->lock()) {
      found->close_and_remove();
      found->unlock();
    }
    delete found;
  }
  reason.say("%s is removed again and again", path);
  return nullptr;
}

// As long as others come and go it is a queue, not a holder that is stuck.
bool Segment::lock() noexcept {
  constexpr int64_t kLongestNs = 1'000'000'000;
  constexpr int kMostWaits = 30;
  uint64_t before = memberships();
  for (int i = 0; i < kMostWaits; ++i) {
    if (await([this] { return try_lock(); }, kLongestNs)) return true;
    if (std::exchange(before, memberships()) == before) return false;
  }
  return false;
}

uint64_t Segment::memberships() const noexcept {
  uint64_t sum = 0;
  for (const Record& record : layout_->records) sum += record.serial.load(std::memory_order_relaxed);
  return sum;
}

bool Segment::lock_queue(int64_t longest_ns) noexcept {
  return await(
      [this] {
        const int error = pthread_mutex_trylock(&layout_->header.queue_lock);
        if (error == EOWNERDEAD) pthread_mutex_consistent(&layout_->header.queue_lock);
        return error == 0 || error == EOWNERDEAD;
      },
      longest_ns);
}

void Segment::unlock_queue() noexcept { pthread_mutex_unlock(&layout_->header.queue_lock); }

bool Segment::try_lock() noexcept { return taken_over(pthread_mutex_trylock(&layout_->header.lock)); }

// What a holder that was killed has left half done is done again: each step can be.
bool Segment::taken_over(int error) noexcept {
  if (error == EOWNERDEAD) {
    pthread_mutex_consistent(&layout_->header.lock);
    remove_dead(Check::processes);
    return true;
  }
  return error == 0;
}

void Segment::unlock() noexcept { pthread_mutex_unlock(&layout_->header.lock); }

bool Segment::has_ended(Record& record, Check check) const noexcept {
  switch (pthread_mutex_trylock(&record.life)) {
    case EBUSY: return check == Check::processes && platform::process_has_ended(record.pid, record.start);
    case EOWNERDEAD: pthread_mutex_consistent(&record.life); [[fallthrough]];
    case 0:
      // It has been let go by a process that was killed before it could say that it leaves.
      pthread_mutex_unlock(&record.life);
      return true;
    default: return true;
  }
}

int Segment::clear(int number) noexcept {
  Record& record = layout_->records[static_cast<size_t>(number)];
  const Owner owner = owner_of(record.serial.load(std::memory_order_relaxed), number);
  int freed = 0;
  for (std::atomic<Owner>& slot : layout_->slots) {
    Owner seen = owner;
    if (slot.load(std::memory_order_relaxed) == owner && slot.compare_exchange_strong(seen, 0)) ++freed;
  }
  record.serial.store(0, std::memory_order_release);
  return freed;
}

// Slots of records that are no more: their process was on the way out when others took it for dead, or the other way
// round.
int Segment::free_orphans() noexcept {
  int freed = 0;
  for (std::atomic<Owner>& slot : layout_->slots) {
    Owner owner = slot.load(std::memory_order_relaxed);
    if (owner == 0) continue;
    const int number = record_of(owner);
    if (number >= 0 &&
        layout_->records[static_cast<size_t>(number)].serial.load(std::memory_order_acquire) == serial_of(owner)) {
      continue;
    }
    if (slot.compare_exchange_strong(owner, 0)) ++freed;
  }
  return freed;
}

int Segment::remove_dead(Check check) noexcept {
  int freed = 0;
  const uint32_t top = std::min<uint32_t>(layout_->header.top.load(std::memory_order_relaxed), kMostProcesses);
  for (uint32_t i = 0; i < top; ++i) {
    Record& record = layout_->records[i];
    if (record.serial.load(std::memory_order_acquire) == 0 || !has_ended(record, check)) continue;
    freed += clear(static_cast<int>(i));
  }
  return check == Check::processes ? freed + free_orphans() : freed;
}

int Segment::live_count() const noexcept {
  int count = 0;
  for (const Record& record : layout_->records) count += record.serial.load(std::memory_order_acquire) != 0 ? 1 : 0;
  return count;
}

void Segment::close_and_remove() noexcept {
  layout_->header.closed.store(1, std::memory_order_relaxed);
  struct stat named{};
  // Somebody may have removed the file by hand, and others made another one.
  if (lstat(path_.text, &named) == 0 && named.st_dev == device_ && named.st_ino == inode_) unlink(path_.text);
}

}  // namespace weft::node
