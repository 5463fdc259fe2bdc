// SPDX-License-Identifier: Apache-2.0
#include "observe/record/profile/blocked.h"

#include <algorithm>

#include "platform/cycles.h"

namespace weft::observe {

void Blocked::note(int thread, ConstructId node, double ns) {
  const auto [found, is_new] = threads_.try_emplace(thread);
  if (is_new) found->second.cpu = platform::cpu_time_of_thread_ns(thread);
  found->second.seemed += ns;
  found->second.nodes[node] += ns;
}

void Blocked::settle() {
  for (auto each = threads_.begin(); each != threads_.end();) {
    auto& [number, thread] = *each;
    const int64_t cpu = platform::cpu_time_of_thread_ns(number);
    // A thread that has ended has no clock any more, and one that has less than before is another one of its number.
    if (cpu < thread.cpu || cpu == 0) {
      each = threads_.erase(each);
      continue;
    }
    const double had = thread.seemed > 0 ? static_cast<double>(cpu - thread.cpu) / thread.seemed : 1;
    // Snapshots are a sample: what is short of a seventh is no sign.
    constexpr double kSign = 0.85;
    if (had < kSign) {
      for (const auto& [node, ns] : thread.nodes) {
        Account& account = ledger_.at(node);
        const double missed = ns * (1 - had);
        const double of_useful = std::min(missed, account.useful);
        const double of_unwatched = std::min(missed - of_useful, account.unwatched);
        account.useful -= of_useful;
        account.unwatched -= of_unwatched;
        ledger_.lose(node, Loss::blocked, of_useful + of_unwatched);
      }
    }
    thread = {cpu, 0, {}};
    ++each;
  }
}

}  // namespace weft::observe
