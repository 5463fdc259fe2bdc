// SPDX-License-Identifier: Apache-2.0
// Runs a few threads one at a time, in an order that a seed decides, on memory that keeps no more than C++ promises.
// What the threads do the compiler's instrumentation for ThreadSanitizer tells (hooks.cpp).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <boost/context/detail/fcontext.hpp>

#include "machine/memory.h"

namespace weft::explore {

enum class Strategy : uint8_t { random, priorities };

struct Settings {
  Strategy strategy = Strategy::random;
  bool stale = true;  // loads may return older stores
  int changes = 3;  // of priorities in a run
  int steps = 200;  // that a run is expected to have, for the places of the changes
  int most_steps = 20'000;  // a run that goes on for longer goes round in circles
  size_t trace = 60;  // operations that are kept
  bool may_time_out = false;  // threads that sleep for a time only may be left to that
};

enum class Operation : uint8_t { load, store, update, fence, wait, wake, race, none };

struct Event {
  int thread = 0;
  Operation operation = Operation::none;
  const void* place = nullptr;
  uintptr_t address = 0;
  uint64_t value = 0;
  uint32_t stale = 0;  // how many stores are newer than the one that was loaded
};

// What one run has come to.
struct Outcome {
  bool failed = false;
  std::string what;
  std::vector<Event> trace;  // the last ones
  int steps = 0;
  uint64_t execution =
      0;  // a hash of what each thread has done and read: the same for runs that differ in nothing else
  int stale_loads = 0;
};

class Machine {
 public:
  // Thread 0 sets up and checks, with no other thread running; the others run `body(thread)`, from 1 to `threads`.
  struct Program {
    int threads = 2;
    std::function<void()> set_up;
    std::function<void(int)> body;
    std::function<void()> check;
  };
  Outcome run(const Program& program, const Settings& settings, uint64_t seed);

  // Operations at these places have no order, fences and wake-ups there do nothing.
  std::unordered_set<const void*> weakened;
  // Places of operations that could be weakened, if wanted.
  std::unordered_map<const void*, Operation> strong_places;
  bool collects = false;
  bool observes = true;  // plain accesses

  // ---- for hooks, by the running thread ----

  uint64_t load(uintptr_t address, uint32_t size, int order, const void* place);
  void store(uintptr_t address, uint32_t size, uint64_t value, int order, const void* place);
  template <class Change>
  uint64_t update(uintptr_t address, uint32_t size, int order, const void* place, Change&& change) {
    order = effective(order, place, Operation::update);
    step();
    Word& word = memory_.word_at(address, size);
    const uint64_t before = word.stores.back().value;
    put_update(word, change(before), order, place);
    return before;
  }
  bool compare_exchange(uintptr_t address, uint32_t size, uint64_t& expected, uint64_t wish, int order, int fail_order,
                        bool weak, const void* place);
  void fence(int order, const void* place);
  void plain(uintptr_t address, uint32_t size, bool writes, const void* place);
  long futex_wait(const void* word, uint32_t expected, int64_t timeout_ns, const void* place);
  long futex_wake(const void* word, int count, const void* place);
  bool futex_has_sleeper(const void* word) const;
  // `yields`: others come first, whoever they are.
  void pause(bool yields);
  int64_t now_ns() const { return now_ns_; }

  // ---- for programs ----

  int current() const { return current_; }
  // A number below `count`, as the seed says.
  uint32_t choose(uint32_t count);
  bool one_in(uint32_t count) { return choose(count) == 0; }
  // The run has failed. Does not return to a thread of the program.
  void fail(const std::string& what);

 private:
  enum class State : uint8_t { ready, sleeping, ended };
  struct Thread {
    boost::context::detail::fcontext_t context = nullptr;
    State state = State::ended;
    const void* sleeps_on = nullptr;
    const void* sleeps_at = nullptr;
    uint64_t asleep_since = 0;
    int64_t deadline_ns = 0;  // 0: none
    bool timed_out = false;
    int64_t priority = 0;
    uint64_t hash = 0;
  };

  static void enter(boost::context::detail::transfer_t transfer);
  void schedule(const Program& program);
  int next_thread();
  int let_time_pass();
  void step();
  void switch_away();
  int effective(int order, const void* place, Operation operation);
  uint32_t choose_store(const Word& word, uint32_t oldest);
  uint64_t load_of(Word& word, uint32_t index, int order, const void* place);
  void put_update(Word& word, uint64_t value, int order, const void* place);
  void note(const Word& word, Kind kind, const void* place);
  void report(const Race& race, const void* place);
  void remember(Operation operation, const void* place, uintptr_t address, uint64_t value, uint32_t stale);
  void add_to_hash(uint64_t value);
  void set_up_strategy();
  bool outside() const { return current_ == 0; }
  bool is_fair() const { return outcome_.steps > settings_.most_steps / 2; }

  Memory memory_;
  Settings settings_;
  const Program* program_ = nullptr;
  std::array<Thread, kMostThreads> threads_;
  std::array<std::vector<char>, kMostThreads> stacks_;
  boost::context::detail::fcontext_t scheduler_ = nullptr;
  int count_ = 0;
  int current_ = 0;
  int next_ = 0;  // which thread goes on; 0: to be decided
  bool pauses_ = false;  // the thread that runs only waits, and lets others
  bool polls_on_ = false;  // it only waits, and lets nobody
  uint64_t random_ = 0;
  uint32_t switch_one_in_ = 4;
  uint32_t stale_one_in_ = 2;
  uint32_t leave_one_in_ = 1;
  uint64_t sleeps_ = 0;
  std::vector<int> changes_;
  int64_t lowest_ = 0;
  int64_t now_ns_ = 0;
  std::vector<Event> ring_;
  size_t ring_at_ = 0;
  Outcome outcome_;
};

// Null: no program runs on it.
extern Machine* g_machine;

}  // namespace weft::explore
