// SPDX-License-Identifier: Apache-2.0
// A thread can go on if it does not wait, or if those for whom it waits can go on. What is left is stuck. Where the
// table does not show who could help, somebody is taken to be there: a deadlock that is named is one.
#include "threads/deadlock.h"

#include <algorithm>
#include <map>
#include <utility>

namespace weft::tools::threads {

namespace {

class Finder {
 public:
  Finder(const Table& now, const std::vector<bool>& still) : now_(now), still_(still) {
    for (size_t i = 0; i < now.threads.size(); ++i) {
      const Thread& thread = now.threads[i];
      if (thread.identity != 0) by_identity_.emplace(thread.identity, i);
      for (const Membership& in : thread.teams) members_.emplace(std::pair(in.team, in.number), i);
    }
    for (const Team& team : now.teams) teams_.emplace(team.team, &team);
  }

  Diagnosis find() {
    Diagnosis found;
    const size_t count = now_.threads.size();
    for (size_t i = 0; i < count; ++i) found.needs.push_back(need_of(i));
    found.stuck.assign(count, true);
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = 0; i < count; ++i) {
        if (!found.stuck[i] || !can_go_on(i, found)) continue;
        found.stuck[i] = false;
        changed = true;
      }
    }
    found.cycle = cycle_in(found);
    return found;
  }

 private:
  bool can_go_on(size_t index, const Diagnosis& found) const {
    const Thread& thread = now_.threads[index];
    const Need& need = found.needs[index];
    const bool waits = thread.wait.what != Waits::not_at_all && thread.wait.what != Waits::system &&
                       thread.wait.what != Waits::pool && thread.state != State::ready;
    if (!waits || !still_[index]) return true;
    if (!need.missing.empty()) return false;
    if (need.open) return is_somebody_else_free(index, found);
    const auto goes_on = [&](size_t whom) { return !found.stuck[whom]; };
    if (need.whom.empty()) return true;
    return need.any ? std::any_of(need.whom.begin(), need.whom.end(), goes_on)
                    : std::all_of(need.whom.begin(), need.whom.end(), goes_on);
  }

  static bool is_somebody_else_free(size_t index, const Diagnosis& found) {
    for (size_t i = 0; i < found.stuck.size(); ++i) {
      if (i != index && !found.stuck[i]) return true;
    }
    return false;
  }

  Need need_of(size_t index) const {
    const Thread& thread = now_.threads[index];
    switch (thread.wait.what) {
      case Waits::lock:
      case Waits::mutex: return need_of_lock(thread);
      case Waits::barrier: return need_of_barrier(index);
      case Waits::region_end: return need_of_end(index);
      case Waits::iteration:
      case Waits::construct:
      case Waits::combining: return need_of_others(index);
      case Waits::children:
      case Waits::group: return need_of_tasks(index);
      case Waits::predecessors:
      case Waits::events: return {.whom = {}, .any = false, .open = true, .missing = ""};
      case Waits::not_at_all:
      case Waits::pool:
      case Waits::system: return {};
    }
    return {};
  }

  Need need_of_lock(const Thread& thread) const {
    if (thread.wait.holder == 0) return {.whom = {}, .any = false, .open = true, .missing = ""};
    const auto holder = by_identity_.find(thread.wait.holder);
    if (holder != by_identity_.end()) return {.whom = {holder->second}, .any = false, .open = false, .missing = ""};
    return {.whom = {},
            .any = false,
            .open = false,
            .missing = "thread " + std::to_string(thread.wait.holder) +
                       ", which has taken it, has ended or has left its region"};
  }

  // The thread that is member `number` of `team`, in this region or inside of it; or none.
  const size_t* member(uint64_t team, int number) const {
    const auto found = members_.find(std::pair(team, number));
    return found != members_.end() ? &found->second : nullptr;
  }

  // Whether member `number`, which no thread is, has finished; it may not have begun.
  bool has_finished(const Membership& in, int number) const {
    const auto found = teams_.find(in.team);
    if (found == teams_.end()) return false;
    const Team& team = *found->second;
    if (team.is_persistent) return team.finished.contains(number);
    int present = 0;
    for (int other = 1; other < in.size; ++other) present += member(in.team, other) != nullptr ? 1 : 0;
    return team.unfinished == present;
  }

  bool is_at_barrier(const Thread& thread, const Wait& wait) const {
    return thread.wait.what == Waits::barrier && thread.wait.object == wait.object && thread.wait.count == wait.count;
  }

