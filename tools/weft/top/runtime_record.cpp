// SPDX-License-Identifier: Apache-2.0
#include "top/runtime_record.h"

#include <algorithm>

#include "top/process_memory.h"
#include "top/root_teams.h"

namespace weft::tools {

namespace {

constexpr int kMostRoots = 64;  // whose teams are looked at
constexpr int kMostDeques = 4096;
constexpr int kMostSlots = 1 << 20;

template <class Visit>
void for_roots(const Copies<core::Carrier>& carriers, Visit&& visit) {
  int looked_at = 0;
  for (size_t i = 0; i < carriers.size() && looked_at < kMostRoots; ++i) {
    const core::Carrier& carrier = carriers[i];
    if (!carrier.is_root() || carrier.thread_id.load() == 0 || carrier.regions_open.load() <= 0) continue;
    ++looked_at;
    visit(carrier);
  }
}

}  // namespace

RecordState RuntimeRecord::look(const MappedRuntime& mapped, RuntimeCounts& counts) {
  const RecordState state = start_.look(mapped);
  if (state != RecordState::known) return state;
  if (!read_pool(counts)) return RecordState::missing;
  Copies<core::Carrier> carriers(carriers_.size());
  std::vector<MemoryPart> parts;
  add_carriers(carriers, parts);
  if (read_memory(process_, parts) != MemoryRead::whole) return RecordState::missing;
  count_regions(carriers);
  counts.regions = regions_;
  int most_deques = kMostDeques;
  for_roots(carriers, [&](const core::Carrier& root) {
    counts.tasks += RootTeams(process_, start_.get(), root.own_context.thread_pointer).waiting_tasks(most_deques);
  });
  return RecordState::known;
}

bool RuntimeRecord::read_pool(RuntimeCounts& counts) {
  const core::InspectionStart& start = start_.get();
  static const uint64_t kSlots = offset_of(&core::Pool::settings) + offset_of(&core::Settings::slots);
  int count = 0;
  uint32_t wanted = 0;
  int64_t pending = 0;
  const MemoryPart parts[] = {part(start.pool + kSlots, slots_),
                              part(start.pool + offset_of(&core::Pool::carrier_count), count),
                              part(start.wanted, wanted), part(start.pending, pending)};
  if (read_memory(process_, parts) != MemoryRead::whole) return false;
  slots_ = std::clamp(slots_, 1, kMostSlots);
  counts.slots = slots_;
  // As pending_arrivals() says it.
  counts.messages = wanted != 0 ? std::max<int64_t>(pending, 0) : 0;
  carriers_.resize(static_cast<size_t>(std::clamp(count, 0, core::kMaxCarriers)));
  const MemoryPart table[] = {
      {start.pool + offset_of(&core::Pool::carriers), carriers_.data(), carriers_.size() * sizeof carriers_[0]}};
  return carriers_.empty() || read_memory(process_, table) == MemoryRead::whole;
}

// As much of each as is used here.
void RuntimeRecord::add_carriers(Copies<core::Carrier>& carriers, std::vector<MemoryPart>& parts) const {
  static const size_t kUsed = offset_of(&core::Carrier::waiting) + sizeof(core::Carrier::waiting);
  for (size_t i = 0; i < carriers.size(); ++i) parts.push_back(carriers.part(i, carriers_[i], kUsed));
}

// Each carrier's count wraps around. A carrier that has come since the last look began with 0.
void RuntimeRecord::count_regions(const Copies<core::Carrier>& carriers) {
  regions_seen_.resize(std::max(regions_seen_.size(), carriers.size()));
  for (size_t i = 0; i < carriers.size(); ++i) {
    const uint32_t now = carriers[i].regions_seen.load();
    if (has_seen_) regions_ += static_cast<uint32_t>(now - regions_seen_[i]);
    regions_seen_[i] = now;
  }
  has_seen_ = true;
}

int RuntimeRecord::members_of(const core::Carrier& root, const TeamPathCopy& copy) {
  const uint64_t thread_pointer = root.own_context.thread_pointer;
  if (path_.thread_pointer == thread_pointer) {
    const int members = RootTeams::members(path_, copy);
    if (members >= 0) return members;
  }
  return RootTeams(process_, start_.get(), thread_pointer).members(&path_);
}

std::optional<WorkSample> RuntimeRecord::sample() {
  constexpr size_t kIdleLine = 64;
  Copies<core::Carrier> carriers(carriers_.size());
  Copies<decltype(core::Pool::idle)> idle(1);
  TeamPathCopy copy;
  std::vector<MemoryPart> parts;
  parts.reserve(carriers.size() + 8);
  add_carriers(carriers, parts);
  const size_t lines = (carriers.size() + core::Pool::kIdlePerLine - 1) / core::Pool::kIdlePerLine;
  parts.push_back(idle.part(0, start_.get().pool + offset_of(&core::Pool::idle), lines * kIdleLine));
  const size_t without_path = parts.size();
  if (path_.thread_pointer != 0) RootTeams::add_parts(start_.get(), path_, copy, parts);
  if (read_memory(process_, parts) != MemoryRead::whole) {
    // The thread may have ended.
    if (parts.size() == without_path) return std::nullopt;
    path_ = TeamPath();
    parts.resize(without_path);
    if (read_memory(process_, parts) != MemoryRead::whole) return std::nullopt;
  }
  WorkSample found;
  for_roots(carriers, [&](const core::Carrier& root) { found.members += members_of(root, copy); });
  if (found.members == 0) return found;
  for (size_t i = 0; i < carriers.size(); ++i) {
    const core::Carrier& carrier = carriers[i];
    const bool takes_part = carrier.thread_id.load() != 0 && (!carrier.is_root() || carrier.regions_open.load() > 0);
    if (takes_part && !carrier.waiting.load() && !idle[0].has(static_cast<int>(i))) ++found.at_work;
  }
  found.at_work = std::min(found.at_work, slots_);
  // Teams inside of these have members too.
  found.members = std::max(std::min(found.members, slots_), found.at_work);
  return found;
}

}  // namespace weft::tools
