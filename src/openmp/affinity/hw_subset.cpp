// SPDX-License-Identifier: Apache-2.0
#include "openmp/affinity/hw_subset.h"

#include <algorithm>
#include <memory>
#include <new>
#include <tuple>

#include "base/message.h"
#include "base/scanner.h"
#include "platform/core_kinds.h"

namespace weft::openmp {

namespace {

using base::Scanner;
using platform::CoreKinds;
using platform::CpuSet;
using platform::Level;
using platform::Topology;
using Item = HwSubset::Item;
using Kind = HwSubset::Kind;

// From the outermost to the innermost. `counts`: a unit in which those below are counted, named or not.
constexpr struct {
  Level level;
  bool counts;
  const char* name;
} kNesting[] = {{Level::sockets, true, "sockets"},
                {Level::dies, true, "dies"},
                {Level::numa_domains, false, "NUMA domains"},
                {Level::ll_caches, false, "last-level caches"},
                {Level::cores, true, "cores"},
                {Level::threads, true, "hardware threads"}};

constexpr int kMostUnits = CpuSet::kMost;

bool parse_level(Scanner& in, Level* level) noexcept {
  static constexpr struct {
    const char* word;
    Level level;
  } kNames[] = {{"s", Level::sockets},      {"socket", Level::sockets},    {"sockets", Level::sockets},
                {"d", Level::dies},         {"die", Level::dies},          {"dies", Level::dies},
                {"n", Level::numa_domains}, {"numa", Level::numa_domains}, {"numa_domain", Level::numa_domains},
                {"ll", Level::ll_caches},   {"llc", Level::ll_caches},     {"ll_cache", Level::ll_caches},
                {"c", Level::cores},        {"core", Level::cores},        {"cores", Level::cores},
                {"t", Level::threads},      {"thread", Level::threads},    {"threads", Level::threads}};
  for (const auto& name : kNames) {
    if (!in.word(name.word)) continue;
    *level = name.level;
    return true;
  }
  return false;
}

bool parse_kind(Scanner& in, Item* item) noexcept {
  if (item->level != Level::cores || item->kind != Kind::any) return false;
  if (in.word("intel_atom")) {
    item->kind = Kind::intel_atom;
    return true;
  }
  if (in.word("intel_core")) {
    item->kind = Kind::intel_core;
    return true;
  }
  static constexpr const char* kEfficiencies[] = {"eff0", "eff1", "eff2", "eff3", "eff4", "eff5", "eff6", "eff7"};
  for (const char* word : kEfficiencies) {
    if (!in.word(word)) continue;
    item->kind = Kind::efficiency;
    item->efficiency = word[3] - '0';
    return true;
  }
  return false;
}

bool parse_item(Scanner& in, Item* item) noexcept {
  long long number = 0;
  if (in.sees_digit()) {
    if (!in.number(1, kMostUnits, &number)) return false;
    item->count = static_cast<int>(number);
  } else {
    static_cast<void>(in.take('*'));
  }
  if (!parse_level(in, &item->level)) return false;
  for (bool offset = false;;) {
    if (!offset && in.take('@')) {
      if (!in.number(0, kMostUnits, &number)) return false;
      item->offset = static_cast<int>(number);
      offset = true;
    } else if (in.take(':')) {
      if (!parse_kind(in, item)) return false;
    } else {
      return true;
    }
  }
}

// Cores may be named once for each kind, everything else once.
bool repeats(const HwSubset& subset, const Item& item) noexcept {
  return std::any_of(subset.items.begin(), subset.items.begin() + subset.size, [&](const Item& other) {
    if (other.level != item.level) return false;
    if (other.kind == Kind::any || item.kind == Kind::any) return true;
    return other.kind == item.kind && other.efficiency == item.efficiency;
  });
}

bool is_about(const Item& item, const CoreKinds* kinds, int cpu) noexcept {
  switch (item.kind) {
    case Kind::any: return true;
    case Kind::intel_atom: return kinds->intel_atom().has(cpu);
    case Kind::intel_core: return kinds->intel_core().has(cpu);
    case Kind::efficiency: return kinds->efficiency(cpu) == item.efficiency;
  }
  return false;
}

// The machine level by level: which units are taken, and in which unit each CPU lies.
class Choice {
 public:
  Choice(const HwSubset& subset, const Topology& topology, const CoreKinds* kinds) noexcept
      : subset_(subset), topology_(topology), kinds_(kinds) {
    for (const int cpu : topology.in_order()) {
      chosen_.add(cpu);
      cpus_.add({0, 0, 0, cpu});
    }
  }
  ~Choice() { cpus_.free_memory(); }
  Choice(const Choice&) = delete;
  Choice& operator=(const Choice&) = delete;