  Need need_of_barrier(size_t index) const {
    const Thread& thread = now_.threads[index];
    const Membership& in = thread.teams.front();
    Need need;
    std::string gone;
    bool all_have_begun = true;
    for (int number = 0; number < in.size; ++number) {
      const size_t* whom = member(in.team, number);
      if (whom == nullptr) {
        if (has_finished(in, number))
          gone += (gone.empty() ? "" : ", ") + std::to_string(number);
        else
          all_have_begun = false;
      } else if (*whom != index && !is_at_barrier(now_.threads[*whom], thread.wait)) {
        need.whom.push_back(*whom);
      }
    }
    if (!gone.empty() && thread.wait.is_sure) need.missing = "member " + gone + " has left the region without it";
    need.open = need.whom.empty() && !all_have_begun;
    return need;
  }

  Need need_of_end(size_t index) const {
    const Membership& in = now_.threads[index].teams.front();
    Need need;
    for (int number = 0; number < in.size; ++number) {
      const size_t* whom = member(in.team, number);
      if (whom != nullptr && *whom != index) need.whom.push_back(*whom);
    }
    return need;
  }

  // One of the others has the turn, or is late.
  Need need_of_others(size_t index) const {
    const Thread& thread = now_.threads[index];
    const Membership& in = thread.teams.front();
    Need need{.whom = {}, .any = true, .open = false, .missing = ""};
    for (int number = 0; number < in.size; ++number) {
      const size_t* whom = member(in.team, number);
      if (whom != nullptr && *whom != index) need.whom.push_back(*whom);
    }
    for (int number = 0; number < in.size && !need.open; ++number) {
      need.open = member(in.team, number) == nullptr && !has_finished(in, number);
    }
    if (need.whom.empty() && !need.open && thread.wait.what == Waits::iteration)
      need.missing = "no other member is left to pass its turn on";
    return need;
  }

  Need need_of_tasks(size_t index) const {
    const Thread& thread = now_.threads[index];
    Need need;
    for (size_t i = 0; i < now_.threads.size(); ++i) {
      if (i != index && runs_task_of(now_.threads[i], thread.wait)) need.whom.push_back(i);
    }
    // None has begun, or they wait for their events. With somebody to wait for it is enough that these cannot go on.
    need.open = need.whom.empty();
    return need;
  }

  static bool runs_task_of(const Thread& thread, const Wait& wait) {
    for (size_t i = 0; i < thread.tasks.size(); ++i) {
      const TaskOfThread& task = thread.tasks[i];
      if (wait.what == Waits::group ? task.group == wait.object && !task.implicit : i > 0 && task.task == wait.object)
        return true;
    }
    return false;
  }

  // Follows those for whom stuck threads wait until one comes again.
  std::vector<size_t> cycle_in(const Diagnosis& found) const {
    for (size_t start = 0; start < found.stuck.size(); ++start) {
      std::vector<size_t> path;
      for (size_t at = start; found.stuck[at];) {
        const auto seen = std::find(path.begin(), path.end(), at);
        if (seen != path.end()) return {seen, path.end()};
        path.push_back(at);
        // One of several: it is not known which.
        if (found.needs[at].any) break;
        const std::vector<size_t>& whom = found.needs[at].whom;
        const auto next = std::find_if(whom.begin(), whom.end(), [&](size_t other) { return found.stuck[other]; });
        if (next == whom.end()) break;
        at = *next;
      }
    }
    return {};
  }

  const Table& now_;
  const std::vector<bool>& still_;
  std::map<pid_t, size_t> by_identity_;
  std::map<std::pair<uint64_t, int>, size_t> members_;
  std::map<uint64_t, const Team*> teams_;
};

}  // namespace

std::vector<bool> those_that_stand_still(const Table& earlier, const Table& later, const Table& now) {
  std::map<std::string, const Thread*> before;
  for (const Thread& thread : earlier.threads) before.emplace(thread.name, &thread);
  const auto barriers = [](const Thread& some) { return some.teams.empty() ? 0 : some.teams.front().barriers; };
  const auto task = [](const Thread& some) { return some.tasks.empty() ? 0 : some.tasks.front().task; };
  std::map<std::string, bool> still;
  for (const Thread& thread : later.threads) {
    const auto found = before.find(thread.name);
    still[thread.name] = found != before.end() && found->second->wait == thread.wait &&
                         found->second->state == thread.state && barriers(*found->second) == barriers(thread) &&
                         task(*found->second) == task(thread);
  }
  std::vector<bool> made;
  for (const Thread& thread : now.threads) made.push_back(still[thread.name]);
  return made;
}

Diagnosis diagnose(const Table& now, const std::vector<bool>& still) { return Finder(now, still).find(); }

}  // namespace weft::tools::threads
