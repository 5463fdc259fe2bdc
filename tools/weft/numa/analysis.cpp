// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstdio>
#include <set>
#include <tuple>

#include "numa/allocators.h"
#include "numa/mappings.h"
#include "numa/report.h"
#include "numa/watch.h"
#include "numa/words.h"

namespace weft::tools::numa {

namespace {

constexpr int kNobody = -1;
constexpr int kSeveral = -2;

// Fewer touches than these say nothing of who uses an array.
constexpr int kLeastTouches = 16;
// A part of an array belongs to the node that nearly all of its touches come from. That eight of two nodes' touches
// come from one of them by chance is improbable, and that this happens to a fifth of the array's parts even more.
constexpr double kOwned = 0.9;
constexpr int kLeastOfAPart = 8;
constexpr int kTouchesOfAPart = 16;
// So much must have been moved by the kernel before only late touches count.
constexpr double kMoved = 0.1;

// Blocks of one size from one place are one row; of mappings, which allocators make on behalf of anybody, the place is
// the caller of mmap alone.
struct Group {
  std::vector<const RecordedArray*> arrays;
  std::vector<const RecordedTouch*> touches;
};
using Groups = std::map<std::pair<uint64_t, uint64_t>, Group>;

uint64_t key_of(const Recorded& recorded, const RecordedArray& array) {
  const std::vector<uint64_t>& frames = recorded.sites[array.site].frames;
  constexpr size_t kCaller = 2;  // behind two frames of the collector's
  if (frames.empty()) return array.begin;
  return array.how == weft::numa::How::mapped && frames.size() > kCaller ? frames[kCaller] : array.site;
}

Groups group(const Recorded& recorded) {
  Groups groups;
  std::map<uint32_t, Group*> by_number;
  std::map<uint32_t, std::set<Group*>> by_site;
  for (const RecordedArray& array : recorded.arrays) {
    Group& here = groups[{key_of(recorded, array), array.bytes}];
    here.arrays.push_back(&array);
    by_number[array.number] = &here;
    by_site[array.site].insert(&here);
  }
  for (const RecordedTouch& touch : recorded.touches) {
    const auto found = by_number.find(touch.array);
    if (found != by_number.end()) {
      found->second->touches.push_back(&touch);
      continue;
    }
    // Of a block that has been freed and forgotten since: of the same place, at least.
    const auto site = by_site.find(touch.site);
    if (site != by_site.end() && site->second.size() == 1) (*site->second.begin())->touches.push_back(&touch);
  }
  return groups;
}

// Of its places; empty: not known.
std::vector<int> placement(const Evidence& evidence, const RecordedArray& array) {
  if (!array.node.empty()) return array.node;
  const auto seen = evidence.history.find(array.number);
  return seen != evidence.history.end() ? seen->second.last : std::vector<int>();
}

size_t place_at(double position, size_t places) {
  return std::min(static_cast<size_t>(position * static_cast<double>(places)), places - 1);
}

// The one that has at least `part` of the weight; kSeveral: none has; kNobody: there is no weight.
int leading(const Shares& shares, double part) {
  double sum = 0;
  for (const auto& [node, weight] : shares) sum += node >= 0 ? weight : 0;
  if (sum <= 0) return kNobody;
  for (const auto& [node, weight] : shares) {
    if (node >= 0 && weight >= part * sum) return node;
  }
  return kSeveral;
}

void normalise(Shares& shares) {
  double sum = 0;
  for (const auto& [node, weight] : shares) sum += weight;
  for (auto& [node, weight] : shares) weight = sum > 0 ? weight / sum : 0;
}

std::array<int, kStrip> strip_of(const std::vector<int>& nodes, double part) {
  std::array<int, kStrip> strip;
  strip.fill(kNobody);
  if (nodes.empty()) return strip;
  for (size_t i = 0; i < kStrip; ++i) {
    const size_t from = nodes.size() * i / kStrip;
    const size_t to = std::max(nodes.size() * (i + 1) / kStrip, from + 1);
    Shares here;
    for (size_t k = from; k < to && k < nodes.size(); ++k) here[nodes[k]] += 1;
    strip[i] = leading(here, part);
  }
  return strip;
}

// Touches behind the initialisation: behind the last first touch that was seen of the same block. If these are too few
// all count, since the block may still be initialised while parts of it are used.
std::vector<const RecordedTouch*> uses(const std::vector<const RecordedTouch*>& touches) {
  std::map<uint32_t, int64_t> initialised;
  for (const RecordedTouch* touch : touches) {
    if (touch->first) initialised[touch->array] = std::max(initialised[touch->array], touch->time);
  }
  std::vector<const RecordedTouch*> behind;
  std::vector<const RecordedTouch*> later;
  for (const RecordedTouch* touch : touches) {
    if (touch->first) continue;
    later.push_back(touch);
    const auto end = initialised.find(touch->array);
    if (end == initialised.end() || touch->time > end->second) behind.push_back(touch);
  }
  return behind.size() >= kLeastTouches ? behind : later;
}

struct Part {
  Shares touches;
  int count = 0;
  int owner = kNobody;
};

std::vector<Part> parts_of(const std::vector<const RecordedTouch*>& touches) {
  std::set<int> nodes;
  for (const RecordedTouch* touch : touches) nodes.insert(touch->node);
  // Never fewer parts than nodes that may each have one.
  size_t count = std::min(std::bit_ceil(std::max<size_t>(nodes.size(), 1)), size_t{kStrip});
  while (count < kStrip && touches.size() >= 2 * count * kTouchesOfAPart) count *= 2;
  std::vector<Part> parts(count);
  for (const RecordedTouch* touch : touches) {
    Part& part = parts[place_at(touch->position, count)];
    part.touches[touch->node] += 1;
    ++part.count;
  }
  for (Part& part : parts) {
    if (part.count >= kLeastOfAPart) part.owner = leading(part.touches, kOwned);
  }
  return parts;
}

// The part of the touched places that lie on another node than `owner(position)` says; places without one are right.
template <class Owner>
double misplaced(const std::vector<int>& nodes, Owner&& owner) {
  double touched = 0;
  double wrong = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i] < 0) continue;
    touched += 1;
    const int wanted = owner((static_cast<double>(i) + 0.5) / static_cast<double>(nodes.size()));
    if (wanted >= 0 && wanted != nodes[i]) wrong += 1;
  }
  return touched > 0 ? wrong / touched : 0;
}

