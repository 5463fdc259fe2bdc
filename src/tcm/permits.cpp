// SPDX-License-Identifier: Apache-2.0
#include "tcm/permits.h"

#include <algorithm>
#include <climits>

#include "tcm/calls.h"
#include "tcm/grants.h"
#include "tcm/pool.h"
#include "tcm/records.h"
#include "tcm/threads.h"

namespace weft::tcm {

namespace {

int number_or(int32_t given, int other) noexcept { return given >= 0 ? given : other; }

// Takes over what the request asks for, except its masks: to read those takes the same version of hwloc as the client
// has.
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
  permit.demand.most = std::min(sum, number_or(request.most, all));
  permit.demand.least = std::min(number_or(request.least, 1), permit.demand.most);
  permit.demand.priority = request.priority;
  permit.rigid = request.flags.rigid != 0;
}

void change_state(Permit& permit, State state) noexcept {
  permit.state = state;
  permit.quiet_ticks = 0;
  permit.steady_ticks = 0;
  permit.left.store(false, std::memory_order_relaxed);
  if (state == State::inactive) permit.demand.granted = 0;
}

// Makes a new permit, in this child of a fork, of a handle that the parent had.
void adopt(Permit* permit) noexcept {
  if (t_inside.permit != permit) {
    permit->primaries.store(0, std::memory_order_relaxed);
    permit->workers.store(0, std::memory_order_relaxed);
  }
  permit->calls = is_called_for(permit) ? 1 : 0;
  link(permit);
}

}  // namespace

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
  int left = permit->demand.granted;
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
    // A permit that is still the parent's has nothing, until the client asks for it again.
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
    // The record stays for now: calls that run may still read it.
    change_state(*permit, State::inactive);
    permit->released = true;
    unlink(permit);
    settle_for(permit);
  }
  tell();
  await_calls(permit);
  const Locked lock;
  permit->state = State::none;
  // Where a call releases its own permit, the record stays until that call returns.
  if (!is_called_for(permit)) put_record(permit);
  return true;
}

Counts counts() noexcept {
  const Locked lock;
  return g_records.counts;
}

}  // namespace weft::tcm
