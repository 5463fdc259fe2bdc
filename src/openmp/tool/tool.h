// SPDX-License-Identifier: Apache-2.0
// Whether a tool listens (OMPT; docs/explanation/ompt.md). What happens in the runtime asks on() and, if so, calls one
// of the functions of events.h. Hot paths exist twice, and the one for programs without a tool asks nothing (entry.h).
#pragma once

#include <atomic>
#include <cstdint>

#include "weft/omp-tools.h"

namespace weft::openmp {
struct Member;
struct Task;

extern constinit thread_local Member* t_member;
}  // namespace weft::openmp

namespace weft::openmp::ompt {

enum State : uint32_t {
  kNone,     // no tool, or it has been finalized
  kActive,
  kUnknown,  // nobody has looked for one yet: the first event does
};

// Read at every event, written twice per process: alone on its line. Relaxed: a thread that finds it active late
// reports late; what a tool has registered is published by the callbacks themselves.
struct alignas(64) Presence {
  std::atomic<uint32_t> state{kUnknown};
};
extern Presence g_presence;

// Looks for a tool, once a process, and starts it; whether there is one.
bool start() noexcept;

inline bool is_present() noexcept {
  const uint32_t state = g_presence.state.load(std::memory_order_relaxed);
  if (__builtin_expect(state == kNone, 1)) return false;
  return state == kActive || start();
}

// Whether the tool is to be told of what the caller does: in a region that it does not want (Untold) t_member is set,
// as it is without a tool.
inline bool on() noexcept { return is_present() && t_member == nullptr; }

// In what exists twice. Told: there may be a tool, so ask; else the caller knows that there is none.
template <bool Told>
bool on() noexcept {
  if constexpr (Told) {
    return on();
  } else {
    return false;
  }
}

// The tool's finalizer; no events after it. Does nothing the second time.
void finalize() noexcept;

// A call of the program into the runtime, for as long as it lasts: its return address, and the frame of the task that
// makes it. Adapters declare one: const ompt::Entry entry(WEFT_CALLER);
#define WEFT_CALLER __builtin_return_address(0)
class Entry {
 public:
  // `requested`: the num_threads clause of a region.
  explicit Entry(const void* caller, int requested = 0) noexcept {
    if (on()) outer_ = enter(caller, requested);
  }
  ~Entry() {
    if (on()) leave(outer_);
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

 private:
  static const void* enter(const void* caller, int requested) noexcept;
  static void leave(const void* outer) noexcept;

  const void* outer_ = nullptr;
};

// A region that is about to be opened from `caller`, for as long as it lasts: whether the tool does not want to be told
// of it (weft_set_region_filter).
class Untold {
 public:
  explicit Untold(const void* caller) noexcept {
    if (on()) begin(caller);
  }
  ~Untold() {
    if (member_ != nullptr) end();
  }
  Untold(const Untold&) = delete;
  Untold& operator=(const Untold&) = delete;
  explicit operator bool() const noexcept { return member_ != nullptr; }

 private:
  void begin(const void* caller) noexcept;
  void end() noexcept;

  Member* member_ = nullptr;
};

// ---- what the runtime's records keep for a tool; written only when there is one ----

struct TaskInfo {
  ompt_data_t data{};
  ompt_frame_t frame{};
  int flags = 0;
  void (*body)(Task* task) = nullptr;  // the task's own: the record's is run_told()
  Task* below = nullptr;  // what its member ran before, on the same stack
  ompt_dispatch_chunk_t chunk{};  // of a taskloop's task
};

// Of a region that is one loop (loop/loop_region.h). Relaxed: the end of the region orders the members' sums.
struct LoopTotals {
  uint64_t iterations = 0;
  bool whole = false;  // the primary took all iterations at once
  std::atomic<uint64_t> ranges{0};
  std::atomic<uint64_t> ranges_of_others{0};
  std::atomic<int32_t> members{0};
};

struct TeamInfo {
  ompt_data_t own{};
  ompt_data_t* data = &own;  // that of the region; the teams of a league share one
  const void* caller = nullptr;  // the code that opened the region
  int flags = 0;
  // Its members' events are told. Without a tool, and in a region that it does not want, never set.
  bool told = false;
  const LoopTotals* loop = nullptr;  // of a region that is one loop, once its primary has begun
};

// The worksharing construct a member is in; 0: none.
struct MemberInfo {
  int work = 0;
  uint64_t count = 0;
  const void* caller = nullptr;
  bool single = false;  // it executes a single region
  Task* top = nullptr;  // what it runs; null: the implicit task
};

}  // namespace weft::openmp::ompt
