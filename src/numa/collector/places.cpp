// SPDX-License-Identifier: Apache-2.0
#include "numa/collector/places.h"

#include <algorithm>

#include <linux/mempolicy.h>

#include "numa/collector/collector.h"
#include "platform/system_call.h"

namespace weft::numa {

namespace {

using platform::system_call;

void look_up_policy(Array& array) noexcept {
  constexpr unsigned long kBits = 1024;
  unsigned long nodes[kBits / 64] = {};
  int policy = 0;
  const long error = system_call(SYS_get_mempolicy, &policy, nodes, kBits + 1, array.begin, long{MPOL_F_ADDR});
  array.policy = error == 0 ? policy & ~MPOL_MODE_FLAGS : -1;
  array.policy_nodes = static_cast<uint32_t>(nodes[0]);
}

}  // namespace

void look_at(Array& array) noexcept {
  Record* const all = record();
  if (all == nullptr) return;
  Header& header = all->header;
  const uint64_t page = header.page_size;
  const uint64_t pages = (array.bytes + page - 1) / page;
  const uint32_t count = places_of(pages);
  constexpr uint32_t kAtOnce = 64;  // small stacks are enough
  for (uint32_t from = 0; from < count; from += kAtOnce) {
    const uint32_t here = std::min(kAtOnce, count - from);
    uint64_t page_of[kAtOnce];
    int node_of[kAtOnce];
    for (uint32_t i = 0; i < here; ++i) {
      page_of[i] = (array.begin & ~(page - 1)) + place_of(from + i, count, pages) * page;
    }
    const long error = system_call(SYS_move_pages, 0, static_cast<long>(here), page_of, nullptr, node_of, 0);
    if (error < 0) {
      header.query_error = static_cast<int32_t>(-error);
      return;
    }
    for (uint32_t i = 0; i < here; ++i) array.node[from + i] = static_cast<int16_t>(std::max(node_of[i], -1));
  }
  look_up_policy(array);
  array.placed_at = now_ns();
  array.placed = count;
}

}  // namespace weft::numa
