// SPDX-License-Identifier: Apache-2.0
// The functions of weft/kv.h. Misuse is found here; reader.h and writer.h do the rest.
#include "weft/kv.h"

#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <new>

#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/keep_errno.h"
#include "platform/small_file.h"
#include "shm/error.h"
#include "shm/kv/file.h"
#include "shm/kv/reader.h"
#include "shm/kv/writer.h"
#include "shm/public.h"
#include "shm/sync/deadline.h"

using namespace weft::shm;

struct weft_kv {
  static constexpr int64_t kUsualPatienceNs = 10 * kSecondNs;

  KvFile file;
  // How long one owner of the store's lock may keep a change of this process waiting. Relaxed: it is only a number.
  std::atomic<int64_t> patience_ns{kUsualPatienceNs};
  KvReader<RealOps> reader() const noexcept { return {file.layout(), file.bytes()}; }
  KvWriter<RealOps> writer() noexcept {
    return {file.layout(), file.bytes(), file, patience_ns.load(std::memory_order_relaxed)};
  }
};

namespace {

constexpr unsigned kFlags = WEFT_KV_CREATE | WEFT_KV_EXCLUSIVE | WEFT_KV_READ_ONLY;

KvKey key_of(const void* key, size_t length) noexcept { return {key, length, XXH3_64bits(key, length)}; }

bool is_bytes(const void* bytes, size_t length) noexcept { return bytes != nullptr || length == 0; }

int is_null(const char* name) noexcept { return fail(EINVAL, "%s: null is no store, key or value", name); }

// Says that another owner is changing the store and does not go on.
int explain_holder(const weft_kv& kv, const char* name) noexcept {
  const weft::base::KeepErrno keep;
  const Robust::Owner owner = kv.file.layout().writer.owner();
  const double seconds = static_cast<double>(kv.patience_ns.load(std::memory_order_relaxed)) / kSecondNs;
  if (!owner.known) return fail(ETIMEDOUT, "%s: somebody else has been writing for %.3g s; try again", name, seconds);
  const int pid = owner.process.pid;
  if (!owner.is_near) {
    return fail(ETIMEDOUT,
                "%s: process %d of another PID namespace has been writing for %.3g s; see there whether it is stopped, "
                "and continue or end it",
                name, pid, seconds);
  }
  char path[48];
  char command[32] = "?";
  std::snprintf(path, sizeof path, "/proc/%d/comm", pid);
  if (weft::platform::read_small_file(path, command, sizeof command)) command[std::strcspn(command, "\n")] = '\0';
  return fail(
      ETIMEDOUT,
      "%s: process %d (%s) has been writing for %.3g s; see whether it is stopped (ps -o stat %d), and continue "
      "(kill -CONT %d) or end it",
      name, pid, command, seconds, pid, pid);
}

int explain(const weft_kv& kv, int code, const char* name) noexcept {
  switch (code) {
    case EBADMSG:
      return fail(code, "%s: the store is damaged: something else has written into it; unlink it and make it anew",
                  name);
    case ENOSPC:
      return fail(code,
                  "%s: the store is full: it has its greatest size, %" PRIu64
                  " bytes, and no free block that is large enough; delete keys, or make a larger one",
                  name, kv.file.bytes());
    case KvFile::kNoMemory:
      return fail(ENOSPC,
                  "%s: the file system of the store is full, or the user's quota of it is used up (df /dev/shm); the "
                  "store has %" PRIu64 " bytes of at most %" PRIu64 ": free memory there, or delete keys",
                  name, kv.file.layout().committed.load(std::memory_order_relaxed), kv.file.bytes());
    case EMSGSIZE:
      return fail(code, "%s: key and value never fit into a store of %" PRIu64 " bytes; make a larger one", name,
                  kv.file.bytes());
    case EDEADLK: return fail(code, "%s: the calling thread is writing already; do not write in handlers", name);
    case EBADF:
      return fail(
          code,
          "%s: the program has closed the store's file descriptor, by which the store gets more memory; open the "
          "store behind what closes all descriptors",
          name);
    case ENOMEM: return fail(code, "%s: no memory to gather what is free", name);
    case ETIMEDOUT: return explain_holder(kv, name);
    case EINTR: return fail(code, "%s: signals keep the kernel from giving the store more memory; try again", name);
    case 0: return code;
    case ENOENT: return answer(code, "there is no such key, or no more keys");
    case ERANGE: return answer(code, "what is there is longer than the buffer; its length is said");
    case EEXIST: return answer(code, "the key exists, and was expected not to");
    case EAGAIN: return answer(code, "the key has another version than the expected one");
    default: return fail(code, "%s: %s", name, std::strerror(code));  // of posix_fallocate(3)
  }
}

// Brackets a change that the calling thread makes. A signal handler that runs meanwhile and makes a change too would
// wait for its own thread; by this note it gets an error instead. The note is set before the lock is asked for, since
// the handler may come at any moment.
class Change {
 public:
  Change() noexcept : first_(t_changes == 0) {
    t_changes = t_changes + 1;
    std::atomic_signal_fence(std::memory_order_seq_cst);  // a handler sees it before it can see the lock taken
  }
  ~Change() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    t_changes = t_changes - 1;
  }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

