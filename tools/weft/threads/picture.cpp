// SPDX-License-Identifier: Apache-2.0
#include "threads/picture.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <map>

#include <nlohmann/json.hpp>

#include "report/wording/numbers.h"

namespace weft::tools::threads {

namespace {

std::string hex(uint64_t number) {
  std::array<char, 20> text{};
  std::snprintf(text.data(), text.size(), "0x%" PRIx64, number);
  return text.data();
}

std::string plural(size_t count, const std::string& what) {
  return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

std::string without_folder(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// "solve at model.c:51", "solve (libmodel.so)".
// Names of others may hold anything.
std::string shown(const CodePlace& place) {
  std::string function = place.function.empty() ? name_of(place) : place.function;
  // The version of a symbol is of no interest.
  function = function.substr(0, function.find('@'));
  if (!place.file.empty()) {
    function += " at " + without_folder(place.file) + ':' + std::to_string(place.line);
  } else if (!place.function.empty()) {
    function += " (" + without_folder(place.object) + ')';
  }
  return report::printable(function);
}

const char* word_of(State state) {
  switch (state) {
    case State::runs: return "runs";
    case State::sleeps: return "sleeps";
    case State::ready: return "ready";
    case State::waits: return "waits";
  }
  return "";
}

const char* key_of(Waits what) {
  switch (what) {
    case Waits::not_at_all: return "nothing";
    case Waits::lock: return "lock";
    case Waits::mutex: return "mutex";
    case Waits::barrier: return "barrier";
    case Waits::region_end: return "region_end";
    case Waits::iteration: return "iteration";
    case Waits::construct: return "construct";
    case Waits::combining: return "combining";
    case Waits::children: return "tasks";
    case Waits::group: return "taskgroup";
    case Waits::predecessors: return "predecessors";
    case Waits::events: return "events";
    case Waits::pool: return "runtime";
    case Waits::system: return "system";
  }
  return "";
}

// Libraries that are on a stack between the program and what it waits in.
bool is_between(const Frame& frame) {
  const std::string object = without_folder(frame.place.object);
  constexpr const char* kNames[] = {"libc.so",     "libc-",   "libpthread", "libstdc++",
                                    "libgfortran", "libm.so", "libweft-",   "ld-linux"};
  return std::any_of(std::begin(kNames), std::end(kNames), [&](const char* name) { return object.starts_with(name); });
}

// Whether programs call it by this name.
bool is_of_interface(const std::string& function) {
  constexpr const char* kPrefixes[] = {"GOMP_", "omp_", "__kmp", "kmp_", "weft_", "MPI_", "PMPI_", "mpi_", "pthread_"};
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](const char* prefix) { return function.starts_with(prefix); });
}

constexpr char kRegion[] = "the region ";

class Text {
 public:
  explicit Text(const Picture& picture) : picture_(picture) {
    for (const Team& team : picture.table.teams) {
      if (team.size > 1) letters_.emplace(team.team, letter(letters_.size()));
    }
  }

  std::vector<std::string> deadlock() const {
    const Diagnosis& found = picture_.diagnosis;
    const std::vector<size_t> told = those_to_tell(found);
    if (told.empty()) return {};
    const auto stuck = static_cast<size_t>(std::count(found.stuck.begin(), found.stuck.end(), true));
    std::vector<std::string> lines{"DEADLOCK: " + plural(stuck, "thread") + " can never go on" +
                                   (found.cycle.size() > 1 ? ". These wait for each other:" : ":")};
    constexpr size_t kMost = 8;
    for (size_t i = 0; i < told.size() && i < kMost; ++i) {
      lines.push_back("  " + thread(told[i]).name + " waits for " + wait(told[i]) + "; " +
                      (where(told[i]).starts_with(kRegion) ? "in " : "at ") + where(told[i]));
    }
    return lines;
  }

  std::string write(bool whole_stacks) {
    head();
    const std::vector<std::string> found = deadlock();
    for (const std::string& line : found) lines_ += line + '\n';
    if (found.empty()) lines_ += hint();
    for (const std::string& file : picture_.changed)
      lines_ += report::printable(file) + " has been built again since: its functions and lines may be wrong here\n";
    table();
    if (whole_stacks) stacks();
    if (!picture_.reads_stacks) lines_ += std::string("\n") + kNoLines + '\n';
    return lines_;
  }

 private:
  static std::string letter(size_t number) {
    return number < 26 ? std::string(1, static_cast<char>('A' + number)) : "T" + std::to_string(number);
  }

  const Thread& thread(size_t index) const { return picture_.table.threads[index]; }

