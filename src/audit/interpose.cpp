// SPDX-License-Identifier: Apache-2.0
// What runs here after the program has started is run by its threads, in this library's link namespace, which has no
// libc (libc.cpp); the program's own opens the runtime.
#include "audit/interpose.h"

#include <atomic>
#include <cstdint>
#include <new>

#include <dlfcn.h>
#include <unistd.h>

#include "interpose/openblas.h"
#include "interpose/wait_loops.h"
#include "platform/loaded_object.h"
#include "platform/redirect.h"

// The runtime's function that jobs call when they wait for each other; null: it is not there yet. Nobody writes it
// while jobs run.
extern "C" {
const void* weft_audit_wait = nullptr;
void weft_audit_wait_entry();
}

#if defined(__x86_64__)
// It keeps all registers, as that does.
asm(R"(
  .text
  .hidden weft_audit_wait
  .hidden weft_audit_wait_entry
  .type weft_audit_wait_entry, @function
weft_audit_wait_entry:
  cmpq $0, weft_audit_wait(%rip)
  je 1f
  jmp *weft_audit_wait(%rip)
1:
  pause
  ret
  .size weft_audit_wait_entry, .-weft_audit_wait_entry
)");
#endif

namespace weft::audit {

namespace {

const char* g_runtime = nullptr;

// dlmopen() of the program's libc.
using Dlmopen = void* (*)(Lmid_t, const char*, int);
Dlmopen g_dlmopen = nullptr;

// Release and acquire: with the functions comes the library they stand in.
std::atomic<const interpose::Functions*> g_functions{nullptr};

const interpose::Functions* loaded() noexcept { return g_functions.load(std::memory_order_acquire); }

// The runtime's functions; null: the program cannot have it. Two threads that come at the same time get the same.
const interpose::Functions* load() noexcept {
  if (const interpose::Functions* functions = loaded()) return functions;
  const auto* map = static_cast<const link_map*>(g_dlmopen(LM_ID_BASE, g_runtime, RTLD_NOW));
  if (map == nullptr) return nullptr;
  const platform::LoadedObject runtime(map->l_addr, map->l_ld);
  const auto give = reinterpret_cast<const interpose::Functions* (*)()>(runtime.find("weft_blas_functions"));
  if (give == nullptr) return nullptr;
  const interpose::Functions* functions = give();
  weft_audit_wait = functions->wait;
  g_functions.store(functions, std::memory_order_release);
  return functions;
}

// The copies found so far; added under the dynamic linker's lock. Release and acquire: with the count come the records.
struct Copy {
  interpose::OpenBlas library;
  uintptr_t base;
  const char* (*get_configuration)() = nullptr;
};
constexpr int kMostCopies = 32;
alignas(Copy) unsigned char g_memory[kMostCopies * sizeof(Copy)];
std::atomic<int> g_count{0};
Copy* copy(int index) noexcept { return reinterpret_cast<Copy*>(g_memory) + index; }

// Jobs that weft cannot run: the copy, the one that lies closest below its code, runs them as it would without it.
void give_back(interpose::Job job, int count, void* data) noexcept {
  const auto at = reinterpret_cast<uintptr_t>(job);
  const Copy* nearest = nullptr;
  for (int i = g_count.load(std::memory_order_acquire) - 1; i >= 0; --i) {
    const Copy* seen = copy(i);
    if (seen->base <= at && (nearest == nullptr || seen->base > nearest->base)) nearest = seen;
  }
  __atomic_store_n(nearest->library.run, nullptr, __ATOMIC_RELAXED);
  nearest->library.run_itself(count, data);
}

void run(int sync, interpose::Job job, int count, size_t size, void* data, int extra) {
  const interpose::Functions* functions = load();
  if (functions != nullptr) {
    functions->run(sync, job, count, size, data, extra);
  } else {
    give_back(job, count, data);
  }
}

// ---- what stands in place of functions of a copy ----

// Of these there is no way back.
const interpose::Functions* need() noexcept {
  const interpose::Functions* functions = load();
  if (functions != nullptr) return functions;
  constexpr char kText[] =
      "weft: the runtime that WEFT_LIBRARY names cannot be loaded; try WEFT_ADOPT_LIBRARIES=false\n";
  if (write(STDERR_FILENO, kText, sizeof kText - 1) >= 0) __builtin_trap();
  __builtin_trap();
}

int begin(long position, interpose::QueuedJob* jobs, const Copy* copy) {
  need()->begin(copy->library.threads, position, jobs);
  return 0;
}

int await(long count, interpose::QueuedJob* jobs, const Copy* copy) {
  need()->await(copy->library.threads, count, jobs);
  return 0;
}

// As long as the runtime is not there, no share is in force: the variable is the program's.
void set_threads(int threads, const Copy* copy) {
  const interpose::OpenBlas& library = copy->library;
  if (threads < 1) threads = __atomic_load_n(library.own, __ATOMIC_RELAXED);
  const int most = interpose::most_numbers(copy->get_configuration);
  if (threads > most && most > 0) threads = most;
  if (const interpose::Functions* functions = loaded()) {
    functions->set_threads(library.threads, threads);
  } else {
    __atomic_store_n(library.threads, threads, __ATOMIC_RELAXED);
  }
}

int get_threads(const Copy* copy) {
  const int* threads = copy->library.threads;
  const interpose::Functions* functions = loaded();
  return functions != nullptr ? functions->get_threads(threads) : __atomic_load_n(threads, __ATOMIC_RELAXED);
}

// It is given no threads: whatever looks for them in it is told that they are there.
int start_own(const Copy* copy) {
  __atomic_store_n(copy->library.started, 1, __ATOMIC_RELAXED);
  return 0;
}

// Called before a fork and at the end. Buffers stay, for the jobs that run.
int end_own() { return 0; }

template <class Ours>
bool replace(void* function, Ours* ours, int arguments, const Copy* copy, uint32_t note = 0) noexcept {
  return platform::redirect({.function = function,
                             .to = reinterpret_cast<const void*>(ours),
                             .argument = copy,
                             .arguments = arguments,
                             .note = note});
}

uint32_t see_waits(const platform::LoadedObject& object) noexcept {
#if defined(__x86_64__)
  interpose::WaitLoops loops(object);
  return interpose::kLookedFor | loops.call(reinterpret_cast<const void*>(&weft_audit_wait_entry));
#else
  static_cast<void>(object);
  return interpose::kLookedFor;
#endif
}

// Libraries that the program names itself are seen before its libc, without which they cannot be adopted.
constexpr int kMostEarly = 8;
const link_map* g_early[kMostEarly];
int g_early_count = 0;

void adopt_copy(const link_map* object, const platform::LoadedObject& seen,
                const interpose::OpenBlas& library) noexcept {
  const int index = g_count.load(std::memory_order_relaxed);
  if (index == kMostCopies) return;
  Copy* made = new (copy(index)) Copy{library, object->l_addr};
  g_count.store(index + 1, std::memory_order_release);
  // Programs that set a callback themselves do so later, and keep theirs.
  __atomic_store_n(library.run, &run, __ATOMIC_RELAXED);
  if (!platform::may_change_code(object->l_name)) return;
  if (!replace(reinterpret_cast<void*>(library.begin), begin, 2, made, see_waits(seen))) return;
  replace(reinterpret_cast<void*>(library.await), await, 2, made);
  replace(reinterpret_cast<void*>(library.start_own), start_own, 0, made);
  replace(reinterpret_cast<void*>(library.end_own), end_own, 0, made);
  seen.for_each_defined([made](const char* name, void* function, size_t size) {
    const interpose::Known what = interpose::known(name);
    if (what == interpose::Known::get_configuration) {
      made->get_configuration = reinterpret_cast<const char* (*)()>(function);
    } else if (size < platform::kRedirectionSize) {
      return false;  // it only calls another one of these
    } else if (what == interpose::Known::set_threads) {
      replace(function, set_threads, 1, made);
    } else if (what == interpose::Known::get_threads) {
      replace(function, get_threads, 0, made);
    }
    return false;
  });
}

}  // namespace

void look_at(const link_map* object, const char* runtime) noexcept {
  const platform::LoadedObject seen(object->l_addr, object->l_ld);
  g_runtime = runtime;
  if (g_dlmopen == nullptr) {
    g_dlmopen = reinterpret_cast<Dlmopen>(seen.find("dlmopen"));
    const int early = g_dlmopen != nullptr ? g_early_count : 0;
    for (int i = 0; i < early; ++i) look_at(g_early[i], runtime);
  }
  const interpose::OpenBlas library(seen);
  if (!library.found()) return;
  if (g_dlmopen != nullptr) {
    adopt_copy(object, seen, library);
  } else if (g_early_count < kMostEarly) {
    g_early[g_early_count++] = object;
  }
}

}  // namespace weft::audit
