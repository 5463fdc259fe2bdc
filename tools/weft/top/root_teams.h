// SPDX-License-Identifier: Apache-2.0
// The teams that a root of another process is in, by the words of its identity.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/monitor/inspection.h"
#include "top/process_memory.h"

namespace weft::tools {

// Where the size of a root's outermost team has been found. Most looks find it there again, by one read.
struct TeamPath {
  uint64_t thread_pointer = 0;  // 0: there is none
  uint64_t member = 0;
  uint64_t team = 0;
};

// What lies there, as it is read.
struct TeamPathCopy {
  std::array<uint64_t, 2> words{};
  uint64_t team = 0;
  int size = 0;
  int level = 0;
};

class RootTeams {
 public:
  RootTeams(pid_t process, const core::InspectionStart& start, uint64_t thread_pointer)
      : process_(process), start_(start), thread_pointer_(thread_pointer) {}

  // Members of the outermost region; 0: it is in none. *path: where that is said, if it is a near place.
  int members(TeamPath* path) const;
  // Tasks that lie in the deques of all members of these teams. So many deques are looked at; it is made less by those
  // that were.
  int64_t waiting_tasks(int& most_deques) const;

  // The parts to read of a path; and what they say: below 0: the path does not lead there any more.
  static void add_parts(const core::InspectionStart& start, const TeamPath& path, TeamPathCopy& copy,
                        std::vector<MemoryPart>& parts);
  static int members(const TeamPath& path, const TeamPathCopy& copy);

 private:
  struct Team;
  // The innermost first, until `visit(member, team)` returns false.
  template <class Visit>
  void walk(Visit&& visit) const;
  bool read_team(Team& team) const;
  int64_t tasks_of(const Team& team, int& most_deques) const;

  const pid_t process_;
  const core::InspectionStart& start_;
  const uint64_t thread_pointer_;
};

}  // namespace weft::tools
