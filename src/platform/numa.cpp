// SPDX-License-Identifier: Apache-2.0
#include "platform/numa.h"

#include <bit>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <linux/mempolicy.h>

#include "platform/small_file.h"
#include "platform/system_call.h"

namespace weft::platform {

static_assert(static_cast<int>(MemoryPolicy::preferred) == MPOL_PREFERRED);
static_assert(static_cast<int>(MemoryPolicy::bind) == MPOL_BIND);
static_assert(static_cast<int>(MemoryPolicy::interleave) == MPOL_INTERLEAVE);
static_assert(static_cast<int>(MemoryPolicy::local) == MPOL_LOCAL);
static_assert(kStrict == MPOL_MF_STRICT && kMove == MPOL_MF_MOVE);

int NodeSet::next(int from) const noexcept {
  if (from >= kMost) return -1;
  size_t index = static_cast<size_t>(from) / 64;
  uint64_t word = words_[index] & (~uint64_t{0} << (from % 64));
  while (word == 0) {
    if (++index == words_.size()) return -1;
    word = words_[index];
  }
  return static_cast<int>(index) * 64 + std::countr_zero(word);
}

int NodeSet::count() const noexcept {
  int sum = 0;
  for (const uint64_t word : words_) sum += std::popcount(word);
  return sum;
}

void NodeSet::keep_only(const NodeSet& other) noexcept {
  for (size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
}

NodeSet parse_node_list(const char* text) noexcept {
  NodeSet set;
  const CpuSet numbers = parse_cpu_list(text);
  for (const int number : each(numbers)) set.add(number);
  return set;
}

size_t format_node_list(const NodeSet& set, char* text, size_t room) noexcept {
  CpuSet numbers;
  for (int node = set.first(); node >= 0; node = set.next(node + 1)) numbers.add(node);
  return format_cpu_list(numbers, text, room);
}

namespace {

constexpr uint8_t kToItself = 10;

bool read_node_file(const char* root, const char* name, char* text, size_t room) noexcept {
  char path[PATH_MAX];
  std::snprintf(path, sizeof path, "%s/sys/devices/system/node/%s", root, name);
  return read_small_file(path, text, room);
}

// Kernels before 2.6.31 and some sandboxes do not list the nodes with memory, but say of each how much it has.
bool has_memory(const char* root, int node) noexcept {
  char name[48];
  std::snprintf(name, sizeof name, "node%d/meminfo", node);
  char text[4096];
  if (!read_node_file(root, name, text, sizeof text)) return true;
  const char* total = std::strstr(text, "MemTotal:");
  return total == nullptr || std::strtoull(total + std::strlen("MemTotal:"), nullptr, 10) > 0;
}

}  // namespace

NumaNodes::NumaNodes(const char* root) noexcept {
  node_of_cpu_.fill(-1);
  char text[16384];
  if (read_node_file(root, "online", text, sizeof text)) online_ = parse_node_list(text);
  known_ = !online_.empty();
  if (!known_) {
    online_.add(0);
    with_cpus_.add(0);
    with_memory_.add(0);
    node_of_cpu_.fill(0);
    distances_.add(kToItself);
    return;
  }
  const bool memory_known = read_node_file(root, "has_memory", text, sizeof text);
  if (memory_known) {
    with_memory_ = parse_node_list(text);
    with_memory_.keep_only(online_);
  }
  for (int node = online_.first(); node >= 0; node = online_.next(node + 1)) {
    char name[48];
    std::snprintf(name, sizeof name, "node%d/cpulist", node);
    if (read_node_file(root, name, text, sizeof text)) {
      const CpuSet cpus = parse_cpu_list(text);
      for (const int cpu : each(cpus)) node_of_cpu_[static_cast<size_t>(cpu)] = static_cast<int16_t>(node);
      if (!cpus.empty()) with_cpus_.add(node);
    }
    if (!memory_known && has_memory(root, node)) with_memory_.add(node);
    read_distances(root, node);
  }
}

NumaNodes::~NumaNodes() { distances_.free_memory(); }

// A row that says less than there are nodes is filled with 0, "not known".
void NumaNodes::read_distances(const char* root, int node) noexcept {
  char name[48];
  std::snprintf(name, sizeof name, "node%d/distance", node);
  char text[16384];
  const char* at = read_node_file(root, name, text, sizeof text) ? text : "";
  for (int i = online_.count(); i > 0; --i) {
    char* end = nullptr;
    const unsigned long distance = std::strtoul(at, &end, 10);
    distances_.add(end != at && distance <= UINT8_MAX ? static_cast<uint8_t>(distance) : uint8_t{0});
    at = end;
  }
}

CpuSet NumaNodes::cpus_of(int node) const noexcept {
  CpuSet cpus;
  for (int cpu = 0; cpu < CpuSet::kMost; ++cpu) {
    if (node_of_cpu(cpu) == node) cpus.add(cpu);
  }
  return cpus;
}

int NumaNodes::distance(int from, int to) const noexcept {
  if (!online_.has(from) || !online_.has(to)) return 0;
  int row = 0;
  int column = 0;
  for (int node = online_.first(); node >= 0; node = online_.next(node + 1)) {
    if (node < from) ++row;
    if (node < to) ++column;
  }
  return distances_.begin()[row * online_.count() + column];
}

namespace {

// The kernel takes one bit less than it is told.
constexpr unsigned long kNodeBits = NodeSet::kMost + 1;

template <class... Arguments>
int call(long number, Arguments... arguments) noexcept {
  const long result = system_call(number, arguments...);
  return result >= 0 ? 0 : static_cast<int>(-result);
}

int get_policy(const void* address, unsigned long flags, int& policy, NodeSet& nodes) noexcept {
  nodes = NodeSet();
  const int error = call(SYS_get_mempolicy, &policy, nodes.data(), kNodeBits, address, flags);
  if (error == 0) policy &= ~MPOL_MODE_FLAGS;
  return error;
}

}  // namespace

int current_node() noexcept {
  unsigned cpu = 0;
  unsigned node = 0;
  return call(SYS_getcpu, &cpu, &node, 0) == 0 ? static_cast<int>(node) : 0;
}

int set_thread_policy(MemoryPolicy policy, const NodeSet& nodes) noexcept {
  return call(SYS_set_mempolicy, static_cast<int>(policy), nodes.data(), kNodeBits);
}

int get_thread_policy(int& policy, NodeSet& nodes) noexcept { return get_policy(nullptr, 0, policy, nodes); }

int get_allowed_nodes(NodeSet& nodes) noexcept {
  int policy = 0;
  return get_policy(nullptr, MPOL_F_MEMS_ALLOWED, policy, nodes);
}

int get_memory_policy(const void* address, int& policy, NodeSet& nodes) noexcept {
  return get_policy(address, MPOL_F_ADDR, policy, nodes);
}

int bind_memory(void* begin, size_t bytes, MemoryPolicy policy, const NodeSet& nodes, unsigned flags) noexcept {
  return call(SYS_mbind, begin, bytes, static_cast<int>(policy), nodes.data(), kNodeBits, flags);
}

int query_pages(pid_t process, size_t count, void* const* pages, int* nodes) noexcept {
  return call(SYS_move_pages, process, count, pages, 0, nodes, 0);
}

int move_pages(pid_t process, size_t count, void* const* pages, const int* nodes, int* status,
               unsigned flags) noexcept {
  const long result = system_call(SYS_move_pages, process, count, pages, nodes, status, flags);
  return result > 0 ? EIO : static_cast<int>(-result);
}

}  // namespace weft::platform
