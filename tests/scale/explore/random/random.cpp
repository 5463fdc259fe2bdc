// SPDX-License-Identifier: Apache-2.0
#include "random/random.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace weft::explore {

namespace {

constexpr int64_t kBeginNs = 1'000'000'000;
constexpr int64_t kStepNs = 50;

uint64_t mixed(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 29);
}

}  // namespace

// ---- chance ----

// Splitmix: seeds that follow each other give runs that have nothing in common.
uint32_t Random::choose(uint32_t count) {
  random_ += 0x9e3779b97f4a7c15;
  uint64_t value = random_;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return static_cast<uint32_t>((value ^ (value >> 31)) % count);
}

void Random::set_up_strategy() {
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
  if (settings_.schedule == Schedule::random) return;
  // Each thread gets a place of its own above all that priorities are lowered to.
  std::array<int64_t, kMostThreads> order{};
  for (int i = 1; i <= count(); ++i) {
    const auto at = choose(static_cast<uint32_t>(i));
    order[static_cast<size_t>(i - 1)] = order[at];
    order[at] = i;
  }
  for (int i = 1; i <= count(); ++i) priority_[static_cast<size_t>(i)] = order[static_cast<size_t>(i - 1)];
  for (int i = 0; i < settings_.changes; ++i)
    changes_.push_back(1 + static_cast<int>(choose(static_cast<uint32_t>(std::max(1, settings_.steps)))));
}

// ---- threads ----

int Random::let_somebody_time_out() {
  bool all_ended = true;
  for (int i = 1; i <= count(); ++i) all_ended = all_ended && thread(i).state == State::ended;
  if (all_ended) return 0;
  const int first = first_to_time_out();
  if (first == 0 || !settings_.may_time_out) {
    fail("all threads sleep, and nothing will wake them");
    return 0;
  }
  let_time_pass(first);
  return first;
}

int Random::next() {
  std::array<int, kMostThreads> ready{};
  uint32_t ready_count = 0;
  const bool goes_on = !outside() && thread(current()).state == State::ready;
  for (int i = 1; i <= count(); ++i) {
    if (thread(i).state == State::ready) ready[ready_count++] = i;
  }
  if (ready_count == 0) return let_somebody_time_out();
  if (ready_count == 1) return ready[0];
  if (settings_.schedule == Schedule::random || is_fair()) {
    if (goes_on && !pauses_ && (polls_on_ || choose(switch_one_in_) != 0)) return current();
    for (;;) {
      const int next = ready[choose(ready_count)];
      if (next != current() || !goes_on) return next;
    }
  }
  const auto priority = [this](int number) -> int64_t& { return priority_[static_cast<size_t>(number)]; };
  if (goes_on) {
    // Who polls would keep those of lower priority from what it waits for.
    const bool change = std::find(changes_.begin(), changes_.end(), outcome_.steps) != changes_.end();
    if (change || pauses_) priority(current()) = --lowest_;
  }
  return *std::max_element(ready.begin(), ready.begin() + ready_count,
                           [&](int one, int other) { return priority(one) < priority(other); });
}

Outcome Random::run(const Program& program, const Settings& settings, uint64_t seed) {
  if (program.threads >= kMostThreads) throw std::invalid_argument("a program with too many threads");
  settings_ = settings;
  random_ = seed;
  pauses_ = polls_on_ = false;
  outcome_ = {};
  priority_ = {};
  hash_ = {};
  reset(kBeginNs, settings.trace);
  memory_.reset();
  machine::g_machine = this;
  program.set_up();
  for (int i = 1; i <= program.threads; ++i) {
    add_thread("", [&program, i] { program.body(i); });
    memory_.begin_thread(i);
  }
  set_up_strategy();
  run_threads();
  for (int i = 1; i <= program.threads; ++i) {
    memory_.join_thread(i);
    outcome_.execution = mixed(outcome_.execution, hash_[static_cast<size_t>(i)]);
  }
  if (!failed()) program.check();
  machine::g_machine = nullptr;
  outcome_.failed = failed();
  outcome_.what = violation();
  outcome_.trace = events();
  return outcome_;
}

