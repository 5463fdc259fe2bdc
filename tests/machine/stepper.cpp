// SPDX-License-Identifier: Apache-2.0
#include "machine/stepper.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace weft::machine {

namespace {

constexpr size_t kStackBytes = 256 << 10;

}  // namespace

// ---- threads ----

void Stepper::reset(int64_t now_ns, size_t trace) {
  threads_.clear();
  threads_.emplace_back().name = "nobody";
  sleepers_.clear();
  trace_.reset(trace);
  violation_.clear();
  current_ = 0;
  now_ns_ = now_ns;
}

void Stepper::add_thread(std::string name, std::function<void()> body) {
  Thread& made = threads_.emplace_back();
  made.name = std::move(name);
  made.body = std::move(body);
  if (stacks_.size() < threads_.size()) stacks_.resize(threads_.size(), std::vector<char>(kStackBytes));
  std::vector<char>& stack = stacks_[threads_.size() - 1];
  made.fibre.begin<begin>(stack.data() + stack.size(), stack.size());
}

void Stepper::begin() {
  auto& self = static_cast<Stepper&>(*g_machine);
  const int number = self.current_;
  self.thread(number).body();
  self.end(number);
  self.has_ended(number);
  self.go_to(self.next());
}

void Stepper::run_threads() { go_to(next()); }

void Stepper::go_to(int next) {
  Thread& from = thread(std::exchange(current_, next));
  Thread& to = thread(next);
  if (&from != &to) Fibre::go(from.fibre, to.fibre);
}

void Stepper::step() {
  if (!outside()) go_to(next());
}

void Stepper::end(int number) {
  Thread& ended = thread(number);
  if (ended.state == State::sleeping) sleepers_.remove(ended);
  ended.state = State::ended;
}

// Its threads are left where they stand.
void Stepper::fail(const std::string& what) {
  if (!failed()) violation_ = what;
  for (int i = 1; i <= count(); ++i) {
    const Thread& sleeper = thread(i);
    if (sleeper.state != State::sleeping) continue;
    remember({i, Operation::wait, sleeper.sleeps_at, reinterpret_cast<uintptr_t>(sleeper.word)});
  }
  go_to(0);
}

std::vector<std::string> Stepper::names() const {
  std::vector<std::string> names;
  for (const Thread& known : threads_) names.push_back(known.name);
  return names;
}

// ---- sleep ----

void Stepper::sleep(const void* word, int64_t deadline_ns, const void* place) {
  Thread& self = thread(current_);
  self.state = State::sleeping;
  self.sleeps_at = place;
  self.deadline_ns = deadline_ns;
  self.timed_out = false;
  sleepers_.add(self, word);
  go_to(next());
}

int Stepper::wake(const void* word, int most) {
  int woken = 0;
  for (; woken < most; ++woken) {
    Thread* sleeper = sleepers_.first(word);
    if (sleeper == nullptr) break;
    sleepers_.remove(*sleeper);
    sleeper->state = State::ready;
  }
  return woken;
}

int Stepper::first_to_time_out() const {
  int first = 0;
  int64_t least = kForever;
  for (int i = 1; i <= count(); ++i) {
    const Thread& sleeper = thread(i);
    if (sleeper.state != State::sleeping || sleeper.deadline_ns >= least) continue;
    first = i;
    least = sleeper.deadline_ns;
  }
  return first;
}

void Stepper::let_time_pass(int number) {
  Thread& sleeper = thread(number);
  now_ns_ = std::max(now_ns_, sleeper.deadline_ns);
  sleepers_.remove(sleeper);
  sleeper.timed_out = true;
  sleeper.state = State::ready;
}

// As the kernel does: it looks at the word as others see it, and no wake-up comes in between.
long Stepper::futex_wait(const void* word, uint32_t expected, int64_t timeout_ns, const void* place) {
  Access access{reinterpret_cast<uintptr_t>(word), sizeof expected, __ATOMIC_SEQ_CST, place};
  before(access, Operation::wait);
  const auto found = static_cast<uint32_t>(read(access));
  done(access, Operation::wait, found);
  const bool sleeps = falls_asleep(found, expected);
  if (found != expected) return -EAGAIN;
  if (timeout_ns == 0) return -ETIMEDOUT;
  if (!sleeps) return 0;
  if (outside()) {
    fail("nobody can wake the one who sets up or checks");
    return -EAGAIN;
  }
  sleep(word, timeout_ns > 0 ? now_ns_ + timeout_ns : kForever, place);
  return thread(current_).timed_out ? -ETIMEDOUT : 0;
}

long Stepper::futex_wake(const void* word, int count, const void* place) {
  Access access{reinterpret_cast<uintptr_t>(word), sizeof(uint32_t), __ATOMIC_SEQ_CST, place};
  before(access, Operation::wake);
  done(access, Operation::wake, 0);
  return access.order != __ATOMIC_RELAXED ? wake(word, count) : 0;  // without an order it does nothing
}

}  // namespace weft::machine
