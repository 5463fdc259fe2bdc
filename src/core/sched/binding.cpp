// SPDX-License-Identifier: Apache-2.0
#include "core/sched/binding.h"

#include <algorithm>

#include "base/keep_errno.h"
#include "base/message.h"
#include "core/context/own_settings.h"
#include "core/sched/carrier_binding.h"
#include "core/sched/free_contexts.h"
#include "core/sched/pool.h"
#include "core/sched/scheduler.h"
#include "core/sched/start.h"
#include "core/sched/switching.h"
#include "core/sched/work.h"

namespace weft::core {

std::atomic<bool> g_binding_used{false};

namespace {

// The CPUs that unbound threads of this process may use. Release and acquire: the set was written before.
std::atomic<const platform::CpuSet*> g_everywhere{nullptr};

void set_mask(const platform::CpuSet& cpus) noexcept {
  const base::KeepErrno keep;
  if (platform::bind_thread(cpus)) return;
  // Relaxed: two threads that fail at the same time may both write the line.
  static std::atomic<bool> warned{false};
  if (warned.exchange(true, std::memory_order_relaxed)) return;
  char list[64];
  platform::format_cpu_list(cpus, list, sizeof list);
  base::warn("the system refuses to bind a thread to CPU %s; it runs where the system puts it", list);
}

void note_place(Carrier* carrier, const platform::CpuSet* cpus) noexcept {
  const Settings& settings = pool().settings;
  const bool is_one = settings.places <= cpus && cpus < settings.places + settings.place_count;
  carrier->place.store(is_one ? static_cast<int>(cpus - settings.places) : -1, std::memory_order_relaxed);
}

}  // namespace

void bind_carrier(Carrier* carrier, const platform::CpuSet* cpus) noexcept {
  if (carrier->cpus.load(std::memory_order_relaxed) == cpus) return;
  carrier->cpus.store(cpus, std::memory_order_relaxed);
  set_mask(*cpus);
  CarrierNumaNodes<kMaxCarriers>& nodes = pool().nodes;
  if (nodes.several() && carrier->is_listed()) nodes.note(carrier->index, current_numa_node());
}

void bind_new_worker(Carrier* carrier) noexcept {
  const auto of_worker = pool().settings.cpus_of_worker;
  carrier->own_cpus = of_worker != nullptr ? of_worker(carrier->worker) : g_everywhere.load(std::memory_order_acquire);
  if (carrier->own_cpus == nullptr) return;
  bind_carrier(carrier, carrier->own_cpus);
  note_place(carrier, carrier->own_cpus);
}

void leave_binding(Carrier* carrier) noexcept {
  const platform::CpuSet* own =
      carrier->own_cpus != nullptr ? carrier->own_cpus : g_everywhere.load(std::memory_order_acquire);
  if (own != nullptr) bind_carrier(carrier, own);
}

void use_all_cpus() noexcept {
  if (const platform::CpuSet* all = g_everywhere.load(std::memory_order_acquire)) set_mask(*all);
}

void protect_workers(const platform::CpuSet* cpus) noexcept { g_everywhere.store(cpus, std::memory_order_release); }

void bind_self(const platform::CpuSet* cpus) noexcept {
  Context* self = attach();
  g_binding_used.store(true, std::memory_order_relaxed);
  self->cpus = cpus;
  self->pinned = false;
  bind_carrier(self->carrier, cpus);
  if (self->home == self->carrier) note_place(self->carrier, cpus);
  // An identity that is a worker's own belongs to the worker's thread, which runs other contexts at times: that
  // thread's mask is left to bind_carrier().
  if (!self->donated && self->home == nullptr) return;
  const base::KeepErrno keep;
  platform::bind_identity_thread(*cpus);
}

void pin_self(const platform::CpuSet* cpus) noexcept {
  bind_self(cpus);
  current_context()->pinned = true;
}

bool runs_on_worker() noexcept { return !current_context()->carrier->is_root(); }

const platform::CpuSet* cpus_for_children() noexcept {
  const Context* self = current_context();
  const platform::CpuSet* all = g_everywhere.load(std::memory_order_acquire);
  if (all == nullptr || self->carrier == nullptr) return nullptr;
  if (self->own != nullptr && self->own->has_cpus) return &self->own->cpus;
  if (self->pinned) return self->cpus;
  const bool on_own_thread = self->home == self->carrier;
  return on_own_thread && self->carrier->cpus.load(std::memory_order_relaxed) == nullptr ? nullptr : all;
}

void prefer_thread(int number) noexcept {
  Context* self = current_context();
  want_workers(number + 1);
  // Where there is no such worker, the context stays where it ran last.
  const bool there = number <= pool().worker_count.load(std::memory_order_acquire);
  self->preferred = number == 0 ? self->root : there ? pool().worker(number - 1) : nullptr;
}

bool has_room_apart(int size) noexcept {
  const Pool& p = pool();
  return p.nodes.several() && size > 1 && 2 * size <= p.settings.slots;
}

// Orders the threads by NUMA node, beginning with the root and its node, and puts the members at equal distances among
// them. Returns the thread of `member`.
int thread_apart(int member, int size) noexcept {
  const Pool& p = pool();
  if (member == 0) return 0;
  const int made = std::min(p.worker_count.load(std::memory_order_acquire), p.settings.slots - 1);
  const auto node_of = [&p](int number) { return p.nodes.of(p.worker(number - 1)->index); };
  const auto rank = static_cast<int>(int64_t{member} * (made + 1) / size);
  const int first = std::max(0, p.nodes.of(current_context()->root->index));
  // The root is the first thread; those whose node is not known are the last ones.
  int seen = 0;
  for (int step = 0; step <= p.nodes.highest() + 1; ++step) {
    const int node = step <= p.nodes.highest() ? (first + step) % (p.nodes.highest() + 1) : -1;
    for (int number = 1; number <= made; ++number) {
      if (node_of(number) == node && ++seen == rank) return number;
    }
  }
  // Fewer threads were seen than were counted: some have moved to another node meanwhile.
  return std::min(rank, made);
}

void go_to_thread(int number) noexcept {
  prefer_thread(number);
  Context* self = current_context();
  const Carrier* there = self->preferred;
  if (there == nullptr || there == self->carrier || !may_serve(pool(), there, work_of(self))) return;
  if (Context* successor = take_free(self->carrier, 0)) switch_counted(self, successor, Departure::yield);
}

}  // namespace weft::core
