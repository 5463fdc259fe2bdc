// SPDX-License-Identifier: Apache-2.0
#include "openmp/affinity/kmp_affinity.h"

#include <algorithm>
#include <array>

#include "base/scanner.h"
#include "openmp/affinity/place_syntax.h"

namespace weft::openmp {

namespace {

using base::Scanner;
using platform::CpuSet;
using platform::Level;
using platform::Topology;
using Type = KmpAffinity::Type;

bool parse_granularity(Scanner& in, Level* level) noexcept {
  static constexpr struct {
    const char* word;
    Level level;
  } kNames[] = {{"fine", Level::threads},    {"thread", Level::threads},
                {"core", Level::cores},      {"ll_cache", Level::ll_caches},
                {"die", Level::dies},        {"socket", Level::sockets},
                {"package", Level::sockets}, {"numa_domain", Level::numa_domains}};
  for (const auto& name : kNames) {
    if (!in.word(name.word)) continue;
    *level = name.level;
    return true;
  }
  return false;
}

// physical and logical are older names.
bool parse_type(Scanner& in, Type* type) noexcept {
  static constexpr struct {
    const char* word;
    Type type;
  } kNames[] = {{"none", Type::none},         {"disabled", Type::none},     {"compact", Type::compact},
                {"logical", Type::compact},   {"scatter", Type::scatter},   {"physical", Type::scatter},
                {"balanced", Type::balanced}, {"explicit", Type::explicit_}};
  for (const auto& name : kNames) {
    if (!in.word(name.word)) continue;
    *type = name.type;
    return true;
  }
  return false;
}

// Accepted without effect: the mask the process has is always respected, and messages are few.
bool skip_modifier(Scanner& in) noexcept {
  for (const char* word : {"respect", "norespect", "warnings", "nowarnings", "reset", "noreset", "duplicates"}) {
    if (in.word(word)) return true;
  }
  return false;
}

bool parse_item(Scanner& in, KmpAffinity* affinity) noexcept {
  if (in.word("verbose")) return affinity->verbose = true;
  if (in.word("noverbose")) {
    affinity->verbose = false;
    return true;
  }
  if (in.word("granularity")) {
    return in.take('=') && parse_granularity(in, &affinity->granularity);
  }
  if (in.word("proclist")) return in.take('=') && parse_proclist(in, &affinity->proclist);
  return (affinity->type == Type::unset && parse_type(in, &affinity->type)) || skip_modifier(in);
}

// The order in which threads take CPUs. A CPU is known by its number in each level: the socket's, the core's in it, the
// thread's in that. `permute` innermost levels count first, the innermost of them before all; then the others, the
// outermost first.
class Order {
 public:
  Order(const Topology& topology, int permute) noexcept : permute_(permute) {
    int socket = -1;
    int core = -1;
    std::array<int, kDepth> number{};
    for (const int cpu : topology.in_order()) {
      const bool new_socket = topology.leader(Level::sockets, cpu) != socket;
      const bool new_core = new_socket || topology.leader(Level::cores, cpu) != core;
      if (new_socket && socket >= 0) ++number[0];
      number[1] = new_socket ? 0 : number[1] + (new_core ? 1 : 0);
      number[2] = new_core ? 0 : number[2] + 1;
      socket = topology.leader(Level::sockets, cpu);
      core = topology.leader(Level::cores, cpu);
      cpus_.add({cpu, number});
    }
    std::sort(cpus_.begin(), cpus_.end(), [this](const Numbered& a, const Numbered& b) { return before(a, b); });
  }
  ~Order() { cpus_.free_memory(); }
  Order(const Order&) = delete;
  Order& operator=(const Order&) = delete;

  static constexpr int kDepth = 3;
  struct Numbered {
    int cpu;
    std::array<int, kDepth> number;
  };
  const Numbered* begin() const noexcept { return cpus_.begin(); }
  const Numbered* end() const noexcept { return cpus_.end(); }

 private:
  bool before(const Numbered& a, const Numbered& b) const noexcept {
    for (int i = 0; i < kDepth; ++i) {
      const auto level = static_cast<size_t>(i < permute_ ? kDepth - 1 - i : i - permute_);
      if (a.number[level] != b.number[level]) return a.number[level] < b.number[level];
    }
    return false;
  }

  int permute_;
  base::SmallList<Numbered, 64> cpus_;
};

}  // namespace

bool parse_kmp_affinity(const char* text, KmpAffinity* affinity) noexcept {
  Scanner in(text);
  int numbers = 0;
  do {
    if (in.sees_digit()) {
      long long number = 0;
      // Behind the type only.
      if (affinity->type == Type::unset || numbers == 2 || !in.number(0, CpuSet::kMost - 1, &number)) return false;
      (numbers++ == 0 ? affinity->permute : affinity->offset) = static_cast<int>(number);
    } else if (!parse_item(in, affinity)) {
      return false;
    }
  } while (in.take(','));
  // With a single number, the types that have nothing to permute take it for the offset.
  const bool permutes = affinity->type == Type::compact || affinity->type == Type::scatter;
  if (numbers == 1 && !permutes) std::swap(affinity->permute, affinity->offset);
  return in.at_end() && (affinity->type == Type::explicit_) == (affinity->proclist.size() > 0);
}

void add_places(const KmpAffinity& affinity, const Topology& topology, PlaceList* places) noexcept {
  if (affinity.type == Type::explicit_) {
    for (const CpuSet& place : affinity.proclist) places->add(place);
    return;
  }
  // scatter is compact with the levels turned round. balanced is about whole cores, one after the other; how many
  // threads each gets is for the policy to say.
  const Level granularity = affinity.type == Type::balanced ? Level::cores : affinity.granularity;
  const int permute = affinity.permute < Order::kDepth ? affinity.permute : 0;
  const bool scatters = affinity.type == Type::scatter;
  for (const auto& entry : Order(topology, scatters ? Order::kDepth - 1 - permute : permute)) {
    const int leader = topology.leader(granularity, entry.cpu);
    const auto is_known = [leader](const CpuSet& place) { return place.has(leader); };
    if (std::any_of(places->begin(), places->end(), is_known)) continue;
    CpuSet place;
    for (const int cpu : topology.in_order()) {
      if (topology.leader(granularity, cpu) == leader) place.add(cpu);
    }
    places->add(place);
  }
}

}  // namespace weft::openmp
