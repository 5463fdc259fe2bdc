// SPDX-License-Identifier: Apache-2.0
#include "host/host.h"

#include <cstdio>

#include <dlfcn.h>

namespace weft::engines {

namespace {

template <class Function>
bool find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

struct Generator {
  void (*generate)(void*);
  void* data;
};

void run_member(void* data) {
  const auto* generator = static_cast<const Generator*>(data);
  // The others are in the barrier at the team's end, where tasks are run.
  if (g_host.number() == 0) generator->generate(generator->data);
}

}  // namespace

Host g_host;

const char* start_host(int32_t cpus) {
  static char why[512];
  g_host.cpus = cpus;
  // Its own symbols first: those of weft's runtime have the same names.
  void* library = dlopen(WEFT_HOST_OPENMP, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (library == nullptr) {
    std::snprintf(why, sizeof why, "the machine's libgomp cannot be loaded: %s", dlerror());
    return why;
  }
  if (dlsym(library, "weft_parallel_for") != nullptr) {
    return "the machine's libgomp cannot be had, since this process gets weft's in its place (weft run): start the "
           "program "
           "by itself";
  }
  if (find(library, "GOMP_parallel", g_host.parallel) && find(library, "GOMP_task", g_host.task) &&
      find(library, "GOMP_taskloop_ull", g_host.taskloop) &&
      find(library, "GOMP_taskgroup_start", g_host.begin_taskgroup) &&
      find(library, "GOMP_taskgroup_end", g_host.end_taskgroup) && find(library, "omp_get_level", g_host.level) &&
      find(library, "omp_get_thread_num", g_host.number) && find(library, "omp_get_num_threads", g_host.threads)) {
    return nullptr;
  }
  return "the libgomp at " WEFT_HOST_OPENMP " lacks functions of libgomp 12";
}

// A tied task that waits at the end of a taskgroup lets its thread begin tasks of that group only: so no thread has two
// tasks of one loop, and the thread's number serves as the slot.
int32_t host_slots() { return g_host.level() > 0 ? g_host.threads() : g_host.cpus; }

void in_team(void (*generate)(void*), void* data) {
  if (g_host.level() > 0) return generate(data);
  Generator generator{generate, data};
  g_host.parallel(run_member, &generator, static_cast<unsigned>(g_host.cpus), 0);
}

}  // namespace weft::engines
