// SPDX-License-Identifier: Apache-2.0
// A stack for handlers for each thread: a page of the stack that a thread runs on may be protected, where the program
// has made that stack itself, and the kernel must have somewhere to put the fault.
#include <cstdlib>

#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "numa/collector/guard.h"
#include "numa/collector/real.h"
#include "numa/collector/threads.h"
#include "platform/system_call.h"

namespace weft::numa {

namespace {

using platform::system_call;

constinit Real<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)> g_create{"pthread_create"};

pthread_key_t g_key;
bool g_has_key = false;

// Also enough for a handler of the program's that used to run on the thread's own stack.
size_t stack_size() noexcept {
  constexpr size_t kForHandlers = 128 << 10;
  return kForHandlers + getauxval(AT_MINSIGSTKSZ);
}

void give_back(void* stack) {
  const stack_t none{nullptr, SS_DISABLE, 0};
  stack_t now{};
  if (system_call(SYS_sigaltstack, nullptr, &now) == 0 && now.ss_sp == stack) {
    system_call(SYS_sigaltstack, &none, nullptr);
  }
  system_call(SYS_munmap, stack, stack_size());
}

struct Started {
  void* (*run)(void*);
  void* argument;
};

void* run_thread(void* argument) {
  const Started started = *static_cast<Started*>(argument);
  std::free(argument);
  take_handler_stack();
  return started.run(started.argument);
}

}  // namespace

void take_handler_stack() noexcept {
  stack_t now{};
  if (system_call(SYS_sigaltstack, nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
  const size_t bytes = stack_size();
  const long mapped = system_call(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0L);
  if (mapped < 0) return;
  const stack_t ours{reinterpret_cast<void*>(mapped), 0, bytes};
  if (system_call(SYS_sigaltstack, &ours, nullptr) == 0 && g_has_key) pthread_setspecific(g_key, ours.ss_sp);
}

void start_handler_stacks() noexcept {
  g_has_key = pthread_key_create(&g_key, give_back) == 0;
  take_handler_stack();
}

}  // namespace weft::numa

using namespace weft::numa;

extern "C" [[gnu::visibility("default")]] int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                                             void* (*run)(void*), void* argument) noexcept {
  if (!guard_is_on()) return g_create.get()(thread, attributes, run, argument);
  auto* started = static_cast<Started*>(std::malloc(sizeof(Started)));
  if (started == nullptr) return g_create.get()(thread, attributes, run, argument);
  *started = {run, argument};
  const int error = g_create.get()(thread, attributes, run_thread, started);
  if (error != 0) std::free(started);
  return error;
}