  bool may_go_on() const noexcept { return first_; }

 private:
  static thread_local volatile int t_changes;
  const bool first_;
};
thread_local volatile int Change::t_changes = 0;

int read_only(const char* name) noexcept {
  return fail(EACCES, "%s: the store was opened with WEFT_KV_READ_ONLY", name);
}

int put(weft_kv* kv, const void* key, size_t key_length, const void* value, size_t length,
        KvWriter<RealOps>::If condition, uint64_t expected, uint64_t* version, const char* name) noexcept {
  if (kv == nullptr || !is_bytes(key, key_length) || !is_bytes(value, length)) return is_null(name);
  if (!kv->file.writable()) return read_only(name);
  const Change change;
  if (!change.may_go_on()) return explain(*kv, EDEADLK, name);
  uint64_t now = 0;
  const int code = kv->writer().put(key_of(key, key_length), value, length, condition, expected, &now);
  if (version != nullptr) *version = now;
  return explain(*kv, code, name);
}

int remove(weft_kv* kv, const void* key, size_t key_length, KvWriter<RealOps>::If condition, uint64_t expected,
           const char* name) noexcept {
  if (kv == nullptr || !is_bytes(key, key_length)) return is_null(name);
  if (!kv->file.writable()) return read_only(name);
  const Change change;
  if (!change.may_go_on()) return explain(*kv, EDEADLK, name);
  return explain(*kv, kv->writer().remove(key_of(key, key_length), condition, expected), name);
}

int next_key(const weft_kv* kv, const KvKey* behind, void* key, size_t size, size_t* length,
             const char* name) noexcept {
  uint64_t found = 0;
  const int code = kv->reader().next(behind, key, size, &found);
  if (code == 0 || code == ERANGE) *length = found;
  return explain(*kv, code, name);
}

}  // namespace

WEFT_PUBLIC int weft_kv_open(weft_kv** kv, const char* name, size_t max_bytes, unsigned flags) {
  constexpr const char* kName = "weft_kv_open";
  if (kv == nullptr) return is_null(kName);
  if ((flags & ~kFlags) != 0) {
    return fail(EINVAL, "%s: flags %#x are unknown; there are %#x", kName, flags & ~kFlags, kFlags);
  }
  if ((flags & WEFT_KV_READ_ONLY) != 0 && (flags & WEFT_KV_CREATE) != 0) {
    return fail(EINVAL, "%s: a store that is opened for reading cannot be made", kName);
  }
  if ((flags & WEFT_KV_EXCLUSIVE) != 0 && (flags & WEFT_KV_CREATE) == 0) {
    return fail(EINVAL, "%s: WEFT_KV_EXCLUSIVE is for a store that is made: give WEFT_KV_CREATE too", kName);
  }
  if (max_bytes != 0 && (max_bytes < WEFT_KV_LEAST_BYTES || max_bytes > WEFT_KV_MOST_BYTES)) {
    return fail(EINVAL, "%s: a store of %zu bytes; from %zu to %zu are possible", kName, max_bytes, WEFT_KV_LEAST_BYTES,
                WEFT_KV_MOST_BYTES);
  }
  KvPath path;
  if (const int error = kv_path(name, kName, &path); error != 0) return error;
  auto* made = new (std::nothrow) weft_kv;
  if (made == nullptr) return fail(ENOMEM, "%s: no memory", kName);
  const int error = made->file.open(path, max_bytes, flags);
  if (error == 0) {
    *kv = made;
  } else {
    delete made;
  }
  return error;
}

WEFT_PUBLIC int weft_kv_close(weft_kv* kv) {
  if (kv == nullptr) return is_null("weft_kv_close");
  delete kv;
  return 0;
}

WEFT_PUBLIC int weft_kv_set_timeout(weft_kv* kv, const timespec* longest) {
  constexpr const char* kName = "weft_kv_set_timeout";
  if (kv == nullptr) return is_null(kName);
  int64_t patience = kForever;
  if (longest != nullptr) {
    if (const int error = to_deadline(longest, kName, &patience); error != 0) return error;
    if (longest->tv_sec < 0) return fail(EINVAL, "%s: less than no time", kName);
    if (patience != kForever) --patience;  // of a deadline 0 means something else
  }
  kv->patience_ns.store(patience, std::memory_order_relaxed);
  return 0;
}

WEFT_PUBLIC int weft_kv_unlink(const char* name) {
  constexpr const char* kName = "weft_kv_unlink";
  const weft::base::KeepErrno keep;
  KvPath path;
  if (const int error = kv_path(name, kName, &path); error != 0) return error;
  return unlink(path.text) == 0 ? 0 : fail(errno, "%s: %s: %s", kName, path.text, std::strerror(errno));
}

