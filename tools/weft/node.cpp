// SPDX-License-Identifier: Apache-2.0
#include "node.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include <poll.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "base/message.h"
#include "metrics.h"
#include "node/status.h"
#include "platform/process.h"

namespace weft::tools {

namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr int kFailed = 1;
// What `weft top --once` looks at, to say how many regions per second there are.
constexpr double kOnceSeconds = 0.25;
// Between two looks, if nobody has said.
constexpr double kSeconds = 1;

double in_seconds(int64_t ns) { return static_cast<double>(ns) * 1e-9; }

std::string cpu_list(const platform::CpuSet& cpus) {
  std::string text(platform::format_cpu_list(cpus, nullptr, 0), ' ');
  platform::format_cpu_list(cpus, text.data(), text.size() + 1);
  return text;
}

bool read(node::NodeStatus& status) {
  node::Reason reason;
  if (node::read_status(node::default_path().text, status, reason)) return true;
  base::warn("%s", reason.text);
  return false;
}

// What has happened between two looks.
struct Rates {
  double regions = 0;  // a second
  double waiting = 0;  // part of the time
};

Rates rates(const node::ProcessStatus& now, const node::NodeStatus& before, double seconds) {
  const auto same = [&](const node::ProcessStatus& other) {
    return other.pid == now.pid && other.membership == now.membership;
  };
  const auto old = std::find_if(before.processes.begin(), before.processes.end(), same);
  if (old == before.processes.end() || seconds <= 0 || now.regions < old->regions) return {};
  return {static_cast<double>(now.regions - old->regions) / seconds,
          std::clamp(in_seconds(now.waited_ns - old->waited_ns) / seconds, 0.0, 1.0)};
}

Json to_json(const node::ProcessStatus& process) {
  return {{"pid", process.pid},
          {"command", process.command},
          {"mode", process.mode},
          {"weight", process.weight},
          {"cpus", cpu_list(process.cpus)},
          {"slots", {{"held", process.held}, {"wanted", process.wanted}, {"lent", process.lent}}},
          {"threads", platform::process_threads(process.pid)},
          {"messages", {{"pending", process.pending}, {"silent_seconds", in_seconds(process.silent_ns)}}},
          {"regions", process.regions},
          {"regions_running", process.running >= 0 ? Json(process.running) : Json()},
          {"waited_seconds", in_seconds(process.waited_ns)},
          {"given", process.given},
          {"received", process.received}};
}

void print(const Json& json) { std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str()); }

// The command's name is the other process's choice.
std::string printable(const char* text) {
  std::string out = text;
  for (char& c : out) c = c >= ' ' && c <= '~' ? c : '?';
  return out;
}

std::string summary(const node::NodeStatus& status) {
  int held = 0;
  for (const node::ProcessStatus& process : status.processes) held += process.held;
  const size_t count = status.processes.size();
  return std::to_string(count) + (count == 1 ? " process shares" : " processes share") + " the CPUs of this node; " +
         std::to_string(held) + (held == 1 ? " slot is held" : " slots are held");
}

const char* const kNobody = "no process shares the CPUs of this node (weft run --node, WEFT_NODE=1)";

std::string row(const node::ProcessStatus& process) {
  char pending[24] = "-";
  char silent[24] = "-";
  if (process.pending > 0) {
    std::snprintf(pending, sizeof pending, "%lld", static_cast<long long>(process.pending));
    std::snprintf(silent, sizeof silent, "%.1fs", in_seconds(process.silent_ns));
  }
  char text[200];
  std::snprintf(text, sizeof text, "%8d %-16.16s %-9s %6d %5d %6d %5d %7d %7s %8s", process.pid,
                printable(process.command).c_str(), printable(process.mode).c_str(), process.weight, process.held,
                process.wanted, process.lent, platform::process_threads(process.pid), pending, silent);
  return text;
}

const char* const kColumns = "     PID COMMAND          MODE      WEIGHT SLOTS WANTED  LENT THREADS PENDING   SILENT";

}  // namespace

int node_status(bool json) {
  node::NodeStatus status;
  if (!read(status)) return kFailed;
  if (json) {
    Json processes = Json::array();
    for (const node::ProcessStatus& process : status.processes) processes.push_back(to_json(process));
    print({{"segment", node::default_path().text}, {"slots_freed", status.slots_freed}, {"processes", processes}});
    return 0;
  }
  if (status.slots_freed > 0) std::printf("slots of killed processes freed: %d\n", status.slots_freed);
  if (status.processes.empty()) {
    std::printf("%s\n", kNobody);
    return 0;
  }
  std::printf("%s\n%s       REGIONS  WAITED CPUS\n", summary(status).c_str(), kColumns);
  for (const node::ProcessStatus& process : status.processes) {
    std::printf("%s %13llu %6.1fs %s\n", row(process).c_str(), static_cast<unsigned long long>(process.regions),
                in_seconds(process.waited_ns), cpu_list(process.cpus).c_str());
  }
  return 0;
}

