// SPDX-License-Identifier: Apache-2.0
#include "openmp/api/thread_signals.h"

#include <atomic>

#include <dlfcn.h>
#include <link.h>
#include <sys/single_threaded.h>

#include "base/options.h"
#include "core/core.h"
#include "openmp/abi/abi.h"
#include "platform/loaded_object.h"
#include "platform/redirect.h"
#include "platform/thread_signals.h"

namespace weft::openmp {

namespace {

using platform::SendToThread;

// Null as long as the runtime has not started. It needs no relocation, so that the audit library may look at it as soon
// as the runtime is mapped. Release: with the function comes what it uses.
std::atomic<SendToThread> g_send{nullptr};

struct Runtime {
  static SendToThread send() noexcept { return g_send.load(std::memory_order_acquire); }
};

int send(pthread_t thread, pid_t number, const siginfo_t* info) noexcept {
  return thread != 0 ? core::send_signal(thread, *info) : core::send_signal_by_number(number, *info);
}

}  // namespace

void redirect_thread_signals() noexcept {
  // Another thread could be in the middle of what is about to change.
  if (!base::options().adopt_libraries || __libc_single_threaded == 0) return;
  dl_find_object found;
  if (_dl_find_object(reinterpret_cast<void*>(&pthread_self), &found) != 0) return;
  const link_map* libc = found.dlfo_link_map;
  void* first = dlsym(RTLD_DEFAULT, "pthread_kill");
  // The audit library has been there before, or the program has one of its own in place of libc's.
  if (first == nullptr || platform::is_jump(first) || !platform::may_change_code(libc->l_name)) return;
  platform::ThreadSignals<Runtime>::redirect(platform::LoadedObject(libc->l_addr, libc->l_ld));
}

void offer_thread_signals() noexcept { g_send.store(send, std::memory_order_release); }

}  // namespace weft::openmp

// For the audit library of the same release, also before the runtime has been relocated.
WEFT_ABI const void* weft_abi_weft_thread_signals_place() { return &weft::openmp::g_send; }
WEFT_ABI_EXPORT(weft_thread_signals_place);
