// SPDX-License-Identifier: Apache-2.0
// A carrier: what a running OS thread brings to the scheduler. Pool workers and roots are carriers. Internal to core.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/context/context.h"
#include "core/context/worker_stacks.h"
#include "core/sched/cpu_spread.h"
#include "core/sched/free_lists.h"
#include "core/sched/lateness.h"
#include "core/sched/open_calls.h"
#include "core/sched/parallel_call.h"
#include "core/sched/ready_list.h"
#include "core/sched/settings.h"
#include "core/sched/statistics.h"
#include "core/sched/yield_round.h"
#include "platform/rseq.h"

namespace weft::core {

struct Wake {
  enum Value : uint32_t {
    none,      // looking for work, or busy
    notified,  // there may be work
    own,       // there is something that only this carrier does: it has not been called for other work
    sleeping,  // in the futex
  };
};

// Whether the thread of a new worker may go on (core/README.md).
struct Begins {
  enum Value : uint32_t { later, asleep, at_once };
};

// The values of Carrier::slot that are no number of a slot.
struct Slot {
  enum Value : int {
    none = -1,   // it has no slot
    lent = -2,   // it runs without a slot: its OS thread has been lent
    taken = -3,  // its slot was taken away while it ran
  };
};

struct alignas(64) Carrier {
  Carrier(int carrier_index, int pool_index) noexcept : index(carrier_index), worker(pool_index) {}

  const int index;   // in the pool's table
  const int worker;  // its number among the workers; -1 for a root's carrier
  bool is_root() const noexcept { return worker < 0; }
  // Whether it stands in the pool's table. Other carriers find no work or context of one that does not. So that carrier
  // gets no contexts: its thread waits in place, and its regions have one member.
  bool is_listed() const noexcept { return index < kMaxCarriers; }

  // The context of the OS thread itself. It outlives the thread: a late unblock() must find it.
  alignas(64) Context own_context;
  // A worker's own context, when it is free and its thread is to end (core/sched/release_idle.cpp). Release and
  // acquire: a thread that sees the pointer sees the context's fields.
  std::atomic<Context*> own_ends{nullptr};
  // A persistent team counts on this worker's identity for a member. Relaxed: a flag alone.
  std::atomic<bool> spoken_for{false};
  std::atomic<uint32_t> begins{Begins::later};  // workers.cpp
  WorkerStack stack;  // of its thread, if that is the carrier's first
  Carrier* next_spare = nullptr;
  void* kept = nullptr;  // kept_by_carrier()
  // The kernel's number of its OS thread (0: it has none now), and the thread pointer that the thread was born with.
  // Relaxed: the monitor may see an old number, and a thread's signal handlers see what the thread itself has stored
  // (core/context/set_ids.h).
  std::atomic<pid_t> thread_id{0};
  std::atomic<uintptr_t> own_identity{0};
  platform::RseqArea rseq_area;  // what the OS thread registers in place of libc's; written by the kernel

  // Whether this root counts as holding a slot. Set by the root, cleared by the monitor when no region has
  // been seen for a while; relaxed, since both sides only aim at a good guess (see roots.cpp).
  std::atomic<bool> holds_slot{false};
  std::atomic<int> regions_open{0};  // written by the root alone
  std::atomic<uint32_t> regions_seen{0};
  uint32_t regions_at_attach = 0;  // touched by the root alone
  std::atomic<bool> is_for_guest{false};  // it holds a slot for a guest (guests.cpp), and nobody runs it; relaxed
  // How often the root has called sched_yield since its last region, and the number of that region; touched by the root
  // alone.
  uint32_t yields = 0;
  uint32_t yields_since = 0;
  int admitted = 0;  // the calls of the region that it has been admitted to (admission.h); touched by the root alone

  FreeContexts free;

