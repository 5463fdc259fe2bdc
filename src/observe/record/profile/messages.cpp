// SPDX-License-Identifier: Apache-2.0
#include "observe/record/profile/messages.h"

#include <cstring>
#include <mutex>

#include "platform/futex_lock.h"

namespace weft::observe {

namespace {

platform::FutexLock g_lock;  // of what follows; calls of MPI are rare beside it
constexpr size_t kMostMessages = 4096;
std::vector<Messages>& table() {
  static auto* made = [] {
    auto* rows = new std::vector<Messages>;  // the file is written when static objects have ended
    rows->reserve(kMostMessages);
    return rows;
  }();
  return *made;
}
Ranks g_ranks;  // read and written when no other thread calls

}  // namespace

void note(const base::TracedCall& call) noexcept {
  const std::lock_guard guard(g_lock);
  std::vector<Messages>& all = table();
  Messages* row = nullptr;
  for (Messages& each : all) {
    if (each.peer != call.peer || std::strcmp(each.call, call.name) != 0) continue;
    row = &each;
    break;
  }
  if (row == nullptr) {
    if (all.size() == all.capacity()) return;
    all.push_back({call.name, call.peer, 0, 0});
    row = &all.back();
  }
  ++row->count;
  row->waited += call.ended - call.began;
}

std::vector<Messages> messages() {
  const std::lock_guard guard(g_lock);
  return table();
}

Ranks ranks() noexcept { return g_ranks; }
void set_ranks(Ranks ranks) noexcept { g_ranks = ranks; }

}  // namespace weft::observe
