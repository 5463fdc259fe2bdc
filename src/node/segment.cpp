// SPDX-License-Identifier: Apache-2.0
#include "node/segment.h"

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <new>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/guard.h"
#include "platform/cycles.h"
#include "platform/futex.h"
#include "platform/process.h"
#include "platform/reserve_file.h"

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

}  // namespace

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

// Makes the file without a name, completes it, and then names it: no process sees half of it, and a process that is
// killed in here leaves nothing.
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
  // Whatever the umask says: other processes of this user must be able to open the file.
  if (fchmod(file.number(), 0600) != 0) {
    reason.say("%s: %s", path, std::strerror(errno));
    return false;
  }
  // A file that grows beyond this limit brings a signal, which kills the process.
  rlimit longest{};
  if (getrlimit(RLIMIT_FSIZE, &longest) == 0 && longest.rlim_cur < sizeof(Layout)) {
    reason.say("%s: files may not be as long as %zu KB (ulimit -f)", folder, sizeof(Layout) >> 10);
    return false;
  }
  // All of the file is allocated now: otherwise a full file system shows only when a page is touched.
  const int full = platform::reserve_file(file.number(), 0, sizeof(Layout));
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

void Segment::close_and_remove() noexcept {
  layout_->header.closed.store(1, std::memory_order_relaxed);
  struct stat named{};
  // Somebody may have removed the file by hand, and others made another one.
  if (lstat(path_.text, &named) == 0 && named.st_dev == device_ && named.st_ino == inode_) unlink(path_.text);
}

}  // namespace weft::node
