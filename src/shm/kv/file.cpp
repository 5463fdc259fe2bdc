// SPDX-License-Identifier: Apache-2.0
#include "shm/kv/file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/keep_errno.h"
#include "platform/reserve_file.h"
#include "shm/error.h"
#include "shm/segment/header.h"
#include "weft/kv.h"

namespace weft::shm {

namespace {

using Layout = KvFile::Layout;

constexpr const char* kName = "weft_kv_open";
constexpr uint64_t kFirstBytes = 32 << 10;  // committed at first
static_assert(kv_heap_begin<RealOps>() + (8u << kv_table::kLeastBits) <= kFirstBytes &&
              kFirstBytes <= WEFT_KV_LEAST_BYTES);
constexpr uint64_t kUsualBytes = uint64_t{1} << 30;
constexpr int kTries = 100;  // others may make and remove the file meanwhile

class Descriptor {
 public:
  explicit Descriptor(int number) noexcept : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const noexcept { return number_; }
  int keep() noexcept {
    const int kept = number_;
    number_ = -1;
    return kept;
  }

 private:
  int number_;
};

int fail_with_errno(const KvPath& path, const char* hint = "") noexcept {
  return fail(errno, "%s: %s: %s%s", kName, path.text, std::strerror(errno), hint);
}

int fail_without_access(const KvPath& path) noexcept {
  struct stat found{};
  if (lstat(path.text, &found) != 0) {
    return fail(EACCES, "%s: %s: this user may not look into the folder", kName, path.text);
  }
  return fail(EACCES,
              "%s: %s belongs to user %u and has mode %03o, which keeps this user (%u) out: its owner may change that "
              "(chmod); reading needs WEFT_KV_READ_ONLY where only that is allowed",
              kName, path.text, static_cast<unsigned>(found.st_uid), static_cast<unsigned>(found.st_mode & 0777),
              static_cast<unsigned>(geteuid()));
}

// A file that grows beyond this limit brings a signal, which kills the process.
bool within_limit(uint64_t bytes) noexcept {
  rlimit longest{};
  return getrlimit(RLIMIT_FSIZE, &longest) != 0 || longest.rlim_cur >= bytes;
}

// Gives the file its name. EEXIST: there is a file of that name.
int give_name(int file, const KvPath& path) noexcept {
  // The file is named by the descriptor alone, which older kernels allow only to some; else by /proc.
  if (linkat(file, "", AT_FDCWD, path.text, AT_EMPTY_PATH) == 0) return 0;
  if (errno == EEXIST) return EEXIST;
  char from[48];
  std::snprintf(from, sizeof from, "/proc/self/fd/%d", file);
  if (linkat(AT_FDCWD, from, AT_FDCWD, path.text, AT_SYMLINK_FOLLOW) == 0) return 0;
  if (errno == EEXIST) return EEXIST;
  const int error = errno;
  const bool has_proc = access(from, F_OK) == 0;
  errno = error;
  return fail_with_errno(path, has_proc ? "" : "; this kernel gives a new file its name by /proc: mount it");
}

// Makes the file without a name, completes it, and then names it: no process sees half of it, and a process that is
// killed in here leaves nothing. `*made`: its descriptor, since the name may lead to another file by then. EEXIST:
// another process has been faster.
int make(const KvPath& path, uint64_t max_bytes, int* made) noexcept {
  char folder[sizeof path.text];
  std::snprintf(folder, sizeof folder, "%s", path.text);
  char* const slash = std::strrchr(folder, '/');
  slash[slash == folder ? 1 : 0] = '\0';
  Descriptor file(::open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.number() < 0 && (errno == ENOSPC || errno == EDQUOT)) {
    return fail(errno, "%s: %s: no room for another file: %s (df -i %s)", kName, folder, std::strerror(errno), folder);
  }
  if (file.number() < 0) {
    return fail(errno, "%s: %s: %s; a store needs a folder that can be written, in memory (/dev/shm) or on a disk",
                kName, folder, std::strerror(errno));
  }
  if (!within_limit(max_bytes)) {
    return fail(EFBIG, "%s: %s: files may not be as long as %llu bytes (ulimit -f); choose a smaller size", kName,
                path.text, static_cast<unsigned long long>(max_bytes));
  }
  // Long at once, so that no position within it lies behind the end; the memory comes as it is needed.
  if (ftruncate(file.number(), static_cast<off_t>(max_bytes)) != 0) return fail_with_errno(path);
  const int full = platform::reserve_file(file.number(), 0, kFirstBytes);
  if (full != 0) {
    return fail(full, "%s: %s: no room for %llu bytes: %s (df %s)", kName, folder,
                static_cast<unsigned long long>(kFirstBytes), std::strerror(full), folder);
  }
  void* const memory = mmap(nullptr, kFirstBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  if (memory == MAP_FAILED) return fail_with_errno(path);
  auto& layout = *static_cast<Layout*>(memory);
  begin_segment(layout.header, Kind::kv, kKvLayout, max_bytes, home_of_file(file.number()));
  KvWriter<RealOps>::make(layout, max_bytes, kFirstBytes);
  finish_segment(layout.header);
  munmap(memory, kFirstBytes);
  if (const int error = give_name(file.number(), path); error != 0) return error;
  *made = file.keep();
  return 0;
}

}  // namespace

int kv_path(const char* name, const char* caller, KvPath* path) noexcept {
  if (name == nullptr || *name == '\0') return fail(EINVAL, "%s: a store needs a name, or a path with a slash", caller);
  path->by_name = std::strchr(name, '/') == nullptr;
  const int length = path->by_name ? std::snprintf(path->text, sizeof path->text, "/dev/shm/weft-kv-%u-%s",
                                                   static_cast<unsigned>(geteuid()), name)
                                   : std::snprintf(path->text, sizeof path->text, "%s", name);
  const char* const last = std::strrchr(path->text, '/');
  if (length >= static_cast<int>(sizeof path->text) || std::strlen(last + 1) > 255) {
    return fail(EINVAL, "%s: a name of %zu characters is too long; some 200 are possible", caller, std::strlen(name));
  }
  if (last[1] == '\0') return fail(EINVAL, "%s: %s is a folder; name a file", caller, name);
  return 0;
}

KvFile::~KvFile() {
  const base::KeepErrno keep;
  if (memory_ != nullptr) munmap(memory_, bytes_);
  if (has_descriptor()) close(file_);
}

bool KvFile::has_descriptor() const noexcept {
  struct stat found{};
  return file_ >= 0 && fstat(file_, &found) == 0 && found.st_dev == device_ && found.st_ino == inode_;
}

int KvFile::map(int file, const KvPath& path) noexcept {
  struct stat found{};
  if (fstat(file, &found) != 0) return fail_with_errno(path);
  if (!S_ISREG(found.st_mode)) return fail(EBADMSG, "%s: %s is no file", kName, path.text);
  if (path.by_name && found.st_uid != geteuid()) {
    return fail(EACCES,
                "%s: %s belongs to user %u and stands where a store of this user (%u) should: its owner must remove it",
                kName, path.text, static_cast<unsigned>(found.st_uid), static_cast<unsigned>(geteuid()));
  }
  device_ = found.st_dev;
  inode_ = found.st_ino;
  const auto size = static_cast<uint64_t>(found.st_size);
  // The size is bounded by the number of bits that a position has in a bucket.
  if (size > WEFT_KV_MOST_BYTES) return fail(EBADMSG, "%s: %s is longer than any store of weft", kName, path.text);
  if (size < sizeof(Layout)) return fail(EBADMSG, "%s: %s is no store of weft; choose another name", kName, path.text);
  bytes_ = size;
  memory_ = mmap(nullptr, bytes_, writable_ ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (memory_ == MAP_FAILED) {
    memory_ = nullptr;
    return fail_with_errno(path, "; the store's greatest size must fit into the address space (ulimit -v)");
  }
  if (const int error = check_segment(memory_, bytes_, Kind::kv, kKvLayout, kName); error != 0) return error;
  if (layout().max_bytes != bytes_ || layout().header.size != bytes_) {
    return fail(EBADMSG, "%s: %s was cut or extended; remove it", kName, path.text);
  }
  if (writable_) settle_at(layout().header.home, home_of_file(file));
  return 0;
}

int KvFile::open(const KvPath& path, uint64_t max_bytes, unsigned flags) noexcept {
  const base::KeepErrno keep;
  if (max_bytes == 0) max_bytes = kUsualBytes;
  writable_ = (flags & WEFT_KV_READ_ONLY) == 0;
  // By name no link is followed: others can make one in /dev/shm. Without waiting: what lies there may be a pipe.
  const int how = (writable_ ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK | (path.by_name ? O_NOFOLLOW : 0);
  for (int i = 0; i < kTries; ++i) {
    Descriptor file(::open(path.text, how));
    if (file.number() >= 0 && (flags & WEFT_KV_EXCLUSIVE) != 0) errno = EEXIST;
    if (file.number() >= 0 && (flags & WEFT_KV_EXCLUSIVE) == 0) {
      const int error = map(file.number(), path);
      if (error == 0) file_ = file.keep();
      return error;
    }
    if (errno == EACCES) return fail_without_access(path);
    if (errno != ENOENT) {
      return fail_with_errno(path, errno == EEXIST  ? "; open it without WEFT_KV_EXCLUSIVE, or unlink it"
                                   : errno == ELOOP ? "; a link stands where the store should: remove it"
                                                    : "");
    }
    if ((flags & WEFT_KV_CREATE) == 0) {
      return fail(ENOENT, "%s: there is no store %s; WEFT_KV_CREATE makes it%s", kName, path.text,
                  path.by_name ? "; another user's store is opened by its path" : "");
    }
    int made = -1;
    int error = make(path, max_bytes, &made);
    if (error == 0) {
      Descriptor own(made);
      error = map(own.number(), path);
      if (error == 0) file_ = own.keep();
      return error;
    }
    if (error != EEXIST) return error;
  }
  return fail(EAGAIN, "%s: %s is made and removed again and again", kName, path.text);
}

int KvFile::unlinked(bool* is) const noexcept {
  const base::KeepErrno keep;
  struct stat found{};
  if (!has_descriptor() || fstat(file_, &found) != 0) return EBADF;
  *is = found.st_nlink == 0;
  return 0;
}

// The memory is allocated now: otherwise a full file system shows only when a page is touched, which kills the process.
int KvFile::commit(uint64_t from, uint64_t to) noexcept {
  const base::KeepErrno keep;
  if (!has_descriptor()) return EBADF;
  const int error = platform::reserve_file(file_, from, to);
  return error == ENOSPC || error == EDQUOT ? kNoMemory : error;
}

}  // namespace weft::shm
