// SPDX-License-Identifier: Apache-2.0
#include "openmp/affinity/bound_threads.h"

#include <algorithm>
#include <new>

#include "base/message.h"
#include "core/api/fork.h"
#include "openmp/affinity/affinity.h"
#include "platform/numa.h"

namespace weft::openmp {

namespace {

// Slots stand in the order of the places, beginning with the initial thread's: as many at each as it has CPUs that no
// place before it has, or evenly fewer where there are fewer slots than CPUs.
class Slots {
 public:
  explicit Slots(int count) noexcept : count_(count) {
    const Affinity& in_force = affinity();
    const int places = in_force.places.size();
    place_of_ = new (std::nothrow) int[static_cast<size_t>(count)];
    at_ = new (std::nothrow) Range[static_cast<size_t>(places)];
    if (place_of_ == nullptr || at_ == nullptr) base::lacking("no memory for the places of threads");
    platform::CpuSet seen;
    const int cpus = useful_threads();
    const int shared = std::min(count, cpus);
    int slot = 0;
    int cpu = 0;
    for (int i = 0; i < places; ++i) {
      const int place = (in_force.first + i) % places;
      platform::CpuSet fresh = in_force.places.begin()[place];
      fresh.remove_all(seen);
      seen.add_all(fresh);
      cpu += fresh.count();
      const int begin = slot;
      // Those whose share of the CPUs begins here; more slots than CPUs share them in turn, below.
      while (slot < shared && static_cast<long long>(slot) * cpus < static_cast<long long>(cpu) * shared) {
        place_of_[slot++] = place;
      }
      at_[place] = {begin, slot - begin};
    }
    for (; slot < count; ++slot) place_of_[slot] = place_of_[slot % shared];
  }

  int count() const noexcept { return count_; }
  int place_of(int slot) const noexcept { return place_of_[slot]; }
  // Those at `place`: the first of them, and how many.
  struct Range {
    int first;
    int count;
  };
  Range at(int place) const noexcept { return at_[place]; }

 private:
  int count_;
  int* place_of_;
  Range* at_;
};

// Made when the pool is there; the number of its slots never changes.
const Slots& slots() noexcept {
  static const Slots made(core::slots());
  return made;
}

// The NUMA nodes of each place, a bit each.
class PlaceNodes {
 public:
  PlaceNodes() noexcept {
    // Too large for the stack of some thread.
    const auto* machine = new (std::nothrow) platform::NumaNodes("");
    if (machine != nullptr && machine->with_cpus().count() > 1) {
      const auto& places = affinity().places;
      of_ = new (std::nothrow) uint64_t[static_cast<size_t>(places.size())];
      for (int place = 0; of_ != nullptr && place < places.size(); ++place) {
        of_[place] = nodes_of_cpus(*machine, places.begin()[place]);
        all_ |= of_[place];
      }
    }
    delete machine;
  }

  // 0: all, or not known; or there are no slots of the pool.
  uint64_t of(const Partition& partition) const noexcept {
    if (of_ == nullptr) return 0;
    uint64_t nodes = 0;
    bool has_slots = false;
    for (int i = 0; i < partition.count; ++i) {
      nodes |= of_[partition.first + i];
      has_slots |= slots().at(partition.first + i).count > 0;
    }
    return nodes == all_ || !has_slots ? 0 : nodes;
  }

 private:
  static constexpr uint64_t kUnknown = ~uint64_t{0};

  static uint64_t nodes_of_cpus(const platform::NumaNodes& machine, const platform::CpuSet& cpus) noexcept {
    uint64_t nodes = 0;
    for (const int cpu : each(cpus)) {
      const int node = machine.node_of_cpu(cpu);
      if (node < 0 || node >= 64) return kUnknown;
      nodes |= uint64_t{1} << node;
    }
    return nodes;
  }

  uint64_t* of_ = nullptr;  // kept for ever
  uint64_t all_ = 0;
};

const PlaceNodes& place_nodes() noexcept {
  static const PlaceNodes known;
  return known;
}

const platform::CpuSet* cpus_of_worker(int worker) noexcept {
  const int slot = (worker + 1) % slots().count();
  return affinity().places.begin() + slots().place_of(slot);
}

}  // namespace

platform::CpuSet useful_cpus() noexcept {
  platform::CpuSet cpus;
  for (const platform::CpuSet& place : affinity().places) cpus.add_all(place);
  return cpus;
}

int useful_threads() noexcept { return useful_cpus().count(); }

CpusOfWorker cpus_of_workers() noexcept { return affinity().on ? cpus_of_worker : nullptr; }

int thread_of(const Placement& placement, int member) noexcept {
  const Slots& all = slots();
  const Slots::Range there = all.at(thread_place_of(placement, member).place);
  const int slot =
      there.count > 0 ? there.first + rank_in_place(placement, member) % there.count : member % all.count();
  // The root's own thread stands for the first slot of its place, wherever that is.
  const int shifted = slot - all.at(placement.parent.place).first;
  return shifted < 0 ? shifted + all.count() : shifted % all.count();
}

void look_up_nodes() noexcept { static_cast<void>(place_nodes()); }

uint64_t nodes_of(const Partition& partition) noexcept { return place_nodes().of(partition); }

bool has_room(const Placement& placement) noexcept {
  if (placement.parent.place < 0) return true;
  for (int i = 0; i < placement.members; ++i) {
    const int most = slots().at(thread_place_of(placement, i).place).count;
    if (rank_in_place(placement, i) >= std::max(most, 1)) return false;
  }
  return true;
}

}  // namespace weft::openmp
