// SPDX-License-Identifier: Apache-2.0
#include "machine/machine.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace weft::explore {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

Machine* g_machine = nullptr;

namespace {

constexpr size_t kStackBytes = 256 << 10;
constexpr int64_t kStepNs = 50;

uint64_t mixed(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 29);
}

}  // namespace

// ---- chance ----

// Splitmix: seeds that follow each other give runs that have nothing in common.
uint32_t Machine::choose(uint32_t count) {
  random_ += 0x9e3779b97f4a7c15;
  uint64_t value = random_;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return static_cast<uint32_t>((value ^ (value >> 31)) % count);
}

void Machine::set_up_strategy() {
  // Faults differ in how many switches they need, and how near to each other.
  constexpr std::array<uint32_t, 4> kSwitchOneIn = {2, 4, 8, 20};
  switch_one_in_ = kSwitchOneIn[choose(kSwitchOneIn.size())];
  constexpr std::array<uint32_t, 3> kStaleOneIn = {2, 3, 6};
  stale_one_in_ = kStaleOneIn[choose(kStaleOneIn.size())];
  // Who polls may give up, and sleep, before the others do anything; or soon lets them.
  constexpr std::array<uint32_t, 3> kLeaveOneIn = {1, 3, 400};
  leave_one_in_ = kLeaveOneIn[choose(kLeaveOneIn.size())];
  changes_.clear();
  lowest_ = 0;
  if (settings_.strategy == Strategy::random) return;
  // Each thread gets a place of its own above all that priorities are lowered to.
  std::array<int64_t, kMostThreads> order{};
  for (int i = 1; i <= count_; ++i) {
    const auto at = choose(static_cast<uint32_t>(i));
    order[static_cast<size_t>(i - 1)] = order[at];
    order[at] = i;
  }
  for (int i = 1; i <= count_; ++i) threads_[static_cast<size_t>(i)].priority = order[static_cast<size_t>(i - 1)];
  for (int i = 0; i < settings_.changes; ++i)
    changes_.push_back(1 + static_cast<int>(choose(static_cast<uint32_t>(std::max(1, settings_.steps)))));
}

// ---- threads ----

void Machine::enter(transfer_t transfer) {
  auto& machine = *static_cast<Machine*>(transfer.data);
  machine.scheduler_ = transfer.fctx;
  const int self = machine.current_;
  machine.program_->body(self);
  machine.threads_[static_cast<size_t>(self)].state = State::ended;
  machine.next_ = 0;
  machine.switch_away();
}

void Machine::switch_away() { scheduler_ = jump_fcontext(scheduler_, nullptr).fctx; }

int Machine::let_time_pass() {
  int first = 0;
  bool all_ended = true;
  for (int i = 1; i <= count_; ++i) {
    const Thread& thread = threads_[static_cast<size_t>(i)];
    if (thread.state == State::ended) continue;
    all_ended = false;
    if (thread.deadline_ns == 0) continue;
    if (first == 0 || thread.deadline_ns < threads_[static_cast<size_t>(first)].deadline_ns) first = i;
  }
  if (all_ended) return 0;
  if (first == 0 || !settings_.may_time_out) {
    fail("all threads sleep, and nothing will wake them");
    return 0;
  }
  Thread& thread = threads_[static_cast<size_t>(first)];
  now_ns_ = std::max(now_ns_, thread.deadline_ns);
  thread.timed_out = true;
  thread.state = State::ready;
  return first;
}

// 0: the run is over.
int Machine::next_thread() {
  std::array<int, kMostThreads> ready{};
  uint32_t count = 0;
  const bool goes_on = current_ != 0 && threads_[static_cast<size_t>(current_)].state == State::ready;
  for (int i = 1; i <= count_; ++i) {
    if (threads_[static_cast<size_t>(i)].state == State::ready) ready[count++] = i;
  }
  if (count == 0) return let_time_pass();
  if (count == 1) return ready[0];
  if (settings_.strategy == Strategy::random || is_fair()) {
    if (goes_on && !pauses_ && (polls_on_ || choose(switch_one_in_) != 0)) return current_;
    for (;;) {
      const int next = ready[choose(count)];
      if (next != current_ || !goes_on) return next;
    }
  }
  if (goes_on) {
    // Who polls would keep those of lower priority from what it waits for.
    const bool change = std::find(changes_.begin(), changes_.end(), outcome_.steps) != changes_.end();
    if (change || pauses_) threads_[static_cast<size_t>(current_)].priority = --lowest_;
  }
  int next = ready[0];
  for (uint32_t i = 1; i < count; ++i) {
    if (threads_[static_cast<size_t>(ready[i])].priority > threads_[static_cast<size_t>(next)].priority)
      next = ready[i];
  }
  return next;
}

