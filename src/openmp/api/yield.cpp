// SPDX-License-Identifier: Apache-2.0
#include "openmp/api/yield.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <dlfcn.h>

#include "core/api/records.h"
#include "core/api/wait.h"
#include "openmp/abi/abi.h"
#include "openmp/record/team.h"
#include "openmp/task/stand_in.h"
#include "platform/loaded_object.h"

namespace weft::openmp {

namespace {

using Yield = bool (*)(const void* caller);

// Null as long as the runtime has not started. It needs no relocation, so that the audit library may look at it as soon
// as the runtime is mapped. Release: with the function comes what it uses.
std::atomic<Yield> g_yield{nullptr};

// What has been found out about objects, by their address: the lowest bit says whether they open regions. Relaxed: each
// word says all there is to say. An object that has taken the place of another one is taken for it.
constexpr size_t kObjects = 64;
std::array<std::atomic<uintptr_t>, kObjects> g_objects{};

bool opens_regions(const link_map* object) noexcept {
  const auto address = reinterpret_cast<uintptr_t>(object->l_ld) & ~uintptr_t{1};
  for (auto& known : g_objects) {
    const uintptr_t seen = known.load(std::memory_order_relaxed);
    if ((seen & ~uintptr_t{1}) == address) return (seen & 1) != 0;
    if (seen != 0) continue;
    const platform::LoadedObject symbols(object->l_addr, object->l_ld);
    const bool opens = symbols.needs("GOMP_parallel") || symbols.needs("__kmpc_fork_call");
    known.store(address | (opens ? 1 : 0), std::memory_order_relaxed);
    return opens;
  }
  return false;
}

}  // namespace

bool yield_for(const void* caller) noexcept {
  if (core::current_context()->carrier == nullptr) return false;
  Member* member = current_member();
  if (member == nullptr || member->team->size == 1) core::note_yield();
  if (member == nullptr || !defers_tasks(member->team)) return false;
  dl_find_object found;
  if (_dl_find_object(const_cast<void*>(caller), &found) != 0 || !opens_regions(found.dlfo_link_map)) return false;
  note_yield(member->team);
  if (tasks_may_pause()) let_awaited_go_on(member);
  // What the members wait for may as well be a thread that is none of the pool's.
  constexpr unsigned kForTheSystem = 8;  // one call of this many
  thread_local unsigned calls = 0;
  return ++calls % kForTheSystem != 0 && core::yield();
}

void offer_yield() noexcept { g_yield.store(yield_for, std::memory_order_release); }

}  // namespace weft::openmp

// Called by the audit library of the same release, also before the runtime has been relocated.
WEFT_ABI(const void*, weft_yield_place)() { return &weft::openmp::g_yield; }
