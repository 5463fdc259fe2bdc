// SPDX-License-Identifier: Apache-2.0
// Runs a program of threads on a machine of up to 256 CPUs that does not exist, one thread at a time: always the one
// whose clock is least behind. What the program does to memory, the compiler's instrumentation for ThreadSanitizer
// tells (hooks.cpp); what it asks of libc and the kernel, functions that take libc's place (libc.cpp, replaced/).
//
// All threads run on one OS thread. Each has the identity of an OS thread of its own (thread pointer, stack), which
// sleeps. So nothing here may use thread-local data.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include <pthread.h>
#include <sched.h>
#include <boost/context/detail/fcontext.hpp>

#include "machine/memory.h"
#include "machine/model.h"

namespace weft::machine {

struct Thread {
  enum class State { running, ready, sleeping, ended };

  int id = 0;
  pid_t number = 0;  // what the program takes for its id
  pthread_t handle{};
  uintptr_t identity = 0;  // the thread pointer with which it goes on
  boost::context::detail::fcontext_t stack = nullptr;
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

class Machine {
 public:
  // Of the model's CPUs the program may use the first `cpus`.
  Machine(Model model, int cpus);

  // Runs `program` as the first thread, on CPU 0. The other threads are left where they stand when it returns.
  void run(const std::function<void()>& program);

  // ---- for hooks and for what takes libc's place; all by the running thread ----

  void access(uintptr_t address, size_t size, Access access, const void* place);
  void fence();
  void spend(Time time) { current_->clock += time; }
  void pause() { rest(costs().pause); }
  Time now() const { return current_->clock; }
  void system_call() {
    ++counts_.system_calls;
    spend(costs().system_call);
    current_->quiet_since = current_->clock;
  }
  int futex_wait(const void* word, uint32_t expected, int64_t timeout_ns, const void* place);
  int futex_wake(const void* word, int count);
  bool futex_has_sleeper(const void* word) const;
  void sleep(Time time);
  void yield();
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
  // CPU time of all threads.
  Time cpu_time() const;

  [[noreturn]] void fail(const std::string& what);

 private:
  struct Event {
    Time at;
    int thread;
    uint64_t turn;
    bool operator>(const Event& other) const { return at != other.at ? at > other.at : thread > other.thread; }
  };

  static void enter(boost::context::detail::transfer_t from);
  static void* sleep_for_ever(void* argument);
  void add_event(Thread& thread, Time at);
  void drop_old_events();
  // Others whose clocks are behind go on first.
  void let_others();
  void await(const Line& line, Access access);
  void rest(Time time);
  void note(Line& line, Access access, bool came);
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
  std::unordered_map<const void*, std::deque<Thread*>> sleepers_;
  Thread* current_ = nullptr;
  Counts counts_;
};

// Null: no program runs on it, and what takes libc's place does what libc does.
extern Machine* g_machine;

}  // namespace weft::machine
