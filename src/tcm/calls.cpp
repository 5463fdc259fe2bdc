// SPDX-License-Identifier: Apache-2.0
#include "tcm/calls.h"

#include <atomic>
#include <climits>
#include <utility>

#include "platform/futex.h"
#include "tcm/records.h"
#include "tcm/threads.h"

namespace weft::tcm {

namespace {

std::atomic<uint32_t> g_ended_calls{0};

bool tell_one() noexcept {
  Permit* permit;
  Callback callback;
  void* argument;
  CallbackFlags why{};
  {
    const Locked lock;
    permit = find_uninformed();
    if (permit == nullptr) return false;
    why.new_concurrency = permit->demand.granted != permit->known_granted ? 1 : 0;
    why.new_state = permit->state != permit->known_state ? 1 : 0;
    ++(permit->demand.granted < permit->known_granted ? g_records.counts.lowered : g_records.counts.raised);
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

}  // namespace

void know(Permit& permit) noexcept {
  permit.known_granted = permit.demand.granted;
  permit.known_state = permit.state;
}

Permit* find_uninformed() noexcept {
  Permit* found = nullptr;
  for (Permit* permit = g_records.permits; permit != nullptr; permit = permit->next) {
    if (!competes(*permit)) continue;
    if (permit->demand.granted < permit->known_granted) return permit;
    if (permit->demand.granted != permit->known_granted || permit->state != permit->known_state) found = permit;
  }
  return found;
}

void tell() noexcept {
  while (tell_one()) {
  }
}

bool is_called_for(const Permit* permit) noexcept { return t_inside.called_for == permit; }

void await_calls(const Permit* permit) noexcept {
  const int own = is_called_for(permit) ? 1 : 0;
  for (;;) {
    const uint32_t ended = g_ended_calls.load();
    {
      const Locked lock;
      if (permit->calls <= own) return;
    }
    platform::futex_wait(g_ended_calls, ended);
  }
}

}  // namespace weft::tcm
