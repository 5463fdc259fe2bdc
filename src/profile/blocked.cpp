// SPDX-License-Identifier: Apache-2.0
#include "profile/blocked.h"

#include <algorithm>

#include "platform/cycles.h"

namespace weft::profile {

Blocked::Thread& Blocked::find(int thread) {
  const auto known =
      std::find_if(threads_.begin(), threads_.end(), [&](const Thread& each) { return each.thread == thread; });
  if (known != threads_.end()) return *known;
  threads_.push_back({thread, platform::cpu_time_of_thread_ns(thread), 0});
  return threads_.back();
}

void Blocked::note(int thread, NodeId node, double ns) {
  find(thread).seemed += ns;
  for (Work& work : work_) {
    if (work.thread == thread && work.node == node) {
      work.ns += ns;
      return;
    }
  }
  work_.push_back({thread, node, ns});
}

void Blocked::settle() {
  for (Thread& thread : threads_) {
    if (thread.seemed <= 0) continue;
    const int64_t cpu = platform::cpu_time_of_thread_ns(thread.thread);
    const double had = static_cast<double>(cpu - thread.cpu) / thread.seemed;
    thread.cpu = cpu;
    thread.seemed = 0;
    // Snapshots are a sample: what is short of a seventh is no sign.
    constexpr double kSign = 0.85;
    // A thread that has ended has no clock any more.
    if (cpu == 0 || had >= kSign) continue;
    for (const Work& work : work_) {
      if (work.thread != thread.thread) continue;
      Account& account = ledger_.at(work.node);
      const double moved = std::min(work.ns * (1 - had), account.useful);
      account.useful -= moved;
      ledger_.lose(work.node, Loss::blocked, moved);
    }
  }
  work_.clear();
}

}  // namespace weft::profile
