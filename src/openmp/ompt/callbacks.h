// SPDX-License-Identifier: Apache-2.0
// What the files of ompt share: the registered callbacks, and what is kept of each thread.
#pragma once

#include <array>
#include <atomic>

#include "base/keep_errno.h"
#include "openmp/record/team.h"
#include "openmp/tool/entry.h"
#include "openmp/tool/event_bodies.h"
#include "weft/weft-tools.h"

namespace weft::openmp::ompt {

using tool::Entry;
using tool::finalize;
using tool::is_on;
using tool::LoopTotals;
using tool::TeamInfo;

inline constexpr int kEventEnd = ompt_callback_error + 1;

// Release by ompt_set_callback, acquire by the thread that calls: with the function comes what the tool has prepared
// for it.
extern std::array<std::atomic<ompt_callback_t>, kEventEnd> g_callbacks;

// weft-tools.h: of regions that are one loop. Release and acquire as above.
extern std::atomic<weft_callback_loop_t> g_loop_callback;

// weft-tools.h: of calls of the program. Release and acquire as above.
extern std::atomic<weft_callback_call_t> g_call_callback;

// weft-tools.h: which regions are reported. Release and acquire as above; `after` is set before `wanted`.
extern std::atomic<weft_callback_region_wanted_t> g_region_wanted;
extern std::atomic<weft_callback_region_after_t> g_region_after;

// weft-tools.h: which chunks are reported. Release and acquire as above; `left` is set before `g_chunks_unreported`.
extern std::atomic<weft_callback_chunks_untold_t> g_chunks_unreported;
extern std::atomic<weft_callback_chunks_left_t> g_chunks_left;

// weft-tools.h: of calls of libraries. Release and acquire as above.
extern std::atomic<weft_callback_library_t> g_library_callback;

inline void tell_call(weft_call_t what) noexcept {
  if (const weft_callback_call_t callback = g_call_callback.load(std::memory_order_acquire)) callback(what);
}

// To be called by the names of their types: call<ompt_callback_work_t>(ompt_callback_work, ...).
template <class Signature, class... Arguments>
void call(ompt_callbacks_t event, Arguments... arguments) noexcept {
  const ompt_callback_t callback = g_callbacks[event].load(std::memory_order_acquire);
  if (callback == nullptr) return;
  const base::KeepErrno keep;
  reinterpret_cast<Signature>(callback)(arguments...);
}

// A context of weft: to a tool a thread, since it has a thread's identity.
struct Thread {
  ompt_data_t data{};
  int state = ompt_state_work_serial;
  ompt_wait_id_t awaited = ompt_wait_id_none;
  const void* caller = nullptr;  // of the innermost call from the program
  int requested = 0;             // its num_threads clause
  ompt_dispatch_chunk_t chunk{};  // of the task it creates next (announce_chunk)
  bool yields = false;           // in taskyield, and no other task has been started there
  bool begun = false;
  weft_region_skip_t* skip = nullptr;  // the tool's, for regions that it need not be asked for
  bool in_league = false;  // the region it opens next only carries the teams of a league
};
extern constinit thread_local Thread t_thread;

// Shows a state for a while.
class Showing {
 public:
  explicit Showing(int state, ompt_wait_id_t awaited = ompt_wait_id_none) noexcept
      : before_(t_thread.state), awaited_before_(t_thread.awaited) {
    t_thread.state = state;
    t_thread.awaited = awaited;
  }
  ~Showing() {
    t_thread.state = before_;
    t_thread.awaited = awaited_before_;
  }
  Showing(const Showing&) = delete;
  Showing& operator=(const Showing&) = delete;

 private:
  int before_;
  ompt_wait_id_t awaited_before_;
};

// Flags of TaskInfo beside OMPT's: the tool was told that the body ended before the event; and of the task's end, so
// that it may have forgotten the task (guarded by `edges`).
inline constexpr int kDetached = 0x01000000;
inline constexpr int kClosed = 0x02000000;

// A flag of TeamInfo beside OMPT's: the region is none of the program's.
inline constexpr int kHidden = 0x20000000;
inline bool is_hidden(const Team* team) noexcept { return (team->tool.flags & kHidden) != 0; }

inline ompt_data_t* parallel_data(const Member* member) noexcept { return member->team->tool.data; }
inline ompt_data_t* task_data(const Member* member) noexcept { return &member->task->tool.data; }

inline void sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, const Member* member,
                        const void* caller) noexcept {
  call<ompt_callback_sync_region_t>(ompt_callback_sync_region, kind, endpoint, parallel_data(member), task_data(member),
                                    caller);
}
inline void sync_region_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, const Member* member,
                             const void* caller) noexcept {
  call<ompt_callback_sync_region_t>(ompt_callback_sync_region_wait, kind, endpoint, parallel_data(member),
                                    task_data(member), caller);
}

// The only way mutexes are implemented (inquiry.cpp names it).
inline constexpr unsigned kMutexImplementation = 1;

// The function the tool's lookup is given (inquiry.cpp).
ompt_interface_fn_t lookup(const char* name);

}  // namespace weft::openmp::ompt
