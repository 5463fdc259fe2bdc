// SPDX-License-Identifier: Apache-2.0
#include "adopt/run.h"

#include <atomic>
#include <new>

#include <dlfcn.h>

#include "adopt/copy.h"
#include "adopt/fork.h"
#include "adopt/shares.h"
#include "adopt/statistics.h"
#include "base/message.h"
#include "base/options.h"
#include "core/gang.h"
#include "core/scheduler.h"
#include "openmp/startup.h"
#include "openmp/team.h"
#include "platform/cycles.h"

namespace weft::adopt {

namespace {

// The jobs of a call. Records are never given back to the system: see core/bundle.h.
struct Gang : core::Bundle {
  Job job = nullptr;
  char* data = nullptr;
  size_t size = 0;
  int extra = 0;
  std::array<uint16_t, Numbers::kMost> numbers;
  Gang* next_free = nullptr;
};

core::Spinlock g_lock;
Gang* g_free = nullptr;

Gang* take_gang() noexcept {
  g_lock.lock();
  Gang* gang = g_free;
  if (gang != nullptr) g_free = gang->next_free;
  g_lock.unlock();
  return gang != nullptr ? gang : new (std::nothrow) Gang;
}

void put_gang(Gang* gang) noexcept {
  g_lock.lock();
  gang->next_free = g_free;
  g_free = gang;
  g_lock.unlock();
}

// Carriers that run jobs, beside the callers. Relaxed: a guess.
std::atomic<int> g_helpers{0};

void run_job(const Gang* gang, int index) noexcept {
  const auto i = static_cast<size_t>(index);
  gang->job(gang->numbers[i], gang->data + i * gang->size, gang->extra);
}

void help(core::Bundle* bundle, int index) {
  core::begin_gang_calls(1);
  g_helpers.fetch_add(1, std::memory_order_relaxed);
  run_job(static_cast<const Gang*>(bundle), index);
  g_helpers.fetch_sub(1, std::memory_order_relaxed);
}

// Those that are about to finish something have this long, before OS threads are lent in their place.
constexpr int64_t kTimeToComeNs = 50'000;

int await_carriers(int missing, int calls) noexcept {
  const int64_t deadline = platform::now_ns() + kTimeToComeNs;
  while (missing > 0 && platform::now_ns() < deadline) {
    for (int i = 0; i < 32; ++i) platform::pause();
    core::begin_gang_calls(calls);
    missing = core::announce_gang(calls);
  }
  return missing;
}

// Runs all jobs at the same time, the first one here. False, and nothing has been done, when the system refuses the
// threads for that.
bool run_together(Gang* gang, int count) noexcept {
  core::Context* context = core::attach();
  if (context->home != nullptr) core::enter_region(context);
  const int calls = count - 1;
  int lent = 0;
  int missing = core::announce_gang(calls);
  if (missing > 0) {
    missing = await_carriers(missing, calls);
    if (missing > 0) lower_share(g_helpers.load(std::memory_order_relaxed));
    lent = core::lend_threads(missing);
  }
  const bool possible = missing <= 0 || lent == missing;
  if (possible) {
    count_gang(count, lent);
    gang->call = help;
    core::publish(gang, count);
    core::summon(gang, calls);
    run_job(gang, 0);
    core::join(gang);
  } else {
    core::begin_gang_calls(calls);
  }
  core::return_threads(lent);
  if (context->home != nullptr) core::leave_region(context);
  return possible;
}

// As it would without weft, from now on. Other calls may be under way: their jobs have numbers of their own.
void give_back(Job job, int count, void* data) noexcept {
  dl_find_object object;
  if (_dl_find_object(reinterpret_cast<void*>(job), &object) != 0) base::fatal("jobs of an unknown library");
  const link_map* map = object.dlfo_link_map;
  const OpenBlas library(platform::LoadedObject(map->l_addr, map->l_ld));
  if (!library.found()) base::fatal("%s is no OpenBLAS that weft could adopt", map->l_name);
  __atomic_store_n(library.run, nullptr, __ATOMIC_RELAXED);
  library.run_itself(count, data);
}

}  // namespace

void run(int, Job job, int count, size_t size, void* data, int extra) noexcept {
  Copy* copy = base::options().adopt_libraries ? copy_of(job) : nullptr;
  const int own = copy != nullptr ? copy->own_threads() : 0;
  Gang* gang = copy != nullptr && count <= copy->numbers.room(own) ? take_gang() : nullptr;
  if (gang == nullptr) {
    give_back(job, count, data);
    return;
  }
  openmp::self();  // so that the thread is noticed when it ends
  openmp::start_runtime();
  gang->job = job;
  gang->data = static_cast<char*>(data);
  gang->size = size;
  gang->extra = extra;
  begin_call();
  copy->numbers.take(own, count, gang->numbers.data());
  bool done = true;
  if (count == 1) {
    run_job(gang, 0);
  } else {
    done = run_together(gang, count);
  }
  copy->numbers.put(count, gang->numbers.data());
  end_call();
  put_gang(gang);
  if (!done) give_back(job, count, data);
}

}  // namespace weft::adopt