// The nodes of threads in the order of their numbers, as schedule(static) divides a loop among them. Empty: they are
// not bound, or there is only one.
std::vector<int> static_schedule(const std::vector<Thread>& threads) {
  std::vector<int> nodes;
  for (const Thread& thread : threads) {
    if (thread.node >= 0) nodes.push_back(thread.node);
  }
  if (nodes.size() < 2 || 2 * nodes.size() < threads.size()) nodes.clear();
  return nodes;
}

using Placements = std::map<uint32_t, std::vector<int>>;  // by the number of the block

// How often neighbours differ, against how often they would if pages were dealt out to these nodes at random: about 1
// for pages that are interleaved, nearly 0 for a few large parts.
double mixing(const std::vector<int>& nodes) {
  Shares shares;
  double changes = 0;
  double pairs = 0;
  int before = kNobody;
  for (const int node : nodes) {
    if (node < 0) continue;
    shares[node] += 1;
    if (before >= 0) {
      pairs += 1;
      changes += node != before ? 1 : 0;
    }
    before = node;
  }
  normalise(shares);
  double same = 0;
  for (const auto& [node, share] : shares) same += share * share;
  constexpr double kOneNode = 0.9;
  return pairs > 0 && same < kOneNode ? changes / pairs / (1 - same) : 0;
}

void describe_places(const Evidence& evidence, const Group& group, ArrayRow& row, Placements& placements) {
  const RecordedArray* newest = nullptr;
  double moved = 0;
  double seen = 0;
  for (const RecordedArray* array : group.arrays) {
    const std::vector<int> nodes = placement(evidence, *array);
    for (const int node : nodes) row.pages[std::max(node, kNobody)] += 1;
    if (!nodes.empty()) {
      placements[array->number] = nodes;
      if (newest == nullptr || array->number > newest->number) newest = array;
    }
    const auto found = evidence.history.find(array->number);
    if (found == evidence.history.end()) continue;
    History history = found->second;
    if (!array->node.empty()) add_look(history, array->node);
    for (size_t i = 0; i < history.last.size(); ++i) {
      if (history.last[i] < 0) continue;
      seen += 1;
      moved += history.moved[i] ? 1 : 0;
    }
  }
  row.pages_known = !row.pages.empty();
  normalise(row.pages);
  row.moved = seen > 0 ? moved / seen : 0;
  if (newest == nullptr) {
    row.lies.fill(kNobody);
    return;
  }
  row.lies = strip_of(placements[newest->number], 0.9);
  row.mixing = mixing(placements[newest->number]);
}

