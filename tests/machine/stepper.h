// SPDX-License-Identifier: Apache-2.0
// Threads of a small closed program: before each operation that others could notice, a strategy says who goes on.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "machine/fibre.h"
#include "machine/machine.h"
#include "machine/sleepers.h"
#include "machine/trace.h"

namespace weft::machine {

inline constexpr int64_t kForever = INT64_MAX;

class Stepper : public Machine {
 public:
  // From 1; 0 while no thread runs: the program is set up or checked, or the strategy decides.
  int current() const { return current_; }
  bool outside() const { return current_ == 0; }
  int64_t now_ns() const { return now_ns_; }
  // The run has failed. Does not return to a thread.
  void fail(const std::string& what);

  int64_t clock_ns(clockid_t) override { return now_ns_; }
  long futex_wait(const void* word, uint32_t expected, int64_t timeout_ns, const void* place) override;
  long futex_wake(const void* word, int count, const void* place) override;

 protected:
  enum class State : uint8_t { ready, sleeping, ended };
  struct Thread {
    Fibre fibre;
    State state = State::ready;
    std::string name;
    std::function<void()> body;
    const void* word = nullptr;  // on which it sleeps
    const void* sleeps_at = nullptr;
    int64_t deadline_ns = kForever;
    bool timed_out = false;
  };

  // Which thread goes on; 0: the run is over.
  virtual int next() = 0;
  virtual void has_ended(int /*thread*/) {}
  // The running thread has looked at a futex: whether it falls asleep.
  virtual bool falls_asleep(uint32_t found, uint32_t expected) { return found == expected; }

  // Forgets the last run.
  void reset(int64_t now_ns, size_t trace);
  void add_thread(std::string name, std::function<void()> body);
  // Until the run is over or has failed.
  void run_threads();
  int count() const { return static_cast<int>(threads_.size()) - 1; }
  Thread& thread(int number) { return threads_[static_cast<size_t>(number)]; }
  const Thread& thread(int number) const { return threads_[static_cast<size_t>(number)]; }

  template <class Body>
  void as_nobody(Body&& body) {
    const int self = std::exchange(current_, 0);
    body();
    current_ = self;
  }
  // The running thread stops here, and goes on when next() says so.
  void step();
  void sleep(const void* word, int64_t deadline_ns, const void* place);
  int wake(const void* word, int most);
  // The sleeping thread whose time limit comes first; 0: none has one.
  int first_to_time_out() const;
  void let_time_pass(int thread);
  void pass_time(int64_t ns) { now_ns_ += ns; }
  // `thread` will not go on.
  void end(int thread);

  bool failed() const { return !violation_.empty(); }
  const std::string& violation() const { return violation_; }
  void done(const Access& access, Operation operation, uint64_t value) override {
    remember({current_, operation, access.place, access.address, value});
  }
  // What sets up and checks is no step of the run that is to be shown.
  void remember(const Event& event) {
    if (event.thread != 0) trace_.add(event);
  }
  std::vector<Event> events() const { return trace_.events(); }
  std::vector<std::string> names() const;

 private:
  static void begin();
  void go_to(int thread);

  std::deque<Thread> threads_;  // number 0 stands for what sets up and checks
  std::deque<std::vector<char>> stacks_;
  Sleepers<Thread> sleepers_;
  Trace trace_;
  std::string violation_;
  int current_ = 0;
  int64_t now_ns_ = 0;
};

}  // namespace weft::machine
