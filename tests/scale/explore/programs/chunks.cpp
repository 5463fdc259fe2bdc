// SPDX-License-Identifier: Apache-2.0
// The ways in which members take the chunks of a loop: each iteration is got once.
#include <array>

#include "openmp/record/chunk_groups.h"
#include "openmp/record/workshare.h"
#include "programs/program.h"

namespace weft::explore {

namespace {

constexpr int kMembers = 3;
constexpr uint64_t kIterations = 24;

class Chunks : public Program {
 public:
  void run(int thread) override {
    openmp::Chunk chunk;
    State state;
    while (next(thread - 1, state, &chunk)) {
      for (uint64_t i = chunk.begin; i < chunk.end; ++i) ++got_[i];
    }
  }
  void check() override {
    for (const int got : got_) expect(got == 1, "an iteration has not been got once");
  }

 protected:
  struct State {
    openmp::GroupCursor group;
    uint64_t had_last = 0;
  };
  virtual bool next(int number, State& state, openmp::Chunk* chunk) = 0;
  openmp::Workshare& share() { return share_; }

 private:
  openmp::Workshare share_;
  std::array<int, kIterations> got_{};
};

class Groups final : public Chunks {
 public:
  Groups() {
    openmp::share_dynamic_loop(&share(), {base::LoopSchedule::Kind::dynamic, true, 1}, 1, kIterations, kMembers);
    openmp::share_by_groups(&share());
    expect(share().groups == 1, "there is no group");
  }
  ~Groups() override { delete[] share().ranges.load(); }
  bool next(int number, State& state, openmp::Chunk* chunk) override {
    return openmp::next_of_group(&share(), state.group, number, kMembers, chunk);
  }
};

class Ranges final : public Chunks {
 public:
  Ranges() { openmp::share_static_loop(&share(), 2, kIterations, kMembers, {1, 1}, true); }
  ~Ranges() override { delete[] share().ranges.load(); }
  bool next(int number, State& state, openmp::Chunk* chunk) override {
    return openmp::next_of_share(&share(), number, state.had_last, chunk);
  }
};

const Registered kGroups({"chunk_groups", kMembers, make<Groups>});
const Registered kRanges({"chunk_range", kMembers, make<Ranges>});

}  // namespace

}  // namespace weft::explore
