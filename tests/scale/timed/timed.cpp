// SPDX-License-Identifier: Apache-2.0
#include "timed/timed.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/rseq.h"
#include "platform/thread_pointer.h"
#include "timed/libc.h"

namespace weft::scale {

namespace {

// How far a thread may run ahead of the others as long as it touches nothing that they do.
constexpr Time kRunAhead = 2 * kMicrosecond;

}  // namespace

Timed::Timed(Model model, int cpus) : model_(std::move(model)), cpus_(std::min(cpus, model_.cpus())), memory_(model_) {
  cpu_.resize(static_cast<size_t>(model_.cpus()));
  for (Cpu& cpu : cpu_) cpu.pipeline = std::make_unique<Pipeline>(costs());
}

void Timed::run(const std::function<void()>& program) {
  auto first = std::make_unique<Thread>();
  first->number = getpid();
  first->handle = pthread_self();
  first->state = Thread::State::running;
  for (int cpu = 0; cpu < cpus_; ++cpu) first->allowed.set(static_cast<size_t>(cpu));
  cpu_[0].current = first.get();
  current_ = first.get();
  current_->slice_end = costs().time_slice;
  threads_.push_back(std::move(first));
  platform::leave_rseq();  // the kernel writes nothing more into its thread-local data
  machine::g_machine = this;
  program();
  machine::g_machine = nullptr;
}

// ---- order ----

void Timed::add_event(Thread& thread, Time at) {
  events_.push({at, thread.id, ++thread.turn});
  next_event_ = events_.top().at;
}

void Timed::drop_old_events() {
  while (!events_.empty() && threads_[static_cast<size_t>(events_.top().thread)]->turn != events_.top().turn)
    events_.pop();
  next_event_ = events_.empty() ? INT64_MAX : events_.top().at;
}

void Timed::let_others() {
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
Thread& Timed::next_thread() {
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
      if (thread.word != nullptr) sleepers_.remove(thread);
      thread.timed_out = true;
      make_ready(thread, event.at + costs().wake_latency);
      continue;
    }
    make_ready(thread, event.at);
  }
}

void Timed::switch_to(Thread& next) {
  Thread& self = *current_;
  current_ = &next;
  self.identity = platform::thread_pointer();
  platform::set_thread_pointer(next.identity);
  machine::Fibre::go(self.fibre, next.fibre);
}

void Timed::begin() {
  Timed& timed = *running();
  const Thread& self = timed.current();
  self.start(self.argument);
  timed.leave_cpu(Thread::State::ended);
  std::abort();
}

// ---- CPUs ----

