// SPDX-License-Identifier: Apache-2.0
#include "explorer.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace weft::explore {

namespace {

constexpr int kMostSteps = 20'000;  // of an execution: one that goes on for longer goes round in circles
constexpr size_t kStackBytes = 256 << 10;

Explorer* g_running = nullptr;

uint64_t read(const void* word, int bytes) {
  uint64_t value = 0;
  std::memcpy(&value, word, static_cast<size_t>(bytes));
  return value;
}

void write(void* word, int bytes, uint64_t value) { std::memcpy(word, &value, static_cast<size_t>(bytes)); }

}  // namespace

Mutation g_mutation;

Explorer* Explorer::running() { return g_running; }

void Explorer::add(const char* name, int process, std::function<void()> body) {
  const size_t index = threads_.size();
  if (stacks_.size() <= index) stacks_.emplace_back(kStackBytes);
  Thread thread;
  thread.name = name;
  thread.process = process;
  thread.body = std::move(body);
  threads_.push_back(std::move(thread));
}

void Explorer::enter(boost::context::detail::transfer_t transfer) {
  auto* self = static_cast<Explorer*>(transfer.data);
  self->scheduler_ = transfer.fctx;
  const int index = self->current_;
  self->threads_[static_cast<size_t>(index)].body();
  self->threads_[static_cast<size_t>(index)].state = State::ended;
  for (;;) self->scheduler_ = boost::context::detail::jump_fcontext(self->scheduler_, nullptr).fctx;
}

void Explorer::point(const char* what, const void* word) {
  if (logging_) {
    log_.push_back(threads_[static_cast<size_t>(current_)].name + ": " + what + " " + label(word));
  }
  const int self = current_;
  const auto back = boost::context::detail::jump_fcontext(scheduler_, nullptr);
  scheduler_ = back.fctx;
  current_ = self;
}

std::string Explorer::label(const void* word) {
  if (word == nullptr) return "";
  const auto found = labels_.emplace(word, static_cast<int>(labels_.size())).first;
  return "w" + std::to_string(found->second) + " (" + std::to_string(reinterpret_cast<uintptr_t>(word) & 0xffff) + ")";
}

void Explorer::fail(const std::string& what) {
  if (violation_.empty()) violation_ = what;
}

bool Explorer::killed(int process) const {
  return std::any_of(threads_.begin(), threads_.end(),
                     [&](const Thread& thread) { return thread.process == process && thread.state == State::killed; });
}

uint64_t Explorer::load(const void* word, int bytes) {
  if (outside()) return read(word, bytes);
  point("load", word);
  Thread& thread = threads_[static_cast<size_t>(current_)];
  for (auto entry = thread.buffer.rbegin(); entry != thread.buffer.rend(); ++entry) {
    if (entry->word == word) return entry->value;
  }
  const uint64_t value = read(word, bytes);
  return g_mutation.no_second_look && thread.name[0] == 'r' ? thread.seen.emplace(word, value).first->second : value;
}

void Explorer::store(void* word, int bytes, uint64_t value, bool release) {
  if (outside()) return write(word, bytes, value);
  point("store", word);
  if (!options_.buffered) {
    write(word, bytes, value);
    return;
  }
  Thread& thread = threads_[static_cast<size_t>(current_)];
  thread.buffer.push_back({word, bytes, value, release});
}

uint64_t Explorer::update(void* word, int bytes, const std::function<uint64_t(uint64_t)>& change) {
  if (!outside()) {
    point("update", word);
    drain_all(threads_[static_cast<size_t>(current_)]);
  }
  const uint64_t before = read(word, bytes);
  write(word, bytes, change(before));
  return before;
}

void Explorer::full_fence() {
  if (outside()) return;
  point("fence", nullptr);
  if (!g_mutation.no_full_fence) drain_all(threads_[static_cast<size_t>(current_)]);
}

void Explorer::heavy_fence() {
  if (outside()) return;
  point("heavy fence", nullptr);
  drain_all(threads_[static_cast<size_t>(current_)]);
  if (g_mutation.no_heavy_fence) return;
  for (Thread& thread : threads_) drain_all(thread);
}

void Explorer::pause() {
  if (outside()) return;
  threads_[static_cast<size_t>(current_)].pausing = true;
  point("pause", nullptr);
}

void Explorer::sleep(const char* what, const void* word, int64_t deadline) {
  Thread& thread = threads_[static_cast<size_t>(current_)];
  thread.state = State::asleep;
  thread.sleeps_on = word;
  thread.deadline = deadline;
  point(what, word);
}

// As the kernel does: it looks at the word as others see it, and no wake-up comes in between.
void Explorer::wait(const void* word, uint64_t expected, int64_t deadline) {
  if (outside()) return;
  point("wait", word);
  drain_all(threads_[static_cast<size_t>(current_)]);
  if (deadline <= clock_ || read(word, 4) != expected) return;
  sleep("sleep", word, deadline);
}