// What the kernel has moved may have been used by others before.
std::vector<const RecordedTouch*> late_ones(const std::vector<const RecordedTouch*>& touches) {
  if (touches.empty()) return touches;
  const auto [first, last] = std::minmax_element(
      touches.begin(), touches.end(), [](const RecordedTouch* a, const RecordedTouch* b) { return a->time < b->time; });
  const int64_t from = (*last)->time - ((*last)->time - (*first)->time) / 3;
  std::vector<const RecordedTouch*> late;
  std::copy_if(touches.begin(), touches.end(), std::back_inserter(late),
               [&](const RecordedTouch* touch) { return touch->time >= from; });
  return late.size() >= kLeastTouches ? late : touches;
}

// The node of the page that was touched, as it lies in the end; kNobody: not known.
int home_of(const RecordedTouch& touch, const Placements& placements) {
  const auto found = placements.find(touch.array);
  return found != placements.end() ? found->second[place_at(touch.position, found->second.size())] : kNobody;
}

// The part of the touches whose page lies elsewhere than those who use that part of the array.
double misplaced_touches(const std::vector<const RecordedTouch*>& touches, const std::vector<Part>& parts,
                         const Placements& placements) {
  double known = 0;
  double wrong = 0;
  for (const RecordedTouch* touch : touches) {
    const int home = home_of(*touch, placements);
    if (home < 0) continue;
    known += 1;
    const int owner = parts[place_at(touch->position, parts.size())].owner;
    wrong += owner >= 0 && owner != home ? 1 : 0;
  }
  return known > 0 ? wrong / known : 0;
}

// Whether the initial thread of the process has allocated all of these blocks, and touched them first as far as is
// known.
bool is_serial(const Evidence& evidence, const Group& group) {
  const int initial = evidence.recorded.pid;
  const auto is_first = [](const RecordedTouch* touch) { return touch->first; };
  return std::any_of(group.touches.begin(), group.touches.end(), is_first) &&
         std::all_of(group.arrays.begin(), group.arrays.end(),
                     [&](const RecordedArray* array) { return array->thread == initial; }) &&
         std::all_of(group.touches.begin(), group.touches.end(),
                     [&](const RecordedTouch* touch) { return !is_first(touch) || touch->thread == initial; });
}

void describe_touches(const Group& group, const Placements& placements, ArrayRow& row) {
  std::set<int> first;
  double placed = 0;
  double elsewhere = 0;
  for (const RecordedTouch* touch : group.touches) {
    if (!touch->first) continue;
    first.insert(touch->thread);
    row.first_touch[touch->node] += 1;
    const int home = home_of(*touch, placements);
    if (home < 0) continue;
    placed += 1;
    elsewhere += home != touch->node ? 1 : 0;
  }
  row.recycled = placed > 0 ? elsewhere / placed : 0;
  row.first_threads = static_cast<int>(first.size());
  normalise(row.first_touch);

  std::vector<const RecordedTouch*> used = uses(group.touches);
  if (row.moved >= kMoved) used = late_ones(used);
  row.touches = static_cast<int>(used.size());
  double remote = 0;
  double known = 0;
  for (const RecordedTouch* touch : used) {
    row.use[touch->node] += 1;
    row.writes += touch->access == weft::numa::Access::write ? 1 : 0;
    const int home = home_of(*touch, placements);
    if (home < 0) continue;
    known += 1;
    remote += home != touch->node ? 1 : 0;
  }
  normalise(row.use);
  row.remote = known > 0 ? remote / known : 0;

  const std::vector<Part> parts = parts_of(used);
  for (size_t i = 0; i < kStrip; ++i) row.used[i] = parts[i * parts.size() / kStrip].owner;
  // Of several blocks each may be used by another node.
  if (placements.size() == 1) {
    row.misplaced =
        misplaced(placements.begin()->second, [&](double at) { return parts[place_at(at, parts.size())].owner; });
  } else {
    row.misplaced = misplaced_touches(used, parts, placements);
  }
  const auto of_parts = [&](auto&& which) {
    return static_cast<double>(std::count_if(parts.begin(), parts.end(), which)) / static_cast<double>(parts.size());
  };
  row.shared = of_parts([](const Part& part) { return part.owner == kSeveral; });
  row.decided = of_parts([](const Part& part) { return part.owner != kNobody; });
}