// Each operation that others could see: another thread may come first.
void Random::before(Access& access, Operation operation) {
  if (access.order != __ATOMIC_RELAXED && access.place != nullptr && operation != Operation::wait) {
    if (collects && !outside()) strong_places.emplace(access.place, operation);
    if (weakened.contains(access.place)) access.order = __ATOMIC_RELAXED;
  }
  if (!outside()) {
    ++outcome_.steps;
    pass_time(kStepNs);
    if (outcome_.steps > settings_.most_steps) fail("it goes round in circles");
  }
  step();
  if (access.place != nullptr) add_to_hash(reinterpret_cast<uintptr_t>(access.place));
}

void Random::pause(bool yields) {
  if (outside()) return;
  pauses_ = is_fair() || choose(yields ? 1 : leave_one_in_) == 0;
  polls_on_ = !pauses_;
  Access nothing;
  before(nothing, Operation::none);
  pauses_ = false;
  polls_on_ = false;
}

void Random::add_to_hash(uint64_t value) {
  uint64_t& hash = hash_[static_cast<size_t>(current())];
  hash = mixed(hash, value);
}

// ---- memory ----

void Random::note(const Access& access, Kind kind) {
  Race race;
  if (!memory_.note(current(), access.address, access.size, kind, access.place, race)) return;
  remember({race.thread, Operation::race, race.earlier});
  remember({current(), Operation::race, access.place});
  fail("a data race");
}

// The newest one more often than any other: else those who poll would hardly go on.
uint32_t Random::choose_store(const Word& word, uint32_t oldest) {
  const uint32_t last = word.last();
  if (oldest >= last || !settings_.stale || outside() || is_fair() || !one_in(stale_one_in_)) return last;
  return oldest + choose(last - oldest + 1);
}

uint64_t Random::load_of(Word& word, uint32_t index, int order) {
  stale_ = word.last() - index;
  if (stale_ > 0) ++outcome_.stale_loads;
  add_to_hash(word.store(index).identity());
  return memory_.load(current(), word, index, order);
}

uint64_t Random::seen(const Access& access) {
  Word& word = memory_.word_at(access.address, access.size);
  return load_of(word, choose_store(word, memory_.floor(current(), word, access.order)), access.order);
}

bool Random::finds_expected(const Access& access, int fail_order, bool weak, uint64_t& expected) {
  if (access.order == __ATOMIC_RELAXED) fail_order = access.order;
  Word& word = memory_.word_at(access.address, access.size);
  const uint32_t index = choose_store(word, memory_.floor(current(), word, fail_order));
  const bool differs = word.store(index).value != expected;
  const bool newest_differs = word.stores.back().value != expected;
  if (!differs && !newest_differs && !(weak && settings_.stale && !outside() && one_in(16))) return true;
  expected = load_of(word, differs ? index : word.last(), fail_order);
  return false;
}

void Random::put(const Access& access, uint64_t value, Operation operation) {
  Word& word = memory_.word_at(access.address, access.size);
  if (operation == Operation::update) {
    add_to_hash(word.stores.back().identity());
    memory_.update(current(), word, value, access.order);
  } else {
    memory_.store(current(), word, value, access.order);
  }
  write(access, value);
}

void Random::done(const Access& access, Operation operation, uint64_t value) {
  if (operation == Operation::fence) memory_.fence(current(), access.order);
  remember({current(), operation, access.place, access.address, value, std::exchange(stale_, 0)});
  if (operation == Operation::load) note(access, Kind::atomic_read);
  if (operation == Operation::store || operation == Operation::update) note(access, Kind::atomic_write);
}

void Random::plain(const Access& access, bool writes) {
  if (failed() || !observes) return;
  note(access, writes ? Kind::plain_write : Kind::plain_read);
  if (writes) memory_.overwrite(access.address, access.size);
}

// ---- the kernel ----

bool Random::falls_asleep(uint32_t found, uint32_t expected) {
  add_to_hash(found);
  constexpr uint32_t kOneInWakesForNothing = 16;
  return found == expected && (outside() || is_fair() || !one_in(kOneInWakesForNothing));
}

}  // namespace weft::explore