void Explorer::awaken(const void* word, int most) {
  for (Thread& thread : threads_) {
    if (most == 0 || thread.state != State::asleep || thread.sleeps_on != word) continue;
    thread.state = State::ready;
    --most;
  }
}

void Explorer::wake_one(const void* word) {
  if (outside()) return;
  point("wake one", word);
  drain_all(threads_[static_cast<size_t>(current_)]);
  if (!g_mutation.no_wake) awaken(word, 1);
}

void Explorer::wake(const void* word) {
  if (outside()) return;
  point("wake", word);
  drain_all(threads_[static_cast<size_t>(current_)]);
  if (!g_mutation.no_wake) awaken(word);
}

Explorer::Taken Explorer::try_take(const void* owner) {
  if (!outside()) {
    point("try to own", owner);
    drain_all(threads_[static_cast<size_t>(current_)]);
  }
  Owner& found = owners_[owner];
  if (found.thread >= 0 && !found.died) return Taken::no;
  const bool died = found.died;
  found = {outside() ? 1000 : current_, false, died};
  return died ? Taken::after_death : Taken::yes;
}

Explorer::Taken Explorer::take(const void* owner, int64_t deadline) {
  for (;;) {
    const Taken taken = try_take(owner);
    if (taken != Taken::no || outside() || clock_ >= deadline) return taken;
    sleep("sleep for", owner, deadline);
  }
}

void Explorer::settle(const void* owner) { owners_[owner].unsettled = false; }

void Explorer::give(const void* owner) {
  if (!outside()) {
    point("give", owner);
    drain_all(threads_[static_cast<size_t>(current_)]);
  }
  Owner& found = owners_[owner];
  if (found.thread != (outside() ? 1000 : current_)) fail("somebody gives what is not his");
  if (found.unsettled) fail("a death is passed on unsettled");
  found = {};
  awaken(owner);
}

bool Explorer::can_drain(const Thread& thread, size_t entry) const {
  if (entry == 0) return true;
  if (!options_.reordered || thread.buffer[entry].release) return false;
  for (size_t before = 0; before < entry; ++before) {
    if (thread.buffer[before].word == thread.buffer[entry].word) return false;
  }
  return true;
}

void Explorer::drain(Thread& thread, size_t entry) {
  const Pending store = thread.buffer[entry];
  thread.buffer.erase(thread.buffer.begin() + static_cast<std::ptrdiff_t>(entry));
  write(store.word, store.bytes, store.value);
  if (thread.buffer.empty()) thread.late = false;
}

void Explorer::drain_all(Thread& thread) {
  while (!thread.buffer.empty()) drain(thread, 0);
}

// The kernel marks what a thread owned that is gone.
void Explorer::bury(int index) {
  for (auto& [word, owner] : owners_) {
    if (owner.thread != index) continue;
    owner.died = !g_mutation.no_death_mark;
    awaken(word);
  }
}

// What the dead one has stored becomes visible, as on a machine.
void Explorer::kill(int process) {
  for (size_t i = 0; i < threads_.size(); ++i) {
    Thread& thread = threads_[i];
    if (thread.process != process || thread.state == State::ended) continue;
    drain_all(thread);
    thread.state = State::killed;
    bury(static_cast<int>(i));
  }
  ++kills_;
  if (at_kill) at_kill(process);
}

// The first one is what happens without a deviation.
std::vector<Explorer::Action> Explorer::actions() const {
  std::vector<Action> found;
  const int count = static_cast<int>(threads_.size());
  const auto at = [&](int i) -> const Thread& { return threads_[static_cast<size_t>(i)]; };
  const bool last_runs = last_ >= 0 && at(last_).state == State::ready && !at(last_).pausing;
  if (last_ >= 0 && !at(last_).buffer.empty() && !at(last_).late) {
    found.push_back({Action::drain, last_, 0, 0});
    if (at(last_).state == State::ready) found.push_back({Action::postpone, last_, 0, 1});
  } else if (last_runs) {
    found.push_back({Action::step, last_, 0, 0});
  }
  // Others: for nothing where the last one cannot go on.
  const int cost = found.empty() ? 0 : 1;
  bool free = false;
  for (int i = 0; i < count; ++i) {
    if (at(i).state != State::ready || (i == last_ && last_runs)) continue;
    if (at(i).pausing && i == last_) continue;
    found.push_back({Action::step, i, 0, found.empty() || !free ? cost : 1});
    free = true;
  }
  if (found.empty() && last_ >= 0 && at(last_).state == State::ready) found.push_back({Action::step, last_, 0, 0});
  for (int i = 0; i < count; ++i) {
    for (size_t entry = 0; entry < at(i).buffer.size(); ++entry) {
      if (found.size() > 0 && found[0].kind == Action::drain && found[0].thread == i && entry == 0) continue;
      if (can_drain(at(i), entry)) {
        found.push_back({Action::drain, i, static_cast<int>(entry), found.empty() ? 0 : 1});
      }
    }
  }
  // Time passes when nobody can do anything else.
  if (found.empty()) {
    int first = -1;
    for (int i = 0; i < count; ++i) {
      if (at(i).state == State::asleep && at(i).deadline != kForever &&
          (first < 0 || at(i).deadline < at(first).deadline)) {
        first = i;
      }
    }
    if (first >= 0) found.push_back({Action::time, first, 0, 0});
  }
  if (kills_ < options_.kills && !found.empty()) {
    for (int i = 0; i < count; ++i) {
      const bool alive = at(i).state == State::ready || at(i).state == State::asleep;
      const bool first = std::none_of(threads_.begin(), threads_.begin() + i,
                                      [&](const Thread& other) { return other.process == at(i).process; });
      if (alive && first && at(i).process > 0) found.push_back({Action::kill, i, 0, 1});
    }
  }
  return found;
}

