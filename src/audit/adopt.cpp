// SPDX-License-Identifier: Apache-2.0
// What runs here after the program has started is run by its threads, but in this library's link namespace, whose libc
// does not know of them. So it calls nothing of that libc; the program's own opens the runtime.
#include "audit/adopt.h"

#include <atomic>
#include <cstdint>
#include <new>

#include <dlfcn.h>

#include "adopt/openblas.h"
#include "platform/loaded_object.h"

namespace weft::audit {

namespace {

const char* g_runtime = nullptr;

// Of the program's libc.
using Dlmopen = void* (*)(Lmid_t, const char*, int);
Dlmopen g_dlmopen = nullptr;

// Release and acquire: with the function comes the library it stands in.
std::atomic<adopt::Run> g_run{nullptr};

// The runtime's function; null: the program cannot have it. Two threads that come at the same time get the same one.
adopt::Run load() noexcept {
  const auto* map = static_cast<const link_map*>(g_dlmopen(LM_ID_BASE, g_runtime, RTLD_NOW));
  if (map == nullptr) return nullptr;
  const platform::LoadedObject runtime(map->l_addr, map->l_ld);
  const auto run = reinterpret_cast<adopt::Run>(runtime.find("weft_blas_run"));
  g_run.store(run, std::memory_order_release);
  return run;
}

// The copies found so far; added under the dynamic linker's lock. Release and acquire: with the count come the records.
struct Copy {
  adopt::OpenBlas library;
  uintptr_t base;
};
constexpr int kMostCopies = 32;
alignas(Copy) unsigned char g_memory[kMostCopies * sizeof(Copy)];
std::atomic<int> g_count{0};
Copy* copy(int index) noexcept { return reinterpret_cast<Copy*>(g_memory) + index; }

// Jobs that weft cannot run: the copy, the one that lies closest below its code, runs them as it would without it.
void give_back(adopt::Job job, int count, void* data) noexcept {
  const auto at = reinterpret_cast<uintptr_t>(job);
  const Copy* nearest = nullptr;
  for (int i = g_count.load(std::memory_order_acquire) - 1; i >= 0; --i) {
    const Copy* seen = copy(i);
    if (seen->base <= at && (nearest == nullptr || seen->base > nearest->base)) nearest = seen;
  }
  __atomic_store_n(nearest->library.run, nullptr, __ATOMIC_RELAXED);
  nearest->library.run_itself(count, data);
}

void run(int sync, adopt::Job job, int count, size_t size, void* data, int extra) {
  adopt::Run runtime = g_run.load(std::memory_order_acquire);
  if (runtime == nullptr) runtime = load();
  if (runtime != nullptr) {
    runtime(sync, job, count, size, data, extra);
  } else {
    give_back(job, count, data);
  }
}

}  // namespace

void look_at(const link_map* object, const char* runtime) noexcept {
  const platform::LoadedObject seen(object->l_addr, object->l_ld);
  if (g_dlmopen == nullptr) g_dlmopen = reinterpret_cast<Dlmopen>(seen.find("dlmopen"));
  g_runtime = runtime;
  const adopt::OpenBlas library(seen);
  const int index = g_count.load(std::memory_order_relaxed);
  // Programs that set a callback themselves do so later, and keep theirs.
  if (!library.found() || g_dlmopen == nullptr || index == kMostCopies) return;
  new (copy(index)) Copy{library, object->l_addr};
  g_count.store(index + 1, std::memory_order_release);
  __atomic_store_n(library.run, &run, __ATOMIC_RELAXED);
}

}  // namespace weft::audit