  // "solve at model.c:51", or "the region solve.omp_outlined at model.c:40" where no frame of the program says more.
  std::string where(size_t index) const {
    const Frame* frame = frame_of_program(picture_.stacks[index]);
    const bool is_outside = thread(index).wait.what != Waits::region_end && has_opened_region(picture_.stacks[index]);
    const auto region =
        thread(index).teams.empty() ? picture_.regions.end() : picture_.regions.find(thread(index).teams.front().team);
    if (frame != nullptr && (!is_outside || region == picture_.regions.end())) return shown(frame->place);
    return region != picture_.regions.end() ? kRegion + shown(region->second) : "-";
  }

  std::string names(const std::vector<size_t>& whom) const {
    constexpr size_t kMost = 4;
    std::string all;
    for (size_t i = 0; i < whom.size() && i < kMost; ++i) all += (i > 0 ? ", " : "") + thread(whom[i]).name;
    return whom.size() > kMost ? all + " and " + std::to_string(whom.size() - kMost) + " more" : all;
  }

  std::string team_name(uint64_t team) const {
    const auto found = letters_.find(team);
    return found != letters_.end() ? "team " + found->second : "its team";
  }

  // "lock 0x7ffe..., which 4 has"
  std::string wait(size_t index) const {
    const Thread& one = thread(index);
    const Need& need = picture_.diagnosis.needs[index];
    const std::string whom = names(need.whom);
    const std::string of = whom.empty() ? "" : ": " + whom;
    std::string text;
    switch (one.wait.what) {
      case Waits::not_at_all: return one.state == State::ready ? "a CPU" : "";
      case Waits::lock: text = "lock " + hex(one.wait.object) + has(index, whom); break;
      case Waits::mutex: text = "mutex " + hex(one.wait.object) + has(index, whom); break;
      case Waits::barrier: text = "barrier of " + team_name(one.wait.object) + of; break;
      case Waits::region_end: text = "end of the region of " + team_name(one.wait.object) + of; break;
      case Waits::iteration: text = "its turn, iteration " + std::to_string(one.wait.count) + " counted from 0"; break;
      case Waits::construct: text = "members that are in an earlier loop" + of; break;
      case Waits::combining: text = "another member's part" + of; break;
      case Waits::children:
      case Waits::group: return tasks(index, of);
      case Waits::predecessors: text = "tasks that its task depends on"; break;
      case Waits::events: text = "omp_fulfill_event of a detached task"; break;
      case Waits::pool: text = what_it_has_called(index); break;
      case Waits::system: text = one.system_call; break;
    }
    return need.missing.empty() ? text : text + ": " + need.missing;
  }

  // "1 task (taskwait): c1"
  std::string tasks(size_t index, const std::string& of) const {
    const Wait& wait = thread(index).wait;
    const auto team = std::find_if(picture_.table.teams.begin(), picture_.table.teams.end(), [&](const Team& some) {
      return !thread(index).teams.empty() && some.team == thread(index).teams.front().team;
    });
    std::string text = plural(static_cast<size_t>(std::max<int64_t>(wait.count, 0)), "task") +
                       (wait.what == Waits::group ? " (taskgroup)" : " (taskwait)") + of;
    if (of.empty() && team != picture_.table.teams.end() && team->detached > 0)
      text += ": " + std::to_string(team->detached) + " detached, without omp_fulfill_event";
    return text;
  }

  std::string has(size_t index, const std::string& whom) const {
    const Need& need = picture_.diagnosis.needs[index];
    if (whom.empty()) return "";
    return need.whom.front() == index ? ", which it has itself" : ", which " + whom + " has";
  }

  void head() {
    size_t by_state[4] = {};
    for (const Thread& one : picture_.table.threads) ++by_state[static_cast<size_t>(one.state)];
    lines_ = report::printable(picture_.program) + " (" + picture_.subject + "), " +
             (picture_.view == View::not_on_weft ? "not " : "") + "on weft, " +
             plural(static_cast<size_t>(picture_.table.cpus), "CPU") + ": ";
    std::string states;
    for (const State state : {State::runs, State::ready, State::waits, State::sleeps}) {
      const size_t count = by_state[static_cast<size_t>(state)];
      if (count == 0) continue;
      const char* word = state == State::runs    ? "on CPUs"
                         : state == State::ready ? "ready"
                         : state == State::waits ? "waiting"
                                                 : "asleep";
      states += (states.empty() ? "" : ", ") + std::to_string(count) + ' ' + word;
    }
    lines_ += plural(picture_.table.threads.size(), "thread") + " (" + states + ")";
    if (picture_.still.value_or(0) >= 1)
      lines_ += ", none of which has run for " + std::to_string(static_cast<long>(*picture_.still)) + " s";
    lines_ += '\n';
  }

