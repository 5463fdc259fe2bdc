// SPDX-License-Identifier: Apache-2.0
#include "exhaustive.h"

#include <algorithm>
#include <climits>
#include <utility>

namespace weft::explore {

using shm::Taken;

namespace {

constexpr int kMostSteps = 20'000;  // of an execution: one that goes on for longer goes round in circles
constexpr size_t kTrace = 200;

}  // namespace

Mutation g_mutation;

void Exhaustive::add(const char* name, int process, std::function<void()> body) {
  add_thread(name, std::move(body));
  lives_.push_back({.process = process});
}

bool Exhaustive::killed(int process) const {
  return std::any_of(lives_.begin(), lives_.end(),
                     [&](const Life& life) { return life.process == process && life.killed; });
}

// ---- memory ----

// A read-modify-write, a full fence and what the kernel does empty the buffer of stores. x86-64 has an exchange for a
// sequentially consistent store.
bool Exhaustive::drains(const Access& access, Operation operation) {
  if (operation == Operation::fence) return !g_mutation.no_full_fence;
  return operation != Operation::load && (operation != Operation::store || access.order == __ATOMIC_SEQ_CST);
}

void Exhaustive::before(Access& access, Operation operation) {
  const bool is_free = operation == Operation::fence && access.order != __ATOMIC_SEQ_CST;
  if (outside() || is_free) return;
  step();
  if (drains(access, operation)) drain_all(current());
  if (operation == Operation::wake && g_mutation.no_wake) access.order = __ATOMIC_RELAXED;
}

uint64_t Exhaustive::seen(const Access& access) {
  Life& self = life(current());
  const auto own = std::find_if(self.buffer.rbegin(), self.buffer.rend(),
                                [&](const Pending& store) { return store.access.address == access.address; });
  if (own != self.buffer.rend()) return own->value;
  const uint64_t value = read(access);
  const bool looks_once = g_mutation.no_second_look && thread(current()).name[0] == 'r';
  return looks_once ? self.seen.emplace(access.address, value).first->second : value;
}

void Exhaustive::put(const Access& access, uint64_t value, Operation operation) {
  if (outside() || drains(access, operation)) return write(access, value);
  life(current()).buffer.push_back({access, value});
}

void Exhaustive::heavy_fence() {
  if (outside()) return;
  ask(nullptr, Operation::heavy_fence);
  if (g_mutation.no_heavy_fence) return;
  for (int i = 1; i <= count(); ++i) drain_all(i);
}

void Exhaustive::drain(int number) {
  Life& owner = life(number);
  const Pending store = owner.buffer.front();
  owner.buffer.pop_front();
  write(store.access, store.value);
  remember({number, Operation::seen, store.access.place, store.access.address, store.value});
  if (owner.buffer.empty()) owner.late = false;
}

void Exhaustive::drain_all(int number) {
  while (!life(number).buffer.empty()) drain(number);
}

// ---- the kernel ----

void Exhaustive::pause(bool /*yields*/) {
  if (outside()) return;
  life(current()).pausing = true;
  step();
}

void Exhaustive::ask(const void* of, Operation operation) {
  Access access{.address = reinterpret_cast<uintptr_t>(of)};
  before(access, operation);
  done(access, operation, 0);
}

Taken Exhaustive::try_take(const void* owner) {
  ask(owner, Operation::own);
  Owner& found = owners_[owner];
  if (found.thread != kNobody && !found.died) return Taken::no;
  const bool died = found.died;
  found = {current(), false, died};
  return died ? Taken::after_death : Taken::yes;
}

Taken Exhaustive::take(const void* owner, int64_t deadline) {
  for (;;) {
    const Taken taken = try_take(owner);
    if (taken != Taken::no || outside() || now_ns() >= deadline) return taken;
    sleep(owner, deadline, nullptr);
  }
}

void Exhaustive::give(const void* owner) {
  ask(owner, Operation::give);
  Owner& found = owners_[owner];
  if (found.thread != current()) fail("somebody gives what is not his");
  if (found.unsettled) fail("a death is passed on unsettled");
  found = {};
  wake(owner, INT_MAX);
}

// ---- ends ----

// The kernel marks what a thread owned that is gone.
void Exhaustive::bury(int number) {
  for (auto& [word, owner] : owners_) {
    if (owner.thread != number) continue;
    owner.died = !g_mutation.no_death_mark;
    wake(word, INT_MAX);
  }
}

void Exhaustive::has_ended(int number) {
  drain_all(number);
  bury(number);
}

// What the dead one has stored becomes visible, as on a machine.
void Exhaustive::kill(int process) {
  for (int i = 1; i <= count(); ++i) {
    if (life(i).process != process || thread(i).state == State::ended) continue;
    remember({i, Operation::kill});
    end(i);
    life(i).killed = true;
    has_ended(i);
  }
  ++kills_;
  if (at_kill) as_nobody([&] { at_kill(process); });
}

// ---- orders ----

// The first one is what happens without a deviation.
std::vector<Exhaustive::Action> Exhaustive::actions() const {
  std::vector<Action> found;
  const bool last_ready = last_ > 0 && thread(last_).state == State::ready;
  const bool last_runs = last_ready && !life(last_).pausing;
  const bool last_is_seen = last_ > 0 && !life(last_).buffer.empty() && !life(last_).late;
  if (last_is_seen) {
    found.push_back({Action::drain, last_, 0});
    if (last_ready) found.push_back({Action::postpone, last_, 1});
  } else if (last_runs) {
    found.push_back({Action::step, last_, 0});
  }
  // Others: the first one for nothing where the last one cannot go on.
  for (int i = 1; i <= count(); ++i) {
    if (thread(i).state == State::ready && i != last_) found.push_back({Action::step, i, found.empty() ? 0 : 1});
  }
  if (found.empty() && last_ready) found.push_back({Action::step, last_, 0});
  for (int i = 1; i <= count(); ++i) {
    if (life(i).buffer.empty() || (last_is_seen && i == last_)) continue;
    found.push_back({Action::drain, i, found.empty() ? 0 : 1});
  }
  // Time passes when nobody can do anything else.
  if (found.empty()) {
    const int first = first_to_time_out();
    if (first > 0) found.push_back({Action::time, first, 0});
  }
  if (kills_ == options_.kills || found.empty()) return found;
  for (int i = 1; i <= count(); ++i) {
    const int process = life(i).process;
    const bool first = std::none_of(lives_.begin() + 1, lives_.begin() + i,
                                    [&](const Life& other) { return other.process == process; });
    if (thread(i).state != State::ended && first && process > 0) found.push_back({Action::kill, i, 1});
  }
  return found;
}

int Exhaustive::next() {
  while (!failed()) {
    const std::vector<Action> possible = actions();
    if (possible.empty()) {
      for (int i = 1; i <= count(); ++i) {
        if (thread(i).state != State::ended) fail("nobody can go on");
      }
      return 0;
    }
    if (depth_ == choices_.size()) {
      Choice choice{0, {}};
      for (const Action& action : possible) choice.costs.push_back(action.cost);
      choices_.push_back(std::move(choice));
    }
    const Action action = possible[choices_[depth_++].chosen];
    if (++steps_ > kMostSteps) fail("it goes round in circles");
    switch (action.kind) {
      case Action::drain: drain(action.thread); break;
      case Action::postpone: life(action.thread).late = true; break;
      case Action::kill: kill(life(action.thread).process); break;
      case Action::time:
        remember({action.thread, Operation::time});
        if (kills_ == 0 && !options_.may_oversleep) fail("everybody sleeps: a wake-up is missing");
        let_time_pass(action.thread);
        break;
      case Action::step:
        for (Life& life : lives_) life.pausing = false;
        return last_ = action.thread;
    }
  }
  return 0;
}

bool Exhaustive::next_choice() {
  choices_.resize(depth_);
  while (!choices_.empty()) {
    int spent = 0;
    for (size_t i = 0; i + 1 < choices_.size(); ++i) spent += choices_[i].costs[choices_[i].chosen];
    Choice& last = choices_.back();
    for (++last.chosen; last.chosen < last.costs.size(); ++last.chosen) {
      if (spent + last.costs[last.chosen] <= options_.deviations) return true;
    }
    choices_.pop_back();
  }
  return false;
}

Result Exhaustive::run(const SetUp& set_up, const Check& check) {
  Result result;
  machine::g_machine = this;
  do {
    reset(1, kTrace);
    lives_.assign(1, {});
    owners_.clear();
    depth_ = 0;
    kills_ = last_ = steps_ = 0;
    set_up(*this);
    run_threads();
    for (int i = 1; i <= count(); ++i) drain_all(i);
    if (!failed()) check(*this);
    ++result.executions;
    result.steps += static_cast<uint64_t>(steps_);
    result.longest = std::max(result.longest, steps_);
    result.complete = result.executions < options_.most_executions;
    if (failed()) result.violation = violation() + "\n" + text_of(events(), names());
  } while (!failed() && result.complete && next_choice());
  machine::g_machine = nullptr;
  return result;
}

}  // namespace weft::explore
