// SPDX-License-Identifier: Apache-2.0
// When tokens of a jobserver are taken and given back. A policy: it sees numbers only. Internal to core.
#pragma once

namespace weft::core {

// The process may use one CPU for its job, and one for each token. CPUs for which there is no token are held back from
// the carriers.
//
// Invariant: the CPUs that are let go are no more than the tokens and one. So a CPU is let go after its token has been
// taken. It is held back a tick before its token is given back, and the token stays as long as a carrier computes that
// has come by this CPU.
class JobTokenPlan {
 public:
  struct Look {
    int let_go = 1;  // CPUs that carriers may use, the job's own too
    int tokens = 0;
    int wanted = 1;  // CPUs that are in use or could be
    int beyond = 0;  // carriers that run although their CPUs have been held back
  };
  struct Change {
    int give_back = 0;  // tokens to write back
    int let_go = 0;     // CPUs to let go for which there is a token already
    int take = 0;       // tokens to take, if they are there, and to let CPUs go for
    int hold = 0;       // CPUs to hold back
  };

  // To be called at each tick.
  Change tick(const Look& now) noexcept;

 private:
  // A serial part or a wait that is shorter keeps its tokens: others get little of a short time, and to come back to
  // work takes a tick.
  static constexpr int kTicksOfSurplus = 4;
  // So often a part of the tokens is put back for two ticks even where all are in use. Otherwise a program that runs
  // for an hour keeps make from starting another job for an hour.
  static constexpr int kTicksOfTurn = 200;
  static constexpr int kPartOfTurn = 4;
  static constexpr int kTicksToLetOthers = 2;

  int unused_ = 0;  // tokens for which no CPU was let go after the last tick
  int surplus_ = 0;
  int surplus_ticks_ = 0;
  int ticks_of_turn_ = 0;
  int offered_ = 0;  // tokens that are still to be put back for others
  int ticks_to_let_others_ = 0;
};

}  // namespace weft::core
