// SPDX-License-Identifier: Apache-2.0
// Regions whose members are run by another library's threads (engine.h). No carrier knows of them: a thread is a member
// for as long as a piece of the loop lasts.
#pragma once

#include "openmp/record/team.h"
#include "weft/engine.h"

namespace weft::openmp {

// A kind of region, as those of region/primary.h; the caller is a member for its pieces only.
class EngineRegion {
 public:
  // Whether a region inside `parent` may be one: where threads are not limited, and all regions around it that have
  // several members are an engine's too. Contexts of the pool stay with the pool's scheduler. Where threads are bound
  // there is no engine.
  static bool is_possible(Member* parent) noexcept;

  void begin(Member* parent, int size) noexcept;
  void run(const weft_engine* engine, weft_engine_loop* loop) noexcept { engine->run(loop); }
  // All pieces have returned. Runs what tasks they have left; the caller is what it was before.
  void end() noexcept;

  Team* team() const noexcept { return team_; }

 private:
  Member* parent_ = nullptr;
  Team* team_ = nullptr;
};

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
