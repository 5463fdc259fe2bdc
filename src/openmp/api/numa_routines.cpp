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
#include "openmp/record/placement.h"
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

// The nodes that memory can be placed on: a cpuset may leave only some to the process.
NodeSet usable_nodes() noexcept {
  NodeSet nodes = machine().with_memory();
  NodeSet allowed;
  if (platform::get_allowed_nodes(allowed) == 0 && !allowed.empty()) nodes.keep_only(allowed);
  return nodes;
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

// What the states of pages say together. One that nobody has touched (ENOENT), or only read (EFAULT), has no memory
// yet.
int error_of(const int* status, size_t count) noexcept {
  const int* const failed =
      std::find_if(status, status + count, [](int state) { return state < 0 && state != -ENOENT && state != -EFAULT; });
  if (failed == status + count) return 0;
  return *failed == -ENOMEM ? ENOMEM : EIO;
}

// A policy leaves a page where it is if that is one of its nodes; these go on all nodes in turn. What is not there yet
// comes by the policy. Pages that cannot be moved do not keep the others where they are.
int deal_out(const Pages& pages, const NodeSet& nodes) noexcept {
  constexpr size_t kAtOnce = 256;
  int node = nodes.first();
  int result = 0;
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
    if (error == ENOENT) continue;
    if (error != 0 && error != EIO) return error;
    if (result == 0) result = error != 0 ? error : error_of(status.data(), count);
  }
  return result;
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

WEFT_ABI(int, weft_numa_nodes)() { return std::max(machine().with_memory().count(), 1); }

WEFT_ABI(int, weft_numa_node_of)(const void* address) {
  void* const page = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(address) / page_size() * page_size());
  int node = -1;
  return platform::query_pages(0, 1, &page, &node) == 0 && node >= 0 ? node : -1;
}

WEFT_ABI(int, weft_numa_interleave)(void* memory, size_t bytes) {
  if (memory == nullptr) return EINVAL;
  const Pages pages = pages_of(memory, bytes);
  const NodeSet nodes = usable_nodes();
  const int error = place(pages, MemoryPolicy::interleave, nodes);
  return error != 0 || nodes.count() < 2 ? error : deal_out(pages, nodes);
}

WEFT_ABI(int, weft_numa_bind)(void* memory, size_t bytes, int node) {
  if (memory == nullptr || !machine().with_memory().has(node)) return EINVAL;
  return place(pages_of(memory, bytes), MemoryPolicy::bind, only(node));
}

WEFT_ABI(int, weft_numa_split)(void* memory, size_t bytes, int parts) {
  if (memory == nullptr || parts < 1) return EINVAL;
  const Pages pages = pages_of(memory, bytes);
  const auto from = reinterpret_cast<uintptr_t>(memory);
  const auto members = static_cast<uintptr_t>(parts);
  // The parts that are one byte longer than the others come first.
  const uintptr_t share = bytes / members;
  const uintptr_t longer = bytes % members;
  const auto part_at = [&](uintptr_t address) {
    const uintptr_t offset = address - from;
    const uintptr_t of_longer = longer * (share + 1);
    return static_cast<int>(offset < of_longer ? offset / (share + 1) : longer + (offset - of_longer) / share);
  };
  const auto end_of_part = [&](int part) {
    const auto next = static_cast<uintptr_t>(part) + 1;
    return from + share * next + std::min(next, longer);
  };
  // Pages that follow each other on one node are placed at once. A page that several parts share is the first one's: of
  // more parts than pages, only those at the beginning of a page are looked at.
  const NodeSet nodes = usable_nodes();
  for (uintptr_t begin = pages.begin; begin < pages.end;) {
    const int node = node_of_member(part_at(begin), parts);
    uintptr_t end = begin;
    do {
      end = std::max((end_of_part(part_at(end)) + page_size() - 1) / page_size() * page_size(), end + page_size());
    } while (end < pages.end && node_of_member(part_at(end), parts) == node);
    end = std::min(end, pages.end);
    if (nodes.has(node)) {
      if (const int error = place({begin, end}, MemoryPolicy::preferred, only(node)); error != 0) return error;
    }
    begin = end;
  }
  return 0;
}
