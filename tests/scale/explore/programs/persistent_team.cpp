// SPDX-License-Identifier: Apache-2.0
// Posts to a persistent team: each member runs each post once, with the words of that post, and the owner sees what it
// has done.
#include "core/sched/persistent_team.h"

#include <array>
#include <atomic>

#include "programs/program.h"
#include "stand_in/core.h"

namespace weft::explore {

namespace {

constexpr int kPosts = 2;

template <int kMembers>
class PersistentTeamProgram : public Program {
 public:
  PersistentTeamProgram() : team_(call, nudge, this) { core_.await_launch(2); }
  void run(int thread) override {
    if (thread > 1) {
      core_.run_launched();
      return;
    }
    team_.reserve(kMembers);
    for (int i = 0; i < kPosts; ++i) post(i);
    team_.dismiss();
  }
  void check() override {
    for (size_t i = 1; i < kMembers; ++i) expect(posts_[i] == expected_[i], "a post is missing");
  }

 protected:
  virtual void post(int) {
    input_ = 1;  // before the post, for those who run it
    core::Post words{};
    words.words[0] = &input_;
    team_.start(kMembers, words);
    finish();
  }
  void finish() {
    team_.finish();
    for (int i = 1; i < kMembers; ++i) ++expected_[static_cast<size_t>(i)];
    check();
    input_ = 0;
  }

  core::PersistentTeam& team() { return team_; }
  int& asked() { return asked_; }
  std::atomic<int>& answered() { return answered_; }
  int& expected(int member) { return expected_[static_cast<size_t>(member)]; }
  int input_ = 0;

 private:
  static void call(core::PersistentTeam* team, int index, const core::Post& post) {
    auto* self = static_cast<PersistentTeamProgram*>(team->owner_data());
    expect(*static_cast<int*>(post.words[0]) == 1, "a member has another post's words");
    ++self->posts_[static_cast<size_t>(index)];
  }
  // Once for several nudges, maybe; and after a post that it has come with.
  static void nudge(core::PersistentTeam* team, int, const core::Post&) {
    auto* self = static_cast<PersistentTeamProgram*>(team->owner_data());
    expect(self->asked_ == 1, "a nudge came before what it is for");
    self->answered_.fetch_add(1, std::memory_order_release);
    core::unblock(&self->core_.context(1));
  }

  StandInCore core_{kMembers};
  core::PersistentTeam team_;
  std::array<int, kMembers> posts_{};
  std::array<int, kMembers> expected_{};
  int asked_ = 0;
  std::atomic<int> answered_{0};
};

// Members that have not begun are taken back.
class OptionalPosts final : public PersistentTeamProgram<3> {
 protected:
  void post(int number) override {
    if (number == 1) {
      PersistentTeamProgram::post(number);
      return;
    }
    input_ = 1;
    core::Post words{};
    words.words[0] = &input_;
    team().start_optional(3, words);
    while (const int member = team().withdraw_next()) --expected(member);
    finish();
  }
};

// A member that has nothing to do is nudged, and comes: before the next post, or it is not needed any more.
class Nudges final : public PersistentTeamProgram<3> {
 protected:
  void post(int number) override {
    PersistentTeamProgram::post(number);
    // Before the nudge, for the member that it calls.
    asked() = 1;
    team().nudge(1);
    while (answered().load(std::memory_order_acquire) != number + 1) core::block();
    asked() = 0;
  }
};

// Members tell each other: CMakeLists.txt makes teams of four large for this.
class PostsByTree final : public PersistentTeamProgram<5> {
 public:
  PostsByTree() { core::PersistentTeam::always_by_tree = true; }
};

const Registered kPlainPosts({"persistent_team", 3, make<PersistentTeamProgram<3>>});
const Registered kOptionalPosts({"persistent_team_optional", 3, make<OptionalPosts>});
const Registered kNudges({"persistent_team_nudge", 3, make<Nudges>});
const Registered kPostsByTree({"persistent_team_tree", 5, make<PostsByTree>});

}  // namespace

}  // namespace weft::explore
