// SPDX-License-Identifier: Apache-2.0
// What runs here after the program has started is run by its threads, in this library's link namespace, which has no
// libc (libc.cpp); the program's own opens the runtime.
#include "audit/interpose.h"

#include <atomic>
#include <climits>
#include <cstdint>
#include <new>

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "audit/program_headers.h"
#include "audit/room.h"
#include "audit/say.h"
#include "interpose/openblas.h"
#include "interpose/wait_loops.h"
#include "platform/loaded_object.h"
#include "platform/redirect.h"
#include "platform/segments.h"
#include "platform/system_call.h"

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
// Relaxed: who is in a region, or has been, has called code that was mapped afterwards.
std::atomic<bool> g_runtime_is_mapped{false};

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

// A copy that is mapped. Records are written under the dynamic linker's lock.
struct Copy {
  interpose::OpenBlas library;
  void* waits = nullptr;  // what its wait loops call through
};
// Release and acquire: with the mark of the object comes its record. 0: the record is free.
constexpr int kMostCopies = 32;
struct Place {
  std::atomic<uintptr_t> mark{0};
  alignas(Copy) unsigned char memory[sizeof(Copy)];
  Copy* copy() noexcept { return reinterpret_cast<Copy*>(memory); }
};
Place g_places[kMostCopies];
bool g_ends = false;

// Where it is mapped, which may be 0 for a program.
uintptr_t mark_of(const link_map* object) noexcept { return object->l_addr + 1; }

Place* place_with(uintptr_t mark) noexcept {
  for (Place& place : g_places) {
    if (place.mark.load(std::memory_order_relaxed) == mark) return &place;
  }
  return nullptr;
}

// Jobs that weft cannot run: the copy, the one that lies closest below its code, runs them as it would without it.
void give_back(interpose::Job job, int count, void* data) noexcept {
  const auto at = reinterpret_cast<uintptr_t>(job);
  uintptr_t nearest = 0;
  const Copy* copy = nullptr;
  for (Place& place : g_places) {
    const uintptr_t mark = place.mark.load(std::memory_order_acquire);
    if (mark > at || mark <= nearest) continue;
    nearest = mark;
    copy = place.copy();
  }
  __atomic_store_n(copy->library.run, nullptr, __ATOMIC_RELAXED);
  copy->library.run_itself(count, data);
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

// Whether the caller is the initial thread, outside of parallel regions.
bool is_alone() noexcept {
  return !g_runtime_is_mapped.load(std::memory_order_relaxed) &&
         platform::system_call(SYS_gettid) == platform::system_call(SYS_getpid);
}

// As long as the runtime is not there, no share is in force, and the variable is the program's. The runtime keeps what
// tasks other than the initial one set for themselves (interpose/own_limits.h).
void set_threads(int threads, const Copy* copy) {
  const interpose::OpenBlas& library = copy->library;
  if (threads < 1) threads = __atomic_load_n(library.own, __ATOMIC_RELAXED);
  const int most = interpose::most_numbers(library.get_configuration);
  if (threads > most && most > 0) threads = most;
  if (const interpose::Functions* functions = is_alone() ? loaded() : load()) {
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

// Libraries that the program names itself are seen before its libc, without which they cannot be adopted.
constexpr int kMostEarly = 8;
const link_map* g_early[kMostEarly];
int g_early_count = 0;

platform::Segments segments_of(const link_map* object) noexcept {
  char path[PATH_MAX];
  const char* file = object->l_name[0] != '\0' ? object->l_name : program_file(path, sizeof path);
  platform::Segments segments;
  if (file != nullptr) {
    for_each_header(file, [&](const ElfW(Phdr) & header) { segments.add(object->l_addr, header); });
  }
  return segments;
}

// Those of a copy that are known by names of the builder's choice.
struct Function {
  interpose::Known what;
  void* function;
};
struct Functions {
  void add(interpose::Known what, void* function, size_t size) noexcept {
    if (what != interpose::Known::set_threads && what != interpose::Known::get_threads) return;
    const bool only_calls_another = size < platform::kRedirectionSize;
    if (!only_calls_another && count < kMost) all[count++] = {what, function};
  }
  static constexpr int kMost = 16;
  Function all[kMost];
  int count = 0;
};

void tell_that_there_is_no_room() noexcept {
  static bool said = false;
  if (said) return;
  said = true;
  char most[kDecimal];
  say({"weft: more than ", decimal(kMostCopies, most),
       " copies of OpenBLAS in this process; further ones run on threads of their own\n"});
}

void adopt_copy(const link_map* object, const platform::LoadedObject& seen) noexcept {
  const platform::Segments segments = segments_of(object);
#if defined(__x86_64__)
  interpose::WaitLoops loops(segments);
#endif
  Functions functions;
  const interpose::OpenBlas library(seen, segments, [&](interpose::Known what, void* function, size_t size) {
    functions.add(what, function, size);
#if defined(__x86_64__)
    loops.add(what, function, size);
#endif
  });
  if (!library.found()) return;
  Place* place = place_with(0);
  if (place == nullptr) return tell_that_there_is_no_room();
  Copy* made = new (place->memory) Copy{library};
  place->mark.store(mark_of(object), std::memory_order_release);
  // Programs that set a callback themselves do so later, and keep theirs.
  __atomic_store_n(library.run, &run, __ATOMIC_RELAXED);
  if (!platform::may_change_code(object->l_name)) return;
  uint32_t seen_waits = interpose::kLookedFor;
#if defined(__x86_64__)
  seen_waits |= loops.call(reinterpret_cast<const void*>(&weft_audit_wait_entry));
  made->waits = loops.page();
#endif
  if (!replace(reinterpret_cast<void*>(library.begin), begin, 2, made, seen_waits)) return;
  replace(reinterpret_cast<void*>(library.await), await, 2, made);
  replace(reinterpret_cast<void*>(library.start_own), start_own, 0, made);
  replace(reinterpret_cast<void*>(library.end_own), end_own, 0, made);
  for (int i = 0; i < functions.count; ++i) {
    void* function = functions.all[i].function;
    if (functions.all[i].what == interpose::Known::set_threads) {
      replace(function, set_threads, 1, made);
    } else {
      replace(function, get_threads, 0, made);
    }
  }
}

}  // namespace

void note_runtime() noexcept { g_runtime_is_mapped.store(true, std::memory_order_relaxed); }

void look_at(const link_map* object, const char* runtime) noexcept {
  const platform::LoadedObject seen(object->l_addr, object->l_ld);
  g_runtime = runtime;
  if (g_dlmopen == nullptr) {
    g_dlmopen = reinterpret_cast<Dlmopen>(seen.find("dlmopen"));
    const int early = g_dlmopen != nullptr ? g_early_count : 0;
    for (int i = 0; i < early; ++i) look_at(g_early[i], runtime);
  }
  if (!interpose::OpenBlas::may_be(seen)) return;
  if (g_dlmopen != nullptr) {
    adopt_copy(object, seen);
  } else if (g_early_count < kMostEarly) {
    g_early[g_early_count++] = object;
  }
}

void forget_copy(const link_map* object) noexcept {
  const bool is_program = object->l_name[0] == '\0';
  g_ends |= is_program;
  Place* place = g_ends ? nullptr : place_with(mark_of(object));
  if (place == nullptr) return;
#if defined(__x86_64__)
  interpose::WaitLoops::give_back(place->copy()->waits);
#endif
  place->mark.store(0, std::memory_order_relaxed);
}

}  // namespace weft::audit