  static std::vector<size_t> those_to_tell(const Diagnosis& found) {
    if (!found.cycle.empty()) return found.cycle;
    std::vector<size_t> told;
    for (size_t i = 0; i < found.stuck.size(); ++i) {
      if (found.stuck[i] && !found.needs[i].missing.empty()) told.push_back(i);
    }
    if (!told.empty()) return told;
    // Whom nobody who is stuck waits for, and who waits for nobody known.
    for (size_t i = 0; i < found.stuck.size(); ++i) {
      if (found.stuck[i]) told.push_back(i);
    }
    return told;
  }

  // "Signal 11 (Segmentation fault) has ended it, in 32: fail at crash.c:2"
  std::string signal() const {
    for (size_t i = 0; i < picture_.table.threads.size(); ++i) {
      if (picture_.signalled != 0 && thread(i).runs_on == picture_.signalled)
        return "Signal " + std::to_string(picture_.signal) + " (" + strsignal(picture_.signal) + ") has ended it, in " +
               thread(i).name + ": " + where(i) + (picture_.overflowed ? overflow() : "") + '\n';
    }
    return "Signal " + std::to_string(picture_.signal) + " (" + strsignal(picture_.signal) +
           (picture_.signalled == 0 ? ") was sent to it.\n"
                                    : ") has ended it, in a thread that has no part in OpenMP.\n");
  }

  std::string overflow() const {
    return picture_.on_initial_stack
               ? ". The stack of the initial thread was full: ulimit -s gives it more, before the program starts"
               : ". Its stack was full: OMP_STACKSIZE gives it more";
  }

  std::string hint() const {
    if (picture_.signal != 0) return signal();
    std::string running;
    bool has_python = false;
    for (size_t i = 0; i < picture_.table.threads.size(); ++i) {
      if (thread(i).state == State::runs) running += (running.empty() ? "" : ", ") + thread(i).name;
      has_python =
          has_python || has_function(picture_.stacks[i], "PyThread_") || has_function(picture_.stacks[i], "_PyEval_");
    }
    std::string text = picture_.view == View::inside    ? "No deadlock of OpenMP is seen. "
                       : picture_.view == View::outside ? "It has opened no region of several threads: these are its "
                                                          "OS threads. "
                                                        : "These are its OS threads; weft doctor " +
                                                              std::to_string(picture_.process) + " says more. ";
    text += (running.empty() ? why_none_runs() : "On CPUs, for whom others may wait: " + running + ".") + '\n';
    if (picture_.tells_calls_of_mpi)
      text += "Its calls of MPI that wait: kill -USR1 " + std::to_string(picture_.process) + " has it print them.\n";
    if (has_python && picture_.is_live)
      text +=
          "The frames of Python: py-spy dump --pid " + std::to_string(picture_.process) + ", or faulthandler in it.\n";
    return text;
  }

  std::string why_none_runs() const {
    const auto count = [&](State state) {
      return std::count_if(picture_.table.threads.begin(), picture_.table.threads.end(),
                           [state](const Thread& one) { return one.state == state; });
    };
    constexpr char kTop[] = "others have the CPUs (weft top)";
    if (const auto ready = count(State::ready); ready > 0)
      return plural(static_cast<size_t>(ready), "thread") + " could go on and waits for a CPU: " + kTop + '.';
    if (count(State::sleeps) > 0) return "No thread is on a CPU: look at those that sleep in system calls.";
    if (picture_.is_live && picture_.still.value_or(0) < 1)
      return std::string("None was on a CPU just now, and some have run a moment ago: they wait shortly, or ") + kTop +
             '.';
    return "No thread is on a CPU.";
  }

  // "MPI_Recv": the last function of weft's libraries before the program.
  std::string what_it_has_called(size_t index) const {
    std::string called;
    for (const Frame& frame : picture_.stacks[index]) {
      if (!frame.of_weft && !is_between(frame)) break;
      if (is_of_interface(frame.place.function)) called = frame.place.function;
    }
    return called.empty() ? "the runtime" : called.substr(0, called.find('@'));
  }

  void table() {
    std::vector<std::array<std::string, 5>> rows{{"ID", "STATE", "MEMBER", "WAITS FOR", "AT"}};
    for (size_t i = 0; i < picture_.table.threads.size(); ++i) {
      const Thread& one = thread(i);
      std::string member = "-";
      if (!one.teams.empty() && one.teams.front().size > 1) {
        const Membership& in = one.teams.front();
        member = std::to_string(in.number) + '/' + std::to_string(in.size) + " of " + letters_.at(in.team);
      } else if (!one.teams.empty() && one.teams.front().level == 0) {
        member = "outside";
      }
      const std::string waits = wait(i);
      rows.push_back({one.name, word_of(one.state), member, waits.empty() ? "-" : waits, where(i)});
    }
    std::array<size_t, 4> widths{};
    for (const auto& row : rows) {
      for (size_t column = 0; column < widths.size(); ++column)
        widths[column] = std::max(widths[column], row[column].size());
    }
    lines_ += '\n';
    for (const auto& row : rows) {
      for (size_t column = 0; column < widths.size(); ++column) {
        lines_ += row[column] + std::string(widths[column] - row[column].size() + 2, ' ');
      }
      lines_ += row.back() + '\n';
    }
  }

