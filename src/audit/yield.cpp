// SPDX-License-Identifier: Apache-2.0
// As in adopt.cpp, threads of the program run here.
#include "audit/yield.h"

#include <atomic>
#include <cstring>

#include <sys/syscall.h>
#include <unistd.h>

#include "platform/loaded_object.h"
#include "platform/redirect.h"

namespace weft::audit {

namespace {

using Yield = bool (*)(const void* caller);

// Where the runtime says what to call, once it has started; null: it is not mapped. Release and acquire: what is mapped
// is to be seen.
std::atomic<const Yield*> g_place{nullptr};

int yield(const void*) {
  const void* caller = __builtin_return_address(0);
  const Yield* place = g_place.load(std::memory_order_acquire);
  const Yield ours = place != nullptr ? __atomic_load_n(place, __ATOMIC_ACQUIRE) : nullptr;
  if (ours == nullptr || !ours(caller)) syscall(SYS_sched_yield);
  return 0;
}

}  // namespace

void look_for_yield(const link_map* object, const char* runtime) noexcept {
  const platform::LoadedObject seen(object->l_addr, object->l_ld);
  if (std::strcmp(object->l_name, runtime) == 0) {
    const auto give = reinterpret_cast<const Yield* (*)()>(seen.find("weft_yield_place"));
    if (give != nullptr) g_place.store(give(), std::memory_order_release);
    return;
  }
  // The program's libc is there before it has threads.
  static bool found = false;
  if (found || seen.find("dlmopen") == nullptr) return;
  found = true;
  void* function = nullptr;
  seen.for_each_defined([&](const char* name, void* address, size_t size) {
    if (std::strcmp(name, "sched_yield") != 0) return false;
    if (size >= platform::kRedirectionSize) function = address;
    return true;
  });
  if (function == nullptr || !platform::may_change_code(object->l_name)) return;
  platform::redirect(
      {.function = function, .to = reinterpret_cast<const void*>(yield), .argument = nullptr, .arguments = 0});
}

void forget_yield(const link_map* object, const char* runtime) noexcept {
  if (std::strcmp(object->l_name, runtime) == 0) g_place.store(nullptr, std::memory_order_release);
}

}  // namespace weft::audit
