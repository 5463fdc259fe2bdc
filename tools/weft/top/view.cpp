// SPDX-License-Identifier: Apache-2.0
#include "top/view.h"

#include <algorithm>

#include "report/wording/numbers.h"
#include "top/program_table.h"
#include "top/send_signal.h"

namespace weft::tools {

namespace {

constexpr char kKeys[] = "q ends  h help  t tree  / filter  k signal  sort: c r e w T s n p";

constexpr const char* kHelp[] = {
    "weft top: the processes that run on weft",
    "",
    "  up, down     select a process          t, F5   as a tree, below those that began them",
    "  k, F9        send it a signal          /, F4   show those whose command or PID fits",
    "  q, F10       end                       Esc     no filter, nothing selected",
    "  order by     c CPU   r regions/s   e efficiency   w work   T threads",
    "               s age   n command     p PID",
    "",
    "  CPUS   CPUs that it may use",
    "  CPU    what it uses: 200% is two CPUs",
    "  EFF    the part of its CPUs that it uses",
    "  WORK   in parallel regions: the part of the members' time that is no waiting",
    "  REG/S  parallel regions per second",
    "  TASKS  tasks that wait to be run",
    "  MSGS   tasks and events that wait for messages",
    "  THRD   its threads in the system, those that sleep for good included",
    "",
    "Any key goes back.",
};

bool is_text(const Key& key) { return key.kind == Key::text; }

// One character, of as many bytes as it has.
void erase_last(std::string& text) {
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0) == 0x80) text.pop_back();
  if (!text.empty()) text.pop_back();
}

std::string cut(const std::string& text, size_t columns) { return report::shortened(report::printable(text), columns); }

}  // namespace

std::vector<std::string> View::lines(const Look& look, ScreenSize size, const Colour& paint) {
  std::vector<std::string> all;
  if (mode_ == Mode::help) {
    for (const char* line : kHelp) all.push_back(cut(line, size.columns));
    if (all.size() > size.lines) all.resize(size.lines);
    return all;
  }
  const std::vector<ListedProcess> listed =
      tree_ ? tree_of(look.rows, order_, filter_) : list_of(look.rows, order_, filter_);
  shown_.clear();
  for (const ListedProcess& process : listed) shown_.push_back({process.pid, process.start, process.command()});
  all.push_back(bar_of(look.rows, look.cpus, size.columns, paint));
  all.push_back(titles_of(size.columns, paint));
  for (std::string& line : list_lines(look, listed, size, paint)) all.push_back(std::move(line));
  // The last line stays free for keys and questions.
  const size_t most = std::max<size_t>(size.lines, 1) - 1;
  if (all.size() > most) all.resize(most);
  all.push_back(cut(last_line(), size.columns));
  return all;
}

std::vector<std::string> View::list_lines(const Look& look, const std::vector<ListedProcess>& listed, ScreenSize size,
                                          const Colour& paint) {
  const std::vector<std::string> notes = notes_of(listed, look.yama, size.columns);
  // Beside the bar, the titles, the others and the last line.
  const size_t taken = 4 + notes.size();
  const size_t room = size.lines > taken ? size.lines - taken : 0;
  // What stands below gets what the list leaves, and half at least.
  const size_t wanted = std::max<size_t>(listed.size(), 1);
  const size_t left = room > wanted ? room - wanted : 0;
  const size_t below = std::min(look.below.size(), std::max(left, room / 2));
  page_ = std::max<size_t>(std::min(wanted, room - below), 1);
  const auto selected = std::find_if(shown_.begin(), shown_.end(), [&](const Shown& process) {
    return process.pid == selected_.pid && process.start == selected_.start;
  });
  if (selected == shown_.end()) selected_ = Shown();
  const auto at = static_cast<size_t>(selected - shown_.begin());
  if (selected_.pid != 0) first_ = std::clamp(first_, at + 1 > page_ ? at + 1 - page_ : 0, at);
  first_ = std::min(first_, listed.size() > page_ ? listed.size() - page_ : 0);
  std::vector<std::string> lines;
  const size_t end = std::min(first_ + page_, listed.size());
  for (size_t i = first_; i < end; ++i)
    lines.push_back(line_of(listed[i], selected_.pid != 0 && i == at, size.columns, paint));
  if (listed.empty()) lines.push_back(cut(nobody_of(filter_), size.columns));
  const size_t hidden = listed.size() - (end - first_);
  lines.push_back(
      others_of(look.rows, hidden > 0 ? report::format("(%zu of the list not shown)", hidden) : "", size.columns));
  lines.insert(lines.end(), notes.begin(), notes.end());
  for (size_t i = 0; i < below; ++i) lines.push_back(cut(look.below[i], size.columns));
  return lines;
}

