// SPDX-License-Identifier: Apache-2.0
// Teams whose members are run by another library's threads (openmp/engine). No carrier knows of them: a thread is a
// member for as long as a piece of the loop lasts.
#pragma once

#include "openmp/record/team.h"

namespace weft::openmp {

// Whether a region inside `parent` may have such a team: where threads are not limited, and all regions around it that
// have several members are an engine's too. Contexts of the pool stay with the pool's scheduler. Where threads are
// bound there is no engine.
bool suits_engine(Member* parent) noexcept;

// A team of `size` for the calling thread's next region.
Team* begin_engine_team(Member* parent, int size) noexcept;

// All pieces have returned. Runs what tasks they have left; the caller is `parent` again.
void end_engine_team(Team* team, Member* parent) noexcept;

// The calling thread is member `number` for as long as this lives. Nobody else may have that number meanwhile.
class EngineMember {
 public:
  EngineMember(Team* team, int number) noexcept;
  ~EngineMember();
  EngineMember(const EngineMember&) = delete;
  EngineMember& operator=(const EngineMember&) = delete;

 private:
  Member* const before_;
  Member* const member_;
};

}  // namespace weft::openmp
