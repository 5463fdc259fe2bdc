// SPDX-License-Identifier: Apache-2.0
#include "top/top.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <thread>

#include <unistd.h>

#include "exit_codes.h"
#include "keys.h"
#include "metrics.h"
#include "node_rows.h"
#include "report_file.h"
#include "terminal.h"
#include "top/node_rates.h"
#include "top/program_json.h"
#include "top/program_table.h"
#include "top/screen.h"
#include "top/view.h"
#include "top/weft_programs.h"

namespace weft::tools {

namespace {

using Clock = std::chrono::steady_clock;

// What `weft top --once` looks at, to say how many regions per second there are.
constexpr double kOnceSeconds = 0.25;
// Between two looks, if nobody has said.
constexpr double kSeconds = 1;
// Between two samples of what members do.
constexpr double kSampleSeconds = 0.25;
constexpr int kOnceSamples = 10;
// Rates of a shorter time say nothing. A key comes when it comes.
constexpr double kLeastSeconds = 0.2;

double seconds_since(Clock::time_point time) { return std::chrono::duration<double>(Clock::now() - time).count(); }

int cpus() { return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)); }

int yama_scope() {
  std::ifstream file("/proc/sys/kernel/yama/ptrace_scope");
  int scope = 0;
  file >> scope;
  return scope;
}

void print_once(const ProgramRows& rows, const std::vector<std::string>& below, const TopOptions& options) {
  const bool is_terminal = isatty(STDOUT_FILENO) != 0;
  const size_t width = is_terminal ? static_cast<size_t>(columns_of(STDOUT_FILENO)) : 10'000;
  const Colour paint(false);
  const auto print = [](const std::string& line) { std::printf("%s\n", line.c_str()); };
  const std::vector<ListedProcess> listed =
      options.tree ? tree_of(rows, TableOrder::cpu, options.filter) : list_of(rows, TableOrder::cpu, options.filter);
  print(bar_of(rows, cpus(), width, paint));
  print(titles_of(width, paint));
  for (const ListedProcess& process : listed) print(line_of(process, false, width, paint));
  if (listed.empty()) print(nobody_of(options.filter));
  print(others_of(rows, "", width));
  for (const std::string& line : notes_of(listed, yama_scope(), width)) print(line);
  for (const std::string& line : below) print(line);
}

int top_once(const TopOptions& options) {
  ReportFile file("top", "--json", options.json);
  node::NodeStatus before;
  node::NodeStatus now;
  WeftPrograms programs;
  if (!file.good() || !read_node(before)) return kFailed;
  programs.look();
  for (int i = 0; i < kOnceSamples; ++i) {
    std::this_thread::sleep_for(std::chrono::duration<double>(kOnceSeconds / kOnceSamples));
    programs.sample();
  }
  if (!read_node(now)) return kFailed;
  const ProgramRows rows = programs.look();
  if (options.json != "-") print_once(rows, node_lines(now, before, kOnceSeconds), options);
  if (options.json.empty()) return 0;
  const std::string json = text_of({{"segment", node::default_path().text},
                                    {"processes", json_of_node(now, before, kOnceSeconds)},
                                    {"on_weft", json_of_programs(rows, options.filter)},
                                    {"parents", json_of_ancestors(rows, options.filter)},
                                    {"cpus_used_by_others", rows.others},
                                    {"busiest_others", json_of_busiest(rows)}});
  return file.write(json) ? 0 : kFailed;
}

// Until a key is pressed, or it is time to look again.
Key await_key(Keys& keys, WeftPrograms& programs, Clock::time_point until) {
  for (;;) {
    const double left = -seconds_since(until);
    if (left <= 0) return {};
    const Key key = keys.pressed(std::min(left, kSampleSeconds));
    if (key.kind != Key::none) return key;
    programs.sample();
  }
}

// What the processes say that share the node; or why nothing can be known of them.
class NodeLooks {
 public:
  std::vector<std::string> look() {
    node::NodeStatus now;
    node::Reason reason;
    if (!node::read_status(node::default_path().text, now, reason)) return {"", reason.text};
    const double passed = seconds_since(seen_);
    std::vector<std::string> lines = node_lines(now, before_, passed);
    if (passed >= kLeastSeconds || before_.processes.empty()) {
      before_ = std::move(now);
      seen_ = Clock::now();
    }
    return lines;
  }

 private:
  node::NodeStatus before_;
  Clock::time_point seen_ = Clock::now();
};

int top_on_terminal(const TopOptions& options) {
  Keys keys;
  const Screen screen;
  View view(options.tree, options.filter);
  const Colour paint(has_colour(STDOUT_FILENO));
  const int yama = yama_scope();
  const double interval = options.seconds > 0 ? options.seconds : kSeconds;
  NodeLooks node;
  WeftPrograms programs;
  programs.look();
  // The first look knows no rates.
  double rest = std::min(interval, kOnceSeconds);
  while (!view.has_ended()) {
    const ProgramRows rows = programs.look();
    const std::vector<std::string> below = node.look();
    const Clock::time_point until =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(rest));
    rest = interval;
    // Keys change what is shown of the same look.
    for (Key key; !view.has_ended();) {
      const ScreenSize size{static_cast<size_t>(lines_of(STDOUT_FILENO)),
                            static_cast<size_t>(columns_of(STDOUT_FILENO))};
      Screen::show(view.lines({rows, cpus(), yama, below}, size, paint));
      key = await_key(keys, programs, until);
      if (key.kind == Key::none) break;
      if (key.kind == Key::stopped) {
        Screen::give_back();
        keys.stop();
        Screen::take();
      } else if (key.kind != Key::resized) {
        view.press(key);
      }
    }
  }
  return 0;
}

}  // namespace

int top(const TopOptions& options) {
  if (!options.openmetrics.empty()) return export_metrics(options);
  if (options.once || !options.json.empty() || isatty(STDOUT_FILENO) == 0) return top_once(options);
  return top_on_terminal(options);
}

}  // namespace weft::tools