std::string View::last_line() const {
  if (mode_ == Mode::filter) return "filter: " + filter_ + "_   Enter keeps it, Esc ends it";
  if (mode_ == Mode::signal)
    return "signal to " + std::to_string(target_.pid) + ": " + typed_ + "_   Enter sends it, Esc does not   (" +
           target_.command + ")";
  if (!message_.empty()) return message_;
  return filter_.empty() ? kKeys : "filter: " + filter_ + " (Esc ends it)  " + kKeys;
}

void View::press(const Key& key) {
  if (key.kind == Key::none) return;
  message_.clear();
  if (key.kind == Key::closed) {
    ended_ = true;
  } else if (mode_ == Mode::help) {
    mode_ = Mode::table;
  } else if (mode_ == Mode::filter) {
    press_in_filter(key);
  } else if (mode_ == Mode::signal) {
    press_in_signal(key);
  } else {
    press_in_table(key);
  }
}

void View::press_in_table(const Key& key) {
  const auto is = [&](char character, int function) {
    return key.is(character) || (key.kind == Key::function && key.number == function);
  };
  const auto page = static_cast<int64_t>(page_);
  if (is('q', 10)) ended_ = true;
  if (is('h', 1) || key.is('?')) mode_ = Mode::help;
  if (is('t', 5)) tree_ = !tree_;
  if (is('/', 4) || is('/', 3)) mode_ = Mode::filter;
  if (is('k', 9)) ask_for_signal();
  if (is_text(key) && is_order(key.character)) order_ = static_cast<TableOrder>(key.character);
  if (key.kind == Key::up) move_selection(-1);
  if (key.kind == Key::down) move_selection(1);
  if (key.kind == Key::page_up) move_selection(-page);
  if (key.kind == Key::page_down) move_selection(page);
  if (key.kind == Key::home) move_selection(INT32_MIN);
  if (key.kind == Key::end) move_selection(INT32_MAX);
  if (key.kind == Key::escape) {
    filter_.clear();
    selected_ = Shown();
  }
}

void View::press_in_filter(const Key& key) {
  if (is_text(key)) filter_ += key.character;
  if (key.kind == Key::erase) erase_last(filter_);
  if (key.kind == Key::enter) mode_ = Mode::table;
  if (key.kind == Key::up) move_selection(-1);
  if (key.kind == Key::down) move_selection(1);
  if (key.kind == Key::escape) {
    filter_.clear();
    mode_ = Mode::table;
  }
}

void View::ask_for_signal() {
  if (selected_.pid == 0) {
    message_ = "select a process first, by the arrow keys";
    return;
  }
  mode_ = Mode::signal;
  target_ = selected_;
  typed_ = "TERM";
  is_proposed_ = true;
}

void View::press_in_signal(const Key& key) {
  if (is_text(key)) {
    // The first letter takes the place of what is proposed.
    typed_ = (is_proposed_ ? "" : typed_) + key.character;
    is_proposed_ = false;
  } else if (key.kind == Key::erase) {
    erase_last(typed_);
    is_proposed_ = false;
  } else if (key.kind == Key::enter) {
    mode_ = Mode::table;
    const int signal = signal_named(typed_);
    if (signal == 0) {
      message_ = typed_ + ": there is no such signal";
      return;
    }
    const std::string fault = send_signal(target_.pid, target_.start, signal);
    message_ = name_of_signal(signal) + (fault.empty() ? " is sent to " : " is not sent to ") +
               std::to_string(target_.pid) + (fault.empty() ? "" : ": " + fault);
  } else {
    mode_ = Mode::table;
  }
}

// To no further than the first and the last.
void View::move_selection(int64_t by) {
  if (shown_.empty()) return;
  const auto found = std::find_if(shown_.begin(), shown_.end(), [&](const Shown& process) {
    return process.pid == selected_.pid && process.start == selected_.start;
  });
  const auto last = static_cast<int64_t>(shown_.size()) - 1;
  const int64_t from = found != shown_.end() ? found - shown_.begin() : by > 0 ? -1 : last + 1;
  selected_ = shown_[static_cast<size_t>(std::clamp<int64_t>(from + by, 0, last))];
}

}  // namespace weft::tools