void Explorer::perform(const Action& action) {
  Thread& thread = threads_[static_cast<size_t>(action.thread)];
  switch (action.kind) {
    case Action::drain:
      if (logging_)
        log_.push_back(thread.name + ": its store of " + label(thread.buffer[static_cast<size_t>(action.entry)].word) +
                       " is seen");
      drain(thread, static_cast<size_t>(action.entry));
      return;
    case Action::postpone: thread.late = true; return;
    case Action::kill:
      if (logging_) log_.push_back(thread.name + ": killed");
      kill(thread.process);
      return;
    case Action::time:
      if (logging_) log_.push_back("time passes for " + thread.name);
      if (kills_ == 0 && !options_.may_oversleep) fail("everybody sleeps: a wake-up is missing");
      clock_ = thread.deadline;
      thread.state = State::ready;
      return;
    case Action::step: {
      for (Thread& other : threads_) other.pausing = other.pausing && &other == &thread;
      thread.pausing = false;
      last_ = current_ = action.thread;
      const auto back = boost::context::detail::jump_fcontext(thread.context, this);
      thread.context = back.fctx;
      current_ = -1;
      if (thread.state == State::ended) {
        drain_all(thread);
        bury(action.thread);
      }
      return;
    }
  }
}

void Explorer::execute() {
  depth_ = 0;
  spent_ = 0;
  kills_ = 0;
  last_ = -1;
  steps_ = 0;
  clock_ = 1;
  for (size_t i = 0; i < threads_.size(); ++i) {
    std::vector<char>& stack = stacks_[i];
    threads_[i].context = boost::context::detail::make_fcontext(stack.data() + stack.size(), stack.size(), enter);
  }
  while (violation_.empty()) {
    const bool all_over = std::all_of(threads_.begin(), threads_.end(), [](const Thread& thread) {
      return thread.state == State::ended || thread.state == State::killed;
    });
    if (all_over) break;
    const std::vector<Action> possible = actions();
    if (possible.empty()) {
      fail("nobody can go on");
      break;
    }
    if (depth_ == choices_.size()) {
      Choice choice{0, {}};
      for (const Action& action : possible) choice.costs.push_back(action.cost);
      choices_.push_back(std::move(choice));
    }
    const int chosen = choices_[depth_].chosen;
    ++depth_;
    spent_ += possible[static_cast<size_t>(chosen)].cost;
    perform(possible[static_cast<size_t>(chosen)]);
    if (++steps_ > kMostSteps) fail("it goes round in circles");
  }
  for (Thread& thread : threads_) drain_all(thread);
}

bool Explorer::next_choice() {
  choices_.resize(depth_);
  while (!choices_.empty()) {
    int spent = 0;
    for (size_t i = 0; i + 1 < choices_.size(); ++i)
      spent += choices_[i].costs[static_cast<size_t>(choices_[i].chosen)];
    Choice& last = choices_.back();
    for (++last.chosen; last.chosen < static_cast<int>(last.costs.size()); ++last.chosen) {
      if (spent + last.costs[static_cast<size_t>(last.chosen)] <= options_.deviations) return true;
    }
    choices_.pop_back();
  }
  return false;
}

Result Explorer::run(const SetUp& set_up, const Check& check) {
  Result result;
  g_running = this;
  const auto once = [&] {
    threads_.clear();
    owners_.clear();
    violation_.clear();
    set_up(*this);
    execute();
    if (violation_.empty()) check(*this);
  };
  do {
    once();
    ++result.executions;
    result.steps += static_cast<uint64_t>(steps_);
    result.longest = std::max(result.longest, steps_);
    if (!violation_.empty()) {
      logging_ = true;
      const std::string what = violation_;
      once();
      logging_ = false;
      result.violation = what + "\n";
      const size_t from = log_.size() > 200 ? log_.size() - 200 : 0;
      for (size_t i = from; i < log_.size(); ++i) result.violation += "  " + log_[i] + "\n";
      break;
    }
    if (result.executions >= options_.most_executions) {
      result.complete = false;
      break;
    }
  } while (next_choice());
  g_running = nullptr;
  choices_.clear();
  log_.clear();
  return result;
}

}  // namespace weft::explore