void Machine::schedule(const Program& program) {
  program_ = &program;
  for (int i = 1; i <= count_; ++i) {
    memory_.begin_thread(i);
    auto& stack = stacks_[static_cast<size_t>(i)];
    if (stack.empty()) stack.resize(kStackBytes);
    Thread& thread = threads_[static_cast<size_t>(i)];
    thread = {};
    thread.context = make_fcontext(stack.data() + stack.size(), stack.size(), enter);
    thread.state = State::ready;
  }
  set_up_strategy();
  while (!outcome_.failed) {
    if (next_ == 0) next_ = next_thread();
    if (next_ == 0) break;
    current_ = next_;
    Thread& thread = threads_[static_cast<size_t>(current_)];
    thread.context = jump_fcontext(thread.context, this).fctx;
  }
  current_ = 0;
  for (int i = 1; i <= count_; ++i) {
    memory_.join_thread(i);
    outcome_.execution = mixed(outcome_.execution, threads_[static_cast<size_t>(i)].hash);
  }
}

Outcome Machine::run(const Program& program, const Settings& settings, uint64_t seed) {
  settings_ = settings;
  random_ = seed;
  count_ = program.threads;
  current_ = 0;
  next_ = 0;
  pauses_ = polls_on_ = false;
  now_ns_ = 1'000'000'000;
  outcome_ = {};
  ring_.assign(settings.trace, {});
  ring_at_ = 0;
  memory_.reset();
  g_machine = this;
  program.set_up();
  schedule(program);
  if (!outcome_.failed) program.check();
  g_machine = nullptr;
  for (size_t i = 0; i < ring_.size(); ++i) {
    const Event& event = ring_[(ring_at_ + i) % ring_.size()];
    if (event.operation != Operation::none) outcome_.trace.push_back(event);
  }
  return outcome_;
}

void Machine::fail(const std::string& what) {
  if (!outcome_.failed) outcome_.what = what;
  outcome_.failed = true;
  for (int i = 1; i <= count_; ++i) {
    const Thread& thread = threads_[static_cast<size_t>(i)];
    if (thread.state != State::sleeping) continue;
    remember(Operation::wait, thread.sleeps_at, reinterpret_cast<uintptr_t>(thread.sleeps_on), 0, 0);
    ring_[(ring_at_ + ring_.size() - 1) % ring_.size()].thread = i;
  }
  // The threads are left where they stand. What runs the scheduler comes back here from let_time_pass().
  if (current_ != 0 && threads_[static_cast<size_t>(current_)].state == State::ready) switch_away();
}

// Each operation that others could see: another thread may come first.
void Machine::step() {
  if (outside()) return;
  ++outcome_.steps;
  now_ns_ += kStepNs;
  if (outcome_.steps > settings_.most_steps) fail("it goes round in circles");
  next_ = next_thread();
  if (next_ != current_) switch_away();
}

void Machine::remember(Operation operation, const void* place, uintptr_t address, uint64_t value, uint32_t stale) {
  ring_[ring_at_] = {current_, operation, place, address, value, stale};
  ring_at_ = (ring_at_ + 1) % ring_.size();
}

void Machine::add_to_hash(uint64_t value) {
  uint64_t& hash = threads_[static_cast<size_t>(current_)].hash;
  hash = mixed(hash, value);
}

// ---- memory ----

int Machine::effective(int order, const void* place, Operation operation) {
  if (order == __ATOMIC_RELAXED) return order;
  if (collects && !outside()) strong_places.emplace(place, operation);
  return weakened.contains(place) ? __ATOMIC_RELAXED : order;
}

void Machine::note(const Word& word, Kind kind, const void* place) {
  Race race;
  if (memory_.note(current_, word.address, word.size, kind, place, race)) report(race, place);
}

void Machine::report(const Race& race, const void* place) {
  remember(Operation::race, race.earlier, 0, 0, 0);
  ring_[(ring_at_ + ring_.size() - 1) % ring_.size()].thread = race.thread;
  remember(Operation::race, place, 0, 0, 0);
  fail("a data race");
}

// The newest one more often than any other: else those who poll would hardly go on.
uint32_t Machine::choose_store(const Word& word, uint32_t oldest) {
  const uint32_t last = word.last();
  if (oldest >= last || !settings_.stale || outside() || is_fair() || !one_in(stale_one_in_)) return last;
  return oldest + choose(last - oldest + 1);
}

uint64_t Machine::load_of(Word& word, uint32_t index, int order, const void* place) {
  const uint32_t stale = word.last() - index;
  if (stale > 0) ++outcome_.stale_loads;
  const Store& read = word.store(index);
  add_to_hash(reinterpret_cast<uintptr_t>(place));
  add_to_hash(static_cast<uint64_t>(read.thread) << 32 | read.of_thread);
  const uint64_t value = memory_.load(current_, word, index, order);
  remember(Operation::load, place, word.address, value, stale);
  note(word, Kind::atomic_read, place);
  return value;
}

uint64_t Machine::load(uintptr_t address, uint32_t size, int order, const void* place) {
  order = effective(order, place, Operation::load);
  step();
  Word& word = memory_.word_at(address, size);
  return load_of(word, choose_store(word, memory_.floor(current_, word, order)), order, place);
}

