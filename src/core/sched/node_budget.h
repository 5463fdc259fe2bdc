// SPDX-License-Identifier: Apache-2.0
// The process's part in the CPU budget of the node (docs/explanation/node.md). A worker runs only while its carrier has
// a slot. It takes one when it gets up and gives it back before it sleeps; the monitor does what takes longer: it asks
// others for slots, and passes on those that they give. Internal to core.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/sched/carrier.h"

namespace weft::node {
class Process;
}

namespace weft::core {

struct Pool;

// Why a carrier must look twice before it goes on. 0: nobody needs to.
struct Gate {
  enum Bits : uint32_t {
    pressed = 1,  // slots are short: a carrier that has nothing to do gives its own back at once
    over = 2,  // this process has more slots than it is due
    closed = 4,  // no slot is to be had: do not count on carriers that sleep
    taken = 8,  // the slot of some carrier has been taken away
  };
};

// The scheduler never asks whether the process shares the node: each function has the answer for a process that runs
// alone, and functions that carriers call often have it inline.
class NodeBudget {
 public:
  // Whether the process is to share the node.
  static bool wanted(const Settings& settings) noexcept { return settings.node.on; }

  // Called by a carrier's own thread. get_up(): before it looks for work after it has slept; returns whether it may.
  // lie_down(): before it sleeps; returns whether it has given up its slot, and had better look for work once more.
  bool get_up(Pool& pool, Carrier* carrier) noexcept { return !on() || take_slot(pool, carrier); }
  bool lie_down(Carrier* carrier) noexcept {
    if (!on()) return false;
    drop_slot(carrier);
    return true;
  }

  // Takes note of what other processes have written.
  void look(Pool& pool) noexcept {
    if (on()) look_at_others(pool);
  }

  // Whether a carrier that waits owes its CPU to another process.
  bool owes_cpu(Pool& pool) noexcept { return on() && others_press(pool); }

  // Whether slots move between carriers: a context that waits had better leave its carrier, which may lose its slot.
  bool moves_slots() const noexcept { return on(); }

  // Whether processes beside this one may want its CPUs, as of the last tick. Relaxed: a process that has just come is
  // seen at the next one.
  bool has_neighbours() const noexcept { return neighbours_.load(std::memory_order_relaxed); }

  // Whether guests need slots of the node; and how many carriers hold slots for them, if guests can use `wanted` of
  // `most`.
  bool counts_guests() const noexcept { return on(); }
  int carriers_for_guests(int wanted, int most) const noexcept { return !on() ? 0 : wanted < most ? wanted : most; }

  // Whether the carrier may run when the gate is not 0; of a carrier that sleeps, whether it could.
  bool admitted(const Pool& pool, const Carrier* carrier) const noexcept;

  // Whether the carrier, which is idle, would have to take a slot first; and how many of `wanted` slots could be taken
  // now. Guesses about a moment that has passed when they are used.
  bool lacks_slot(const Carrier& carrier) const noexcept {
    return on() && !carrier.is_root() && carrier.slot.load(std::memory_order_relaxed) < 0;
  }
  int obtainable(int wanted) const noexcept { return !on() || wanted == 0 ? wanted : count_obtainable(wanted); }

  // How many of the process's slots the node leaves to it; and whether it has more of them.
  int usable(int slots) const noexcept;
  bool has_too_many() const noexcept;

  // A root begins and ceases to count as running.
  void root_begins(Carrier* root) noexcept;
  void root_ends(Carrier* root) noexcept { lie_down(root); }

  // For a root that does not run yet: waits until the division gives the process a CPU again, for a second at most. Its
  // slot is free meanwhile.
  void await_turn(Pool& pool, Carrier* root) noexcept;

  // ---- of the queue before regions (node/queue.h); under the lock of admission.cpp. Without the node all may enter
  // ----
  uint64_t draw_ticket() const noexcept;
  bool enter_queue(uint64_t ticket, int calls, bool anyway) const noexcept;
  void leave_queue(int calls) const noexcept;
  // Whether no thread runs in other processes that have regions inside; adds the CPU time that these have used. Called
  // without the lock.
  bool others_sleep(int64_t& cpu_time) const noexcept;

  // ---- for the monitor's thread ----
  // Whether the process shares the node.
  bool on() const noexcept { return process_.load(std::memory_order_relaxed) != nullptr; }
  // Joins the node, if the process is to share it.
  void join(const Settings& settings) noexcept;
  // Where the process shares the node: sleeps for `ns`, and passes slots on meanwhile.
  void rest(Pool& pool, int64_t ns) noexcept;
  // To be called at each tick.
  void tick(Pool& pool) noexcept;
  // Whether the process has slots or waits for something: then it goes on to tick. Sequentially consistent against a
  // carrier that closes the gate and wakes the monitor then.
  bool waiting(const Pool& pool) const noexcept;
  // Shows the other processes what waits for messages. Called at each tick, and once more when the monitor ceases to
  // tick, when nothing waits any more.
  void tell_pending() noexcept;
  // Leaves the node, if the process is about to end. Returns whether it is.
  bool leave_if_asked(Pool& pool) noexcept;

  // ---- for other threads: the process ends. Waits a moment until the monitor has left.
  void leave() noexcept;

 private:
  // Relaxed: a carrier that sees it late runs a moment without a slot, or asks for one in vain.

  int count_obtainable(int wanted) const noexcept;
  void look_at_others(Pool& pool) noexcept;
  void look_for_neighbours(node::Process& process) noexcept;
  bool others_press(Pool& pool) noexcept;
  bool take_slot(Pool& pool, Carrier* carrier) noexcept;
  void drop_slot(Carrier* carrier) noexcept;
  int wait_at_door(Pool& pool, node::Process& process) noexcept;
  static void await_slot(node::Process& process, Carrier* root) noexcept;
  bool run_unslotted(const Pool& pool) noexcept;
  bool pass_on(Pool& pool, int slot) noexcept;
  static void favor(Pool& pool, node::Process& process, Carrier* root) noexcept;
  void serve(Pool& pool, node::Process& process, bool may_take_away) noexcept;
  void reclaim(Pool& pool, node::Process& process) noexcept;
  void run_alone(Pool& pool) noexcept;
  void set_others_turn(bool others_turn) noexcept;
  int count_missing(const Pool& pool, const node::Process& process) const noexcept;
  node::Process* current() const noexcept { return process_.load(std::memory_order_acquire); }

  // Null: the process runs alone. Set and cleared by the monitor; the object is never freed, since other threads may
  // still use it.
  std::atomic<node::Process*> process_{nullptr};
  // Workers that run without a slot: as many as the monitor or a gang has lent threads.
  std::atomic<int> unslotted_{0};
  // Roots that wait until it is the process's turn. Relaxed: they are counted again at the next tick.
  std::atomic<int> waiting_roots_{0};
  std::atomic<bool> at_door_{false};
  std::atomic<bool> neighbours_{false};  // written by the monitor
  std::atomic<bool> leaving_{false};
  std::atomic<uint32_t> left_{0};

  // Used by the monitor alone.
  int64_t starving_since_ = 0;  // since when the process has less than its due; 0: it has its due
  int64_t last_tick_ = 0;
  int ticks_ = 0;
};

}  // namespace weft::core
