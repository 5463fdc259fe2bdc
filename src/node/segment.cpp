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

// Why a file that is there cannot be used; `error` says why it could not be opened, if that is so.
void say_foreign(const char* path, int error, Reason& reason) noexcept {
  struct stat found{};
  if (lstat(path, &found) != 0) {
    reason.say("%s: %s", path, std::strerror(error));
  } else if (found.st_uid != geteuid()) {
    reason.say("%s belongs to another user, who must remove it", path);
    reason.about = Reason::About::unknown;
  } else if (S_ISDIR(found.st_mode)) {
    reason.say("%s is a folder; remove it", path);
  } else if (!S_ISREG(found.st_mode)) {
    reason.say_useless(path, "is not a file that this user alone can write");
  } else if ((found.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    reason.say_unknown(path, "is not a file that this user alone can write");
  } else if (error == EACCES || error == EPERM) {
    reason.say_unknown(path, "cannot be opened by this user");
  } else {
    reason.say("%s: %s", path, std::strerror(error));
  }
}

// Locks are held for some microseconds as a rule. Pauses are counted, so that a clock that jumps makes nobody wait for
// longer, or less.
template <class Try>
bool await(Try&& have, int64_t longest_ns) noexcept {
  constexpr int kLooks = 200;
  constexpr timespec kPause{0, 100'000};
  constexpr int64_t kPauseTakesNs = 160'000;
  for (int i = 0; i < kLooks; ++i) {
    if (have()) return true;
    platform::pause();
  }
  for (int64_t left = longest_ns; left > 0; left -= kPauseTakesNs) {
    nanosleep(&kPause, nullptr);
    if (have()) return true;
  }
  return false;
}

}  // namespace

void Reason::say(const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  about = About::other;
}

void Reason::say_useless(const char* path, const char* what) noexcept {
  say("%s %s; `weft node reset` removes it", path, what);
  about = About::useless;
}

void Reason::say_unknown(const char* path, const char* what) noexcept {
  say("%s %s; `weft node reset --force` removes it", path, what);
  about = About::unknown;
}

platform::CpuSet cpus_of(const Record& record) noexcept {
  platform::CpuSet cpus;
  auto* words = static_cast<uint64_t*>(cpus.data());
  for (size_t i = 0; i < record.cpus.size(); ++i) words[i] = record.cpus[i].load(std::memory_order_relaxed);
  return cpus;
}

void ring(Record& record) noexcept {
  // Release: a process that hears it sees what it is about.
  record.doorbell.fetch_add(1, std::memory_order_release);
  platform::futex_wake_shared(record.doorbell, 1);
}

// Processes that number processes differently cannot tell which ones are alive, so they meet elsewhere.
Path default_path() noexcept {
  Path path;
  std::snprintf(path.text, sizeof path.text, "%s/weft-node-%u-%" PRIu64, kFolder, static_cast<unsigned>(geteuid()),
                platform::pid_namespace());
  return path;
}

Segment::Segment(Layout* layout, const char* path, dev_t device, ino_t inode) noexcept
    : layout_(layout),
      path_{},
      device_(device),
      inode_(inode),
      times_locked_(static_cast<uint32_t>(platform::now_ns())) {
  std::snprintf(path_.text, sizeof path_.text, "%s", path);
}

Segment::~Segment() {
  stand_up();
  unguard(layout_);
  munmap(layout_, sizeof(Layout));
}

// Made without a name, complete, and named then: no process sees half of it, and one that is killed here leaves
// nothing.
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
  // Whatever the umask says: others of this user must be able to open it.
  if (fchmod(file.number(), 0600) != 0) {
    reason.say("%s: %s", path, std::strerror(errno));
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
  header->size.store(sizeof(Layout), std::memory_order_relaxed);
  header->pid_namespace.store(platform::pid_namespace(), std::memory_order_relaxed);
  munmap(memory, sizeof(Layout));
  char from[48];
  std::snprintf(from, sizeof from, "/proc/self/fd/%d", file.number());
  if (linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 || errno == EEXIST) return true;
  reason.say("%s: cannot be made: %s", path, std::strerror(errno));
  return false;
}

Segment* Segment::map(int file, const char* path, Reason& reason) noexcept {
  struct stat found{};
  if (fstat(file, &found) != 0 || !S_ISREG(found.st_mode) || found.st_uid != geteuid() ||
      (found.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    say_foreign(path, errno, reason);
    return nullptr;
  }
  const auto size = static_cast<size_t>(found.st_size);
  uint64_t magic = 0;
  uint32_t layout = 0;
  if (size < sizeof magic + sizeof layout || pread(file, &magic, sizeof magic, 0) != sizeof magic ||
      pread(file, &layout, sizeof layout, offsetof(Header, layout)) != sizeof layout || magic != kMagic) {
    reason.say_useless(path, "holds something else");
    return nullptr;
  }
  if (layout != kLayout || size != sizeof(Layout)) {
    char what[80];
    std::snprintf(what, sizeof what, "was made by another version of weft (layout %u, here %u)", layout, kLayout);
    reason.say_unknown(path, what);
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
  const bool same_numbers =
      made->layout_->header.pid_namespace.load(std::memory_order_relaxed) == platform::pid_namespace();
  if (made->intact() && same_numbers) return made;
  if (made->intact()) {
    reason.say_unknown(path, "is of processes with other numbers (another pid namespace)");
  } else {
    reason.say_useless(path, "holds something else");
  }
  delete made;
  return nullptr;
}

bool Segment::intact() const noexcept {
  const Header& header = layout_->header;
  return header.magic.load(std::memory_order_relaxed) == kMagic &&
         header.layout.load(std::memory_order_relaxed) == kLayout &&
         header.size.load(std::memory_order_relaxed) == sizeof(Layout);
}

Segment* Segment::open(const char* path, Missing missing, Reason& reason) noexcept {
  if (platform::pid_namespace() == 0) {
    reason.say("/proc does not say which namespace of process numbers this is");
    return nullptr;
  }
  for (int i = 0; i < kTries; ++i) {
    // Without waiting: a file that another user has put there may make open() wait.
    const File file(::open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (file.number() < 0 && errno != ENOENT) {
      say_foreign(path, errno, reason);
      return nullptr;
    }
    if (file.number() < 0) {
      if (missing == Missing::leave || !make(path, reason)) return nullptr;
      continue;
    }
    Segment* found = map(file.number(), path, reason);
    if (found == nullptr || !found->closed()) return found;
    // The last process has closed it and is about to remove the name, or was killed before it could.
    const bool locked = found->sit() && found->lock();
    if (locked) {
      found->close_and_remove();
      found->unlock();
    }
    delete found;
    if (locked) continue;
    reason.say_unknown(path, "is closed and locked by a process that does not go on");
    return nullptr;
  }
  reason.say("%s is removed again and again", path);
  return nullptr;
}

// Whether the holder of a lock is no more. What is no holder's word has been written by somebody else.
bool Segment::has_gone(Holder holder, Check check) const noexcept {
  const int seat = seat_of(holder);
  if (seat < 0) return true;
  const Record& record = layout_->records[static_cast<size_t>(seat)];
  const uint32_t life = record.life.load(std::memory_order_acquire);
  return life != thread_of(holder) || node::has_gone(record, life, check);
}

// Another one each time: a thread that wants to take the lock from a holder that has gone takes it from no other.
Holder Segment::next_holder() noexcept {
  return holder_of(seat_.thread(), seat_.number(), times_locked_.fetch_add(1, std::memory_order_relaxed));
}

// Acquire, with the release by the last holder: what that holder has written is seen.
Segment::Held Segment::try_to_hold(std::atomic<Holder>& lock, Holder& mine, Check check) noexcept {
  Holder seen = lock.load(std::memory_order_relaxed);
  const Held held = seen == 0 ? Held::yes : Held::after_another;
  if (seen != 0 && !has_gone(seen, check)) return Held::no;
  const Holder next = next_holder();
  if (!lock.compare_exchange_strong(seen, next, std::memory_order_acquire, std::memory_order_relaxed)) return Held::no;
  mine = next;
  return held;
}

// Another may have taken it meanwhile, from a holder that it took for dead or stopped.
void Segment::let_go(std::atomic<Holder>& lock, Holder& mine) noexcept {
  Holder held = std::exchange(mine, 0);
  lock.compare_exchange_strong(held, 0, std::memory_order_release, std::memory_order_relaxed);
}

// What a holder that was killed has left half done is done again: each step can be.
bool Segment::try_lock(Check check) noexcept {
  const Held held = seat_.taken() ? try_to_hold(layout_->header.lock, locked_, check) : Held::no;
  if (held == Held::after_another) remove_dead(Check::processes);
  return held != Held::no;
}

bool Segment::try_lock() noexcept { return try_lock(Check::marks); }

// As long as others come and go it is a queue, not a holder that is stuck.
bool Segment::lock() noexcept {
  constexpr int64_t kLongestNs = 1'000'000'000;
  constexpr int kMostWaits = 30;
  if (!seat_.taken()) return false;
  uint64_t before = memberships();
  for (int i = 0; i < kMostWaits; ++i) {
    if (await([this] { return try_lock(Check::marks); }, kLongestNs) || try_lock(Check::processes)) return true;
    if (std::exchange(before, memberships()) == before) return false;
  }
  return false;
}

void Segment::unlock() noexcept { let_go(layout_->header.lock, locked_); }

bool Segment::lock_queue(int64_t longest_ns) noexcept {
  if (!seat_.taken()) return false;
  std::atomic<Holder>& lock = layout_->header.queue_lock;
  const Holder first = lock.load(std::memory_order_relaxed);
  const auto have = [&] { return try_to_hold(lock, queue_locked_, Check::marks) != Held::no; };
  if (await(have, longest_ns)) return true;
  // One and the same has had it all the time: he is stopped, or it is no holder's word.
  Holder seen = first;
  const Holder next = next_holder();
  if (!lock.compare_exchange_strong(seen, next, std::memory_order_acquire, std::memory_order_relaxed)) return false;
  queue_locked_ = next;
  return true;
}

void Segment::unlock_queue() noexcept { let_go(layout_->header.queue_lock, queue_locked_); }

uint64_t Segment::memberships() const noexcept {
  uint64_t sum = 0;
  for (const Record& record : layout_->records) sum += record.serial.load(std::memory_order_relaxed);
  return sum;
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
    uint32_t life = record.life.load(std::memory_order_acquire);
    if (!node::has_gone(record, life, check)) continue;
    if (record.serial.load(std::memory_order_relaxed) != 0) freed += clear(*layout_, static_cast<int>(i));
    // Release: the next process that sits down sees that it is empty.
    if (life != 0) record.life.compare_exchange_strong(life, 0, std::memory_order_release, std::memory_order_relaxed);
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