void Machine::store(uintptr_t address, uint32_t size, uint64_t value, int order, const void* place) {
  order = effective(order, place, Operation::store);
  step();
  Word& word = memory_.word_at(address, size);
  memory_.store(current_, word, value, order);
  std::memcpy(reinterpret_cast<void*>(address), &value, size);
  add_to_hash(reinterpret_cast<uintptr_t>(place));
  remember(Operation::store, place, address, value, 0);
  note(word, Kind::atomic_write, place);
}

void Machine::put_update(Word& word, uint64_t value, int order, const void* place) {
  const Store& read = word.stores.back();
  add_to_hash(reinterpret_cast<uintptr_t>(place));
  add_to_hash(static_cast<uint64_t>(read.thread) << 32 | read.of_thread);
  memory_.update(current_, word, value, order);
  std::memcpy(reinterpret_cast<void*>(word.address), &value, word.size);
  remember(Operation::update, place, word.address, value, 0);
  note(word, Kind::atomic_write, place);
}

bool Machine::compare_exchange(uintptr_t address, uint32_t size, uint64_t& expected, uint64_t wish, int order,
                               int fail_order, bool weak, const void* place) {
  order = effective(order, place, Operation::update);
  if (order == __ATOMIC_RELAXED) fail_order = order;
  step();
  Word& word = memory_.word_at(address, size);
  const uint32_t index = choose_store(word, memory_.floor(current_, word, fail_order));
  const uint64_t newest = word.stores.back().value;
  const bool differs = word.store(index).value != expected;
  if (!differs && newest == expected && !(weak && settings_.stale && !outside() && one_in(16))) {
    put_update(word, wish, order, place);
    return true;
  }
  expected = load_of(word, differs ? index : word.last(), fail_order, place);
  return false;
}

void Machine::fence(int order, const void* place) {
  order = effective(order, place, Operation::fence);
  step();
  memory_.fence(current_, order);
  add_to_hash(reinterpret_cast<uintptr_t>(place));
  remember(Operation::fence, place, 0, 0, 0);
}

void Machine::plain(uintptr_t address, uint32_t size, bool writes, const void* place) {
  if (outcome_.failed || !observes) return;
  Race race;
  const bool races = memory_.note(current_, address, size, writes ? Kind::plain_write : Kind::plain_read, place, race);
  if (writes) memory_.overwrite(address, size);
  if (races) report(race, place);
}

// ---- the kernel ----

long Machine::futex_wait(const void* word, uint32_t expected, int64_t timeout_ns, const void* place) {
  step();
  uint32_t found = 0;
  std::memcpy(&found, word, sizeof found);
  add_to_hash(reinterpret_cast<uintptr_t>(place));
  add_to_hash(found);
  remember(Operation::wait, place, reinterpret_cast<uintptr_t>(word), found, 0);
  if (found != expected) return -EAGAIN;
  if (outside()) {
    fail("nobody can wake the one who sets up or checks");
    return -EAGAIN;
  }
  constexpr uint32_t kOneInWakesForNothing = 16;
  if (!is_fair() && one_in(kOneInWakesForNothing)) return 0;
  Thread& self = threads_[static_cast<size_t>(current_)];
  self.state = State::sleeping;
  self.sleeps_on = word;
  self.sleeps_at = place;
  self.asleep_since = ++sleeps_;
  self.deadline_ns = timeout_ns >= 0 ? now_ns_ + timeout_ns : 0;
  self.timed_out = false;
  next_ = 0;
  switch_away();
  return self.timed_out ? -ETIMEDOUT : 0;
}

long Machine::futex_wake(const void* word, int count, const void* place) {
  if (effective(__ATOMIC_SEQ_CST, place, Operation::wake) == __ATOMIC_RELAXED) return 0;
  step();
  add_to_hash(reinterpret_cast<uintptr_t>(place));
  remember(Operation::wake, place, reinterpret_cast<uintptr_t>(word), 0, 0);
  int woken = 0;
  for (; woken < count; ++woken) {
    Thread* oldest = nullptr;
    for (Thread& thread : threads_) {
      if (thread.state != State::sleeping || thread.sleeps_on != word) continue;
      if (oldest == nullptr || thread.asleep_since < oldest->asleep_since) oldest = &thread;
    }
    if (oldest == nullptr) break;
    oldest->state = State::ready;
  }
  return woken;
}

bool Machine::futex_has_sleeper(const void* word) const {
  return std::any_of(threads_.begin(), threads_.end(), [word](const Thread& thread) {
    return thread.state == State::sleeping && thread.sleeps_on == word;
  });
}

void Machine::pause(bool yields) {
  if (outside()) return;
  const uint32_t one_in = yields ? 1 : leave_one_in_;
  pauses_ = is_fair() || choose(one_in) == 0;
  polls_on_ = !pauses_;
  step();
  pauses_ = false;
  polls_on_ = false;
}

}  // namespace weft::explore