void describe_expectation(const std::vector<int>& nodes, const Placements& placements, ArrayRow& row) {
  row.expected.fill(kNobody);
  if (nodes.empty()) return;
  const auto owner = [&](double at) { return nodes[place_at(at, nodes.size())]; };
  for (size_t i = 0; i < kStrip; ++i) row.expected[i] = owner((static_cast<double>(i) + 0.5) / kStrip);
  if (!placements.empty()) row.expected_remote = misplaced(placements.rbegin()->second, owner);
}

// The source line that most of the touches come from.
std::string line_of(const std::vector<const RecordedTouch*>& touches, bool first, Symbols* symbols) {
  std::map<uint64_t, int> count;
  for (const RecordedTouch* touch : touches) {
    if (touch->first == first && touch->code != 0) ++count[touch->code];
  }
  if (count.empty() || symbols == nullptr) return {};
  const auto most =
      std::max_element(count.begin(), count.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return name_of(symbols->find(most->first + 1));
}

ArrayRow describe(const Evidence& evidence, const Group& group, const std::vector<int>& schedule, Symbols* symbols) {
  ArrayRow row;
  const RecordedArray& sample = *group.arrays.back();
  const RecordedSite& site = evidence.recorded.sites[sample.site];
  row.how = how_text(sample.how);
  row.bytes = sample.bytes;
  row.instances = group.arrays.size();
  for (const RecordedArray* array : group.arrays) {
    row.live = row.live || array->live;
    if (!array->node.empty()) row.policy = policy_text(*array);
  }
  name_row(site.frames, symbols, row);
  if (site.frames.empty()) {
    char name[32];
    std::snprintf(name, sizeof name, "mapping %llx", static_cast<unsigned long long>(sample.begin));
    row.name = name;
  }
  row.first_line = line_of(group.touches, true, symbols);
  row.use_line = line_of(group.touches, false, symbols);
  Placements placements;
  describe_places(evidence, group, row, placements);
  row.serial = is_serial(evidence, group);
  describe_touches(group, placements, row);
  describe_expectation(schedule, placements, row);
  return row;
}

// Whether later touches are sampled, and often enough.
bool is_sampled(const Evidence& evidence) {
  constexpr uint64_t kEnough = 1000;
  const Recorded& recorded = evidence.recorded;
  if (evidence.means != Means::protection) return evidence.samples >= kEnough;
  return recorded.touching == weft::numa::Touching::sample && recorded.stop != weft::numa::Stop::peers &&
         recorded.stop != weft::numa::Stop::past_libc;
}

}  // namespace

Report analyse(const Kernel& kernel, const Evidence& evidence, Symbols* symbols) {
  Report report;
  report.evidence = &evidence;
  report.pid = evidence.pid;
  report.command = evidence.command;
  report.seconds = evidence.seconds;
  report.balancing = evidence.balancing;
  // The collector's own may have been seen before it was known as such.
  std::copy_if(evidence.threads.begin(), evidence.threads.end(), std::back_inserter(report.threads),
               [&](const Thread& thread) { return thread.number != evidence.recorded.sampler; });
  for (const Thread& thread : report.threads) report.bound += thread.node >= 0 ? 1 : 0;
  const platform::NodeSet& online = kernel.nodes().online();
  for (int node = online.first(); node >= 0; node = online.next(node + 1)) report.nodes.push_back(node);
  Machine machine;
  platform::NodeSet memory = kernel.nodes().with_memory();
  if (!evidence.allowed_nodes.empty()) {
    memory.keep_only(platform::parse_node_list(evidence.allowed_nodes.c_str()));
  }
  machine.memory_nodes = memory.count();
  machine.sampled = is_sampled(evidence);
  const std::vector<int> schedule = static_schedule(report.threads);
  machine.floating = machine.memory_nodes > 1 && schedule.empty() && report.threads.size() > 1;
  for (const auto& [key, group] : group(evidence.recorded)) {
    ArrayRow row = describe(evidence, group, schedule, symbols);
    judge(machine, row);
    report.arrays.push_back(std::move(row));
  }
  std::sort(report.arrays.begin(), report.arrays.end(), [](const ArrayRow& a, const ArrayRow& b) {
    return std::tuple(b.bytes * b.instances, a.name) < std::tuple(a.bytes * a.instances, b.name);
  });
  report.mappings = mappings_of(evidence);
  add_notes(kernel, evidence, report);
  return report;
}

}  // namespace weft::tools::numa
