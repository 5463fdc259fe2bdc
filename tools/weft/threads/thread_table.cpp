// SPDX-License-Identifier: Apache-2.0
#include "threads/thread_table.h"

#include <algorithm>
#include <map>
#include <set>

#include <sys/syscall.h>

#include "core/context/donor.h"
#include "core/monitor/layout.h"
#include "core/sched/persistent_team.h"
#include "openmp/record/layout.h"
#include "openmp/tool/lock_word.h"
#include "threads/copy.h"
#include "threads/system_call.h"

namespace weft::tools::threads {

namespace {

// Lists that are read while they change may have cycles.
constexpr int kMostLinks = 100'000;
constexpr int kMostDepth = 256;

uint64_t address_of(const volatile void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

// Where a field of the record behind `copy` lies in the process.
template <class T, class Field>
uint64_t address_in(const Copy<T>& copy, const Field& field) {
  return copy.address() +
         static_cast<uint64_t>(reinterpret_cast<const char*>(&field) - reinterpret_cast<const char*>(&*copy));
}

// What jump_fcontext of Boost.Context leaves at the saved stack pointer.
Registers saved_registers(Inspector& process, uint64_t stack_pointer) {
  Registers registers;
#if defined(__x86_64__)
  constexpr int kRegisters[] = {12, 13, 14, 15, 3, 6};  // r12 to r15, rbx, rbp
  std::array<uint64_t, 8> saved{};
  if (!process.read(stack_pointer, saved.data(), sizeof saved)) return registers;
  for (size_t i = 0; i < std::size(kRegisters); ++i) registers.others.emplace_back(kRegisters[i], saved[i + 1]);
  registers.program_counter = saved[7];
  registers.stack_pointer = stack_pointer + sizeof saved;
#elif defined(__aarch64__)
  // d8 to d15, then x19 to x30, then where it goes on.
  std::array<uint64_t, 22> saved{};
  if (!process.read(stack_pointer, saved.data(), sizeof saved)) return registers;
  for (int i = 0; i < 12; ++i) registers.others.emplace_back(19 + i, saved[static_cast<size_t>(8 + i)]);
  registers.program_counter = saved[20];
  registers.stack_pointer = stack_pointer + sizeof saved;
#endif
  return registers;
}

class Reader {
 public:
  explicit Reader(Inspector& process) : process_(process), pool_(process, process.inspected().pool) {}

  Table read() {
    if (process_.inspected().pool == 0) {
      table_.cpus = process_.cpus();
    } else {
      if (!pool_) return {};
      table_.cpus = pool_->settings.slots;
      read_parked();
      read_carriers();
      read_donors();
    }
    read_others();
    table_.is_valid = process_.answers();
    return std::move(table_);
  }

 private:
  void read_parked() {
    const Copy<decltype(core::parking::g_lists)> lists(process_, process_.inspected().parked);
    if (!lists) return;
    int links = 0;
    for (const core::parking::List& list : *lists) {
      for (uint64_t at = address_of(list.first); at != 0 && ++links < kMostLinks;) {
        const Copy<core::parking::Waiter> waiter(process_, at);
        if (!waiter) break;
        if (!waiter->woken) parked_[address_of(waiter->context)] = address_of(waiter->word);
        at = address_of(waiter->next);
      }
    }
  }

  void read_carriers() {
    const int count = std::min(pool_->carrier_count.load(), core::kMaxCarriers);
    for (int i = 0; i < count; ++i) {
      const Copy<core::Carrier> carrier(process_, pool_->carriers.get(i));
      if (!carrier || carrier->thread_id.load() == 0) continue;
      carriers_[carrier.address()] = carrier->thread_id.load();
      own_.insert(carrier->thread_id.load());
    }
    for (int i = 0; i < count; ++i) {
      const Copy<core::Carrier> carrier(process_, pool_->carriers.get(i));
      if (carrier && carrier->own_context.thread_pointer != 0 && carrier->own_context.carrier != nullptr)
        add("c" + std::to_string(i), carrier->own_context, address_in(carrier, carrier->own_context));
    }
  }

  void read_donors() {
    std::vector<Copy<core::Donor>> donors;
    for (uint64_t at = address_of(pool_->contexts.all()); at != 0 && donors.size() < kMostLinks;) {
      Copy<core::Donor> donor(process_, at);
      if (!donor) break;
      at = address_of(donor->next_of_all);
      donors.push_back(std::move(donor));
    }
    // The oldest first, so that numbers stay.
    for (size_t i = 0; i < donors.size(); ++i) {
      const Copy<core::Donor>& donor = donors[donors.size() - 1 - i];
      own_.insert(donor->thread_id);
      own_.insert(static_cast<pid_t>(donor->os_thread.load()));
      add(std::to_string(i + 1), *donor, donor.address());
    }
  }

  // Threads that have never used the pool.
  void read_others() {
    for (const pid_t thread : process_.threads()) {
      if (own_.contains(thread) || process_.name_of_thread(thread).starts_with("weft-")) continue;
      Thread row;
      row.name = "t" + std::to_string(thread);
      row.identity = row.runs_on = thread;
      look_at_system_call(row, true);
      // The one that answers.
      if (row.system_call == "receive" && row.state == State::runs) continue;
      table_.threads.push_back(std::move(row));
    }
  }

  void add(std::string name, const core::Context& context, uint64_t address) {
    Thread row;
    row.name = std::move(name);
    row.context = address;
    row.identity = context.thread_id;
    const bool runs = context.occupied.load() != 0;
    if (runs) {
      const auto carrier = carriers_.find(address_of(context.carrier));
      row.runs_on = carrier != carriers_.end() ? carrier->second : 0;
    } else if (context.stack_pointer == nullptr || context.departure == core::Departure::idle ||
               context.departure == core::Departure::none || context.departure == core::Departure::elsewhere) {
      return;  // it is free, or has not begun
    }
    read_teams(row, context.thread_pointer);
    if (row.teams.empty() && context.home == nullptr) return;  // a worker that looks for work
    row.state = runs ? State::runs : is_ready(context) ? State::ready : State::waits;
    find_wait(row, context);
    if (!runs) {
      row.registers = saved_registers(process_, address_of(context.stack_pointer));
    } else if (row.runs_on != 0) {
      look_at_system_call(row, row.wait.what == Waits::not_at_all);
    }
    table_.threads.push_back(std::move(row));
  }

  bool is_ready(const core::Context& context) {
    if (context.departure == core::Departure::queue) {
      const Copy<core::WaitQueue> queue(process_, context.queue);
      return queue && queue->ticket() != context.ticket;
    }
    return context.token.load() != core::Token::suspended && context.token.load() != core::Token::held;
  }

  void read_teams(Thread& row, uint64_t thread_pointer) {
    uint64_t at = 0;
    for (const int64_t offset : process_.inspected().members) {
      if (!process_.read(thread_pointer + static_cast<uint64_t>(offset), &at, sizeof at)) return;
      if (at != 0) break;
    }
    for (int depth = 0; at != 0 && depth < kMostDepth; ++depth) {
      const Copy<openmp::Member> member(process_, at);
      if (!member) return;
      if (depth == 0) read_tasks(row, address_of(member->task));
      const Copy<openmp::Team>* team = team_at(address_of(member->team));
      if (team == nullptr) return;
      // The initial task of a thread is of no interest where it is in regions.
      if ((*team)->level > 0 || row.teams.empty()) {
        row.teams.push_back({team->address(), at, member->number, (*team)->size, (*team)->level, member->barriers});
      }
      at = address_of(member->outer);
    }
  }

  void read_tasks(Thread& row, uint64_t at) {
    for (int depth = 0; at != 0 && depth < kMostDepth; ++depth) {
      const Copy<openmp::Task> task(process_, at);
      if (!task) return;
      row.tasks.push_back({at, address_of(task->group), task->implicit});
      at = address_of(task->parent.load());
    }
  }

  const Copy<openmp::Team>* team_at(uint64_t address) {
    const auto found = teams_.find(address);
    if (found != teams_.end()) return &found->second;
    Copy<openmp::Team> team(process_, address);
    if (!team) return nullptr;
    Team row{.team = address,
             .size = team->size,
             .unclaimed = team->unclaimed(),
             .unfinished = team->pending.load(),
             .is_persistent = team->persistent_team != nullptr,
             .tasked = team->tasks.tasked.load(),
             .finished = {},
             .detached = team->tasks.detached.load(),
             .function = address_of(team->function.load())};
    if (row.is_persistent) find_finished(row, *team);
    table_.teams.push_back(std::move(row));
    return &teams_.emplace(address, std::move(team)).first->second;
  }

  // A member that has not finished has not done what was posted last.
  void find_finished(Team& row, const openmp::Team& team) {
    const Copy<core::PersistentTeam> posts(process_, team.persistent_team);
    if (!posts || team.size > core::kMaxPersistentMembers) return;
    std::vector<uint64_t> done;
    uint64_t last = 0;
    for (int number = 1; number < team.size; ++number) {
      uint64_t at = 0;
      const uint64_t entry = address_of(posts->members()) + static_cast<uint64_t>(number) * sizeof at;
      if (!process_.read(entry, &at, sizeof at)) return;
      const Copy<core::PersistentMember> member(process_, at);
      if (!member) return;
      done.push_back(member->done.load());
      last = std::max(last, member->posted.load());
    }
    for (size_t i = 0; i < done.size(); ++i) {
      if (done[i] == last) row.finished.insert(static_cast<int>(i) + 1);
    }
  }

  // By the words in which the thread has said where it is to be woken.
  void find_wait(Thread& row, const core::Context& context) {
    const auto parked = parked_.find(row.context);
    if (parked != parked_.end()) {
      row.wait = {.what = Waits::lock, .object = parked->second, .holder = holder_of(parked->second)};
      return;
    }
    if (row.teams.empty()) return;
    const Membership& in = row.teams.front();
    const Copy<openmp::Team>* team = team_at(in.team);
    if (team == nullptr) return;
    if (context.departure == core::Departure::queue && context.occupied.load() == 0) {
      row.wait = {.what = Waits::barrier, .object = in.team, .count = in.barriers};
      return;
    }
    if (!row.tasks.empty() && find_wait_for_tasks(row, **team)) return;
    const uint64_t lines = address_of((*team)->members.lines);
    if (lines == 0 || in.number < 0 || in.number >= (*team)->members.capacity.load()) return;
    const Copy<openmp::MemberLine> line(process_,
                                        lines + static_cast<uint64_t>(in.number) * sizeof(openmp::MemberLine));
    if (!line) return;
    if (address_of((*team)->sleeper.load()) == row.context) {
      row.wait = {.what = Waits::region_end, .object = in.team};
    } else if (address_of(line->sleeper.load()) == row.context) {
      row.wait = {.what = Waits::barrier, .object = in.team, .count = in.barriers};
    } else if (address_of(line->in_line.load()) == row.context) {
      find_wait_in_line(row, in, *line);
    }
  }

  bool find_wait_for_tasks(Thread& row, const openmp::Team& team) {
    const Copy<openmp::Task> task(process_, row.tasks.front().task);
    if (!task) return false;
    const Copy<openmp::TaskGroup> group(process_, task->group);
    if (task->parent_waits.load()) {
      const int64_t left = int64_t{task->created} - task->done_here - static_cast<uint32_t>(task->done_remote.load());
      row.wait = {.what = Waits::children, .object = task.address(), .count = left};
    } else if (group && address_of(group->waiter.load()) == row.context) {
      row.wait = {.what = Waits::group, .object = group.address(), .count = group->pending.load()};
    } else if (address_of(task->waiter.load()) == row.context) {
      const bool own_events = task->waits_for_events;
      row.wait = {.what = own_events ? Waits::events : Waits::predecessors,
                  .object = task.address(),
                  .count = own_events ? task->open.load() : task->unmet.load()};
    } else if (address_of(team.tasks.event_waiter.load()) == row.context) {
      row.wait = {.what = Waits::events, .object = row.teams.front().team, .count = team.tasks.detached.load()};
    } else {
      return false;
    }
    return true;
  }

  void find_wait_in_line(Thread& row, const Membership& in, const openmp::MemberLine& line) {
    const Copy<openmp::Member> member(process_, in.member);
    const bool loops = member && (member->loop.share != nullptr || member->doacross != nullptr);
    const uint64_t awaited = line.awaited.load();
    if (loops && awaited == UINT64_MAX) {
      row.wait = {.what = Waits::construct, .object = in.team};
    } else if (loops) {
      row.wait = {.what = Waits::iteration, .object = in.team, .count = static_cast<int64_t>(awaited)};
    } else {
      row.wait = {.what = Waits::combining, .object = in.team};
    }
  }

  pid_t holder_of(uint64_t word_address) {
    const Copy<openmp::LockWord> word(process_, word_address);
    return word ? openmp::holder_of(word->load()) : 0;
  }

  // `waits`: whether a system call is what the thread waits for; otherwise its OS thread has nothing else to do.
  void look_at_system_call(Thread& row, bool waits) {
    const SystemThread thread = process_.thread(row.runs_on);
    row.registers = thread.registers;
    if (!thread.sleeps) return;
    row.state = waits ? State::sleeps : State::waits;
    row.system_call = name_of_call(thread.call);
    if (!waits) return;
    row.wait = {.what = Waits::system};
    // With a timeout it goes on in any case.
    if (thread.call == SYS_futex && thread.arguments[3] == 0) look_at_futex(row, thread.arguments[0]);
  }

  bool has_thread(pid_t number) {
    if (threads_.empty()) threads_ = process_.threads();
    return std::find(threads_.begin(), threads_.end(), number) != threads_.end();
  }

  // glibc's mutex: the futex, a count, and the owner's number.
  void look_at_futex(Thread& row, uint64_t address) {
    struct {
      int lock;
      unsigned count;
      int owner;
    } mutex{};
    row.wait.object = address;
    // 2: locked, and somebody waits.
    if (!process_.read(address, &mutex, sizeof mutex) || mutex.lock != 2 || mutex.owner <= 0) return;
    if (!has_thread(mutex.owner)) return;
    row.wait.what = Waits::mutex;
    row.wait.holder = mutex.owner;
  }

  Inspector& process_;
  Copy<core::Pool> pool_;
  Table table_;
  std::map<uint64_t, uint64_t> parked_;     // by context: the word
  std::map<uint64_t, pid_t> carriers_;      // by address: the OS thread
  std::set<pid_t> own_;                     // OS threads of the pool
  std::vector<pid_t> threads_;              // all OS threads, once somebody has asked
  std::map<uint64_t, Copy<openmp::Team>> teams_;
};

}  // namespace

Table read_table(Inspector& process) { return Reader(process).read(); }

}  // namespace weft::tools::threads
