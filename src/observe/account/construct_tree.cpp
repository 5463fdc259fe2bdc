// SPDX-License-Identifier: Apache-2.0
#include "observe/account/construct_tree.h"

#include <mutex>

#include "base/address_hash.h"

namespace weft::observe {

ConstructTree g_nodes;

ConstructId ConstructTree::child(ConstructId parent, Kind kind, const void* caller) noexcept {
  for (ConstructId around = parent; around != 0; around = nodes_[around].parent) {
    if (nodes_[around].kind == kind && nodes_[around].caller == caller) return around;
  }
  const std::lock_guard guard(lock_);
  const uintptr_t key = reinterpret_cast<uintptr_t>(caller) ^ (uintptr_t{parent} << 40) ^ static_cast<uintptr_t>(kind);
  size_t at = base::address_hash<kRecordBits>(key);
  for (; table_[at] != 0; at = (at + 1) & (kRecords - 1)) {
    const ConstructNode& node = nodes_[table_[at]];
    if (node.parent == parent && node.kind == kind && node.caller == caller) return table_[at];
  }
  const uint32_t id = count_.load(std::memory_order_relaxed);
  if (id == kMost) {
    lost_.fetch_add(1, std::memory_order_relaxed);
    return parent;
  }
  ConstructNode& node = nodes_[id];
  node.parent = parent;
  node.kind = kind;
  node.caller = caller;
  node.region = kind == Kind::region ? id : nodes_[parent].region;
  node.level = static_cast<uint16_t>(nodes_[parent].level + (kind == Kind::region ? 1 : 0));
  table_[at] = id;
  count_.store(id + 1, std::memory_order_release);
  return id;
}

void ConstructTree::forget_sizes() noexcept {
  const uint32_t nodes = count();
  for (uint32_t id = 0; id < nodes; ++id) {
    nodes_[id].members.store(0, std::memory_order_relaxed);
    nodes_[id].requested.store(0, std::memory_order_relaxed);
  }
}

}  // namespace weft::observe
