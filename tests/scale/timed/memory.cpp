// SPDX-License-Identifier: Apache-2.0
#include "timed/memory.h"

#include <algorithm>

namespace weft::scale {

namespace {

size_t slot_of(uintptr_t number, size_t slots) { return (number * 0x9E3779B97F4A7C15u >> 20) & (slots - 1); }

}  // namespace

Line& Memory::line(uintptr_t number) {
  size_t slot = slot_of(number, table_.size());
  while (table_[slot] != nullptr) {
    if (table_[slot]->number == number) return *table_[slot];
    slot = (slot + 1) & (table_.size() - 1);
  }
  lines_.emplace_back();
  Line& made = lines_.back();
  made.number = number;
  table_[slot] = &made;
  if (lines_.size() * 2 > table_.size()) grow();
  return made;
}

void Memory::grow() {
  table_.assign(table_.size() * 2, nullptr);
  for (Line& line : lines_) {
    size_t slot = slot_of(line.number, table_.size());
    while (table_[slot] != nullptr) slot = (slot + 1) & (table_.size() - 1);
    table_[slot] = &line;
  }
}

// A second CPU comes to it.
void Memory::share(Line& line) {
  line.owner = line.only;
  line.sharers.reset();
  line.sharers.set(static_cast<size_t>(line.only));
  line.only = Line::kSeveral;
  line.stale = std::make_unique<std::array<uint64_t, kMostCpus>>();
  line.stale->fill(~uint64_t{0});
  (*line.stale)[static_cast<size_t>(line.owner)] = 0;
}

// What the owner has written is new to all that do not have the line.
void Memory::settle(Line& line) {
  if (line.fresh == 0) return;
  for (int cpu = 0; cpu < model_.cpus(); ++cpu) (*line.stale)[static_cast<size_t>(cpu)] |= line.fresh;
  if (line.owner >= 0) (*line.stale)[static_cast<size_t>(line.owner)] = 0;
  line.fresh = 0;
}

// How long the line takes to `cpu`. To have it alone, all others must have dropped it.
Time Memory::from_elsewhere(const Line& line, int cpu, bool alone) const {
  if (line.owner >= 0) return model_.transfer(line.owner, cpu);
  Time nearest = line.sharers.none() ? costs_.memory : INT64_MAX;
  Time farthest = 0;
  for (int other = 0; other < model_.cpus(); ++other) {
    if (other == cpu || !line.sharers.test(static_cast<size_t>(other))) continue;
    const Time time = model_.transfer(other, cpu);
    nearest = std::min(nearest, time);
    farthest = std::max(farthest, time);
  }
  return alone ? farthest : nearest;
}

Time Memory::touch(Line& line, int cpu, Pipeline& pipeline, Touch access, uint64_t mask, Time now, const void* place) {
  now += costs_.access;
  if (access == Touch::update) now = std::max(now, pipeline.last_commit()) + costs_.update;
  if (line.only == cpu) {
    if (access == Touch::write) pipeline.commits(std::max(pipeline.last_commit(), now));
    return now;
  }
  if (line.only == Line::kNobody) {
    // Memory that nobody has touched comes while the program goes on: processors see such walks coming.
    line.only = cpu;
    return now + costs_.memory / 4;
  }
  if (line.only != Line::kSeveral) share(line);

  const auto self = static_cast<size_t>(cpu);
  line.last_place = place;
  Site& site = sites_[place];
  ++site.count;
  if (access == Touch::update) {
    ++site.updates;
    ++line.updates;
  }
  if (has(line, cpu, access)) {
    if (access == Touch::write) {
      const Time commit = std::max(pipeline.last_commit(), now);
      pipeline.commits(commit);
      line.busy_until = std::max(line.busy_until, commit);
    }
    if (access != Touch::read) line.fresh |= mask;
    return now;
  }

  settle(line);
  ++site.transfers;
  ++line.transfers;
  ++transfers_;
  uint64_t& stale = (*line.stale)[self];
  // A copy that was valid until now, of a reader that wants to write, has not been fetched for nothing.
  if ((stale & mask) == 0 && !line.sharers.test(self)) ++site.false_transfers;
  stale = 0;
  const Time time = from_elsewhere(line, cpu, access != Touch::read);
  const Time began = now;
  switch (access) {
    case Touch::read: {
      // The loads of a loop go out together: none needs what the one before has brought.
      constexpr Time kBetweenLoads = 2 * kNanosecond;
      const bool overlaps = pipeline.loop == place && now - pipeline.loop_asked < 4 * time;
      Time asked = pipeline.ask(overlaps ? pipeline.loop_asked + kBetweenLoads : now);
      pipeline.loop = place;
      pipeline.loop_asked = asked;
      asked = std::max(asked, line.busy_until);
      const Time came = asked + time;
      pipeline.came(came);
      line.busy_until = asked + costs_.line_busy;
      if (line.owner >= 0) line.sharers.set(static_cast<size_t>(line.owner));
      line.owner = -1;
      line.sharers.set(self);
      now = std::max(now, came);
      break;
    }
    case Touch::write: {
      now = pipeline.room(now);
      const Time asked = std::max(pipeline.ask(now), line.busy_until);
      const Time came = asked + time;
      pipeline.came(came);
      const Time commit = std::max(came, pipeline.last_commit());
      pipeline.commits(commit);
      line.busy_until = commit;
      break;
    }
    case Touch::update: {
      now = std::max(now, line.busy_until) + time;
      line.busy_until = now;
      break;
    }
  }
  if (access != Touch::read) {
    line.owner = cpu;
    line.sharers.reset();
    line.sharers.set(self);
    line.fresh = mask;
  }
  site.waited += now - began;
  return now;
}

void Memory::reset_counts() {
  sites_.clear();
  transfers_ = 0;
  for (Line& line : lines_) line.transfers = line.updates = 0;
}

std::vector<const Line*> Memory::busiest(size_t most) const {
  std::vector<const Line*> found;
  for (const Line& line : lines_) {
    if (line.transfers + line.updates > 0) found.push_back(&line);
  }
  const auto busier = [](const Line* a, const Line* b) {
    return a->updates != b->updates ? a->updates > b->updates : a->transfers > b->transfers;
  };
  std::sort(found.begin(), found.end(), busier);
  if (found.size() > most) found.resize(most);
  return found;
}

}  // namespace weft::scale
