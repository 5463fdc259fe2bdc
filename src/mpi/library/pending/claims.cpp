// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/pending/claims.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include <sched.h>

#include "base/message.h"
#include "mpi/library/errors/errors.h"
#include "mpi/library/pending/pending_wait.h"
#include "platform/futex_lock.h"

namespace weft::mpi {

namespace {

// A set of handles: a hash table, at most half full, with linear probing.
class Handles {
 public:
  bool has(uintptr_t handle) const noexcept {
    return handle != kNone && count_ > 0 && places_[place_of(handle)] == handle;
  }

  // Returns false where the handle is in the set already. Without memory the handle is left out: then a second waiter
  // is not noticed.
  bool add(uintptr_t handle) noexcept {
    if (has(handle)) return false;
    if (2 * (count_ + 1) > size_ && !grow()) return true;
    places_[place_of(handle)] = handle;
    ++count_;
    return true;
  }

  void remove(uintptr_t handle) noexcept {
    if (!has(handle)) return;
    size_t gap = place_of(handle);
    places_[gap] = kNone;
    --count_;
    // Handles behind the gap move up to where a search finds them.
    for (size_t at = next(gap); places_[at] != kNone; at = next(at)) {
      const uintptr_t moved = places_[at];
      places_[at] = kNone;
      places_[place_of(moved)] = moved;
    }
  }

 private:
  static constexpr uintptr_t kNone = 0;  // no request has this handle, in either MPI
  static constexpr size_t kLeast = 64;

  size_t next(size_t place) const noexcept { return (place + 1) & (size_ - 1); }

  // The place of the handle, or the free place where it would go.
  size_t place_of(uintptr_t handle) const noexcept {
    constexpr uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;
    size_t place = static_cast<size_t>(handle * kGoldenRatio >> 32) & (size_ - 1);
    while (places_[place] != kNone && places_[place] != handle) place = next(place);
    return place;
  }

  bool grow() noexcept {
    Handles larger;
    larger.size_ = size_ > 0 ? 2 * size_ : kLeast;
    larger.places_ = static_cast<uintptr_t*>(std::calloc(larger.size_, sizeof *places_));
    if (larger.places_ == nullptr) return false;
    for (size_t i = 0; i < size_; ++i) {
      if (places_[i] != kNone) larger.places_[larger.place_of(places_[i])] = places_[i];
    }
    larger.count_ = count_;
    std::free(places_);
    *this = larger;
    return true;
  }

  uintptr_t* places_ = nullptr;
  size_t size_ = 0;  // a power of two
  size_t count_ = 0;
};

platform::FutexLock g_lock;
Handles g_claimed;

// Handles are numbers in one MPI and addresses in the other.
uintptr_t number_of(MPI_Request request) noexcept {
  uintptr_t number = 0;
  std::memcpy(&number, &request, sizeof request);
  return number;
}

bool has_one(int count, const MPI_Request* requests) noexcept {
  const std::lock_guard lock(g_lock);
  for (int i = 0; i < count; ++i) {
    if (g_claimed.has(number_of(requests[i]))) return true;
  }
  return false;
}

bool add_all(int count, const MPI_Request* requests, const int* wanted) noexcept {
  const auto number = [&](int i) { return number_of(requests[wanted != nullptr ? wanted[i] : i]); };
  const std::lock_guard lock(g_lock);
  for (int i = 0; i < count; ++i) {
    if (g_claimed.add(number(i))) continue;
    while (--i >= 0) g_claimed.remove(number(i));
    return false;
  }
  return true;
}

// Waits until a thread that is completing requests at this moment has ended their claims too: MPI may have given the
// handle of one to a new request, which is not claimed.
void let_look_end() noexcept {
  while (!g_progress.try_lock()) sched_yield();
  g_progress.unlock();
}

}  // namespace

bool is_waited_for(int count, const MPI_Request* requests) noexcept {
  if (pending_waits() == 0 || !has_one(count, requests)) return false;
  let_look_end();
  return has_one(count, requests);
}

bool claim(int count, const MPI_Request* requests, const int* wanted) noexcept {
  if (add_all(count, requests, wanted)) return true;
  let_look_end();
  return add_all(count, requests, wanted);
}

void disclaim(MPI_Request request) noexcept {
  const std::lock_guard lock(g_lock);
  g_claimed.remove(number_of(request));
}

int refuse_second_wait() noexcept {
  static std::atomic<bool> said{false};
  if (!said.exchange(true)) base::warn("mpi: a task waits for a request that another one waits for already");
  return raise_own(MPI_ERR_REQUEST);
}

}  // namespace weft::mpi
