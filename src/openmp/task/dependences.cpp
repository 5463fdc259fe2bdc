// SPDX-License-Identifier: Apache-2.0
#include "openmp/task/dependences.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

#include "base/address_hash.h"
#include "base/message.h"
#include "openmp/tool/events.h"

namespace weft::openmp {

namespace {

bool has_ended(const TaskRef& ref) noexcept {
  // Acquire: the caller goes on as one that comes after the task.
  return ref.task->life.load(std::memory_order_acquire) != ref.life;
}

void wait_for(Task* task, const TaskRef& predecessor) noexcept {
  if (predecessor.task == task || has_ended(predecessor)) return;
  predecessor.task->edges.lock();
  if (!has_ended(predecessor)) {
    predecessor.task->successors.add(task);
    // Relaxed: the lock comes before the predecessor's release, and link_dependences() holds one of them back.
    task->unmet.fetch_add(1, std::memory_order_relaxed);
    // Under the lock, which keeps the predecessor from ending.
    tool::depend(predecessor.task, task);
  }
  predecessor.task->edges.unlock();
}

template <class Refs>
void wait_for_all(Task* task, Refs& refs) noexcept {
  for (const TaskRef& ref : refs) wait_for(task, ref);
}

uint32_t hash(const void* address) noexcept { return static_cast<uint32_t>(base::address_hash<32>(address)); }

}  // namespace

DependTable::Location* DependTable::find(const void* address) noexcept {
  if (buckets_ == nullptr) return nullptr;
  for (uint32_t at = hash(address) & mask_;; at = (at + 1) & mask_) {
    if (buckets_[at] == 0) return nullptr;
    Location& location = locations_[buckets_[at] - 1];
    if (location.address == address) return &location;
  }
}

void DependTable::grow() noexcept {
  const int capacity = std::max(16, 2 * capacity_);
  const uint32_t size = std::bit_ceil(static_cast<uint32_t>(2 * capacity));
  auto* locations = static_cast<Location*>(
      std::realloc(static_cast<void*>(locations_), sizeof(Location) * static_cast<size_t>(capacity)));
  auto* buckets = static_cast<int32_t*>(std::calloc(size, sizeof(int32_t)));
  if (locations == nullptr || buckets == nullptr)
    base::lacking("no memory for the dependences of %d locations", capacity);
  std::free(buckets_);
  locations_ = locations;
  capacity_ = capacity;
  buckets_ = buckets;
  mask_ = size - 1;
  for (int i = 0; i < count_; ++i) {
    uint32_t at = hash(locations_[i].address) & mask_;
    while (buckets_[at] != 0) at = (at + 1) & mask_;
    buckets_[at] = i + 1;
  }
}

DependTable::Location* DependTable::insert(const void* address) noexcept {
  if (count_ == capacity_) grow();
  if (count_ == made_) new (&locations_[made_++]) Location{};
  Location& location = locations_[count_++];
  uint32_t at = hash(address) & mask_;
  while (buckets_[at] != 0) at = (at + 1) & mask_;
  buckets_[at] = count_;
  location.address = address;
  location.kind = DependKind::out;
  location.now.clear();
  location.before.clear();
  if (everything_.task != nullptr) location.now.add(everything_);
  return &location;
}

void DependTable::clear() noexcept {
  // Only the buckets in use: a table that was large once is not slow for ever.
  for (int i = 0; i < count_; ++i) {
    for (uint32_t at = hash(locations_[i].address) & mask_; buckets_[at] != 0; at = (at + 1) & mask_) buckets_[at] = 0;
  }
  count_ = 0;
  everything_ = {nullptr, 0};
}

void DependTable::link_to_all(Task* task, bool keep) noexcept {
  if (everything_.task != nullptr) wait_for(task, everything_);
  for (int i = 0; i < count_; ++i) wait_for_all(task, locations_[i].now);
  if (!keep) return;
  clear();
  everything_ = {task, task->life.load(std::memory_order_relaxed)};
}

void DependTable::link(Task* task, const Dependence& dependence, bool keep) noexcept {
  if (dependence.location == nullptr) {
    link_to_all(task, keep);
    return;
  }
  Location* location = find(dependence.location);
  if (location == nullptr && !keep) {
    if (everything_.task != nullptr) wait_for(task, everything_);
    return;
  }
  if (location == nullptr) location = insert(dependence.location);
  const bool joins = is_shared(dependence.kind) && dependence.kind == location->kind;
  wait_for_all(task, joins ? location->before : location->now);
  if (!keep) return;
  if (!joins) {
    std::swap(location->before, location->now);
    location->now.clear();
    location->kind = dependence.kind;
  }
  if (location->now.size() == location->now.capacity()) location->now.remove_if(has_ended);
  location->now.add({task, task->life.load(std::memory_order_relaxed)});
}

bool link_dependences(Task* parent, Task* task, const Dependence* list, int count, bool keep) noexcept {
  if (parent->children == nullptr) {
    parent->children = new (std::nothrow) DependTable;
    if (parent->children == nullptr) base::lacking("no memory for the dependences of tasks");
  }
  // One more than there are, so that it does not start before all are known.
  task->unmet.store(1, std::memory_order_relaxed);
  task->linked = keep;
  for (int i = 0; i < count; ++i) parent->children->link(task, list[i], keep);
  return task->unmet.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

}  // namespace weft::openmp
