// SPDX-License-Identifier: Apache-2.0
#include "machine/machine.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "machine/libc.h"
#include "platform/thread_pointer.h"

namespace weft::machine {

Machine* g_machine = nullptr;

namespace {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

// How far a thread may run ahead of the others as long as it touches nothing that they do.
constexpr Time kRunAhead = 2 * kMicrosecond;

}  // namespace

Machine::Machine(Model model, int cpus)
    : model_(std::move(model)), cpus_(std::min(cpus, model_.cpus())), memory_(model_) {
  cpu_.resize(static_cast<size_t>(model_.cpus()));
  for (Cpu& cpu : cpu_) cpu.pipeline = std::make_unique<Pipeline>(costs());
}

void Machine::run(const std::function<void()>& program) {
  auto first = std::make_unique<Thread>();
  first->number = getpid();
  first->handle = pthread_self();
  first->state = Thread::State::running;
  for (int cpu = 0; cpu < cpus_; ++cpu) first->allowed.set(static_cast<size_t>(cpu));
  cpu_[0].current = first.get();
  current_ = first.get();
  current_->slice_end = costs().time_slice;
  threads_.push_back(std::move(first));
  libc::leave_rseq();
  g_machine = this;
  program();
  g_machine = nullptr;
}

// ---- order ----

void Machine::add_event(Thread& thread, Time at) {
  events_.push({at, thread.id, ++thread.turn});
  next_event_ = events_.top().at;
}

void Machine::drop_old_events() {
  while (!events_.empty() && threads_[static_cast<size_t>(events_.top().thread)]->turn != events_.top().turn)
    events_.pop();
  next_event_ = events_.empty() ? INT64_MAX : events_.top().at;
}

void Machine::let_others() {
  for (;;) {
    drop_old_events();
    Cpu& cpu = cpu_[static_cast<size_t>(current_->cpu)];
    if (!cpu.ready.empty() && current_->clock >= current_->slice_end) {
      end_slice();
      continue;
    }
    if (current_->clock <= next_event_) return;
    Thread& self = *current_;
    add_event(self, self.clock);
    Thread& next = next_thread();
    if (&next == &self) continue;
    switch_to(next);
  }
}

// The thread whose turn it is; it runs on its CPU.
Thread& Machine::next_thread() {
  for (;;) {
    drop_old_events();
    if (events_.empty()) fail("all threads sleep, and nothing will wake them");
    const Event event = events_.top();
    events_.pop();
    Thread& thread = *threads_[static_cast<size_t>(event.thread)];
    ++thread.turn;
    drop_old_events();
    if (thread.state == Thread::State::running) return thread;
    if (thread.state == Thread::State::sleeping) {
      // Its time has come.
      if (thread.word != nullptr) {
        std::deque<Thread*>& queue = sleepers_[thread.word];
        queue.erase(std::find(queue.begin(), queue.end(), &thread));
        thread.word = nullptr;
      }
      thread.timed_out = true;
      make_ready(thread, event.at + costs().wake_latency);
      continue;
    }
    make_ready(thread, event.at);
  }
}

void Machine::switch_to(Thread& next) {
  Thread& self = *current_;
  current_ = &next;
  self.identity = platform::thread_pointer();
  platform::set_thread_pointer(next.identity);
  const transfer_t from = jump_fcontext(next.stack, &self);
  static_cast<Thread*>(from.data)->stack = from.fctx;
}

void Machine::enter(transfer_t from) {
  static_cast<Thread*>(from.data)->stack = from.fctx;
  Machine& machine = *g_machine;
  Thread& self = machine.current();
  self.start(self.argument);
  machine.leave_cpu(Thread::State::ended);
  std::abort();
}

// ---- CPUs ----

void Machine::begin_on(Cpu& cpu, Thread& thread, Time at) {
  cpu.current = &thread;
  thread.cpu = static_cast<int>(&cpu - cpu_.data());
  thread.state = Thread::State::running;
  thread.waited += std::max<Time>(0, at - thread.ready_since);
  thread.clock = std::max(thread.clock, at);
  thread.on_cpu_since = thread.clock;
  thread.slice_end = thread.clock + costs().time_slice;
  add_event(thread, thread.clock);
}

// The running thread stops here, and goes on when somebody makes it.
void Machine::leave_cpu(Thread::State state) {
  Thread& self = *current_;
  Cpu& cpu = cpu_[static_cast<size_t>(self.cpu)];
  self.state = state;
  self.ran += self.clock - self.on_cpu_since;
  cpu.busy += self.clock - self.on_cpu_since;
  self.clock = std::max(self.clock, cpu.pipeline->last_commit());
  cpu.current = nullptr;
  ++counts_.switches;
  if (!cpu.ready.empty()) {
    Thread* next = cpu.ready.front();
    cpu.ready.pop_front();
    begin_on(cpu, *next, self.clock + costs().context_switch);
  }
  if (state == Thread::State::ready) {
    self.ready_since = self.clock;
    cpu.ready.push_back(&self);
  }
  Thread& next = next_thread();
  if (&next != &self) switch_to(next);
}

void Machine::end_slice() { leave_cpu(Thread::State::ready); }

int Machine::choose_cpu(const Thread& thread) const {
  int best = -1;
  Time nearest = INT64_MAX;
  for (int cpu = 0; cpu < model_.cpus(); ++cpu) {
    if (!thread.allowed.test(static_cast<size_t>(cpu)) || cpu_[static_cast<size_t>(cpu)].current != nullptr) continue;
    const Time distance = cpu == thread.cpu ? -1 : model_.transfer(thread.cpu, cpu);
    if (distance < nearest) {
      nearest = distance;
      best = cpu;
    }
  }
  if (best >= 0) return best;
  // All are busy: where it was, or where fewest wait.
  size_t fewest = SIZE_MAX;
  for (int cpu = 0; cpu < model_.cpus(); ++cpu) {
    if (!thread.allowed.test(static_cast<size_t>(cpu))) continue;
    const size_t waiting = cpu_[static_cast<size_t>(cpu)].ready.size() + (cpu == thread.cpu ? 0 : 1);
    if (waiting < fewest) {
      fewest = waiting;
      best = cpu;
    }
  }
  return best;
}

// It may run from `at` on.
void Machine::make_ready(Thread& thread, Time at) {
  thread.ready_since = at;
  Cpu& cpu = cpu_[static_cast<size_t>(choose_cpu(thread))];
  if (cpu.current == nullptr) {
    begin_on(cpu, thread, at);
    return;
  }
  thread.state = Thread::State::ready;
  thread.clock = std::max(thread.clock, at);
  Thread& victim = *cpu.current;
  // Who has slept comes before who has run for long.
  constexpr Time kLong = kMillisecond;
  if (&victim != current_ && at - victim.on_cpu_since > kLong) {
    victim.state = Thread::State::ready;
    victim.ran += victim.clock - victim.on_cpu_since;
    cpu.busy += victim.clock - victim.on_cpu_since;
    ++victim.turn;
    victim.ready_since = victim.clock;
    cpu.ready.push_front(&victim);
    ++counts_.switches;
    begin_on(cpu, thread, std::max(at, victim.clock) + costs().context_switch);
    return;
  }
  cpu.ready.push_back(&thread);
}

void Machine::wake_up(Thread& thread, Time at) {
  thread.word = nullptr;
  thread.timed_out = false;
  thread.state = Thread::State::ready;
  add_event(thread, at);  // which make_ready() answers: until then its CPU may be another's
}

void Machine::bind(const std::bitset<kMostCpus>& cpus) { bind(current_->handle, cpus); }

void Machine::bind(pthread_t handle, const std::bitset<kMostCpus>& cpus) {
  system_call();
  for (const auto& thread : threads_) {
    if (pthread_equal(thread->handle, handle) == 0 || thread->state == Thread::State::ended) continue;
    thread->allowed = cpus;
    // Others go on where they are until they next sleep.
    if (thread.get() != current_ || thread->allowed.test(static_cast<size_t>(thread->cpu))) return;
    add_event(*current_, current_->clock + costs().context_switch);
    // Others run meanwhile, and may make threads.
    leave_cpu(Thread::State::sleeping);
    return;
  }
}

// ---- memory ----

// Until all that comes before has happened. What a load gets is what is there when the line comes, so it waits for that
// here; a store goes into the buffer.
void Machine::await(const Line& line, Access access) {
  for (;;) {
    if (current_->clock > next_event_) let_others();
    if (access == Access::write || Memory::has(line, current_->cpu, access)) return;
    if (line.busy_until <= current_->clock) return;
    current_->clock = line.busy_until;
  }
}

void Machine::access(uintptr_t address, size_t size, Access access, const void* place) {
  if (size == 0) return;
  const uintptr_t last = (address + size - 1) / 64;
  for (uintptr_t number = address / 64; number <= last; ++number) {
    Line& line = memory_.line(number);
    if (line.only == current_->cpu || line.only == Line::kNobody) {
      if (current_->clock > next_event_ + kRunAhead) let_others();
    } else {
      await(line, access);
    }
    const uintptr_t from = std::max(address, number * 64) - number * 64;
    const uintptr_t to = std::min(address + size, number * 64 + 64) - number * 64;
    const uint64_t mask = (to - from == 64 ? ~uint64_t{0} : ((uint64_t{1} << (to - from)) - 1) << from);
    Thread& self = *current_;
    const bool had = Memory::has(line, self.cpu, access);
    self.clock =
        memory_.touch(line, self.cpu, *cpu_[static_cast<size_t>(self.cpu)].pipeline, access, mask, self.clock, place);
    if (line.only == Line::kSeveral) note(line, access, !had);
  }
}

// What a polling thread does, and who waits for what it writes.
void Machine::note(Line& line, Access access, bool came) {
  Thread& self = *current_;
  if (came || access != Access::read) {
    self.quiet_since = self.clock;
    self.polled.clear();
  }
  if (access == Access::read) {
    if (std::find(self.polled.begin(), self.polled.end(), &line) == self.polled.end()) self.polled.push_back(&line);
    return;
  }
  for (const int watcher : line.watchers) {
    Thread& thread = *threads_[static_cast<size_t>(watcher)];
    if (!thread.dozes) continue;
    thread.dozes = false;
    thread.clock = std::max(thread.dozes_from, std::min(thread.clock, self.clock));
    if (thread.state == Thread::State::running) add_event(thread, thread.clock);
  }
  line.watchers.clear();
}

void Machine::fence() {
  Pipeline& pipeline = *cpu_[static_cast<size_t>(current_->cpu)].pipeline;
  current_->clock = std::max(current_->clock, pipeline.last_commit()) + costs().fence;
  pipeline.loop = nullptr;
}

// Between two polls. A thread that has polled for long in vain polls less often here than on a real machine, so that
// there is less to simulate: at most by a part of the time that it has waited. It goes on at once when somebody writes
// to what it has read.
void Machine::rest(Time time) {
  constexpr Time kPart = 512;
  constexpr size_t kMostPolled = 16;
  Thread& self = *current_;
  cpu_[static_cast<size_t>(self.cpu)].pipeline->loop = nullptr;
  const Time longer = (self.clock - self.quiet_since) / kPart;
  if (longer <= time || self.polled.empty() || self.polled.size() > kMostPolled) {
    self.polled.clear();
    spend(time);
    return;
  }
  if (self.clock > next_event_) let_others();
  // What it has read may have changed by now.
  for (const Line* line : self.polled) {
    if (Memory::has(*line, self.cpu, Access::read)) continue;
    self.polled.clear();
    spend(time);
    return;
  }
  for (Line* line : self.polled) {
    if (line->watchers.empty() || line->watchers.back() != self.id) line->watchers.push_back(self.id);
  }
  self.polled.clear();
  self.dozes = true;
  self.dozes_from = self.clock + time;
  self.clock += longer;
  if (self.clock > next_event_) let_others();
  self.dozes = false;
}

// ---- the kernel ----

int Machine::futex_wait(const void* word, uint32_t expected, int64_t timeout_ns, const void* place) {
  system_call();
  fence();
  access(reinterpret_cast<uintptr_t>(word), sizeof expected, Access::update, place);
  if (__atomic_load_n(static_cast<const uint32_t*>(word), __ATOMIC_SEQ_CST) != expected) return -EAGAIN;
  ++counts_.futex_waits;
  Thread& self = *current_;
  self.word = word;
  self.timed_out = false;
  sleepers_[word].push_back(&self);
  if (timeout_ns >= 0) add_event(self, self.clock + timeout_ns * kNanosecond);
  leave_cpu(Thread::State::sleeping);
  return self.timed_out ? -ETIMEDOUT : 0;
}

int Machine::futex_wake(const void* word, int count) {
  system_call();
  fence();
  if (current_->clock > next_event_) let_others();
  const auto found = sleepers_.find(word);
  int woken = 0;
  while (found != sleepers_.end() && !found->second.empty() && woken < count) {
    Thread& thread = *found->second.front();
    found->second.pop_front();
    spend(costs().wake);
    ++counts_.wakes;
    if (current_->id == 0) ++counts_.wakes_by_first;
    wake_up(thread, current_->clock + costs().wake_latency);
    ++woken;
  }
  if (found != sleepers_.end() && found->second.empty()) sleepers_.erase(found);
  return woken;
}

bool Machine::futex_has_sleeper(const void* word) const {
  const auto found = sleepers_.find(word);
  return found != sleepers_.end() && !found->second.empty();
}

void Machine::sleep(Time time) {
  system_call();
  add_event(*current_, current_->clock + time);
  leave_cpu(Thread::State::sleeping);
}

void Machine::yield() {
  ++counts_.system_calls;
  ++counts_.yields;
  rest(costs().system_call);
  if (!cpu_[static_cast<size_t>(current_->cpu)].ready.empty()) leave_cpu(Thread::State::ready);
}

// ---- threads ----

namespace {

// What a thread that only lends its identity tells its maker.
struct Birth {
  std::atomic<uint32_t> ready{0};
  uintptr_t identity = 0;
  uintptr_t frame = 0;
};

}  // namespace

void* Machine::sleep_for_ever(void* argument) {
  libc::leave_rseq();
  auto* birth = static_cast<Birth*>(argument);
  birth->identity = platform::thread_pointer();
  birth->frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  std::atomic<uint32_t> never{0};
  birth->ready.store(1);
  libc::real_syscall(SYS_futex, &birth->ready, FUTEX_WAKE_PRIVATE, 1, nullptr);
  for (;;) libc::real_syscall(SYS_futex, &never, FUTEX_WAIT_PRIVATE, 0, nullptr);
}

int Machine::create(pthread_t* handle, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  Birth birth;
  const int error = libc::real_pthread_create(handle, attributes, sleep_for_ever, &birth);
  if (error != 0) return error;
  while (birth.ready.load() == 0) libc::real_syscall(SYS_futex, &birth.ready, FUTEX_WAIT_PRIVATE, 0, nullptr);
  auto made = std::make_unique<Thread>();
  made->id = static_cast<int>(threads_.size());
  made->number = getpid() + made->id;
  made->handle = *handle;
  made->identity = birth.identity;
  // Below the frames of the thread that sleeps.
  constexpr uintptr_t kReserve = 4096;
  made->stack = make_fcontext(reinterpret_cast<void*>((birth.frame - kReserve) & ~uintptr_t{63}), 0, enter);
  made->start = start;
  made->argument = argument;
  made->allowed = current_->allowed;
  made->cpu = current_->cpu;
  system_call();
  spend(costs().create_thread);
  ++counts_.threads_created;
  Thread& thread = *made;
  threads_.push_back(std::move(made));
  wake_up(thread, current_->clock + costs().wake_latency);
  return 0;
}

bool Machine::join(pthread_t handle, bool wait) {
  for (;;) {
    const auto found = std::find_if(threads_.begin(), threads_.end(), [handle](const auto& thread) {
      return pthread_equal(thread->handle, handle) != 0;
    });
    if (found == threads_.end() || (*found)->state == Thread::State::ended) return true;
    if (!wait) return false;
    sleep(10 * kMicrosecond);
  }
}

const Thread* Machine::thread(pid_t number) const {
  const auto index = static_cast<size_t>(number - threads_.front()->number);
  return index < threads_.size() ? threads_[index].get() : nullptr;
}

// ---- results ----

void Machine::reset_counts() {
  counts_ = {};
  memory_.reset_counts();
}

int Machine::running_threads() const {
  return static_cast<int>(std::count_if(threads_.begin(), threads_.end(), [](const auto& thread) {
    return thread->state == Thread::State::running || thread->state == Thread::State::ready;
  }));
}

Time Machine::cpu_time() const {
  Time sum = 0;
  for (const auto& thread : threads_) {
    sum += thread->ran;
    if (thread->state == Thread::State::running) sum += thread->clock - thread->on_cpu_since;
  }
  return sum;
}

void Machine::fail(const std::string& what) {
  g_machine = nullptr;
  std::fprintf(stderr, "scale: %s, at %.3f us\n", what.c_str(),
               static_cast<double>(current_->clock) / static_cast<double>(kMicrosecond));
  for (const auto& thread : threads_) {
    const char* states[] = {"runs", "is ready", "sleeps", "has ended"};
    std::fprintf(stderr, "  thread %d on CPU %d %s, clock %.3f us, futex %p\n", thread->id, thread->cpu,
                 states[static_cast<int>(thread->state)],
                 static_cast<double>(thread->clock) / static_cast<double>(kMicrosecond), thread->word);
  }
  std::_Exit(3);
}

}  // namespace weft::machine
