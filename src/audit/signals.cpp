// SPDX-License-Identifier: Apache-2.0
// As in interpose.cpp, threads of the program run here.
#include "audit/signals.h"

#include <atomic>
#include <cstring>

#include "platform/loaded_object.h"
#include "platform/redirect.h"
#include "platform/thread_signals.h"

namespace weft::audit {

namespace {

using platform::SendToThread;

// Where the runtime says what to call, once it has started; null: it is not mapped. Release and acquire: what is mapped
// is to be seen.
std::atomic<const SendToThread*> g_place{nullptr};

struct Runtime {
  static SendToThread send() noexcept {
    const SendToThread* place = g_place.load(std::memory_order_acquire);
    return place != nullptr ? __atomic_load_n(place, __ATOMIC_ACQUIRE) : nullptr;
  }
};

}  // namespace

void look_for_signals(const link_map* object, const char* runtime) noexcept {
  const platform::LoadedObject seen(object->l_addr, object->l_ld);
  if (std::strcmp(object->l_name, runtime) == 0) {
    const auto give = reinterpret_cast<const SendToThread* (*)()>(seen.find("weft_thread_signals_place"));
    if (give != nullptr) g_place.store(give(), std::memory_order_release);
    return;
  }
  // The program's libc is there before it has threads.
  static bool found = false;
  if (found || seen.find("dlmopen") == nullptr) return;
  found = true;
  if (platform::may_change_code(object->l_name)) platform::ThreadSignals<Runtime>::redirect(seen);
}

void forget_signals(const link_map* object, const char* runtime) noexcept {
  if (std::strcmp(object->l_name, runtime) == 0) g_place.store(nullptr, std::memory_order_release);
}

}  // namespace weft::audit