WEFT_PUBLIC [[gnu::flatten]] int weft_kv_get(const weft_kv* kv, const void* key, size_t key_length, void* value,
                                             size_t size, size_t* length, uint64_t* version) {
  constexpr const char* kName = "weft_kv_get";
  if (kv == nullptr || !is_bytes(key, key_length) || !is_bytes(value, size)) return is_null(kName);
  uint64_t found_length = 0;
  uint64_t found_version = 0;
  const int code = kv->reader().get(key_of(key, key_length), value, size, &found_length, &found_version);
  if (code == 0 || code == ERANGE) {
    if (length != nullptr) *length = found_length;
    if (version != nullptr) *version = found_version;
  }
  return code == 0 ? 0 : explain(*kv, code, kName);
}

WEFT_PUBLIC int weft_kv_put(weft_kv* kv, const void* key, size_t key_length, const void* value, size_t length,
                            uint64_t* version) {
  return put(kv, key, key_length, value, length, KvWriter<RealOps>::If::always, 0, version, "weft_kv_put");
}

WEFT_PUBLIC int weft_kv_put_if(weft_kv* kv, const void* key, size_t key_length, const void* value, size_t length,
                               uint64_t expected, uint64_t* version) {
  return put(kv, key, key_length, value, length, KvWriter<RealOps>::If::version, expected, version, "weft_kv_put_if");
}

WEFT_PUBLIC int weft_kv_delete(weft_kv* kv, const void* key, size_t key_length) {
  return remove(kv, key, key_length, KvWriter<RealOps>::If::always, 0, "weft_kv_delete");
}

WEFT_PUBLIC int weft_kv_delete_if(weft_kv* kv, const void* key, size_t key_length, uint64_t expected) {
  return remove(kv, key, key_length, KvWriter<RealOps>::If::version, expected, "weft_kv_delete_if");
}

WEFT_PUBLIC int weft_kv_first(const weft_kv* kv, void* key, size_t size, size_t* length) {
  constexpr const char* kName = "weft_kv_first";
  if (kv == nullptr || length == nullptr || !is_bytes(key, size)) return is_null(kName);
  return next_key(kv, nullptr, key, size, length, kName);
}

WEFT_PUBLIC int weft_kv_next(const weft_kv* kv, void* key, size_t size, size_t* length) {
  constexpr const char* kName = "weft_kv_next";
  if (kv == nullptr || length == nullptr || !is_bytes(key, size)) return is_null(kName);
  if (*length > size) return fail(EINVAL, "%s: the key before has %zu bytes of a buffer of %zu", kName, *length, size);
  // A try that fails may have written over the key that it begins with, so that key is copied first.
  char near[256];
  char* const before = *length <= sizeof near ? near : new (std::nothrow) char[*length];
  if (before == nullptr) return fail(ENOMEM, "%s: no memory", kName);
  if (*length != 0) std::memcpy(before, key, *length);
  const KvKey behind = key_of(before, *length);
  const int code = next_key(kv, &behind, key, size, length, kName);
  if (code != 0 && behind.length != 0) std::memcpy(key, before, behind.length);
  if (before != near) delete[] before;
  return code;
}

WEFT_PUBLIC int weft_kv_wait(const weft_kv* kv, uint64_t seen, const timespec* deadline, uint64_t* version) {
  constexpr const char* kName = "weft_kv_wait";
  if (kv == nullptr) return is_null(kName);
  int64_t until = kForever;
  if (deadline != nullptr) {
    if (const int error = to_deadline(deadline, kName, &until); error != 0) return error;
  }
  auto& layout = kv->file.layout();
  for (;;) {
    // Acquire: the announcement below comes behind the clearing of those before this bell (KvWriter::publish()).
    const uint32_t bell = layout.bell.load(std::memory_order_acquire);
    // Acquire: what has changed is seen behind it.
    const uint64_t now = layout.published.load(std::memory_order_acquire);
    if (version != nullptr) *version = now;
    if (now != seen) return 0;
    if (RealOps::now_ns() >= until) return ETIMEDOUT;
    if (kv->file.writable()) {
      layout.sleepers.store(1, std::memory_order_relaxed);
      RealOps::full_fence();  // announced, then the bell, which the kernel reads: KvWriter::publish()
      RealOps::wait(layout.bell, bell, until);
    } else {
      Pause().once();  // it cannot announce itself
    }
  }
}

WEFT_PUBLIC int weft_kv_stat_get(const weft_kv* kv, weft_kv_stat* stat) {
  if (kv == nullptr || stat == nullptr) return is_null("weft_kv_stat_get");
  const auto& layout = kv->file.layout();
  stat->keys = layout.keys.load(std::memory_order_relaxed);
  stat->version = layout.published.load(std::memory_order_acquire);
  stat->max_bytes = kv->file.bytes();
  stat->file_bytes = layout.committed.load(std::memory_order_relaxed);
  stat->used_bytes = kv_heap_begin<RealOps>() + layout.used.load(std::memory_order_relaxed);
  stat->recoveries = layout.recoveries.load(std::memory_order_relaxed);
  bool unlinked = false;
  if (const int error = kv->file.unlinked(&unlinked); error != 0) return explain(*kv, error, "weft_kv_stat_get");
  stat->unlinked = unlinked ? 1 : 0;
  return 0;
}
