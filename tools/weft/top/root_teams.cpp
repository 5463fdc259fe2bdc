// SPDX-License-Identifier: Apache-2.0
#include "top/root_teams.h"

#include <algorithm>
#include <array>
#include <vector>

#include "openmp/record/team.h"
#include "openmp/task/task_deque.h"
#include "top/process_memory.h"
#include "top/record_copy.h"

namespace weft::tools {

namespace {

constexpr int kMostDepth = 16;
constexpr int kMostMembers = 4096;

}  // namespace

struct RootTeams::Team {
  uint64_t address = 0;
  int size = 0;
  int level = 0;
};

bool RootTeams::read_team(Team& team) const {
  const MemoryPart parts[] = {part(team.address + offset_of(&openmp::Team::size), team.size),
                              part(team.address + offset_of(&openmp::Team::level), team.level)};
  return read_memory(process_, parts) == MemoryRead::whole && team.size > 0 && team.level >= 0;
}

template <class Visit>
void RootTeams::walk(Visit&& visit) const {
  std::array<uint64_t, 2> words{};
  const MemoryPart current[] = {part(thread_pointer_ + static_cast<uint64_t>(start_.members[0]), words[0]),
                                part(thread_pointer_ + static_cast<uint64_t>(start_.members[1]), words[1])};
  if (thread_pointer_ == 0 || read_memory(process_, current) != MemoryRead::whole) return;
  uint64_t member = words[0] != 0 ? words[0] : words[1];
  for (int depth = 0; member != 0 && depth < kMostDepth; ++depth) {
    Team team;
    uint64_t outer = 0;
    const MemoryPart links[] = {part(member + offset_of(&openmp::Member::team), team.address),
                                part(member + offset_of(&openmp::Member::outer), outer)};
    if (read_memory(process_, links) != MemoryRead::whole || !read_team(team) || !visit(member, team)) return;
    member = outer;
  }
}

int RootTeams::members(TeamPath* path) const {
  int members = 0;
  int depth = 0;
  walk([&](uint64_t member, const Team& team) {
    if (team.level > 0) members = std::min(team.size, kMostMembers);
    if (team.level == 1 && depth == 0) *path = {thread_pointer_, member, team.address};
    ++depth;
    return team.level > 1;
  });
  return members;
}

void RootTeams::add_parts(const core::InspectionStart& start, const TeamPath& path, TeamPathCopy& copy,
                          std::vector<MemoryPart>& parts) {
  for (size_t i = 0; i < copy.words.size(); ++i)
    parts.push_back(part(path.thread_pointer + static_cast<uint64_t>(start.members[i]), copy.words[i]));
  parts.push_back(part(path.member + offset_of(&openmp::Member::team), copy.team));
  parts.push_back(part(path.team + offset_of(&openmp::Team::size), copy.size));
  parts.push_back(part(path.team + offset_of(&openmp::Team::level), copy.level));
}

int RootTeams::members(const TeamPath& path, const TeamPathCopy& copy) {
  const uint64_t member = copy.words[0] != 0 ? copy.words[0] : copy.words[1];
  const bool is_there = member == path.member && copy.team == path.team && copy.level == 1 && copy.size > 0;
  return is_there ? std::min(copy.size, kMostMembers) : -1;
}

int64_t RootTeams::waiting_tasks(int& most_deques) const {
  int64_t tasks = 0;
  walk([&](uint64_t /*member*/, const Team& team) {
    tasks += tasks_of(team, most_deques);
    return team.level > 1;
  });
  return tasks;
}

int64_t RootTeams::tasks_of(const Team& team, int& most_deques) const {
  static const uint64_t kTasked = offset_of(&openmp::Team::tasks) + offset_of(&openmp::TeamTasks::tasked);
  static const uint64_t kMembers = offset_of(&openmp::Team::members);
  unsigned char tasked = 0;
  int capacity = 0;  // of the table of deques
  uint64_t table_address = 0;
  const MemoryPart fields[] = {part(team.address + kTasked, tasked),
                               part(team.address + kMembers + offset_of(&openmp::MemberTables::capacity), capacity),
                               part(team.address + kMembers + offset_of(&openmp::MemberTables::deques), table_address)};
  if (read_memory(process_, fields) != MemoryRead::whole || tasked == 0) return 0;
  const int count = std::min({team.size, capacity, kMostMembers, most_deques});
  if (count <= 0) return 0;
  most_deques -= count;
  std::vector<uint64_t> addresses(static_cast<size_t>(count));
  const MemoryPart table[] = {{table_address, addresses.data(), addresses.size() * sizeof addresses[0]}};
  if (read_memory(process_, table) != MemoryRead::whole) return 0;
  addresses.erase(std::remove(addresses.begin(), addresses.end(), uint64_t{0}), addresses.end());
  // Both ends of a deque lie before its counts.
  static const size_t kEnds = offset_of(&openmp::TaskDeque::created);
  Copies<openmp::TaskDeque> deques(addresses.size());
  std::vector<MemoryPart> parts;
  for (size_t i = 0; i < addresses.size(); ++i) parts.push_back(deques.part(i, addresses[i], kEnds));
  if (read_memory(process_, parts) != MemoryRead::whole) return 0;
  int64_t tasks = 0;
  for (size_t i = 0; i < deques.size(); ++i)
    tasks += std::clamp<int64_t>(deques[i].size(), 0, openmp::TaskDeque::kSize);
  return tasks;
}

}  // namespace weft::tools
