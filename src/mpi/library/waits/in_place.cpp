// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/waits/in_place.h"

#include <pthread.h>

#include "platform/cycles.h"

namespace weft::mpi {

namespace {

pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
WaitInPlace* g_first = nullptr;

class Locked {
 public:
  Locked() noexcept { pthread_mutex_lock(&g_lock); }
  ~Locked() { pthread_mutex_unlock(&g_lock); }
};

}  // namespace

WaitInPlace::WaitInPlace(const Call& call) noexcept : call_(call), began_(platform::now_ns()) {
  const Locked lock;
  next_ = g_first;
  link_ = &g_first;
  if (next_ != nullptr) next_->link_ = &next_;
  g_first = this;
}

WaitInPlace::~WaitInPlace() {
  const Locked lock;
  *link_ = next_;
  if (next_ != nullptr) next_->link_ = link_;
}

int visit_waits_in_place(void (*visit)(const Call&, int64_t, void*), void* argument) noexcept {
  const Locked lock;
  int count = 0;
  for (const WaitInPlace* wait = g_first; wait != nullptr; wait = wait->next_, ++count) {
    visit(wait->call_, wait->began_, argument);
  }
  return count;
}

}  // namespace weft::mpi