void Timed::begin_on(Cpu& cpu, Thread& thread, Time at) {
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
void Timed::leave_cpu(Thread::State state) {
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

void Timed::end_slice() { leave_cpu(Thread::State::ready); }

int Timed::choose_cpu(const Thread& thread) const {
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
void Timed::make_ready(Thread& thread, Time at) {
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

void Timed::wake_up(Thread& thread, Time at) {
  thread.timed_out = false;
  thread.state = Thread::State::ready;
  add_event(thread, at);  // which make_ready() answers: until then its CPU may be another's
}

void Timed::bind(const std::bitset<kMostCpus>& cpus) { bind(current_->handle, cpus); }

void Timed::bind(pthread_t handle, const std::bitset<kMostCpus>& cpus) {
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
void Timed::await(const Line& line, Touch access) {
  for (;;) {
    if (current_->clock > next_event_) let_others();
    if (access == Touch::write || Memory::has(line, current_->cpu, access)) return;
    if (line.busy_until <= current_->clock) return;
    current_->clock = line.busy_until;
  }
}

void Timed::before(machine::Access& access, machine::Operation operation) {
  const bool strong = access.order == __ATOMIC_SEQ_CST;
  switch (operation) {
    case machine::Operation::fence:
      if (strong) drain_stores();
      return;
    case machine::Operation::load: return touch(access.address, access.size, Touch::read, access.place);
    case machine::Operation::store:
      // x86-64 has an exchange for a sequentially consistent store.
      return touch(access.address, access.size, strong ? Touch::update : Touch::write, access.place);
    default: return touch(access.address, access.size, Touch::update, access.place);
  }
}

void Timed::touch(uintptr_t address, size_t size, Touch access, const void* place) {
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
void Timed::note(Line& line, Touch access, bool came) {
  Thread& self = *current_;
  if (came || access != Touch::read) {
    self.quiet_since = self.clock;
    self.polled.clear();
  }
  if (access == Touch::read) {
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

void Timed::drain_stores() {
  Pipeline& pipeline = *cpu_[static_cast<size_t>(current_->cpu)].pipeline;
  current_->clock = std::max(current_->clock, pipeline.last_commit()) + costs().fence;
  pipeline.loop = nullptr;
}

// Between two polls. A thread that has polled for long in vain polls less often here than on a real machine, so that
// there is less to simulate: at most by a part of the time that it has waited. It goes on at once when somebody writes
// to what it has read.
void Timed::rest(Time time) {
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
    if (Memory::has(*line, self.cpu, Touch::read)) continue;
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

long Timed::futex_wait(const void* word, uint32_t expected, int64_t timeout_ns, const void* place) {
  system_call();
  drain_stores();
  touch(reinterpret_cast<uintptr_t>(word), sizeof expected, Touch::update, place);
  if (__atomic_load_n(static_cast<const uint32_t*>(word), __ATOMIC_SEQ_CST) != expected) return -EAGAIN;
  ++counts_.futex_waits;
  Thread& self = *current_;
  self.timed_out = false;
  sleepers_.add(self, word);
  if (timeout_ns >= 0) add_event(self, self.clock + timeout_ns * kNanosecond);
  leave_cpu(Thread::State::sleeping);
  return self.timed_out ? -ETIMEDOUT : 0;
}

long Timed::futex_wake(const void* word, int count, const void*) {
  system_call();
  drain_stores();
  if (current_->clock > next_event_) let_others();
  int woken = 0;
  for (; woken < count; ++woken) {
    Thread* sleeper = sleepers_.first(word);
    if (sleeper == nullptr) break;
    sleepers_.remove(*sleeper);
    spend(costs().wake);
    ++counts_.wakes;
    if (current_->id == 0) ++counts_.wakes_by_first;
    wake_up(*sleeper, current_->clock + costs().wake_latency);
  }
  return woken;
}

void Timed::sleep(Time time) {
  system_call();
  add_event(*current_, current_->clock + time);
  leave_cpu(Thread::State::sleeping);
}

void Timed::pause(bool yields) {
  if (!yields) return rest(costs().pause);
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

void* Timed::sleep_for_ever(void* argument) {
  platform::leave_rseq();
  auto* birth = static_cast<Birth*>(argument);
  birth->identity = platform::thread_pointer();
  birth->frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  std::atomic<uint32_t> never{0};
  birth->ready.store(1);
  REAL(syscall)(SYS_futex, &birth->ready, FUTEX_WAKE_PRIVATE, 1, nullptr);
  for (;;) REAL(syscall)(SYS_futex, &never, FUTEX_WAIT_PRIVATE, 0, nullptr);
}

int Timed::create(pthread_t* handle, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  Birth birth;
  const int error = REAL(pthread_create)(handle, attributes, sleep_for_ever, &birth);
  if (error != 0) return error;
  while (birth.ready.load() == 0) REAL(syscall)(SYS_futex, &birth.ready, FUTEX_WAIT_PRIVATE, 0, nullptr);
  auto made = std::make_unique<Thread>();
  made->id = static_cast<int>(threads_.size());
  made->number = getpid() + made->id;
  made->handle = *handle;
  made->identity = birth.identity;
  // Below the frames of the thread that sleeps.
  constexpr uintptr_t kReserve = 4096;
  made->fibre.begin<begin>(reinterpret_cast<void*>((birth.frame - kReserve) & ~uintptr_t{63}), 0);
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

bool Timed::join(pthread_t handle, bool wait) {
  for (;;) {
    const auto found = std::find_if(threads_.begin(), threads_.end(), [handle](const auto& thread) {
      return pthread_equal(thread->handle, handle) != 0;
    });
    if (found == threads_.end() || (*found)->state == Thread::State::ended) return true;
    if (!wait) return false;
    sleep(10 * kMicrosecond);
  }
}

const Thread* Timed::thread(pid_t number) const {
  const auto index = static_cast<size_t>(number - threads_.front()->number);
  return index < threads_.size() ? threads_[index].get() : nullptr;
}

// ---- results ----

void Timed::reset_counts() {
  counts_ = {};
  memory_.reset_counts();
}

int Timed::running_threads() const {
  return static_cast<int>(std::count_if(threads_.begin(), threads_.end(), [](const auto& thread) {
    return thread->state == Thread::State::running || thread->state == Thread::State::ready;
  }));
}

Time Timed::cpu_time(const Thread& thread) {
  return thread.ran + (thread.state == Thread::State::running ? thread.clock - thread.on_cpu_since : 0);
}

Time Timed::cpu_time() const {
  Time sum = 0;
  for (const auto& thread : threads_) sum += cpu_time(*thread);
  return sum;
}

int64_t Timed::clock_ns(clockid_t clock) {
  spend(costs().clock);
  // It has run for a while.
  constexpr Time kSinceBoot = 1000 * 1000 * kMillisecond;
  if (clock == CLOCK_PROCESS_CPUTIME_ID) return cpu_time() / kNanosecond;
  if (clock >= 0) return (now() + kSinceBoot) / kNanosecond;
  const Thread* of = thread(static_cast<pid_t>(~static_cast<unsigned>(clock) >> 3));
  return of != nullptr ? cpu_time(*of) / kNanosecond : -1;
}

void Timed::fail(const std::string& what) {
  machine::g_machine = nullptr;
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

}  // namespace weft::scale