  // Each piece of work that appears calls one carrier. A carrier that is called takes one piece, whichever it finds; a
  // carrier that does something else passes its call on (core/README.md). Touched by this carrier only.
  enum class Call : uint8_t {
    none,  // it has not been called
    open,  // it has been called, and comes for a piece
    missed,  // it has found something to do before it was called
  };
  Call call = Call::none;
  SpreadLooks spread_looks;
  // It looks for work on other NUMA nodes too, since it has waited for near work long enough; touched by this carrier
  // only.
  bool looks_afar = false;
  YieldRound yield_round;
  // The CPU clock of its OS thread (core/sched/cpu_time.h): what the last switch has read (-1: no switch has read it;
  // touched by this carrier only); and how much has been counted for contexts (written by this carrier alone).
  int64_t left_at_cpu_ns = -1;
  std::atomic<int64_t> counted_ns{0};
  uint32_t released = 0;  // the last request of release_idle() that it has met; touched by this carrier only

  // Parallel calls are told apart by serials: each carrier gives its own, so that they share no count.
  uint64_t next_serial = (uint64_t{static_cast<unsigned>(index)} + 1) << 40;  // touched by this carrier only

  Statistics statistics;

  // Binding; written by this carrier's thread only. `cpus`: the thread's mask now, null: the one that the system gave
  // it (relaxed: others read it as a hint). `own_cpus`: the mask that a worker goes back to.
  std::atomic<const platform::CpuSet*> cpus{nullptr};
  const platform::CpuSet* own_cpus = nullptr;
  std::atomic<int> place{-1};  // the place (of Settings::places) that it belongs to; relaxed, a hint; -1: none

  // `waiting`: its context has been spinning for a while, so the carrier could do something else. `poked`: another
  // thread asks it to; that counts as a call. Relaxed: a carrier that misses it comes a moment later.
  std::atomic<bool> waiting{false};
  std::atomic<bool> poked{false};
  Lateness lateness;  // of its OS thread

  // The slot of the node that it has (core/sched/node_budget.h). Set by the monitor or its own thread, taken by
  // exchange, so that no slot is given back twice; relaxed loads, since the slot's word in the segment decides.
  std::atomic<int> slot{Slot::none};

  alignas(64) ReadyList ready;
  // A bodiless context whose call the carrier is to begin under an identity of its own (make_bodiless()). Set by
  // unblock(), taken by exchange: by this carrier, or by another one when this one does not come for it.
  std::atomic<Context*> bodiless_ready{nullptr};
  // The root whose work that call is. Relaxed: a hint for carriers that look; a carrier that takes the context reads
  // its `root`.
  std::atomic<Carrier*> bodiless_root{nullptr};
  // The carrier has not come for `bodiless_ready` for a while. Written by the monitor; relaxed, a guess.
  std::atomic<bool> late{false};
  // How many contexts could go on here. Relaxed: a guess.
  int waiting_contexts() const noexcept {
    return ready.size() + (bodiless_ready.load(std::memory_order_relaxed) != nullptr ? 1 : 0);
  }
  // The root's context, when it can go on. Set by any thread, taken by exchange: by this carrier, or by a worker when
  // the monitor has seen that this carrier does not come for it (`abandoned`; relaxed, a guess).
  std::atomic<Context*> root_ready{nullptr};
  std::atomic<bool> abandoned{false};
  // No carrier has fetched anything from `ready` for a while: contexts that are bound to this carrier's CPUs may be
  // resumed by others too. Written by the monitor; relaxed, a guess as well.
  std::atomic<bool> stuck{false};
  // Calls that it has published have waited for as long: carriers of all NUMA nodes may do them. Written by the
  // monitor; relaxed, a guess.
  std::atomic<bool> calls_wait{false};
  bool root_yields = false;  // touched by this carrier only

  // Parallel calls with members to claim, oldest first. Written by this carrier, except that a primary member
  // that has moved away clears its own entry.
  alignas(64) std::atomic<int> open_top{0};
  OpenCalls open;

  // Sequentially consistent: "publish, then look for sleepers" against "fall asleep, then look for work".
  alignas(64) std::atomic<uint32_t> wake{Wake::none};
  // The carrier that has work for this one; written by the thread that calls it. Relaxed: a hint where to look first.
  std::atomic<Carrier*> called_by{nullptr};
  std::atomic<int64_t> called_ns{0};  // when it was woken from its sleep; 0: it has taken note (core/sched/lateness.h)
};

}  // namespace weft::core