  void stacks() {
    for (size_t i = 0; i < picture_.stacks.size(); ++i) {
      if (picture_.stacks[i].empty()) continue;
      lines_ += '\n' + thread(i).name + ":\n";
      size_t number = 0;
      for (const Frame& frame : picture_.stacks[i]) {
        lines_ += "  #" + std::to_string(number++) + ' ' + shown(frame.place) + '\n';
      }
    }
  }

  const Picture& picture_;
  std::map<uint64_t, std::string> letters_;
  std::string lines_;
};

nlohmann::ordered_json place_as_json(const CodePlace& place) {
  nlohmann::ordered_json made{{"function", place.function}, {"object", place.object}};
  if (!place.file.empty()) made.update({{"file", place.file}, {"line", place.line}});
  return made;
}

}  // namespace

// The runtime makes its system calls itself. So a function of libc on top is somebody else's call, whose caller may
// have left the stack by a tail call.
bool is_in_runtime(const std::vector<Frame>& stack) { return !stack.empty() && stack.front().of_weft; }

const Frame* frame_of_program(const std::vector<Frame>& stack) {
  const auto is_program = [](const Frame& frame) {
    return !frame.of_weft && !is_between(frame) && !frame.place.object.empty();
  };
  const auto found = std::find_if(stack.begin(), stack.end(), is_program);
  return found != stack.end() ? &*found : nullptr;
}

bool has_function(const std::vector<Frame>& stack, const std::string& part_of_name) {
  return std::any_of(stack.begin(), stack.end(),
                     [&](const Frame& frame) { return frame.place.function.find(part_of_name) != std::string::npos; });
}

bool has_opened_region(const std::vector<Frame>& stack) {
  const std::string called = called_of_runtime(stack);
  constexpr const char* kOpeners[] = {"GOMP_parallel", "fork_call", "GOMP_teams", "fork_teams"};
  return std::any_of(std::begin(kOpeners), std::end(kOpeners),
                     [&](const char* opener) { return called.find(opener) != std::string::npos; });
}

std::string called_of_runtime(const std::vector<Frame>& stack) {
  std::string called;
  for (const Frame& frame : stack) {
    if (frame.of_weft) {
      called = frame.place.function;
    } else if (!called.empty()) {
      break;
    }
  }
  return called;
}

std::vector<std::string> deadlock_lines(const Picture& picture) { return Text(picture).deadlock(); }

std::string as_text(const Picture& picture, bool whole_stacks) { return Text(picture).write(whole_stacks); }

std::string as_json(const Picture& picture) {
  using Json = nlohmann::ordered_json;
  Json threads = Json::array();
  const auto names_of = [&](const std::vector<size_t>& whom) {
    Json names = Json::array();
    for (const size_t index : whom) names.push_back(picture.table.threads[index].name);
    return names;
  };
  for (size_t i = 0; i < picture.table.threads.size(); ++i) {
    const Thread& one = picture.table.threads[i];
    const Need& need = picture.diagnosis.needs[i];
    Json row{{"id", one.name}, {"state", word_of(one.state)}, {"thread", one.identity}, {"runs_on", one.runs_on}};
    Json teams = Json::array();
    for (const Membership& in : one.teams) {
      teams.push_back({{"team", hex(in.team)}, {"number", in.number}, {"size", in.size}, {"level", in.level}});
    }
    row["teams"] = teams;
    row["waits_for"] = key_of(one.wait.what);
    if (one.wait.object != 0) row["object"] = hex(one.wait.object);
    row["whom"] = names_of(need.whom);
    if (!need.missing.empty()) row["missing"] = need.missing;
    row["stuck"] = static_cast<bool>(picture.diagnosis.stuck[i]);
    if (!one.system_call.empty()) row["system_call"] = one.system_call;
    Json frames = Json::array();
    for (const Frame& frame : picture.stacks[i]) frames.push_back(place_as_json(frame.place));
    row["frames"] = frames;
    threads.push_back(row);
  }
  const Json whole{{"process", picture.process},
                   {"program", picture.program},
                   {"subject", picture.subject},
                   {"on_weft", picture.view != View::not_on_weft},
                   {"cpus", picture.table.cpus},
                   {"changed_files", picture.changed},
                   {"still_seconds", picture.still ? Json(*picture.still) : Json(nullptr)},
                   {"signal", picture.signal},
                   {"deadlock", std::count(picture.diagnosis.stuck.begin(), picture.diagnosis.stuck.end(), true) > 0},
                   {"cycle", names_of(picture.diagnosis.cycle)},
                   {"threads", threads}};
  return whole.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace weft::tools::threads
