// SPDX-License-Identifier: Apache-2.0
// One lock guards all of it; it is held for some hundred instructions. Clients are called without it. They read what is
// granted with it, so that is never out of date (PermitFlags::stale), and after each change a call follows.
#include "tcm/permits.h"

#include <algorithm>
#include <climits>
#include <new>
#include <utility>

#include <pthread.h>
#include <signal.h>

#include "platform/futex.h"
#include "platform/futex_lock.h"
#include "tcm/pool.h"

namespace weft::tcm {

namespace {

using core::GuestLoad;
using core::GuestPart;

platform::FutexLock g_lock;

class Locked {
 public:
  Locked() noexcept { g_lock.lock(); }
  ~Locked() { g_lock.unlock(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
};

// Only ever added to, and valid in a forked child whenever the fork happens. Release and acquire: with a client comes
// what it is.
std::atomic<Client*> g_clients{nullptr};

// Guarded by the lock.
unsigned g_generation = 0;  // of the process: a forked child has a new one
Permit* g_permits = nullptr;  // those in use
Permit* g_free = nullptr;
Claim** g_claims = nullptr;  // room for as many as there are permits
int g_permit_count = 0;
int g_room = 0;
int g_held = 0;  // slots of the pool
int g_more = 0;  // that could be used beside these
GuestLoad g_load;  // the pool, when it was last looked at
Counts g_counts;
// The signal mask of a thread of the program's: clients make threads when they are called, and the monitor has all
// signals blocked.
sigset_t g_signals;

// What the pool wanted at the last ticks: a region may just be between two loops when it is looked at. Written by the
// monitor; relaxed, each is a guess.
std::array<std::atomic<int>, 4> g_wanted{};
unsigned g_ticks = 0;  // touched by the monitor alone

// Threads inside of clients that have come by themselves. Relaxed: a count.
std::atomic<int> g_primaries{0};
// Whether ticks have something to do. Relaxed: one too many or too few does no harm.
std::atomic<bool> g_busy{false};
// Who releases a permit waits until calls for it have ended.
std::atomic<uint32_t> g_ended_calls{0};

// Of the caller: inside of how many clients it is, and by which permit it came in first. Who asks for a permit while
// inside of none has come by itself; workers of clients enter first.
struct Inside {
  Permit* permit = nullptr;
  int depth = 0;
  bool has_come = false;
  const Permit* called_for = nullptr;
};
thread_local Inside t_inside;

bool competes(const Permit& permit) noexcept { return permit.state == State::active || permit.state == State::pending; }

// ---- slots of the pool that are held ----

// CPUs that the workers of a permit use, or are about to use.
int used(const Permit& permit) noexcept {
  constexpr int kTicks = 2;
  const int inside = std::max(0, permit.workers.load(std::memory_order_relaxed));
  // Workers that have lost their permit, or have nothing to do, leave within a millisecond, but for those with a task.
  if (!competes(permit) || permit.left.load(std::memory_order_relaxed)) {
    return permit.quiet_ticks >= kTicks ? inside : 0;
  }
  return permit.steady_ticks >= kTicks ? inside : std::max(inside, permit.claim.granted);
}

// The program's threads inside of clients that are neither roots with a slot nor contexts of the pool.
int outsiders() noexcept {
  return std::max(0, g_primaries.load(std::memory_order_relaxed) - g_load.primaries - g_load.members);
}

void hold() noexcept {
  const core::PoolSide* side = pool();
  if (side == nullptr) return;
  // Workers that are roots at the moment hold a slot as such.
  int slots = outsiders() - g_load.workers;
  int more = 0;
  for (const Permit* permit = g_permits; permit != nullptr; permit = permit->next) {
    slots += used(*permit);
    if (competes(*permit)) more = std::min(more + permit->claim.most - permit->claim.granted, side->cpus());
  }
  slots = std::max(0, slots);
  if (slots == g_held && more == g_more) return;
  g_held = slots;
  g_more = more;
  side->hold(slots, more);
}

// ---- what is granted ----

// Gives every permit its due. `asker`: the permit about which the caller asks; null: it is the monitor.
void settle(const GuestLoad& load, const Permit* asker) noexcept {
  g_load = load;
  const int others = std::max(0, load.roots - load.primaries - load.workers);
  int wanted = load.wanted;
  // Where every root is inside of a client, nobody is there to want again what the pool wanted before.
  for (const std::atomic<int>& before : g_wanted) {
    if (others > 0) wanted = std::max(wanted, before.load(std::memory_order_relaxed));
  }
  // Who asks is running, but stands in no count if it comes from outside.
  const bool uncounted = asker != nullptr && t_inside.depth == 0 && !load.caller_counted;
  const int all = cpus();
  const int running = load.roots - load.workers + load.members + outsiders() + (uncounted ? 1 : 0);
  int count = 0;
  bool busy = false;
  for (Permit* permit = g_permits; permit != nullptr; permit = permit->next) {
    busy = busy || permit->workers.load(std::memory_order_relaxed) > 0;
    if (!competes(*permit)) continue;
    permit->claim.fixed = permit->rigid && permit->state == State::active && permit != asker;
    g_claims[count++] = &permit->claim;
  }
  divide(all, std::max(0, all - running), {.roots = others, .wanted = wanted}, g_claims, count);
  int granted = 0;
  for (Permit* permit = g_permits; permit != nullptr; permit = permit->next) {
    if (!competes(*permit)) continue;
    permit->state = permit->claim.met ? State::active : State::pending;
    if (permit->claim.granted != permit->told_granted) permit->steady_ticks = 0;
    granted += permit->claim.granted;
  }
  g_counts.most_granted = std::max(g_counts.most_granted, granted);
  hold();
  g_busy.store(busy || count > 0 || g_held > 0, std::memory_order_relaxed);
}

void settle_for(Permit* asker) noexcept {
  const core::PoolSide* side = pool();
  settle(side != nullptr ? side->load() : GuestLoad{}, asker);
}

void know(Permit& permit) noexcept {
  permit.told_granted = permit.claim.granted;
  permit.told_state = permit.state;
}

// A permit whose client does not know what holds. Those that have to give come first.
Permit* untold() noexcept {
  Permit* found = nullptr;
  for (Permit* permit = g_permits; permit != nullptr; permit = permit->next) {
    if (!competes(*permit)) continue;
    if (permit->claim.granted < permit->told_granted) return permit;
    if (permit->claim.granted != permit->told_granted || permit->state != permit->told_state) found = permit;
  }
  return found;
}

bool tell_one() noexcept {
  Permit* permit;
  Callback callback;
  void* argument;
  CallbackFlags why{};
  {
    const Locked lock;
    permit = untold();
    if (permit == nullptr) return false;
    why.new_concurrency = permit->claim.granted != permit->told_granted ? 1 : 0;
    why.new_state = permit->state != permit->told_state ? 1 : 0;
    ++(permit->claim.granted < permit->told_granted ? g_counts.lowered : g_counts.raised);
    know(*permit);
    ++permit->calls;
    callback = permit->client->callback;
    argument = permit->argument;
  }
  const Permit* outer = std::exchange(t_inside.called_for, permit);
  callback(permit, argument, why);
  t_inside.called_for = outer;
  {
    const Locked lock;
    --permit->calls;
  }
  g_ended_calls.fetch_add(1);
  platform::futex_wake(g_ended_calls, INT_MAX);
  return true;
}

// Tells clients what has changed for them. Without the lock.
void tell() noexcept {
  while (tell_one()) {
  }
}

// ---- records ----

bool make_room() noexcept {
  if (g_permit_count < g_room) return true;
  const int room = std::max(16, 2 * g_room);
  auto** claims = new (std::nothrow) Claim*[static_cast<size_t>(room)];
  if (claims == nullptr) return false;
  delete[] std::exchange(g_claims, claims);
  g_room = room;
  return true;
}

// At the end: of equals the older one comes first.
void link(Permit* permit) noexcept {
  permit->generation = g_generation;
  permit->next = nullptr;
  Permit** end = &g_permits;
  while (*end != nullptr) end = &(*end)->next;
  *end = permit;
  ++g_permit_count;
  ++g_counts.permits;
}

Permit* take_record() noexcept {
  Permit* permit = g_free;
  if (permit != nullptr) {
    g_free = permit->next;
    permit->~Permit();
    permit = new (permit) Permit;
  } else {
    permit = new (std::nothrow) Permit;
    if (permit == nullptr) return nullptr;
  }
  link(permit);
  return permit;
}

void unlink(Permit* permit) noexcept {
  Permit** at = &g_permits;
  while (*at != permit) at = &(*at)->next;
  *at = permit->next;
  --g_permit_count;
}

int number_or(int32_t given, int other) noexcept { return given >= 0 ? given : other; }

// What is asked for, without a look at masks: they would need hwloc, the client's very version of it.
void take_over(Permit& permit, const Request& request) noexcept {
  const int all = cpus();
  permit.part_count = static_cast<int>(std::clamp<uint32_t>(request.constraint_count, 1, Permit::kMostParts));
  int sum = 0;
  for (int i = 0; i < permit.part_count; ++i) {
    const bool constrained = request.constraint_count > 0 && request.constraints != nullptr;
    const int most = constrained ? number_or(request.constraints[i].most, all) : INT_MAX;
    permit.parts[static_cast<size_t>(i)] = most;
    sum = most < INT_MAX - sum ? sum + most : INT_MAX;
  }
  permit.claim.most = std::min(sum, number_or(request.most, all));
  permit.claim.least = std::min(number_or(request.least, 1), permit.claim.most);
  permit.claim.priority = request.priority;
  permit.rigid = request.flags.rigid != 0;
}

void change_state(Permit& permit, State state) noexcept {
  permit.state = state;
  permit.quiet_ticks = 0;
  permit.steady_ticks = 0;
  permit.left.store(false, std::memory_order_relaxed);
  if (state == State::inactive) permit.claim.granted = 0;
}

// Whether the record belongs to this process, and not to the parent that it was forked from.
bool is_ours(const Permit& permit) noexcept { return permit.generation == g_generation; }

// The handle of a permit that the parent had: it is a new one now.
void adopt(Permit* permit) noexcept {
  if (t_inside.permit != permit) {
    permit->primaries.store(0, std::memory_order_relaxed);
    permit->workers.store(0, std::memory_order_relaxed);
  }
  permit->calls = t_inside.called_for == permit ? 1 : 0;
  link(permit);
}

// ---- forks ----

// A fork must not wait for the lock, nor hold it: then clients' threads would wait for it in the middle of the fork,
// with locks of the client's held, and its child would find these locked for ever. So what the lock guards may be half
// changed here; the child leaves it all behind.
void after_fork_in_child() {
  ++g_generation;
  g_permits = nullptr;
  g_free = nullptr;
  g_claims = nullptr;
  g_permit_count = 0;
  g_room = 0;
  g_load = {};
  g_counts = {};
  g_held = 0;
  g_more = 0;
  const bool has_come = t_inside.depth > 0 && t_inside.has_come;
  g_primaries.store(has_come ? 1 : 0, std::memory_order_relaxed);
  if (t_inside.permit != nullptr) {
    t_inside.permit->primaries.store(has_come ? 1 : 0, std::memory_order_relaxed);
    t_inside.permit->workers.store(has_come ? 0 : 1, std::memory_order_relaxed);
  }
  if (const core::PoolSide* side = pool()) side->forget();
}

[[gnu::constructor]] void on_load() { pthread_atfork(nullptr, nullptr, after_fork_in_child); }

}  // namespace

// ---- clients ----

Client* connect(Callback callback) noexcept {
  auto* client = new (std::nothrow) Client(callback);
  if (client == nullptr) return nullptr;
  const Locked lock;
  pthread_sigmask(SIG_SETMASK, nullptr, &g_signals);
  client->next = g_clients.load(std::memory_order_relaxed);
  g_clients.store(client, std::memory_order_release);
  return client;
}

bool is_connected(const Client* client) noexcept {
  const Client* known = g_clients.load(std::memory_order_acquire);
  while (known != nullptr && known != client) known = known->next;
  return known != nullptr && known->connected.load(std::memory_order_relaxed);
}

bool disconnect(Client* client) noexcept {
  return is_connected(client) && client->connected.exchange(false, std::memory_order_relaxed);
}

// ---- permits ----

Permit* request(const Client* client, const Request& request, void* argument, Permit* permit) noexcept {
  if (t_inside.depth == 0) t_inside.has_come = true;
  {
    const Locked lock;
    if (!make_room()) return nullptr;
    if (permit == nullptr) {
      permit = take_record();
    } else if (permit->state == State::none || permit->released) {
      return nullptr;
    } else if (!is_ours(*permit)) {
      adopt(permit);
    }
    if (permit == nullptr) return nullptr;
    permit->client = client;
    permit->argument = argument;
    take_over(*permit, request);
    change_state(*permit, request.flags.inactive != 0 ? State::inactive : State::active);
    settle_for(permit);
    know(*permit);
  }
  tell();
  return permit;
}

bool read(Permit* permit, Grant* grant) noexcept {
  const Locked lock;
  if (permit == nullptr || permit->state == State::none) return false;
  grant->flags = {};
  grant->state = State::inactive;
  if (!is_ours(*permit)) return true;
  int left = permit->claim.granted;
  for (uint32_t i = 0; i < grant->size && grant->concurrencies != nullptr; ++i) {
    const int most = i < static_cast<uint32_t>(permit->part_count) ? permit->parts[i] : 0;
    const int part = std::min(left, most);
    grant->concurrencies[i] = static_cast<uint32_t>(part);
    left -= part;
  }
  grant->state = permit->state;
  grant->flags.rigid = permit->rigid ? 1 : 0;
  know(*permit);
  return true;
}

bool set_state(Permit* permit, State state) noexcept {
  {
    const Locked lock;
    if (permit == nullptr || permit->state == State::none || permit->released) return false;
    // The parent's permit: until it is asked for again, it has nothing.
    if (state == permit->state || !is_ours(*permit)) return true;
    change_state(*permit, state);
    settle_for(permit);
    know(*permit);
  }
  tell();
  return true;
}

bool release(Permit* permit) noexcept {
  {
    const Locked lock;
    if (permit == nullptr || permit->state == State::none || permit->released) return false;
    if (!is_ours(*permit)) return true;
    // Calls that run may still read it.
    change_state(*permit, State::inactive);
    permit->released = true;
    unlink(permit);
    settle_for(permit);
  }
  tell();
  const int own = t_inside.called_for == permit ? 1 : 0;
  for (;;) {
    const uint32_t ended = g_ended_calls.load();
    {
      const Locked lock;
      if (permit->calls <= own) {
        permit->state = State::none;
        // A call that releases its own permit comes back to the record.
        if (own == 0) {
          permit->next = g_free;
          g_free = permit;
        }
        return true;
      }
    }
    platform::futex_wait(g_ended_calls, ended);
  }
}

// ---- threads ----

bool enter(Permit* permit) noexcept {
  if (permit == nullptr) return false;
  Inside& inside = t_inside;
  if (inside.depth++ > 0) return true;
  inside.permit = permit;
  (inside.has_come ? permit->primaries : permit->workers).fetch_add(1, std::memory_order_relaxed);
  if (inside.has_come) g_primaries.fetch_add(1, std::memory_order_relaxed);
  const core::PoolSide* side = pool();
  if (side == nullptr) return true;
  side->set_part(part_of_caller());
  if (inside.has_come && permit->left.load(std::memory_order_relaxed)) {
    const Locked lock;
    permit->left.store(false, std::memory_order_relaxed);
    permit->steady_ticks = 0;
    hold();
  }
  return true;
}

bool leave() noexcept {
  Inside& inside = t_inside;
  if (inside.depth == 0) return false;
  if (--inside.depth > 0) return true;
  Permit* permit = std::exchange(inside.permit, nullptr);
  const int before = (inside.has_come ? permit->primaries : permit->workers).fetch_sub(1, std::memory_order_relaxed);
  if (inside.has_come) g_primaries.fetch_sub(1, std::memory_order_relaxed);
  const core::PoolSide* side = pool();
  if (side == nullptr) return true;
  side->set_part(GuestPart::none);
  // What the program's thread has waited for is done, so that mostly there is nothing left; if it opens a parallel
  // region now, the pool's workers had better not wait until the other library finds that out.
  if (inside.has_come && before == 1 && side->roots_at_work()) {
    const Locked lock;
    if (!competes(*permit)) return true;
    permit->left.store(true, std::memory_order_relaxed);
    permit->quiet_ticks = 0;
    hold();
  }
  return true;
}

GuestPart part_of_caller() noexcept {
  if (t_inside.depth == 0) return GuestPart::none;
  return t_inside.has_come ? GuestPart::primary : GuestPart::worker;
}

// ---- the pool ----

void tick(const GuestLoad& load) noexcept {
  g_wanted[g_ticks++ % g_wanted.size()].store(load.wanted, std::memory_order_relaxed);
  if (!g_busy.load(std::memory_order_relaxed)) return;
  sigset_t before;
  {
    const Locked lock;
    for (Permit* permit = g_permits; permit != nullptr; permit = permit->next) {
      ++permit->quiet_ticks;
      ++permit->steady_ticks;
    }
    settle(load, nullptr);
    if (untold() == nullptr) return;
    pthread_sigmask(SIG_SETMASK, &g_signals, &before);
  }
  tell();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Counts counts() noexcept {
  const Locked lock;
  return g_counts;
}

}  // namespace weft::tcm