int node_reset(bool force) {
  node::Reason reason;
  int live = 0;
  const node::Path path = node::default_path();
  switch (node::reset(path.text, force, live, reason)) {
    case node::Reset::nothing: std::printf("there is nothing to remove\n"); return 0;
    case node::Reset::removed:
      std::printf("%s is removed", path.text);
      if (live > 0) std::printf("; the %d that shared it go on alone", live);
      std::printf("\n");
      return 0;
    case node::Reset::refused:
      if (reason.text[0] != '\0') {
        base::warn("%s", reason.text);
        return kFailed;
      }
      base::warn("%s is in use by %d (weft node status); --force removes it, and they go on alone", path.text, live);
      return kFailed;
    case node::Reset::failed: base::warn("%s", reason.text); return kFailed;
  }
  return kFailed;
}

namespace {

volatile sig_atomic_t g_interrupted = 0;

// Keys come at once and are not shown, until the end.
class Terminal {
 public:
  Terminal() {
    there_ = tcgetattr(STDIN_FILENO, &before_) == 0;
    if (!there_) return;
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  }
  ~Terminal() {
    if (there_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Waits so long; true when the user wants to end.
  bool asked_to_end(double seconds) const {
    pollfd key{STDIN_FILENO, POLLIN, 0};
    if (poll(&key, there_ ? 1 : 0, static_cast<int>(seconds * 1000)) <= 0) return g_interrupted != 0;
    char pressed = 0;
    return ::read(STDIN_FILENO, &pressed, 1) != 1 || pressed == 'q' || pressed == 'Q';
  }

 private:
  termios before_{};
  bool there_ = false;
};

void print_top(const node::NodeStatus& now, const node::NodeStatus& before, double seconds, const char* line_end) {
  if (now.processes.empty()) {
    std::printf("%s%s\n", kNobody, line_end);
    return;
  }
  std::printf("%s%s\n%s  REGIONS/S  WAITS%s\n", summary(now).c_str(), line_end, kColumns, line_end);
  for (const node::ProcessStatus& process : now.processes) {
    const Rates recent = rates(process, before, seconds);
    std::printf("%s %10.0f %5.0f%%%s\n", row(process).c_str(), recent.regions, 100 * recent.waiting, line_end);
  }
}

int top_once(bool json) {
  node::NodeStatus before;
  node::NodeStatus now;
  if (!read(before)) return kFailed;
  std::this_thread::sleep_for(std::chrono::duration<double>(before.processes.empty() ? 0 : kOnceSeconds));
  if (!read(now)) return kFailed;
  if (!json) {
    print_top(now, before, kOnceSeconds, "");
    return 0;
  }
  Json processes = Json::array();
  for (const node::ProcessStatus& process : now.processes) {
    const Rates recent = rates(process, before, kOnceSeconds);
    Json entry = to_json(process);
    entry["regions_a_second"] = recent.regions;
    entry["waiting"] = recent.waiting;
    processes.push_back(entry);
  }
  print({{"segment", node::default_path().text}, {"processes", processes}});
  return 0;
}

}  // namespace

int top(const TopOptions& options) {
  if (!options.openmetrics.empty()) return export_metrics(options);
  if (options.once || options.json || isatty(STDOUT_FILENO) == 0) return top_once(options.json);
  struct sigaction end{};
  end.sa_handler = [](int) { g_interrupted = 1; };
  sigaction(SIGINT, &end, nullptr);
  sigaction(SIGTERM, &end, nullptr);
  const Terminal terminal;
  node::NodeStatus before;
  Clock::time_point seen = Clock::now();
  for (;;) {
    node::NodeStatus now;
    if (!read(now)) return kFailed;
    const Clock::time_point time = Clock::now();
    // To the upper left corner; each line is cleared behind its text, and what is below.
    std::printf("\x1b[H");
    print_top(now, before, std::chrono::duration<double>(time - seen).count(), "\x1b[K");
    std::printf("\x1b[Kq ends\x1b[J");
    std::fflush(stdout);
    before = std::move(now);
    seen = time;
    if (terminal.asked_to_end(options.seconds > 0 ? options.seconds : kSeconds)) break;
  }
  std::printf("\n");
  return 0;
}

}  // namespace weft::tools
