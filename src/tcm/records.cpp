// SPDX-License-Identifier: Apache-2.0
#include "tcm/records.h"

#include <algorithm>
#include <new>
#include <utility>

#include "platform/futex_lock.h"

namespace weft::tcm {

namespace {

platform::FutexLock g_lock;

}  // namespace

constinit Records g_records;
sigset_t g_signals;

Locked::Locked() noexcept { g_lock.lock(); }
Locked::~Locked() { g_lock.unlock(); }

bool make_room() noexcept {
  if (g_records.permit_count < g_records.room) return true;
  const int room = std::max(16, 2 * g_records.room);
  auto** demands = new (std::nothrow) Demand*[static_cast<size_t>(room)];
  if (demands == nullptr) return false;
  delete[] std::exchange(g_records.demands, demands);
  g_records.room = room;
  return true;
}

void link(Permit* permit) noexcept {
  permit->generation = g_records.generation;
  permit->next = nullptr;
  Permit** end = &g_records.permits;
  while (*end != nullptr) end = &(*end)->next;
  *end = permit;
  ++g_records.permit_count;
  ++g_records.counts.permits;
}

Permit* take_record() noexcept {
  Permit* permit = g_records.free;
  if (permit != nullptr) {
    g_records.free = permit->next;
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
  Permit** at = &g_records.permits;
  while (*at != permit) at = &(*at)->next;
  *at = permit->next;
  --g_records.permit_count;
}

void put_record(Permit* permit) noexcept {
  permit->next = g_records.free;
  g_records.free = permit;
}

void forget_records() noexcept {
  Records none;
  none.generation = g_records.generation + 1;
  g_records = none;
}

}  // namespace weft::tcm
