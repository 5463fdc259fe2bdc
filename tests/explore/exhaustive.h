// SPDX-License-Identifier: Apache-2.0
// Runs a few threads in all orders that differ from an ordinary one in at most a given number of places, on memory
// whose stores are seen late, and with processes that die. See README.md for what is covered and what is not.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "machine/stepper.h"
#include "shm/sync/owner_word.h"

namespace weft::explore {

using machine::Access;
using machine::kForever;
using machine::Operation;

struct Options {
  int deviations = 2;  // places where an execution differs from running one thread after the other
  int kills = 0;  // of them, processes that are killed
  bool may_oversleep = false;  // a thread that waits may be woken by time alone: the protocol says so
  uint64_t most_executions = UINT64_MAX;
};

// What the machine does wrong, to see that it is found.
struct Mutation {
  bool no_heavy_fence = false;
  bool no_full_fence = false;
  bool no_wake = false;
  bool no_death_mark = false;
  bool no_second_look = false;  // a reader that loads a word again gets what it got before

  bool operator==(const Mutation&) const = default;
};
extern Mutation g_mutation;

struct Result {
  uint64_t executions = 0;
  uint64_t steps = 0;
  int longest = 0;
  bool complete = true;  // all orders within the bound
  std::string violation;  // empty: none; else what, and the steps that lead there
};

class Exhaustive final : public machine::Stepper {
 public:
  explicit Exhaustive(Options options) : options_(options) {}

  // Called before each execution: brings memory into its first state, and adds threads.
  using SetUp = std::function<void(Exhaustive&)>;
  // Called behind each, when all threads have ended: looks at what is left. No other thread runs.
  using Check = std::function<void(Exhaustive&)>;

  // `process`: its threads are killed together.
  void add(const char* name, int process, std::function<void()> body);

  Result run(const SetUp& set_up, const Check& check);

  // The one whose threads or whose check the caller belongs to.
  static Exhaustive& running() { return static_cast<Exhaustive&>(*machine::g_machine); }

  // ---- for hooks ----

  void plain(const Access&, bool) override {}
  void pause(bool yields) override;

  // ---- for the operations of src/shm (model_ops.h) ----

  void heavy_fence();
  // Ownership by a thread.
  shm::Taken try_take(const void* owner);
  shm::Taken take(const void* owner, int64_t deadline);
  void settle(const void* owner) { owners_[owner].unsettled = false; }
  void give(const void* owner);

  bool killed(int process) const;
  // Called when a process is killed; no thread runs then.
  std::function<void(int process)> at_kill;

 private:
  struct Pending {
    Access access;
    uint64_t value;
  };
  struct Life {
    int process = 0;
    std::deque<Pending> buffer = {};
    bool late = false;  // its stores wait
    bool pausing = false;
    bool killed = false;
    std::map<uintptr_t, uint64_t> seen = {};
  };
  struct Owner {
    int thread = kNobody;
    bool died = false;
    bool unsettled = false;
  };
  static constexpr int kNobody = -1;
  struct Choice {
    size_t chosen;
    std::vector<int> costs;
  };
  struct Action {
    enum Kind { step, drain, postpone, kill, time } kind;
    int thread;
    int cost;
  };

  int next() override;
  void has_ended(int number) override;
  void before(Access& access, Operation operation) override;
  uint64_t seen(const Access& access) override;
  void put(const Access& access, uint64_t value, Operation operation) override;

  // A step that is no access to memory.
  void ask(const void* of, Operation operation);
  static bool drains(const Access& access, Operation operation);
  std::vector<Action> actions() const;
  bool next_choice();
  void drain(int number);
  void drain_all(int number);
  void kill(int process);
  void bury(int number);
  Life& life(int number) { return lives_[static_cast<size_t>(number)]; }
  const Life& life(int number) const { return lives_[static_cast<size_t>(number)]; }

  const Options options_;
  std::vector<Life> lives_;  // of threads, by number
  std::map<const void*, Owner> owners_;
  std::vector<Choice> choices_;
  size_t depth_ = 0;
  int kills_ = 0;
  int last_ = 0;
  int steps_ = 0;
};

inline bool long_run() { return std::getenv("WEFT_TEST_EXPLORE") != nullptr; }

// Explores a model, by its set_up() and check(), and prints what that was. Returns the violation, or nothing.
template <class Model>
std::string explore(const std::string& what, Model& model, Options options) {
  // What is planted shows within the smaller bound, and within a larger one only after very many executions.
  if (long_run() && g_mutation == Mutation{}) ++options.deviations;
  Exhaustive machine(options);
  const Result result = machine.run([&](Exhaustive& running) { model.set_up(running); },
                                    [&](Exhaustive& running) { model.check(running); });
  std::printf("%s: %d deviations, %d kills: %llu executions%s, %llu steps, %d at most in one\n", what.c_str(),
              options.deviations, options.kills, static_cast<unsigned long long>(result.executions),
              result.complete ? "" : " (not all)", static_cast<unsigned long long>(result.steps), result.longest);
  return result.violation;
}

}  // namespace weft::explore
