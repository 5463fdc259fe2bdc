// SPDX-License-Identifier: Apache-2.0
// The calls of include/weft/weft.h that place memory on NUMA nodes.
#include "weft/weft.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

#include <unistd.h>

#include "openmp/abi/abi.h"
#include "openmp/affinity/affinity.h"
#include "openmp/affinity/placement.h"
#include "platform/numa.h"

using namespace weft;
using namespace weft::openmp;
using platform::MemoryPolicy;
using platform::NodeSet;
using platform::NumaNodes;

namespace {

// Looked up once: nodes that come later have no CPUs of this process.
const NumaNodes& machine() noexcept {
  static const NumaNodes found("");
  return found;
}

// The whole pages within a range.
struct Pages {
  uintptr_t begin;
  uintptr_t end;
  bool empty() const noexcept { return begin >= end; }
};

uintptr_t page_size() noexcept { return static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)); }

Pages pages_of(const void* memory, size_t bytes) noexcept {
  const uintptr_t page = page_size();
  const auto from = reinterpret_cast<uintptr_t>(memory);
  return {(from + page - 1) / page * page, (from + bytes) / page * page};
}

int place(const Pages& pages, MemoryPolicy policy, const NodeSet& nodes) noexcept {
  if (pages.empty()) return 0;
  return platform::bind_memory(reinterpret_cast<void*>(pages.begin), pages.end - pages.begin, policy, nodes,
                               platform::kMove);
}

// A policy leaves a page where it is if that is one of its nodes; these go on all nodes in turn. What is not there yet
// comes by the policy.
int deal_out(const Pages& pages, const NodeSet& nodes) noexcept {
  constexpr size_t kAtOnce = 256;
  int node = nodes.first();
  for (uintptr_t at = pages.begin; at < pages.end;) {
    std::array<void*, kAtOnce> page{};
    std::array<int, kAtOnce> to{};
    std::array<int, kAtOnce> status{};
    size_t count = 0;
    for (; count < kAtOnce && at < pages.end; ++count, at += page_size()) {
      page[count] = reinterpret_cast<void*>(at);
      to[count] = node;
      node = nodes.next(node + 1);
      if (node < 0) node = nodes.first();
    }
    const int error = platform::move_pages(0, count, page.data(), to.data(), status.data(), platform::kMove);
    // ENOENT: none of them has been touched.
    if (error != 0 && error != ENOENT) return error;
  }
  return 0;
}

NodeSet only(int node) noexcept {
  NodeSet set;
  set.add(node);
  return set;
}

// The node of the CPU that is number `index` of the process, in the order of nodes; -1: not known.
int node_of_nth_cpu(int index) noexcept {
  for (int node = machine().with_cpus().first(); node >= 0; node = machine().with_cpus().next(node + 1)) {
    for (const int cpu : each(affinity().process)) {
      if (machine().node_of_cpu(cpu) == node && index-- == 0) return node;
    }
  }
  return -1;
}

// The node where member `member` of a team of `members` in the outermost region runs; -1: not known.
int node_of_member(int member, int members) noexcept {
  const Affinity& bound = affinity();
  if (!bound.on) {
    const int cpus = bound.process.count();
    return node_of_nth_cpu(static_cast<int>(static_cast<long>(member) * cpus / members));
  }
  const Partition all{0, bound.places.size()};
  const base::ProcBind policy = policy_at(bound, 0);
  const Placement::Kind kind = policy == base::ProcBind::spread    ? Placement::Kind::spread
                               : policy == base::ProcBind::primary ? Placement::Kind::primary
                               : bound.cyclic                      ? Placement::Kind::cyclic
                                                                   : Placement::Kind::close;
  const int place = thread_place_of({kind, {bound.first, all}, members}, member).place;
  if (place < 0 || place >= all.count) return -1;
  for (const int cpu : each(bound.places.begin()[place])) return machine().node_of_cpu(cpu);
  return -1;
}

}  // namespace

WEFT_ABI int weft_abi_weft_numa_nodes() { return std::max(machine().with_memory().count(), 1); }
WEFT_ABI_EXPORT(weft_numa_nodes);

WEFT_ABI int weft_abi_weft_numa_node_of(const void* address) {
  void* const page = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(address) / page_size() * page_size());
  int node = -1;
  return platform::query_pages(0, 1, &page, &node) == 0 && node >= 0 ? node : -1;
}
WEFT_ABI_EXPORT(weft_numa_node_of);

WEFT_ABI int weft_abi_weft_numa_interleave(void* memory, size_t bytes) {
  if (memory == nullptr) return EINVAL;
  const Pages pages = pages_of(memory, bytes);
  const NodeSet& nodes = machine().with_memory();
  const int error = place(pages, MemoryPolicy::interleave, nodes);
  return error != 0 || nodes.count() < 2 ? error : deal_out(pages, nodes);
}
WEFT_ABI_EXPORT(weft_numa_interleave);

WEFT_ABI int weft_abi_weft_numa_bind(void* memory, size_t bytes, int node) {
  if (memory == nullptr || !machine().with_memory().has(node)) return EINVAL;
  return place(pages_of(memory, bytes), MemoryPolicy::bind, only(node));
}
WEFT_ABI_EXPORT(weft_numa_bind);

WEFT_ABI int weft_abi_weft_numa_split(void* memory, size_t bytes, int parts) {
  if (memory == nullptr || parts < 1) return EINVAL;
  const Pages pages = pages_of(memory, bytes);
  const auto from = reinterpret_cast<uintptr_t>(memory);
  const auto members = static_cast<uintptr_t>(parts);
  // Parts that follow each other on one node are placed at once. A page that two parts share is the first one's.
  uintptr_t begin = pages.begin;
  for (int i = 0; i < parts && begin < pages.end;) {
    const int node = node_of_member(i, parts);
    while (++i < parts && node_of_member(i, parts) == node) {
    }
    const uintptr_t share = bytes / members * static_cast<uintptr_t>(i) +
                            std::min(static_cast<uintptr_t>(i), static_cast<uintptr_t>(bytes % members));
    const uintptr_t end =
        i == parts ? pages.end : std::min(pages.end, (from + share + page_size() - 1) / page_size() * page_size());
    if (machine().with_memory().has(node)) {
      if (const int error = place({begin, end}, MemoryPolicy::preferred, only(node)); error != 0) return error;
    }
    begin = std::max(begin, end);
  }
  return 0;
}
WEFT_ABI_EXPORT(weft_numa_split);
