// SPDX-License-Identifier: Apache-2.0
#include "core/budget/job_token_pipe.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/keep_errno.h"
#include "platform/system_call.h"

namespace weft::core {

namespace {

using platform::system_call;

// Calls past libc: a thread of the program that is cancelled does not end here.
long read_all(int descriptor, char* bytes, size_t count) noexcept {
  long result = -EINTR;
  while (result == -EINTR) result = system_call(SYS_read, descriptor, bytes, count);
  return result;
}

long write_all(int descriptor, const char* bytes, size_t count) noexcept {
  long result = -EINTR;
  while (result == -EINTR) result = system_call(SYS_write, descriptor, bytes, count);
  return result;
}

bool is_same(const struct stat& one, const struct stat& other) noexcept {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

// Whether the descriptor has come from another program, and is that end of a pipe.
bool is_inherited_end(int descriptor, int other_end, struct stat& status) noexcept {
  const int flags = fcntl(descriptor, F_GETFD);
  if (flags < 0 || (flags & FD_CLOEXEC) != 0) return false;
  const int mode = fcntl(descriptor, F_GETFL);
  return mode >= 0 && (mode & O_ACCMODE) != other_end && fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode);
}

// A recipe that make does not take for a make of its own has the variable, but not the descriptors. A program that is
// started there and makes a pipe gets just these numbers. Such a pipe is its own: whoever has started it has not got
// it. Where the system does not say, make's word counts.
bool parent_has_other(int descriptor, const struct stat& status) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", static_cast<int>(getppid()), descriptor);
  struct stat theirs;
  if (stat(path, &theirs) == 0) return !is_same(theirs, status);
  return errno == ENOENT;
}

bool are_ends_of_one_pipe(const JobserverPlace& place, struct stat& status) noexcept {
  struct stat other;
  return is_inherited_end(place.read_end, O_WRONLY, status) && is_inherited_end(place.write_end, O_RDONLY, other) &&
         is_same(status, other) && !parent_has_other(place.read_end, status);
}

// Moves the descriptor to a high number: programs count on low ones for what they open.
int move_up(int descriptor) noexcept {
  constexpr rlim_t kHigh = 1000;
  constexpr rlim_t kBelowLimit = 16;
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur <= kBelowLimit) return descriptor;
  const int wanted = static_cast<int>(std::min<rlim_t>(kHigh, limit.rlim_cur - kBelowLimit));
  if (descriptor >= wanted) return descriptor;
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, wanted);
  if (moved < 0) return descriptor;
  ::close(descriptor);
  return moved;
}

}  // namespace

bool JobTokenPipe::open(const JobserverPlace& place) noexcept {
  const base::KeepErrno keep;
  struct stat status;
  char by_number[64];
  const char* path = place.path.data();
  switch (place.kind) {
    case JobserverPlace::Kind::pipe:
      if (!are_ends_of_one_pipe(place, status)) return false;
      std::snprintf(by_number, sizeof by_number, "/proc/self/fd/%d", place.read_end);
      path = by_number;
      break;
    case JobserverPlace::Kind::fifo:
      if (stat(path, &status) != 0 || !S_ISFIFO(status.st_mode)) return false;
      break;
    default: return false;
  }
  // For both: then there is always a reader, so that no write brings SIGPIPE, and one number will do.
  const int descriptor = ::open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) return false;
  descriptor_ = move_up(descriptor);
  device_ = status.st_dev;
  inode_ = status.st_ino;
  count_ = 0;
  // The program may close its descriptor too. Whoever has started it still has that.
  char parents[64];
  if (place.kind == JobserverPlace::Kind::pipe) {
    std::snprintf(parents, sizeof parents, "/proc/%d/fd/%d", static_cast<int>(getppid()), place.read_end);
    path = parents;
  }
  if (std::strlen(path) < path_.size()) std::strcpy(path_.data(), path);
  if (is_mine()) return true;
  ::close(descriptor_);
  descriptor_ = -1;
  return false;
}

void JobTokenPipe::close() noexcept {
  const base::KeepErrno keep;
  if (is_mine()) ::close(descriptor_);
  descriptor_ = -1;
}

bool JobTokenPipe::is_mine() const noexcept {
  const base::KeepErrno keep;
  struct stat status;
  return descriptor_ >= 0 && fstat(descriptor_, &status) == 0 && S_ISFIFO(status.st_mode) && status.st_dev == device_ &&
         status.st_ino == inode_;
}

bool JobTokenPipe::is_there_again() noexcept {
  if (is_mine()) return true;
  if (descriptor_ < 0 || path_[0] == '\0') return false;
  const base::KeepErrno keep;
  // Somebody else's file may have the number by now: it stays open.
  const int descriptor = ::open(path_.data(), O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) return false;
  const int before = std::exchange(descriptor_, move_up(descriptor));
  if (is_mine()) return true;
  ::close(descriptor_);
  descriptor_ = before;
  return false;
}

int JobTokenPipe::take(int most) noexcept {
  most = std::min(most, static_cast<int>(tokens_.size()) - count_);
  if (most <= 0 || !is_mine()) return 0;
  const long taken = read_all(descriptor_, tokens_.data() + count_, static_cast<size_t>(most));
  if (taken <= 0) return 0;
  count_ += static_cast<int>(taken);
  return static_cast<int>(taken);
}

int JobTokenPipe::give_back(int most) noexcept {
  most = std::min(most, count_);
  if (most <= 0 || !is_mine()) return 0;
  const long written = write_all(descriptor_, tokens_.data() + count_ - most, static_cast<size_t>(most));
  if (written <= 0) return 0;
  // What has been written first is what is left out: the bytes behind it move into its place.
  std::copy(tokens_.begin() + count_ - most + written, tokens_.begin() + count_, tokens_.begin() + count_ - most);
  count_ -= static_cast<int>(written);
  return static_cast<int>(written);
}

}  // namespace weft::core