  // False when there are fewer units of that level than asked for.
  bool choose(Level level, bool counts) noexcept {
    const Item* begin = subset_.items.data();
    const Item* end = begin + subset_.size;
    const auto is_here = [level](const Item& item) { return item.level == level; };
    const bool named = std::any_of(begin, end, is_here);
    if (!named && !counts) return true;
    for (Placed& placed : cpus_) {
      placed.leader = topology_.leader(level, placed.cpu);
      placed.item = -1;
      for (const Item* item = begin; item < end && placed.item < 0; ++item) {
        if (is_here(*item) && is_about(*item, kinds_, placed.leader)) placed.item = static_cast<int>(item - begin);
      }
    }
    std::array<int, HwSubset::kMost> most{};
    number_units(named, &most);
    for (int i = 0; i < subset_.size; ++i) {
      const Item& item = begin[i];
      if (is_here(item) && item.offset + (item.count == HwSubset::kAll ? 1 : item.count) > most[i]) return false;
    }
    return true;
  }

  const CpuSet& chosen() const noexcept { return chosen_; }

 private:
  struct Placed {
    int parent;  // number of the unit around
    int item;    // the one that its unit is subject to; -1: none
    int leader;  // of the CPUs of its unit
    int cpu;
  };

  // Numbers the units of each parent that are subject to the same item, takes out those that it does not want, and
  // makes them the parents of the next level. `most`: how many an item has found in one parent.
  void number_units(bool named, std::array<int, HwSubset::kMost>* most) noexcept {
    const auto key = [this](const Placed& p) {
      return std::tuple(subset_.absolute ? 0 : p.parent, p.item, p.leader, p.cpu);
    };
    std::sort(cpus_.begin(), cpus_.end(), [&](const Placed& a, const Placed& b) { return key(a) < key(b); });
    const Placed* before = nullptr;
    Placed last{};
    int number = 0;
    int unit = 0;
    for (Placed& placed : cpus_) {
      const bool same_parent = before != nullptr && (subset_.absolute || placed.parent == last.parent);
      const bool same_item = same_parent && placed.item == last.item;
      const bool same_unit = same_item && placed.leader == last.leader;
      number = same_unit ? number : same_item ? number + 1 : 0;
      unit += same_unit || before == nullptr ? 0 : 1;
      if (placed.item >= 0) {
        const Item& item = subset_.items[placed.item];
        (*most)[placed.item] = std::max((*most)[placed.item], number + 1);
        const bool wanted =
            number >= item.offset && (item.count == HwSubset::kAll || number < item.offset + item.count);
        if (!wanted) chosen_.remove(placed.cpu);
      } else if (named) {
        chosen_.remove(placed.cpu);
      }
      last = placed;
      before = &last;
      placed.parent = unit;
    }
  }

  const HwSubset& subset_;
  const Topology& topology_;
  const CoreKinds* kinds_;
  CpuSet chosen_;
  base::SmallList<Placed, 64> cpus_;
};

}  // namespace

bool parse_hw_subset(const char* text, HwSubset* subset) noexcept {
  Scanner in(text);
  subset->absolute = in.take(':');
  do {
    Item item;
    if (subset->size == HwSubset::kMost || !parse_item(in, &item) || repeats(*subset, item)) return false;
    subset->items[subset->size++] = item;
  } while (in.take(','));
  return in.at_end();
}

CpuSet choose_cpus(const HwSubset& subset, const CpuSet& cpus, const char* root, const char** lacking) noexcept {
  const std::unique_ptr<Topology> topology(new (std::nothrow) Topology(cpus, root));
  if (topology == nullptr) base::lacking("no memory for the topology of the machine");
  const bool by_kind = std::any_of(subset.items.begin(), subset.items.begin() + subset.size,
                                   [](const Item& item) { return item.kind != Kind::any; });
  const std::unique_ptr<CoreKinds> kinds(by_kind ? new (std::nothrow) CoreKinds(cpus, root) : nullptr);
  if (by_kind && kinds == nullptr) base::lacking("no memory for the topology of the machine");
  Choice choice(subset, *topology, kinds.get());
  *lacking = nullptr;
  for (const auto& nested : kNesting) {
    if (choice.choose(nested.level, nested.counts)) continue;
    *lacking = nested.name;
    return {};
  }
  if (choice.chosen().empty()) *lacking = "units that all of it fits to";
  return choice.chosen();
}

}  // namespace weft::openmp
