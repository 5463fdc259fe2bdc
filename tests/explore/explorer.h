// SPDX-License-Identifier: Apache-2.0
// Runs a few model threads in all orders that differ from an ordinary one in at most a given number of places, on a
// model of memory, of futexes and of death. See README.md for what is covered and what is not.
#pragma once

#include <climits>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <boost/context/detail/fcontext.hpp>

namespace weft::explore {

inline constexpr int64_t kForever = INT64_MAX;

struct Options {
  int deviations = 2;  // places where an execution differs from running one thread after the other
  int kills = 0;  // of them, processes that are killed
  bool buffered = true;  // stores may become visible late, in order (x86); else at once
  bool reordered = false;  // and late ones of different words in any order, but behind a release or a fence
  bool may_oversleep = false;  // a thread that waits may be woken by time alone: the protocol says so
  uint64_t most_executions = UINT64_MAX;
};

// What the model does wrong, to see that it is found.
struct Mutation {
  bool no_heavy_fence = false;
  bool no_full_fence = false;
  bool no_wake = false;
  bool no_death_mark = false;
  bool no_second_look = false;  // a reader that loads a word again gets what it got before
};
extern Mutation g_mutation;

struct Result {
  uint64_t executions = 0;
  uint64_t steps = 0;
  int longest = 0;
  bool complete = true;  // all orders within the bound
  std::string violation;  // empty: none; else what, and the steps that lead there
};

class Explorer {
 public:
  explicit Explorer(Options options) : options_(options) {}

  // Called before each execution: brings memory into its first state, and adds threads.
  using SetUp = std::function<void(Explorer&)>;
  // Called behind each, when all threads have ended: looks at what is left. No other thread runs.
  using Check = std::function<void(Explorer&)>;

  // `process`: its threads are killed together.
  void add(const char* name, int process, std::function<void()> body);

  Result run(const SetUp& set_up, const Check& check);

  // ---- for the model of memory, by model threads ----

  uint64_t load(const void* word, int bytes);
  void store(void* word, int bytes, uint64_t value, bool release);
  // A read-modify-write: `change` gets the old value, and returns the new one.
  uint64_t update(void* word, int bytes, const std::function<uint64_t(uint64_t)>& change);
  void full_fence();
  void heavy_fence();
  void wait(const void* word, uint64_t expected, int64_t deadline);
  void wake(const void* word);
  void wake_one(const void* word);  // the first of them
  int64_t now() const { return clock_; }
  void pause();
  int self() const { return current_; }

  // Ownership by a thread.
  enum class Taken { no, yes, after_death };
  Taken try_take(const void* owner);
  Taken take(const void* owner, int64_t deadline);
  void settle(const void* owner);
  void give(const void* owner);

  // The execution is wrong.
  void fail(const std::string& what);
  bool outside() const { return current_ < 0; }
  bool killed(int process) const;
  // Called when a process is killed; no thread runs then.
  std::function<void(int process)> at_kill;

  static Explorer* running();

 private:
  enum class State { ready, asleep, ended, killed };
  struct Pending {
    void* word;
    int bytes;
    uint64_t value;
    bool release;
  };
  struct Thread {
    std::string name;
    int process;
    std::function<void()> body;
    std::vector<char>* stack;
    boost::context::detail::fcontext_t context = nullptr;
    State state = State::ready;
    std::deque<Pending> buffer;
    bool late = false;  // its stores wait
    bool done_waiting = false;
    bool pausing = false;
    const void* sleeps_on = nullptr;
    std::map<const void*, uint64_t> seen;
    int64_t deadline = kForever;
  };
  struct Owner {
    int thread = -1;
    bool died = false;
    bool unsettled = false;
  };
  struct Choice {
    int chosen;
    std::vector<int> costs;
  };
  struct Action {
    enum Kind { step, drain, postpone, kill, time } kind;
    int thread;
    int entry;
    int cost;
  };

  void execute();
  std::vector<Action> actions() const;
  void perform(const Action& action);
  bool next_choice();
  void point(const char* what, const void* word);  // back to the scheduler
  void sleep(const char* what, const void* word, int64_t deadline);
  void drain(Thread& thread, size_t entry);
  void drain_all(Thread& thread);
  bool can_drain(const Thread& thread, size_t entry) const;
  void kill(int process);
  void bury(int index);
  void awaken(const void* word, int most = INT_MAX);
  std::string label(const void* word);
  static void enter(boost::context::detail::transfer_t transfer);

  const Options options_;
  std::vector<Thread> threads_;
  std::vector<std::vector<char>> stacks_;
  std::map<const void*, Owner> owners_;
  std::map<const void*, int> labels_;
  std::vector<Choice> choices_;
  std::vector<std::string> log_;
  size_t depth_ = 0;
  int spent_ = 0;
  int kills_ = 0;
  int current_ = -1;
  int last_ = -1;
  int steps_ = 0;
  bool logging_ = false;
  int64_t clock_ = 0;
  std::string violation_;
  boost::context::detail::fcontext_t scheduler_ = nullptr;
};

}  // namespace weft::explore
