// SPDX-License-Identifier: Apache-2.0
// Runs a few threads in an order that a seed decides, on memory that keeps no more than C++ promises.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "machine/stepper.h"
#include "random/memory.h"

namespace weft::explore {

using machine::Access;
using machine::Event;
using machine::Operation;

enum class Schedule : uint8_t { random, priorities };

struct Settings {
  Schedule schedule = Schedule::random;
  bool stale = true;  // loads may return older stores
  int changes = 3;  // of priorities in a run
  int steps = 200;  // that a run is expected to have, for the places of the changes
  int most_steps = 20'000;  // a run that goes on for longer goes round in circles
  size_t trace = 60;  // operations that are kept
  bool may_time_out = false;  // threads that sleep for a time only may be left to that
};

// What one run has come to.
struct Outcome {
  bool failed = false;
  std::string what;
  std::vector<Event> trace;  // the last operations
  int steps = 0;
  // A hash of what each thread has done and read: the same for runs that differ in nothing else.
  uint64_t execution = 0;
  int stale_loads = 0;
};

class Random final : public machine::Stepper {
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

  // A number below `count`, as the seed says.
  uint32_t choose(uint32_t count);
  bool one_in(uint32_t count) { return choose(count) == 0; }

  // ---- for hooks ----

  void plain(const Access& access, bool writes) override;
  void pause(bool yields) override;

 private:
  int next() override;
  void before(Access& access, Operation operation) override;
  uint64_t seen(const Access& access) override;
  bool finds_expected(const Access& access, int fail_order, bool weak, uint64_t& expected) override;
  void put(const Access& access, uint64_t value, Operation operation) override;
  void done(const Access& access, Operation operation, uint64_t value) override;
  bool falls_asleep(uint32_t found, uint32_t expected) override;

  int let_somebody_time_out();
  uint32_t choose_store(const Word& word, uint32_t oldest);
  uint64_t load_of(Word& word, uint32_t index, int order);
  void note(const Access& access, Kind kind);
  void add_to_hash(uint64_t value);
  void set_up_strategy();
  bool is_fair() const { return outcome_.steps > settings_.most_steps / 2; }

  Memory memory_;
  Settings settings_;
  std::array<int64_t, kMostThreads> priority_{};
  std::array<uint64_t, kMostThreads> hash_{};
  bool pauses_ = false;  // the thread that runs only waits, and lets others
  bool polls_on_ = false;  // it only waits, and lets nobody
  uint32_t stale_ = 0;  // of the load under way: how many stores are newer than the one that it returns
  uint64_t random_ = 0;
  uint32_t switch_one_in_ = 4;
  uint32_t stale_one_in_ = 2;
  uint32_t leave_one_in_ = 1;
  std::vector<int> changes_;
  int64_t lowest_ = 0;
  Outcome outcome_;
};

}  // namespace weft::explore
