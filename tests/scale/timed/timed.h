// SPDX-License-Identifier: Apache-2.0
// Runs a program of threads on a machine of up to 256 CPUs that does not exist: always the thread whose clock is least
// behind. What the program asks of libc and the kernel, functions that take libc's place tell (libc.cpp).
//
// Each thread has the identity of an OS thread of its own (thread pointer, stack), which sleeps. So nothing here may
// use thread-local data.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include <pthread.h>
#include <sched.h>

#include "machine/fibre.h"
#include "machine/machine.h"
#include "machine/sleepers.h"
#include "timed/memory.h"
#include "timed/model.h"

namespace weft::scale {

struct Thread {
  enum class State { running, ready, sleeping, ended };

  int id = 0;
  pid_t number = 0;  // what the program takes for its id
  pthread_t handle{};
  uintptr_t identity = 0;  // the thread pointer with which it goes on
  machine::Fibre fibre;
  void* (*start)(void*) = nullptr;
  void* argument = nullptr;

  State state = State::ready;
  std::bitset<kMostCpus> allowed;
  int cpu = 0;
  Time clock = 0;
  Time slice_end = 0;
  Time on_cpu_since = 0;
  Time ran = 0;
  Time waited = 0;  // for a CPU
  Time ready_since = 0;

  // A thread that polls: since when nothing has come of it, and which lines it has read since its last pause.
  Time quiet_since = 0;
  std::vector<Line*> polled;
  bool dozes = false;
  Time dozes_from = 0;

  const void* word = nullptr;  // the futex on which it sleeps
  bool timed_out = false;
  uint64_t turn = 0;  // of its entry in the queue of events: others are void
};

struct Cpu {
  Thread* current = nullptr;
  std::deque<Thread*> ready;
  Time busy = 0;
  std::unique_ptr<Pipeline> pipeline;
};

// Since the last reset.
struct Counts {
  uint64_t futex_waits = 0;
  uint64_t wakes = 0;  // threads that were woken
  uint64_t wakes_by_first = 0;  // of them by the program's first thread
  uint64_t switches = 0;  // of the kernel
  uint64_t system_calls = 0;
  uint64_t yields = 0;
  uint64_t threads_created = 0;
};

class Timed final : public machine::Machine {
 public:
  // Of the model's CPUs the program may use the first `cpus`.
  Timed(Model model, int cpus);

  // Runs `program` as the first thread, on CPU 0. The other threads are left where they stand when it returns.
  void run(const std::function<void()>& program);

  // ---- for hooks and for what takes libc's place; all by the running thread ----

  void plain(const machine::Access& access, bool writes) override {
    touch(access.address, access.size, writes ? Touch::write : Touch::read, access.place);
  }
  void pause(bool yields) override;
  int64_t clock_ns(clockid_t clock) override;
  long futex_wait(const void* word, uint32_t expected, int64_t timeout_ns, const void* place) override;
  long futex_wake(const void* word, int count, const void* place) override;
  bool futex_has_sleeper(const void* word) const { return sleepers_.first(word) != nullptr; }

  void spend(Time time) { current_->clock += time; }
  Time now() const { return current_->clock; }
  void system_call() {
    ++counts_.system_calls;
    spend(costs().system_call);
    current_->quiet_since = current_->clock;
  }
  void sleep(Time time);
  int create(pthread_t* handle, const pthread_attr_t* attributes, void* (*start)(void*), void* argument);
  bool join(pthread_t handle, bool wait);
  void bind(const std::bitset<kMostCpus>& cpus);
  void bind(pthread_t handle, const std::bitset<kMostCpus>& cpus);

  Thread& current() { return *current_; }
  const Thread* thread(pid_t number) const;
  int cpus() const { return cpus_; }
  const Model& model() const { return model_; }
  const Costs& costs() const { return model_.costs(); }
  const Memory& memory() const { return memory_; }

  Counts counts() const { return counts_; }
  void reset_counts();
  // Threads that run or wait for a CPU.
  int running_threads() const;
  // CPU time of a thread; of all.
  static Time cpu_time(const Thread& thread);
  Time cpu_time() const;

  [[noreturn]] void fail(const std::string& what);

 private:
  struct Event {
    Time at;
    int thread;
    uint64_t turn;
    bool operator>(const Event& other) const { return at != other.at ? at > other.at : thread > other.thread; }
  };

  void before(machine::Access& access, machine::Operation operation) override;
  void touch(uintptr_t address, size_t size, Touch access, const void* place);
  void drain_stores();
  static void begin();
  static void* sleep_for_ever(void* argument);
  void add_event(Thread& thread, Time at);
  void drop_old_events();
  // Others whose clocks are behind go on first.
  void let_others();
  void await(const Line& line, Touch access);
  void rest(Time time);
  void note(Line& line, Touch access, bool came);
  void switch_to(Thread& next);
  Thread& next_thread();
  void leave_cpu(Thread::State state);
  void begin_on(Cpu& cpu, Thread& thread, Time at);
  void make_ready(Thread& thread, Time at);
  int choose_cpu(const Thread& thread) const;
  void wake_up(Thread& thread, Time at);
  void end_slice();

  const Model model_;
  const int cpus_;
  Memory memory_;
  std::vector<Cpu> cpu_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  Time next_event_ = INT64_MAX;
  machine::Sleepers<Thread> sleepers_;
  Thread* current_ = nullptr;
  Counts counts_;
};

// Null: no program runs on it, and what takes libc's place does what libc does.
inline Timed* running() { return static_cast<Timed*>(machine::g_machine); }

}  // namespace weft::scale
